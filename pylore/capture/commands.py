"""Commands of ``lore capture``: read sessions of agents, find and promote candidates."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..app.find import search
from ..cli.command import LIMIT, SINCE, Group, argument, command, exclusive, option
from ..cli.session import ids_from, project_root, read_stdin
from ..core.errors import LoreError, UsageError
from ..core.text import STOP_WORDS, counted, fold, one_line, stem, words
from ..core.times import now, parse_since
from ..core.vocabulary import LEARNING_TYPES, NO_RECORDS
from ..store.curation import REFUSED
from ..terminal import Output, flush, note
from ..terminal.text import bold, change_text, cut, dim, each
from .candidates import Alike
from .capture import Capture
from .dialog import Dialog, candidates_text
from .event_log import LONGEST_NAME, MOST_FILES, append, event_file, event_line, log_fault
from .events import KINDS, MOST_ERROR, MOST_TEXT, new_event, read_events, shortened, sweep_events
from .gate import Gathered, Wanted, decide, gather, listed, promote, require
from .transcripts import TRANSCRIPTS, transcript_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..app import Engine
    from ..cli.session import Session
    from ..records.records import Change
    from ..system.plugins import Events
    from .redaction import Redactor

CAPTURE = Group(
    "capture",
    """\
Read sessions of coding agents, and keep what they teach.

