"""Declare and run capture, event, events, candidates and promote, and ``sweep --telemetry``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..cli.declaration import Argument, OldCommand, Option
from ..cli.declare import BUSY_TIMEOUT, COUNTS_OUTPUT, OUTPUT, QUIET, embedder, limit, quiet
from ..cli.reader import split_words
from ..cli.runtime import events_of, forms_in, ids_from
from ..cli.session import Session, project_root, read_stdin
from ..core.errors import LoreError, NoStore, UsageError
from ..core.settings import Settings
from ..core.text import counted, one_line
from ..core.times import now, parse_since
from ..core.vocabulary import LEARNING_TYPES
from ..hooks.events import AgentSession
from ..terminal.output import Output, flush, note
from ..terminal.text import bold, change_text, dim, each
from . import promotion
from .capture import ALL, Capture
from .curation import Gathered, candidate_of, gather, listed, sweep_candidates, told
from .dialog import Dialog, candidates_text
from .event_log import VERSION, append, event_file, log_fault
from .events import (
    KINDS,
    MOST_ERROR,
    MOST_TEXT,
    Follower,
    event_line,
    is_wanted,
    read_events,
    shortened,
    sweep_events,
)
from .promotion import Promoted, Wanted, asked_row
from .recent import count_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..app.engine import Engine
    from ..system.plugin_files import Events


_MOST_FILES = 20
_LONGEST_NAME = 200
_WIDTH = 100


def capture(paths: tuple[str, ...], source: str | None, since: str, **options: Any) -> None:
    from .redaction import Redactor, own_redactors
    from .transcripts import TRANSCRIPTS

    session = Session(options)
    settings = session.settings
    if source is None:
        raise UsageError(f"capture needs --from: give one of {', '.join(TRANSCRIPTS)}")
    kind = TRANSCRIPTS[source]
    redactor = Redactor(own_redactors(settings.plugin_dir), settings.plugin_timeout)
    work = Capture(kind, redactor, parse_since(since) if since else "",
                   lambda line: session.say([line]))  # fmt: skip
    receipt = work.run(_places(paths, kind.name, kind.folder))
    _sweep_quietly(settings)
    session.output.one(receipt.to_dict(), _receipt_text)
    if receipt.failed:
        flush()  # what was read stands, and is told in a pipe too
        named = "leave --quiet out to see which" if settings.quiet else "check what is named above"
        raise LoreError(f"capture: {counted(receipt.failed, 'file')} could not be read: {named}")


def _places(paths: Sequence[str], name: str, folder: str) -> Sequence[str]:
    """Return the files and folders to read: those that are given, else the agent's own."""
    if paths:
        return paths
    if not folder:
        raise UsageError(f"capture --from {name} needs a file or a folder")
    if not os.path.isdir(folder):
        raise LoreError(f"{folder}: there are no sessions of {name}: give a file or a folder")
    return [folder]


def _sweep_quietly(settings: Settings) -> None:
    """Keeps the log within its limits; where that fails, what was captured stands all the same."""
    try:
        sweep_events(settings.events_days)
    except OSError as error:
        note(f"{error.filename or event_file()}: {error.strerror}: nothing was swept")


def event(
    kind: str, session: str, name: str, message: str, error: str, files: Sequence[str], source: str,
    ms: int | None, *, failed: bool, **options: Any,
) -> None:  # fmt: skip
    from .redaction import Redactor, own_redactors

    here = Session(options)
    _require_kinds([kind])
    text = read_stdin() if message == "-" else message
    if not text.strip() and kind in ("prompt", "say"):
        raise UsageError(f"event {kind} needs its text: give it with -m, or '-m -' for stdin")
    row: dict[str, Any] = {
        "v": VERSION, "t": now(), "src": source[:_LONGEST_NAME], "session": session[:_LONGEST_NAME],
        "kind": kind, "name": name[:_LONGEST_NAME], "ms": ms,
        "files": [*split_words(files)[:_MOST_FILES]],
        "text": text.strip()[: 2 * MOST_TEXT], "err": error.strip()[: 2 * MOST_ERROR],
    }  # fmt: skip
    if failed or error:
        row["ok"] = False
    elif kind in ("tool", "edit", "search", "commit"):
        row["ok"] = True
    row = {field: value for field, value in row.items() if value not in (None, "", [])}
    settings = here.settings
    Redactor(own_redactors(settings.plugin_dir), settings.plugin_timeout).redact([row])
    shortened(row)
    _append(event_line(row))
    here.output.one(row, _event_text)


