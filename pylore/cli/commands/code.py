"""anchor, verify, stale, rules, and the analyses of a repository: what ties records to code."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...anchors.verify import Verified
from ...app.code import (
    AnchorRequest,
    IndexRequest,
    analyze_cochanges,
    anchors_of,
    broken_rows,
    count_anchors,
    index,
    kept_verdicts,
    left_invalid,
    unanchor,
    verified_rows,
    verify,
)
from ...app.code import anchor as place
from ...core.errors import DONE, FAILURE, UsageError
from ...core.text import counted
from ...system.git import Git
from ...terminal.forms import other_forms
from ...terminal.output import write
from ...terminal.screen import Progress
from ...terminal.text import anchor_place, bold, counts_text, cut, dim, each
from ..runtime import asks_for, ids_from
from ..session import Session, project_root

if TYPE_CHECKING:
    from ...app.engine import Engine
    from ...code.cochanges import CoChanges


def anchor(id: str, file: str, remove: bool, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        engine = session.engine(store)
        if options["rule"]:
            found = _anchor_rule(engine, id, file, remove=remove, options=options)
        elif not file:
            _refuse(options, remove)
            found = anchors_of(engine, id)
        elif remove:
            found = unanchor(engine, _request(id, file, **options))
        else:
            found = [place(engine, _request(id, file, **options))]
            session.say(left_invalid(engine, found[0]["id"], os.getcwd()))
        if remove or not (file or options["rule"]):
            session.output.list(found, each(_anchor_text, "no anchors\n"))
        else:
            session.output.one(found[0], _anchor_text)


def verify_command(
    ids: tuple[str, ...], changed: bool, history: bool, since: str | None, **options: Any
) -> None:
    session = Session(options)
    wanted = ids_from(ids, "verify") if ids else []
    if history or since is not None:
        if not (history and wanted):
            what = (
                "--history goes with ids of records" if history else "--since goes with --history"
            )
            raise UsageError(f"{what}: see 'lore verify --help'")
        _follow(session, wanted, _commit(since))
        return
    with session.open() as store, store.faults:
        engine = session.engine(store)
        found = Verified() if ids and not wanted else _verified(engine, wanted)
        found_rows = verified_rows(engine, found, changed=changed)
    session.say(found.notes)
    session.say([_summary(found)])
    session.output.list(found_rows, each(_anchor_text, "no anchors\n"))


def stale(fail: bool, kept: bool, since: str | None, report: str | None, **options: Any) -> int:
    if kept and (since or report):
        raise UsageError(f"--kept and --{'since' if since else 'as'} exclude each other: give one")
    for form in (*other_forms(), "jq") if report else ():
        if asks_for(options, form):
            raise UsageError(f"--as and --{form} exclude each other: give one")
    revision = _commit(since)
    session = Session(options)
    with session.open() as store, store.faults:
        engine = session.engine(store)
        found = kept_verdicts(engine) if kept else _verified(engine, [], revision)
        broken = broken_rows(engine, found)
    session.say(found.notes)
    if report:
        from ...terminal.annotations import REPORTS

        write(REPORTS[report](broken))
    else:
        session.output.list(broken, each(_stale_text, "everything holds\n"))
    return FAILURE if fail and any(row.get("new", True) for row in broken) else DONE


def _commit(since: str | None) -> str:
    """Return a commit that is given, or nothing; an empty one is a variable that was not set."""
    if since is not None and not since.strip():
        raise UsageError("--since is empty: give a commit")
    return since or ""


def suggest_command(id: str, **options: Any) -> None:
    from ...app.suggested_claims import suggest

    session = Session(options)
    with session.open() as store, store.faults:
        session.output.list(suggest(session.engine(store), id), each(_suggested_text, _NO_RULE))


def cochanges_command(since: str, commits: bool, **options: Any) -> None:
    session = Session(options)
    root = project_root()
    Git(root).require()
    since = _since(root, since)
    gc.disable()  # many small objects and no cycles among them
    bar = Progress("reading the history", kept="the co-changes are as they were")
    with session.open() as store, store.faults, bar:
        found = analyze_cochanges(
            session.engine(store), since=since, keep_commits=commits,
            progress=bar.stage if bar.seen else None,
        )  # fmt: skip
    session.say(found.notes)
    session.say(_left_out(found))
    row = found.to_dict()
    del row["notes"]
    session.output.one(row, counts_text)


def imports_command(path: str, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = index(session.engine(store), IndexRequest(path, history=False))
    unresolved = {
        reason.removeprefix("imports "): count
        for reason, count in found["unresolved"].items()
        if reason.startswith("imports ")
    }
    row = {"files": found["files"], "imports": found["edges"].get("imports", 0), **unresolved}
    session.output.one(row, counts_text)


def _anchor_rule(
    engine: Engine, id: str, file: str, *, remove: bool, options: dict[str, Any]
) -> list[dict[str, Any]]:
    """Tie a record to a rule, or take one away; the anchors as rows."""
    from ...app.claims import ClaimRequest, claim, unclaim

    other = next((name for name in _KINDS if options[name]), "")
    if file or other:
        what = f"--{other}" if other else "FILE"
        raise UsageError(f"--rule and {what} exclude each other: give --in GLOB for the files")
    given = {name: options[name] for name in ("rule", *_OF_RULES)}
    request = ClaimRequest(**given, here=os.getcwd())
    return unclaim(engine, id, request) if remove else [claim(engine, id, request)]


def _follow(session: Session, ids: Sequence[str], since: str) -> None:
    """Print when the rules of records held; their confidence is what that leaves."""
    from ...app.claims import follow_claims

    with session.open() as store, store.faults:
        found, confidence = follow_claims(session.engine(store), ids, since)
        records = session.records(store)
        for id, value in confidence.items():
            before = store.nodes.require(id).confidence
            if store.writable and value != before:
                records.edit(id, confidence=value, force=True)
                session.say([f"{id}: confidence {value:g}, was {before:g}: 'lore undo {id}' takes "
                             "it back"])  # fmt: skip
    session.output.list(found, _claim_history_text)


_OF_RULES = ("of", "lang", "inside", "left_out", "expect")
_KINDS = ("glob", "hash", "symbol", "lines")


# --- what the words of a command line mean


def _refuse(options: dict[str, Any], remove: bool) -> None:
    _require_rule(options)
    given = [name for name in _KINDS if options[name]]
    if given or remove:
        raise UsageError(f"--{given[0] if given else 'remove'} needs a FILE: "
                         "see 'lore anchor --help'")  # fmt: skip


def _require_rule(options: dict[str, Any]) -> None:
    if any(options[name] for name in _OF_RULES):
        raise UsageError("--of, --lang, --in, --except and --expect go with --rule PATTERN: see "
                         "'lore anchor --help'")  # fmt: skip


def _request(
    id: str, file: str, *, glob: bool, hash: bool, symbol: str, lines: str, **options: Any
) -> AnchorRequest:
    _require_rule(options)
    kinds = {"glob": glob, "hash": hash, "symbol": symbol, "lines": lines}
    given = [name for name, value in kinds.items() if value]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} exclude each other: give one")
    return AnchorRequest(id, file, given[0] if given else "", symbol or lines, os.getcwd())


def _since(root: str, text: str) -> str:
    """Return a time as git takes it: git's own words (``3 months ago``), or lore's (``90d``).

    Raises:
        UsageError: neither knows it. git takes what it does not know for now.
    """
    from time import time

    from ...core.times import parse_since

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


# --- what is said


def _verified(engine: Engine, ids: Sequence[str], since: str = "") -> Verified:
    with Progress(
        "verifying", count_anchors(engine, ids), kept="the verdicts are as they were"
    ) as advance:
        return verify(engine, ids, advance, since)


def _summary(found: Verified) -> str:
    counts = [f"{count} {verdict}" for verdict, count in found.counts().items() if count]
    number = counted(len(found.found), "anchor")
    return f"{number}: {', '.join(counts)}" if counts else "no anchors"


def _left_out(found: CoChanges) -> list[str]:
    from ...code.cochanges import MAX_FILES

    notes = []
    if found.bulk:
        notes.append(
            f"{counted(found.bulk, 'commit')} of more than {MAX_FILES} files: that says nothing"
        )
    if found.unusable:
        notes.append(f"{counted(found.unusable, 'file')} left out: the name cannot be printed")
    if found.forgotten:
        notes.append(f"{counted(found.forgotten, 'file')} left out, since forgotten")
    return notes


_EVENT_PLACES = 3


def _claim_history_text(rows: Sequence[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        past = row["history"]
        held = f"held in {past['held']} of {past['of']}" if past["of"] else "never held"
        if past["confidence"] is not None:
            held += f" (confidence {past['confidence']:.2f})"
        some = "" if past["looked"] == past["commits"] else f", {past['looked']} looked at"
        older = "" if past["whole"] else ", older ones left out"
        day = f" since {past['since'][:10]}" if past["since"] else ""
        lines.append(f"{bold(row['id'])} {row['claim']}: {held}\n")
        lines.append(dim(f"  {counted(past['commits'], 'commit')}{day}{some}{older}") + "\n")
        for event in past["events"]:
            places = f"  {', '.join(event['places'][:_EVENT_PLACES])}" if event["places"] else ""
            lines.append(f"  {event['date'][:10]} {event['event']:<6} {event['commit'][7:17]} "
                         f"{cut(event['title'])}{dim(places)}\n")  # fmt: skip
    return "".join(lines)


_NO_RULE = "put code into backticks: never it, only in a folder, or that one always has another\n"


def _suggested_text(row: dict[str, Any]) -> str:
    matches = counted(row["matches"], "match", "matches")
    return f"{matches:>11}, {row['against']} against  {bold(row['command'])}\n"


def _stale_text(row: dict[str, Any]) -> str:
    """Return an anchor; of a rule each place against it, as a compiler names places."""
    what = f"{bold(row['id'])} {cut(row['title'])}"
    return "".join(
        f"{one['file']}:{one['line']}: {what}{'' if one['new'] else dim(' (known)')}\n"
        for one in row.get("places") or ()
    ) or _anchor_text(row)


def _anchor_text(row: dict[str, Any]) -> str:
    reason = f" ({row['reason']})" if row["reason"] else ""
    return (f"{row['verdict']:<9}  {bold(row['id'])}  {row['kind']} {anchor_place(row)}"
            f"{dim('  ' + cut(row['title']) + reason)}\n")  # fmt: skip
