"""Commands about code and the anchors to it: index, anchor, verify; broken anchors as SARIF."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .. import code as reader
from ..anchors.verify import Verified, first_line, rows
from ..app import code as app
from ..app.claims import claim, unclaim
from ..core.errors import DONE, FAILURE, UsageError
from ..core.json import dumps
from ..core.text import counted, one_line
from ..core.times import parse_since
from ..core.vocabulary import BROKEN
from ..system.programs import Tidying
from ..terminal import write
from ..terminal.text import anchor_place, bold, counts_text, cut, dim, each
from .command import argument, command, exclusive, option
from .session import ids_from

if TYPE_CHECKING:
    from .session import Session


@command("index [options] [FOLDER]", settings=("index_max_file",))
def index(
    session: Session,
    folder: str = argument("[FOLDER]", default="", complete="files"),
    *,
    no_history: bool = option("--no-history", "do not read the history"),
    cochanges: bool = option("--cochanges", "read only the history, completely"),
    since: str = option("--since DATE|AGE", "with --cochanges: only later commits", ""),
) -> None:
    """Add the files, symbols, imports and calls of a repository to the graph.

    Files (file-src/auth.py) and functions, classes, types and constants
    (symbol-src/auth.py::Login.check) become nodes. The next run reads only changed files. The
    history is read once a day, for files that change together and for commit messages. No program
    of the repository is run.

    \b
    lore index src
    lore index --cochanges --since "3 months ago"
    """
    if cochanges or since:
        exclusive(cochanges=True, FOLDER=folder, no_history=no_history)
        bar = session.progress("reading the history", kept="the co-changes are as they were")
        since = parse_since(since) if since else ""
        with session.engine() as engine, bar:
            row = app.analyze_cochanges(engine, since=since, progress=bar.stage).to_dict()
        session.say(row.pop("notes"))
        session.output.one(row, counts_text)
        return
    left_out: list[tuple[str, str]] = []
    kept = "the files so far are kept, the next 'lore index' goes on"
    bar = session.progress("indexing", kept=kept)
    gc.disable()  # names and edges live to the end: to search them takes as long as the rest
    with Tidying(), session.engine() as engine, bar:
        found = app.index(
            engine,
            folder,
            history=not no_history,
            progress=bar.show,
            stage=bar.stage,
            left_out=lambda path, why: left_out.append((path, why)),
        )
    session.say_skipped(left_out)
    session.output.one(found, _index_text)
    counts = {name: found[name] for name in ("added", "changed", "removed")}
    session.tell("post-index", [counts] if any(counts.values()) else [])


@command("anchor [options] ID [FILE]")
def anchor(
    session: Session,
    id: str = argument("ID", complete="ids"),
    file: str = argument("[FILE]", default="", complete="files"),
    *,
    glob: bool = option("--glob", "FILE is a pattern: 'src/**/*.py'"),
    hash: bool = option("--hash", "anchor to the content of the file"),
    symbol: str = option("--symbol NAME", "anchor to a symbol: check or Login.check", ""),
    remove: bool = option("--remove", "remove the anchors to FILE or to this rule"),
    rule: str = option("--rule PATTERN", "an ast-grep pattern, or FILE.yml with a rule", ""),
    expect: str = option("--expect HOW", "matches of the rule: none, all (of --of), some", ""),
    of: str = option("--of PATTERN", "check only places that match", ""),
    lang: str = option("--lang NAME", "the language of the rule", ""),
    inside: str = option("--in GLOB", "only in these files", ""),
    left_out: tuple[str, ...] = option("--except GLOB…", "not in these files"),
) -> None:
    """Anchor a record to code; without FILE, list the anchors.

    An anchor stores the present code. 'lore verify' compares, and search results show the verdict:
    valid; relocated (moved, unchanged); drifted (changed); violated (a rule); invalid (missing).
    FILE:10-20 anchors to lines, FILE::Login::check to a symbol.

    A rule says which code must or must not exist; $X matches a single node, $$$ any number.

    \b
    lore anchor decision-1a2b3c4d src/auth.py --symbol Login.check
    lore anchor decision-1a2b3c4d --rule 'session.save($X)' --in 'src/**' --expect none
    """
    kind = exclusive(rule=rule, glob=glob, hash=hash, symbol=symbol)[2:]
    exclusive(rule=rule, FILE=file)
    of_rule: dict[str, Any] = {"of": of, "lang": lang, "inside": inside, "left_out": left_out}
    of_rule["expect"] = expect
    if any(of_rule.values()) and (remove or not rule):
        needs = "--of, --lang, --in, --except and --expect go with --rule PATTERN"
        raise UsageError(f"{needs}, without --remove")
    if not file and not rule and (kind or remove):
        raise UsageError(f"--{kind or 'remove'} needs a FILE")
    here = os.getcwd()
    with session.engine() as engine:
        if rule and remove:
            found = unclaim(engine, id, rule, here=here)
        elif rule:
            found = [claim(engine, id, rule, here=here, **of_rule)]
        elif remove:
            found = app.unanchor(engine, id, file, kind, symbol, here=here)
        elif file:
            found = [app.anchor(engine, id, file, kind, symbol, here=here)]
        else:
            found = app.anchors_of(engine, id)
    if remove or not (file or rule):
        session.output.list(found, each(_anchor_text, "no anchors\n"))
    else:
        session.output.one(found[0], _anchor_text)


@command("verify [options] [ID…]")
def verify(
    session: Session,
    ids: tuple[str, ...] = argument("[ID…]", complete="ids"),
    *,
    broken: bool = option("--broken", "only drifted, violated and invalid anchors"),
    fail: bool = option("--fail", "like --broken; exit 1 unless all are known violations"),
    report: str | None = option("--as FORM", "like --broken, as sarif", choices=("sarif",)),
) -> int:
    """Compare anchors with the present code, and store the verdicts.

    If code was changed or removed, the record is linked to that commit; 'lore restore ID' accepts
    the present code. A lone - reads ids from stdin.

    \b
    lore stale --fail --text
    """
    wanted = ids_from(ids, "verify") if ids else []
    broken = broken or fail or bool(report)
    form = session.form_given()
    exclusive(**{"as": report, form: form})
    with session.engine() as engine:
        total = len(engine.store.anchors.live([*map(engine.store.complete_id, wanted)]))
        with session.progress("verifying", total, kept="the verdicts are as they were") as advance:
            found = app.verify(engine, wanted, advance) if wanted or not ids else Verified()
        shown = [new for _, new in found.found if not broken or new.verdict in BROKEN]
        printed = rows(engine.store, shown, found.claims)
        if report:
            for anchor, row in zip(shown, printed, strict=True):
                row["line"] = first_line(engine.store, anchor, reader)
    session.say(found.notes)
    if found.found and not broken:
        counts = [f"{count} {verdict}" for verdict, count in found.counts().items() if count]
        session.say([f"{counted(len(found.found), 'anchor')}: {', '.join(counts)}"])
    if report:
        write(sarif(printed))
    elif broken:
        session.output.list(printed, each(_broken_text, "everything holds\n"))
    else:
        session.output.list(printed, each(_anchor_text, "no anchors\n"))
    return FAILURE if fail and any(row.get("new", True) for row in printed) else DONE


def _index_text(row: dict[str, Any]) -> str:
    counts = {name: count for name, count in row.items() if isinstance(count, int)}
    parts = {name: part for name, part in row.items() if isinstance(part, dict) and part}
    return counts_text(counts) + "".join(f"{name}: {counts_text(parts[name])}" for name in parts)


def _broken_text(row: dict[str, Any]) -> str:
    what = f"{bold(row['id'])} {cut(row['title'])}"
    return "".join(
        f"{one['file']}:{one['line']}: {what}{'' if one['new'] else dim(' (known)')}\n"
        for one in row.get("places") or ()
    ) or _anchor_text(row)


def _anchor_text(row: dict[str, Any]) -> str:
    reason = f" ({row['reason']})" if row["reason"] else ""
    state = "removed" if row.get("state") == "removed" else row["verdict"]
    return (
        f"{state:<9}  {bold(row['id'])}  {row['kind']} {anchor_place(row)}"
        f"{dim('  ' + cut(row['title']) + reason)}\n"
    )


def sarif(rows: Sequence[dict[str, Any]]) -> str:
    """Return broken anchors as SARIF 2.1.0 of OASIS: a rule a record, a result a place."""
    titles = {row["id"]: row["title"] for row in rows}
    rules = [{"id": id, "shortDescription": {"text": title or id}} for id, title in titles.items()]
    results = []
    for row in rows:
        file = "" if row["kind"] in ("rule", "glob") else row["path"]
        whole = {"file": file, "line": row["line"], "new": row.get("new", True)}
        said = f"{row['title']} ({row['verdict']}: {row.get('claim') or row['reason'] or ''})"
        for one in row.get("places") or [whole]:
            location = {
                "artifactLocation": {"uri": quote(one["file"]), "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": one["line"]},
            }
            results.append(
                {
                    "ruleId": row["id"],
                    "level": "error" if one["new"] else "note",
                    "baselineState": "new" if one["new"] else "unchanged",
                    "message": {"text": one_line(said)},
                    "locations": [{"physicalLocation": location}] if one["file"] else [],
                }
            )
    run = {"tool": {"driver": {"name": "lore", "rules": rules}}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}) + "\n"