def _append(line: bytes) -> None:
    try:
        append(line)
    except OSError as error:
        raise log_fault(error, "say it") from None


def events(
    session: str, files: Sequence[str], kinds: Sequence[str], since: str, *, follow: bool,
    **options: Any,
) -> None:  # fmt: skip
    in_form = bool(forms_in(options))
    output = Session(options).output
    if not in_form and output.form == "json":
        output = Output("jsonl", output.jq)  # a log is read line by line
    wanted: dict[str, Any] = {
        "since": parse_since(since) if since else "", "session": session,
        "kinds": split_words(kinds), "files": split_words(files),
    }  # fmt: skip
    _require_kinds(wanted["kinds"])
    if not follow:
        output.stream(read_events(**wanted), each(_event_text))
        return
    _follow(output, wanted)


def _require_kinds(kinds: Iterable[str]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"'{kind}' is not a kind of event: give one of {', '.join(KINDS)}")


def _follow(output: Output, wanted: dict[str, Any]) -> None:
    if output.form == "json" or output.jq is not None:
        raise UsageError("--follow prints lines: leave --json out, and pipe them to jq")
    follower = Follower()
    for found in read_events(**wanted):
        output.list([found], each(_event_text))
    flush()
    for one in follower.events():
        if one is None:
            flush()
        elif is_wanted(one, **wanted):
            output.list([one], each(_event_text))


def sweep_telemetry(session: Session, *, dry_run: bool) -> None:
    """``lore sweep --telemetry``: files of events and candidates that are past their time."""
    settings = session.settings
    try:
        swept = sweep_events(settings.events_days, dry_run=dry_run)
    except OSError as error:
        raise LoreError(f"{error.filename}: {error.strerror}: check its rights") from None
    state = "due" if dry_run else "dropped"
    rows = [{"id": one.file, "state": state, "reason": one.why, "bytes": one.size} for one in swept]
    why = f"found more than {settings.candidates_days} days ago"
    rows += [{"id": id, "state": state, "reason": why, "bytes": None}
             for id in swept_candidates(session, dry_run=dry_run)]  # fmt: skip
    session.output.list(rows, each(_swept_text, "nothing to sweep\n"))


def _swept_text(row: dict[str, Any]) -> str:
    size = f", {row['bytes']} bytes" if row["bytes"] else ""
    return f"{row['state']}  {bold(row['id'])}" + dim(f"  {row['reason']}{size}\n")


def _event_text(row: dict[str, Any]) -> str:
    failed = "" if row.get("ok", True) is not False else "failed: "
    said = [row.get("name", ""), " ".join(row.get("files") or ()), row.get("text", "")]
    text = one_line("  ".join(part for part in said if part))
    error = f"  {failed}{one_line(row.get('err') or '')}" if failed else ""
    head = f"{row['t']}  {(row.get('session') or '-')[:8]:<8}  "
    return dim(head) + bold(f"{row['kind']:<8}") + f"{text[:_WIDTH]}{error[:_WIDTH]}\n"