'lore capture --from AGENT' is 'lore capture run'.""",
    default="run",
)

SESSION = option("--session ID", "its session", "")
_ALIKE = 0.6
"""Minimum share of common words (Jaccard) of two questions of a gap. Chosen by hand."""
_MOST_OTHERS = 5


@command("capture run [options] --from AGENT [PATH…]", settings=("events_days",))
def run(
    session: Session,
    paths: tuple[str, ...] = argument("[PATH…]", complete="files"),
    *,
    source: str = option("--from AGENT", "claude or codex", choices=tuple(TRANSCRIPTS)),
    since: str = SINCE,
) -> None:
    """Read transcripts of an agent into your log of events, without secrets.

    PATH is a transcript or a folder of transcripts.

    \b
    lore capture --from codex --since 7d
    """
    if source is None:
        raise UsageError(f"capture needs --from: give one of {', '.join(TRANSCRIPTS)}")
    reader = TRANSCRIPTS[source]
    folder = transcript_folder(reader)
    if not paths and not os.path.isdir(folder):
        raise LoreError(f"{folder}: no sessions of {source}: give a file or a folder")
    moment = parse_since(since) if since else ""
    work = Capture(reader, _redactor(session), moment, lambda line: session.say([line]))
    receipt = work.run(paths or [folder])
    try:
        sweep_events(session.settings.events_days)
    except OSError as error:
        note(f"{error.filename or event_file()}: {error.strerror}: nothing was swept")
    session.output.one(vars(receipt), _receipt_text)
    if receipt.failed:
        flush()  # print the counts of other files first, in a pipe too
        named = "leave --quiet out to see which" if session.quiet else "check what is named above"
        raise LoreError(f"capture: {counted(receipt.failed, 'file')} could not be read: {named}")


def _redactor(session: Session) -> Redactor:
    from .redaction import Redactor, own_redactors

    settings = session.settings
    if not settings.events_days:
        raise LoreError("events_days is 0, which records no events: give --events-days N")
    return Redactor(own_redactors(settings.plugin_dir), settings.plugin_timeout)


@command("capture event [options] KIND")
def event(
    session: Session,
    kind: str = argument("KIND", choices=KINDS),
    *,
    name: str = option("--name NAME", "tool, commit or folder", ""),
    session_name: str = SESSION,
    message: str = option("-m, --message TEXT", "its text; - reads stdin", ""),
    error: str = option("--error TEXT", "what failed", ""),
    files: tuple[str, ...] = option("--file PATH,…", "its files", complete="files"),
) -> None:
    """Append one event to your log.

    KIND is prompt, say, tool, edit, search, commit, session or question.

    \b
    lore capture event tool --session s1 --name make -m 'make test' --error 'test_login failed'
    """
    text = read_stdin() if message == "-" else message
    if not text.strip() and kind in ("prompt", "say"):
        raise UsageError(f"event {kind} needs a text: give -m TEXT, or '-m -' for stdin")
    may_fail = error or kind in ("tool", "edit", "search", "commit")
    row = new_event(
        t=now(),
        src="cli",
        session=session_name[:LONGEST_NAME],
        kind=kind,
        name=name[:LONGEST_NAME],
        ok=not error if may_fail else None,
        files=[*files[:MOST_FILES]],
        text=text.strip()[: 2 * MOST_TEXT],
        err=error.strip()[: 2 * MOST_ERROR],
    )
    _redactor(session).redact([row])
    shortened(row)
    try:
        append(event_line(row))
    except OSError as fault:
        raise log_fault(fault, "report it") from None
    session.output.one(row, _event_text)


@command("capture events [options]")
def events(
    session: Session,
    *,
    session_name: str = SESSION,
    kinds: tuple[str, ...] = option("--kind KIND,…", ", ".join(KINDS), choices=KINDS),
    since: str = SINCE,
) -> None:
    """List your log of events.

    \b
    lore capture events --since 1d --kind tool --jq 'select(.ok == false) | .err'
    """
    output = session.output
    if session.form_given() in ("", "jq") and output.form == "json":
        output = Output("jsonl", output.jq)  # a log is read line by line
    moment = parse_since(since) if since else ""
    found = read_events(since=moment, session=session_name, kinds=kinds or KINDS)
    output.stream(found, each(_event_text))


@command("capture candidates [options]", settings=("candidates_days",))
def candidates(
    session: Session,
    *,
    since: str = SINCE,
    everything: bool = option("--all", "decided ones too"),
    limit: int | None = LIMIT,
) -> None:
    """List candidates for records, the best first."""
    with session.engine() as engine:
        if engine.store.writable:
            session.say(_found_notes(gather(engine, project_root(), since and parse_since(since))))
        else:
            session.say(["the store cannot be written: what was found before is listed"])
        rows = listed(engine, everything=everything)
    session.output.list(rows[:limit], candidates_text)


def _found_notes(done: Gathered) -> list[str]:
    notes = [counted(len(done.new), "new candidate")] if done.new else []
    if known := sorted({*done.known}):
        more = ", …" if len(known) > 10 else ""
        notes.append(f"said once more, and known: {', '.join(known[:10])}{more}")
    again = [f"{id}: its error came up again: see 'lore show {id}'" for id in done.again]
    return [*notes, *again]


@command("capture promote [options] [ID…]")
def promote_command(
    session: Session,
    ids: tuple[str, ...] = argument("[ID…]"),
    *,
    type: str = option("--as TYPE", "their type", "", choices=(*LEARNING_TYPES, "note", "goal")),
    into: str = option("--into ID", "add them to this record", "", complete="ids"),
    confirm: bool = option("--confirm", "a person has found them right"),
    refuse: bool = option("--refuse", "never show them again"),
) -> None:
    """Accept or discard candidates.

    Without an ID, on a terminal, shows one after the other and asks. A lone - reads ids. Records
    are staged unless --confirm is given.

    \b
    lore capture promote candidate-1a2b3c4d --as lesson --confirm
    """
    exclusive(into=into, **{"as": type})
    given = exclusive(confirm=confirm or into or type, refuse=refuse)
    plugins = session.events()
    if not ids:
        rows = _ask_a_person(session, plugins, given)
    elif refuse:
        with session.engine() as engine:
            refused = decide(engine, ids_from(ids, "promote"), REFUSED)
        rows = [{"id": row.id, "state": row.status} for row in refused]
        session.output.list(rows, each(change_text))
        return
    else:
        wanted = [Wanted(id, type, into=into) for id in dict.fromkeys(ids_from(ids, "promote"))]
        with session.engine() as engine:
            _ask_plugins(plugins, engine, wanted, confirm=confirm)
            done = promote(engine, wanted, confirm=confirm)
        session.say(note for change in done[:1] for note in change.notes)
        rows = [_row(one.id, change) for one, change in zip(wanted, done, strict=True)]
        session.output.list(rows, each(change_text))
    session.tell("post-add", rows, plugins)


def _ask_a_person(session: Session, plugins: Events | None, given: str) -> list[dict[str, Any]]:
    see = "see 'lore capture candidates --ids'"
    if given:
        raise UsageError(f"{given} needs ids of candidates: {see}")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"promote needs ids of candidates without a terminal: {see}")
    with session.engine() as engine:
        dialog = Dialog(engine, lambda one: _ask_plugins(plugins, engine, [one], confirm=True))
        dialog.run()
    return [_row(*one) for one in dialog.promoted]


def _ask_plugins(
    plugins: Events | None, engine: Engine, wanted: Sequence[Wanted], *, confirm: bool
) -> None:
    """Let event plugins refuse the records of candidates."""
    rows = []
    for one in wanted if plugins is not None else ():
        kept, status = require(engine, one.id), "confirmed" if confirm else "staged"
        names = ("type", "title", "body")
        fields = {name: getattr(one, name) or getattr(kept, name) for name in names}
        rows.append({**fields, "status": status, "source": "conversation", "candidate": kept.id})
    if plugins is not None:
        plugins.ask("pre-add", rows)


def _row(candidate: str, change: Change) -> dict[str, Any]:
    return {"id": change.id, "state": change.state, "candidate": candidate}


@command("capture gaps [options]")
def gaps(session: Session, *, since: str = SINCE, limit: int | None = LIMIT) -> None:
    """List questions that found nothing sure."""
    with session.engine() as engine:
        found = _gaps(engine, parse_since(since) if since else "")
        rows = [*islice(found, limit or 10)]
    session.output.list(rows, each(_gap_text, "no gaps\n"))


def _gaps(engine: Engine, since: str) -> Iterator[dict[str, Any]]:
    """Yield groups of questions without a confident result among records or pages."""
    few = engine.changed([("limit", "1")], "gaps")
    types = [type for type in engine.store.types.all() if type not in NO_RECORDS]
    groups = _groups_of_questions(engine.root, since)
    for count, events in sorted(groups, key=lambda one: (one[0], len(one[1])), reverse=True):
        question, *others = dict.fromkeys(event["text"] for event in reversed(events))
        if all(hit.weak for hit in search(few, question, types=types)):
            yield {
                "question": question,
                "times": len(events),
                "sessions": count,
                "last": events[-1]["t"],
                "questions": others[:_MOST_OTHERS],
            }


def _groups_of_questions(root: str, since: str) -> list[tuple[int, list[dict[str, Any]]]]:
    """Return the number of sessions, and the events, of a project's questions with like words."""
    groups: Alike[list[dict[str, Any]]] = Alike(_ALIKE)
    for event in read_events(since=since, kinds=("question",)):
        if event.get("text") and event.get("name") == root:
            asked = words(fold(event["text"]))
            own = frozenset(stem(word) for word in asked if word not in STOP_WORDS)
            if events := groups.nearest(own):
                events.append(event)
            else:
                groups.add(own, [event])
    return [(len({one.get("session") for one in events}), events) for events in groups.items]


