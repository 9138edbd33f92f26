"""Commands about code and the anchors to it: index, anchor, verify."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..anchors.verify import Verified, judge_kept, rows
from ..app.claims import claim, follow_claims, unclaim
from ..app.code import analyze_cochanges, anchors_of, unanchor
from ..app.code import anchor as place
from ..app.code import index as read_all
from ..app.code import verify as judge
from ..code.cochanges import MAX_FILES
from ..core.errors import DONE, FAILURE, UsageError
from ..core.text import counted
from ..core.times import parse_since
from ..core.vocabulary import BROKEN
from ..store.resolve_id import complete_ids
from ..system.git import Git
from ..system.programs import Tidying
from ..terminal.annotations import sarif
from ..terminal.output import write
from ..terminal.text import anchor_place, bold, counts_text, cut, dim, each
from .command import argument, command, option
from .options import exclusive
from .runtime import ids_from, project_root

if TYPE_CHECKING:
    from ..app.engine import Engine
    from ..code.cochanges import CoChanges
    from .session import Session


@command("index [options] [FOLDER]", settings=("index_max_file",))
def index(
    session: Session,
    folder: str = argument("[FOLDER]", default="", complete="files"),
    *,
    languages: tuple[str, ...] = option(
        "--languages NAME,…", "only their symbols", complete="languages"
    ),
    since: str = option("--since REV", "only files that differ from it; of the history: 90d", ""),
    no_history: bool = option("--no-history", "leave the history alone"),
    cochanges: bool = option("--cochanges", "read the history alone, now and whole"),
    commits: bool = option("--commits", "the same, and keep these commits as nodes"),
) -> None:
    """Read a repository: files, symbols, imports and calls become part of the graph.

    Files (file-src/auth.py) and functions, classes, types and constants
    (symbol-src/auth.py::Login.check) become nodes. A second run reads what has changed. The
    history is read once a day for files that change together and for messages of commits.
    Nothing in the repository is run.

    \b
    lore index --languages python,typescript src
    lore index --cochanges --since "3 months ago"
    """
    if cochanges or commits:
        exclusive(cochanges=True, FOLDER=folder, languages=languages, no_history=no_history)
        _read_history(session, since, commits=commits)
        return
    left_out: list[tuple[str, str]] = []
    kept = "the files so far are kept, the next 'lore index' goes on"
    bar = session.progress("indexing", kept=kept)
    with Tidying(), session.engine() as engine, bar:
        found = read_all(
            engine, folder, languages=languages, since=since, history=not no_history,
            progress=bar.show, left_out=lambda path, why: left_out.append((path, why)),
            stage=bar.stage,
        )  # fmt: skip
    session.say_left_out(left_out)
    session.output.one(found, _index_text)
    if found["added"] or found["changed"] or found["removed"]:
        counts = {name: found[name] for name in ("added", "changed", "removed")}
        session.tell("post-index", [counts])


def _read_history(session: Session, since: str, *, commits: bool) -> None:
    root = project_root()
    Git(root).require()
    since = _time_of_git(root, since)
    gc.disable()  # many small objects and no cycles among them
    bar = session.progress("reading the history", kept="the co-changes are as they were")
    with session.engine() as engine, bar:
        found = analyze_cochanges(engine, since=since, keep_commits=commits, progress=bar.stage)
    session.say(found.notes)
    session.say(_left_out(found))
    row = found.to_dict()
    del row["notes"]
    session.output.one(row, counts_text)


@command("anchor [options] ID [FILE]")
def anchor(
    session: Session,
    id: str = argument("ID", complete="ids"),
    file: str = argument("[FILE]", default="", complete="files"),
    *,
    glob: bool = option("--glob", "FILE is a pattern, as 'src/**/*.py'"),
    hash: bool = option("--hash", "the whole content of the file"),
    symbol: str = option("--symbol NAME", "the body of check or Login.check", ""),
    lines: str = option("--lines A-B", "the text of these lines", ""),
    remove: bool = option("--remove", "remove the anchors to FILE or to this rule"),
    rule: str = option("--rule PATTERN", "a pattern of ast-grep, or its rule in FILE.yml", ""),
    expect: str = option("--expect HOW", "its matches: none, all (of --of), some, a number", ""),
    of: str = option("--of PATTERN", "only at places that match this", ""),
    lang: str = option("--lang NAME", "the language of the rule", "", complete="languages"),
    inside: str = option("--in GLOB", "only in these files", ""),
    left_out: tuple[str, ...] = option("--except GLOB…", "not in these files"),
    suggest: bool = option("--suggest", "propose rules from the record's words"),
) -> None:
    """Tie a record to the code that it is about; without FILE, list its anchors.

    An anchor keeps how the code looks now. 'lore verify' compares, and search results carry the
    verdict: valid; relocated (moved, unchanged); drifted (changed); violated (against a rule);
    invalid (gone). FILE:10-20 is FILE --lines 10-20.

    A rule is a claim about the code, of places that match; $X is one part, $$$ any number.

    \b
    lore anchor decision-1a2b3c4d src/auth.py --symbol Login.check
    lore anchor decision-1a2b3c4d --rule 'session.save($X)' --in 'src/**' --expect none
    """
    kind = exclusive(rule=rule, glob=glob, hash=hash, symbol=symbol, lines=lines)[2:]
    exclusive(rule=rule, FILE=file)
    of_rule: dict[str, Any] = {
        "of": of,
        "lang": lang,
        "inside": inside,
        "left_out": left_out,
        "expect": expect,
    }
    if any(of_rule.values()) and not rule:
        raise UsageError("--of, --lang, --in, --except and --expect go with --rule PATTERN")
    if not file and not rule and (kind or remove):
        raise UsageError(f"--{kind or 'remove'} needs a FILE")
    here = os.getcwd()
    with session.engine() as engine:
        if suggest:
            from ..app.suggest import suggest as suggest_claims

            session.output.list(suggest_claims(engine, id), each(_suggested_text, _NO_RULE))
            return
        if rule and remove:
            found = unclaim(engine, id, rule, here=here)
        elif rule:
            found = [claim(engine, id, rule, here=here, **of_rule)]
        elif remove:
            found = unanchor(engine, id, file, kind, symbol or lines, here=here)
        elif file:
            found = [place(engine, id, file, kind, symbol or lines, here=here)]
        else:
            found = anchors_of(engine, id)
    if remove or not (file or rule):
        session.output.list(found, each(_anchor_text, "no anchors\n"))
    else:
        session.output.one(found[0], _anchor_text)


@command("verify [options] [ID…]")
def verify(
    session: Session,
    ids: tuple[str, ...] = argument("[ID…]", complete="ids"),
    *,
    changed: bool = option("--changed", "only changed places and verdicts"),
    broken: bool = option("--broken", "only drifted, violated and invalid anchors"),
    fail: bool = option("--fail", "the same; exit 1 if there are any but known violations"),
    kept: bool = option("--kept", "the same, by the last verdicts"),
    report: str | None = option("--as FORM", "the same for a tool: sarif", choices=("sarif",)),
    history: bool = option("--history", "follow the rules of records through the commits"),
    since: str | None = option("--since REV", "after this commit; older violations are known"),
) -> int:
    """Check whether records still hold for the code of today, and keep the verdicts.

    A record whose code has changed or gone is linked to the commit that did it; 'lore restore ID'
    lets it hold for the code as it is now. A lone - reads ids from stdin.

    --history prints which commits broke and mended each rule; of 20 commits or more, the share in
    which it held sets the record's confidence.

    \b
    lore stale --fail --text
    lore verify decision-1a2b3c4d --history --since v1.0 --text
    """
    if since is not None and not since.strip():
        raise UsageError("--since is empty: give a commit")
    wanted = ids_from(ids, "verify") if ids else []
    if broken or fail or kept or report:
        if kept:
            exclusive(kept=True, since=since, ID=ids, **{"as": report})
        return _print_broken(session, wanted, fail=fail, kept=kept, since=since, report=report)
    if history or since is not None:
        if not history or not wanted:
            raise UsageError("--history goes with ids of records, and --since with --history")
        _follow(session, wanted, since or "")
        return DONE
    with session.engine() as engine:
        found = Verified() if ids and not wanted else _judged(session, engine, wanted)
        shown = [
            new for old, new in found.found
            if not changed or (old.key, old.verdict) != (new.key, new.verdict)
        ]  # fmt: skip
        printed = rows(engine.store, shown, found.claims)
    session.say(found.notes)
    if found.found:
        session.say([_summary(found)])
    session.output.list(printed, each(_anchor_text, "no anchors\n"))
    return DONE


def _print_broken(
    session: Session, ids: list[str], *, fail: bool, kept: bool, since: str | None,
    report: str | None,
) -> int:  # fmt: skip
    form = session.form_given()
    exclusive(**{"as": report, form: form})
    with session.engine() as engine:
        found = judge_kept(engine.store) if kept else _judged(session, engine, ids, since or "")
        shown = [new for _, new in found.found if new.verdict in BROKEN]
        broken = rows(engine.store, shown, found.claims)
    session.say(found.notes)
    if report:
        write(sarif(broken))
    else:
        session.output.list(broken, each(_broken_text, "everything holds\n"))
    return FAILURE if fail and any(row.get("new", True) for row in broken) else DONE


def _follow(session: Session, ids: Sequence[str], since: str) -> None:
    """Print when the rules of records held, and set the confidence that follows."""
    with session.engine() as engine:
        found, confidence = follow_claims(engine, ids, since)
        records = engine.records()
        for id, value in confidence.items():
            before = engine.store.nodes.require(id).confidence
            if engine.store.writable and value != before:
                records.edit(id, confidence=value, force=True)
                session.say([f"{id}: confidence {value:g}, was {before:g}: 'lore undo {id}' takes "
                             "it back"])  # fmt: skip
    session.output.list(found, _claim_history_text)


def _judged(session: Session, engine: Engine, ids: Sequence[str], since: str = "") -> Verified:
    kept = "the verdicts are as they were"
    total = len(engine.store.anchors.live(complete_ids(engine.store, ids)))
    with session.progress("verifying", total, kept=kept) as advance:
        return judge(engine, ids, advance, since)


def _time_of_git(root: str, text: str) -> str:
    """Return a time as git takes it: git's own words (``3 months ago``), or lore's (``90d``).

    Raises:
        UsageError: neither knows it. git takes what it does not know for now.
    """
    from time import time

    if not text:
        return ""
    try:
        return parse_since(text)
    except UsageError as error:
        said = Git(root).ask("rev-parse", f"--since={text}") or ""
        seconds = said.rpartition("=")[2]
        if not seconds.isdigit() or int(seconds) > time() - 2:
            raise UsageError(f"--since: {error}, or '3 months ago'") from None
        return f"@{seconds}"


def _summary(found: Verified) -> str:
    counts = [f"{count} {verdict}" for verdict, count in found.counts().items() if count]
    return f"{counted(len(found.found), 'anchor')}: {', '.join(counts)}"


def _left_out(found: CoChanges) -> list[str]:
    reasons = (
        (found.bulk, "commit", f"more than {MAX_FILES} files"),
        (found.unusable, "file", "the name cannot be printed"),
        (found.forgotten, "file", "forgotten"),
    )
    return [f"{counted(count, noun)} left out: {why}" for count, noun, why in reasons if count]


def _index_text(row: dict[str, Any]) -> str:
    lines = [
        f"{counted(row['files'], 'file')}, {counted(row['symbols'], 'symbol')}\n",
        f"edges: {counts_text(row['edges'])}",
        f"files read {row['read']}, added {row['added']}, changed {row['changed']},"
        f" removed {row['removed']}, unchanged {row['unchanged']}\n",
    ]
    if row["cochanges"]:
        lines.append(f"co-changes: {counts_text(row['cochanges'])}")
    if row["skipped"]:
        lines.append(f"left out: {counts_text(row['skipped'])}")
    if row["unresolved"]:
        lines.append(f"not resolved: {counts_text(row['unresolved'])}")
    return "".join(lines)


_EVENT_PLACES = 3


def _claim_history_text(rows: Sequence[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        past = row["history"]
        held = f"held in {past['held']} of {past['of']}" if past["of"] else "never held"
        if past["confidence"] is not None:
            held += f" (confidence {past['confidence']:.2f})"
        older = "" if past["whole"] else ", older ones left out"
        day = f" since {past['since'][:10]}" if past["since"] else ""
        lines.append(f"{bold(row['id'])} {row['claim']}: {held}\n")
        lines.append(dim(f"  {counted(past['commits'], 'commit')}{day}{older}") + "\n")
        for event in past["events"]:
            places = f"  {', '.join(event['places'][:_EVENT_PLACES])}" if event["places"] else ""
            lines.append(f"  {event['date'][:10]} {event['event']:<6} {event['commit'][7:17]} "
                         f"{cut(event['title'])}{dim(places)}\n")  # fmt: skip
    return "".join(lines)


_NO_RULE = "put code into backticks: never it, only in a folder, or that one always has another\n"


def _suggested_text(row: dict[str, Any]) -> str:
    matches = counted(row["matches"], "match", "matches")
    return f"{matches:>11}, {row['against']} against  {bold(row['command'])}\n"


def _broken_text(row: dict[str, Any]) -> str:
    """Return an anchor; of a rule each place against it, as compilers name places."""
    what = f"{bold(row['id'])} {cut(row['title'])}"
    return "".join(
        f"{one['file']}:{one['line']}: {what}{'' if one['new'] else dim(' (known)')}\n"
        for one in row.get("places") or ()
    ) or _anchor_text(row)


def _anchor_text(row: dict[str, Any]) -> str:
    reason = f" ({row['reason']})" if row["reason"] else ""
    return (f"{row['verdict']:<9}  {bold(row['id'])}  {row['kind']} {anchor_place(row)}"
            f"{dim('  ' + cut(row['title']) + reason)}\n")  # fmt: skip