def _receipt_text(row: dict[str, Any]) -> str:
    lines = [f"{counted(row['files'], 'file')} read, {row['unchanged']} unchanged, "
             f"{counted(row['sessions'], 'session')} with something new"]  # fmt: skip
    for name in ("events", "left_out", "skipped", "redacted"):
        if row[name]:
            counts = ", ".join(f"{count} {kind}" for kind, count in row[name].items())
            lines.append(f"{name.replace('_', ' ')}: {counts}")
    lines.append(f"{row['bytes_read']} bytes read, {row['bytes_written']} written")
    return "\n".join(lines) + "\n"


_BEGINNING = 100
"""Characters of texts that are set beside each other."""


def candidates(
    since: str | None, project: str | None, everything: bool, limit: int | None, kept: bool,
    titles: bool, **options: Any,
) -> None:  # fmt: skip
    """``lore candidates``."""
    session = Session(options)
    if kept and (since or project or titles):
        raise UsageError("--kept looks at no events: leave --since, --project and --titles out")
    staged: list[Promoted] = []
    with session.open() as store:
        engine = session.engine(store)
        if not kept and store.writable:
            moment = parse_since(since) if since else ""
            _look(session, gather(engine, _project(project), moment, by_model=titles))
            staged = _stage_by_rule(session, engine)
        elif not kept:
            session.say(["the store cannot be written: what was found before is listed"])
        rows = listed(engine, everything=everything)
    if not rows and not kept:
        session.say(_elsewhere(_project(project)))
    session.output.list(rows[:limit], candidates_text)
    session.tell("post-promote", [_row(one) for one in staged])


def _elsewhere(project: str) -> list[str]:
    """Return what to say where a project has no session, and others have."""
    sessions, folders = (0, 0) if project == ALL else count_elsewhere(project)
    if not sessions:
        return []
    return [f"no session of {project} is in the log, but {counted(sessions, 'session')} of "
            f"{counted(folders, 'other folder')}: 'lore candidates --project DIR' looks there, "
            "'--project all' everywhere"]  # fmt: skip


def _project(given: str | None) -> str:
    if given == ALL:
        return ALL
    if given and not os.path.isdir(given):
        raise UsageError(f"--project {given}: is no folder: give one, or 'all'")
    return os.path.abspath(given) if given else project_root()


def _look(session: Session, done: Gathered) -> None:
    notes = [counted(len(done.new), "new candidate")] if done.new else []
    known = sorted({*done.known})
    if known:
        notes.append(f"said once more, and known: {', '.join(known[:10])}"
                     + (", …" if len(known) > 10 else ""))  # fmt: skip
    notes += [
        f"{id}: the error that it names came up again: see 'lore show {id}'" for id in done.again
    ]
    session.say([*notes, *done.notes])


def _stage_by_rule(session: Session, engine: Engine) -> list[Promoted]:
    """Stages what ``promote_auto`` lets in; an event plugin may refuse each."""
    wanted = []
    events = events_of(session.settings)
    for id in promotion.stage_by_rule(engine):
        one = Wanted(id)
        try:
            _ask(events, engine, [one], confirm=False)
        except LoreError as refused:
            session.say([f"{id} was not staged: {refused}"])
        else:
            wanted.append(one)
    if not wanted:
        return []
    session.say(_otherwise(engine, wanted))
    staged = promotion.promote(
        engine, wanted, confirm=False, run_of=_run_of(engine),
        at_most=promotion.most_a_day(engine),
    )  # fmt: skip
    session.say([f"staged by promote_auto: {one.id} ({one.candidate})" for one in staged])
    return staged


def swept_candidates(session: Session, *, dry_run: bool) -> list[str]:
    """Return what ``lore sweep --telemetry`` drops of this store's; nothing where there is no
    store.
    """
    try:
        store = session.open()
    except NoStore:
        return []
    with store:
        return sweep_candidates(session.engine(store), dry_run=dry_run)