# --- text for a terminal


def _receipt_text(row: dict[str, Any]) -> str:
    lines = [
        f"{counted(row['files'], 'file')} read, {row['unchanged']} unchanged, "
        f"{counted(row['sessions'], 'session')} with something new"
    ]
    for name in ("events", "left_out", "skipped", "redacted"):
        if row[name]:
            counts = ", ".join(f"{count} {kind}" for kind, count in row[name].items())
            lines.append(f"{name.replace('_', ' ')}: {counts}")
    return "\n".join(lines) + "\n"


def _event_text(row: dict[str, Any]) -> str:
    is_failure = row.get("ok") is False and row["kind"] != "question"
    parts = [row.get("name", ""), " ".join(row.get("files") or ()), row.get("text", "")]
    text = "  ".join(filter(None, map(one_line, parts)))
    error = f"  failed: {one_line(row.get('err') or '')}" if is_failure else ""
    head = f"{row['t']}  {(row.get('session') or '-')[:8]:<8}  "
    return dim(head) + bold(f"{row['kind']:<8}") + f"  {cut(text)}{cut(error)}\n"


def _gap_text(row: dict[str, Any]) -> str:
    times = f"{counted(row['times'], 'time')} in {counted(row['sessions'], 'session')}"
    text = f"{bold(cut(one_line(row['question'])))}  " + dim(f"{times}, last {row['last'][:10]}\n")
    return text + "".join(f"   also: {cut(one_line(other))}\n" for other in row["questions"])