def promote(
    ids: tuple[str, ...], type: str | None, title: str | None, body: str | None, into: str | None,
    confirm: bool, refuse: bool, skip: bool, **options: Any,
) -> None:  # fmt: skip
    """``lore promote``."""
    session = Session(options)
    words = {"--as": type, "--title": title, "--body": body, "--into": into, "--confirm": confirm}
    given = [name for name, value in words.items() if value]
    for name, value in words.items():
        if isinstance(value, str) and not value.strip():
            raise UsageError(f"{name} is empty: give it something, or leave it out")
    if not ids:
        _on_a_terminal(session, [*given, *(["--refuse"] * refuse), *(["--skip"] * skip)])
        return
    wanted = list(dict.fromkeys(ids_from(ids, "promote")))
    if refuse or skip:
        if given or (refuse and skip):
            raise UsageError(f"{'--refuse' if refuse else '--skip'} takes nothing beside ids: "
                             f"leave {(given or ['--skip'])[0]} out")  # fmt: skip
        decide = promotion.refuse if refuse else promotion.skip
        with session.open() as store:
            rows = decide(session.engine(store), wanted)
        session.output.list(
            [{"id": row.id, "state": row.status} for row in rows], each(change_text)
        )
        return
    if len(wanted) > 1 and (title or body):
        raise UsageError("--title and --body are of one candidate: give one id")
    if into and (type or title or body):
        raise UsageError("--into makes no record: leave --as, --title and --body out")
    _promote_all(session, [Wanted(id, type or "", title or "", body or "", into or "")
                           for id in wanted], confirm=confirm)  # fmt: skip


def _promote_all(session: Session, wanted: Sequence[Wanted], *, confirm: bool) -> None:
    events = events_of(session.settings)
    with session.open() as store:
        engine = session.engine(store)
        _ask(events, engine, wanted, confirm=confirm)
        otherwise = _otherwise(engine, wanted)
        done = promotion.promote(engine, wanted, confirm=confirm, run_of=_run_of(engine))
    session.say(otherwise)
    for one in done:
        session.say(one.notes)
    rows = [_row(one) for one in done]
    session.output.list(rows, each(change_text))
    session.tell("post-promote", rows, events)


def _on_a_terminal(session: Session, given: Sequence[str]) -> None:
    if given:
        raise UsageError(f"{given[0]} needs candidates' ids: see 'lore candidates --ids'")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("promote needs candidates' ids where nobody can be asked: "
                         "see 'lore candidates --ids'")  # fmt: skip
    with session.open() as store:
        events = events_of(session.settings)
        engine = session.engine(store)
        dialog = Dialog(engine, _run_of(engine),
                        lambda one: _ask(events, engine, [one], confirm=True))  # fmt: skip
        dialog.run()
    session.tell("post-promote", [_row(one) for one in dialog.promoted], events)


def _ask(events: Events | None, engine: Engine, wanted: Sequence[Wanted], *, confirm: bool) -> None:
    """Lets event plugins refuse what is about to be promoted."""
    if events is not None:
        rows = [told(promotion.require(engine, one.id)) for one in wanted]
        events.ask("pre-promote", [asked_row(one, row, confirm=confirm)
                                   for one, row in zip(wanted, rows, strict=True)])  # fmt: skip


def _otherwise(engine: Engine, wanted: Sequence[Wanted]) -> list[str]:
    """Confirmed records that may contradict what is about to be promoted, each beside it."""
    rows = [promotion.require(engine, one.id) for one in wanted if not one.into]
    return [
        f"{near.id} may say otherwise than {row.id}: '{_beginning(near.text)}'"
        f" beside '{_beginning(row.body)}'"
        for row in rows
        for near in promotion.beside(engine, candidate_of(row))
        if near.otherwise
    ]


def _beginning(text: str) -> str:
    return one_line(text)[:_BEGINNING]


def _run_of(engine: Engine) -> Callable[[str], str]:
    """Return the run that an agent's session belonged to, as the hooks keep it."""
    return lambda session: AgentSession(session, engine.root).run


def _row(one: Promoted) -> dict[str, Any]:
    return {"id": one.id, "state": one.state, "candidate": one.candidate}


COMMAND = OldCommand(
    "capture",
    "--from AGENT [--since AGE] [PATH…]",
    "read what happened in sessions of coding agents into your log of events",
    """\
Events are what a person asked, what a model answered, which tools ran and what became of
them: short texts, without secrets, in your own state folder and never in a repository. See
'lore events' for what they are, and docs/how-to/sessions.md for what becomes of them.

PATH is a transcript, or a folder of them. Without one, all that the agent keeps is read:
claude below ~/.claude/projects, codex below ~/.codex/sessions. jsonl is for events that
another program has written, a JSON object a line as 'lore events --jsonl' prints them.

Once more reads what is new. Of several files of one session the longest is read; one that was
written anew is compared with what is there, so that nothing stands there twice. Left out are
side chains, what agents put into prompts themselves, what a model only thought, and what
lore itself has printed into a session. Secrets are taken out before anything is written:
by what their forms are, by detect-secrets, and by your own lore-redact-NAME (see
docs/plugins.md).

Prints what was read and written: files and sessions, events by kind, lines that say nothing
of what happened by type, what was redacted by kind, bytes. A file that cannot be read is
named, the others are read, and the exit code is 1.""",
    Option("--from AGENT", "claude, codex or jsonl", choices=("claude", "codex", "jsonl"),
           into="source"),
    Option("--since DATE|AGE", "leave out what is older (2026-01-31, 12h, 7d, 2w, 3m, 1y)",
           default=""),
    Option("--events-days N", "days to keep events (default: 14)", setting="events_days"),
    quiet("do not name files that cannot be read"),
    COUNTS_OUTPUT,
    examples=(
        "lore capture --from claude",
        "lore capture --from codex --since 7d",
        "lore capture --from jsonl events.jsonl",
    ),
    arguments=(Argument("PATH…", "paths", "files"),),
    run=capture,
)  # fmt: skip


EVENT_COMMAND = OldCommand(
    "event",
    "[options] KIND",
    "append one event to your log of events",
    """\
For agents and programs that lore cannot read transcripts of. KIND is prompt, say, tool, edit,
search, commit, session or question. Texts are cut (500 characters; 200 of an error) and
secrets taken out of them, as 'lore capture' does. Several may do so at once. Prints the event.""",
    Option("--session ID", "the session it belongs to", default=""),
    Option("--name NAME", "the tool, the commit's hash, or the session's folder", default=""),
    Option("-m, --message TEXT", "what was asked, said, run or sought; - reads it from stdin",
           default=""),
    Option("--error TEXT", "what failed: the event is one of a failure", default=""),
    Option("--failed", "it failed, and nobody knows why"),
    Option("--file PATH,…", "files it is about, from the project's folder", kind="files",
           many=True, into="files"),
    Option("--ms N", "how long it took", whole=True, low=0, high=1_000_000_000),
    Option("--source NAME", "who says so (default: cli)", default="cli"),
    QUIET,
    COUNTS_OUTPUT,
    examples=(
        "lore event tool --session s1 --name make -m 'make test' --error 'test_login failed'",
        "lore event prompt --session s1 -m 'never push to main'",
    ),
    arguments=(Argument("KIND", "kind", choices=KINDS),),
    run=event,
)  # fmt: skip


EVENTS_COMMAND = OldCommand(
    "events",
    "[options]",
    "what happened in sessions: your log of events",
    """\
In the order it was written, which is not always that of the times. In a pipe JSON lines, on
a terminal a line an event. Fields: v (1), t (time), src (who told), session, turn (the prompt
it comes after, from 1), span (the call or message), parent (the message a call belongs to),
kind (prompt, say, tool, edit, search, commit, session, question), name, ok, ms, files, text,
err, ref (the transcript and its line). What is not known is not there. An event without ref was
written by a hook or by 'lore event'.""",
    Option("--session ID", "only this session's", default=""),
    Option("--file GLOB,…", "only what has to do with these files or folders", kind="files",
           many=True, into="files"),
    Option("--kind KIND,…", f"only these: {', '.join(KINDS)}", many=True, into="kinds"),
    Option("--since DATE|AGE", "only what happened since (2026-01-31, 12h, 7d, 2w, 3m, 1y)",
           default=""),
    Option("-f, --follow", "go on with what is appended, until Ctrl-C"),
    QUIET,
    COUNTS_OUTPUT,
    examples=(
        "lore events --since 1d --kind tool --jq 'select(.ok == false) | .err'",
        "lore events --file src/auth --kind prompt,commit",
        "lore events -f",
    ),
    run=events,
)  # fmt: skip


CANDIDATES_COMMAND = OldCommand(
    "candidates",
    "[options]",
    "what was said in sessions and may be worth knowing, the best first",
    """\
Looks through the events of this project's sessions ('lore capture' brings them), and lists what
nobody has decided yet, each with what speaks for it: a signal, its weight, a quote. 'lore
promote' decides. No search finds a candidate, and no export has one. What a record says
already is no candidate: what was said once more is evidence for that record.""",
    Option("--since AGE", "look at what happened since: 7d, 2w, a date, a time"),
    Option(
        "--project DIR", "look at the sessions of the project in this folder; all: of every one"
    ),
    Option(
        "--all", "list what was skipped, refused, promoted and known already too", into="everything"
    ),
    limit("how many; all unless set"),
    Option("--kept", "list what was found before, and look at no events"),
    Option(
        "--titles",
        "let your own model (llm_command) title what is new, and merge what is\n"
        "the same; a quote of its that no event has is dropped",
    ),
    Option("--llm-command CMD", "the program and its arguments", setting="llm_command"),
    OUTPUT,
    QUIET,
    embedder("what compares them with records; none: by their words alone"),
    BUSY_TIMEOUT,
    examples=("lore candidates --since 7d", "lore candidates --kept --ids"),
    settings=("promote_auto",),
    run=candidates,
)


PROMOTE_COMMAND = OldCommand(
    "promote",
    "[options] [ID…]",
    "accept or discard candidates",
    """\
On a terminal, without an ID, shows one open candidate after the other, the best first, with its
quotes and what is known already, and asks: y promotes it, n refuses it for good, e edits it in
$VISUAL or $EDITOR and promotes it, m merges it into a known record, s leaves it for later, q
ends, ? tells. What you say y to is confirmed.

With ids these candidates become records, all of them or none; a lone - reads ids from stdin.
They are staged, unless --confirm says that a person found them right: then, three reads by
people ('lore show', 'lore context') or 'lore confirm' confirm them. A record leads to the
sessions and commits that it was learned from, with quotes, and is anchored to its files. 'lore
undo' takes it back.""",
    Option(
        "--as TYPE",
        "the type of the records",
        into="type",
        choices=(*LEARNING_TYPES, "note", "goal"),
    ),
    Option("--title TITLE", "the title of the record; of one candidate alone"),
    Option("--body TEXT", "its text; of one candidate alone"),
    Option("--into ID", "no new record: they are evidence for this one", kind="ids"),
    Option("--confirm", "a person has found them right"),
    Option("--refuse", "never show these candidates again, whatever is captured later"),
    Option("--skip", "leave these candidates until a new session says the same"),
    OUTPUT,
    QUIET,
    embedder("what makes the vectors; none: no vectors for these"),
    BUSY_TIMEOUT,
    examples=(
        "lore promote",
        "lore promote candidate-1a2b3c4d --as lesson --confirm",
        "lore promote --refuse candidate-1a2b3c4d candidate-5e6f7a8b",
    ),
    arguments=(Argument("[ID…]", "ids"),),
    run=promote,
)
