"""anchor, verify, stale, and the analyses of a repository: what ties records to code."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ...anchors.attach import place_anchor, remove_anchors
from ...anchors.definitions import find_definitions
from ...anchors.fingerprint import line_numbers
from ...anchors.project import Project
from ...anchors.project_paths import root_to_keep
from ...anchors.verdict import BROKEN
from ...anchors.verify import Verified, judge_kept, require_anchors, rows, verify
from ...core.errors import DONE, FAILURE, UsageError
from ...core.text import counted
from ...embed.ahead import Ahead
from ...indexing.indexer import write_nodes
from ...records.records import split_location
from ...store.sqlite.anchors import Anchor
from ...system.git import Git
from ...terminal.text import anchors_text
from ..runtime import ids_from
from .shared import Session, output_options, progress_bar, project_root, setting_options

if TYPE_CHECKING:
    from ...anchors.definitions import FindSymbol
    from ...code.history.cochanges import CoChanges
    from ...store import Store


@click.command("anchor", add_help_option=False)
@click.argument("id")
@click.argument("file", default="")
@click.option("--glob", is_flag=True)
@click.option("--hash", is_flag=True)
@click.option("--symbol", default="")
@click.option("--lines", default="")
@click.option("--remove", is_flag=True)
@output_options
@setting_options("embedder", "busy_timeout")
def anchor(id: str, file: str, remove: bool, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        if not file:
            _refuse(options, remove)
            found = store.anchors.of(store.nodes.require(id).id)
            session.output.list(rows(store, found), anchors_text)
            return
        project = Project(project_root())
        wanted = _wanted(store, project, id, file, remove=remove, **options)
        ahead = Ahead(store, lambda: session.embedder(store))

        def change() -> list[tuple[Anchor, str]]:
            if remove:
                return [(one, "removed") for one in remove_anchors(store, wanted)]
            return [place_anchor(
                store, lambda nodes: write_nodes(store, ahead.given, nodes),
                project, wanted, _finder(project, wanted),
            )]  # fmt: skip

        changed = ahead.settled(change)
        found_rows = [
            {**row, "state": state}
            for row, (_, state) in zip(
                rows(store, [one for one, _ in changed]), changed, strict=True
            )
        ]
    if remove:
        session.output.list(found_rows, anchors_text)
    else:
        session.output.one(found_rows[0], lambda row: anchors_text([row]))


@click.command("verify", add_help_option=False)
@click.argument("ids", nargs=-1)
@click.option("--changed", is_flag=True)
@output_options
@setting_options("embedder", "busy_timeout")
def verify_command(ids: tuple[str, ...], changed: bool, **options: Any) -> None:
    session = Session(options)
    wanted = ids_from(ids, "verify") if ids else []
    with session.open() as store, store.faults:
        require_anchors(store, wanted)
        found = Verified() if ids and not wanted else _verified(session, store, wanted)
        shown = [new for old, new in found.found
                 if not changed or (old.key, old.verdict) != (new.key, new.verdict)]  # fmt: skip
        found_rows = rows(store, shown)
    session.say(found.notes)
    session.say([_summary(found)])
    session.output.list(found_rows, anchors_text)


@click.command("stale", add_help_option=False)
@click.option("--fail", is_flag=True)
@click.option("--kept", is_flag=True)
@output_options
@setting_options("embedder", "busy_timeout")
def stale(fail: bool, kept: bool, **options: Any) -> int:
    session = Session(options)
    with session.open() as store, store.faults:
        found = judge_kept(store) if kept else _verified(session, store, [])
        broken = rows(store, [new for _, new in found.found if new.verdict in BROKEN])
    session.say(found.notes)
    session.output.list(broken, _stale_text)
    return FAILURE if fail and broken else DONE


@click.command("graph-analyze-cochanges", add_help_option=False)
@click.option("--since", default="")
@click.option("--commits", is_flag=True)
@output_options
@setting_options("cochange_max_files", "cochange_partners", "embedder", "busy_timeout")
def cochanges_command(since: str, commits: bool, **options: Any) -> None:
    from ...code.history.cochanges import analyze_cochanges

    session = Session(options)
    root = project_root()
    Git(root).require()
    since = _since(root, since)
    gc.disable()  # many small objects and no cycles among them
    with session.open() as store, store.faults:
        found = analyze_cochanges(
            store, session.settings, lambda: session.embedder(store), root, since=since,
            keep_commits=commits,
        )  # fmt: skip
    session.say(found.notes)
    session.say(_left_out(found, session.settings.cochange_max_files))
    row = found.to_dict()
    del row["notes"]
    session.output.one(row, _counts_text)


@click.command("graph-analyze-imports", add_help_option=False)
@click.option("--path", default="")
@output_options
@setting_options("index_max_file", "embedder", "busy_timeout")
def imports_command(path: str, **options: Any) -> None:
    from ...code.index import below_root, index

    session = Session(options)
    root = project_root()
    below = below_root(root, path) if path else ""
    with session.open() as store, store.faults:
        found = index(store, session.settings, lambda: session.embedder(store), root, below=below)
    unresolved = {
        reason.removeprefix("imports "): count
        for reason, count in found["unresolved"].items()
        if reason.startswith("imports ")
    }
    row = {"files": found["files"], "imports": found["edges"].get("imports", 0), **unresolved}
    session.output.one(row, _counts_text)


COMMANDS = (anchor, verify_command, stale, cochanges_command, imports_command)


# --- what the words of a command line mean


def _refuse(options: dict[str, Any], remove: bool) -> None:
    given = [name for name in ("glob", "hash", "symbol", "lines") if options[name]]
    if given or remove:
        raise UsageError(f"--{given[0] if given else 'remove'} needs a FILE: "
                         "see 'lore anchor --help'")  # fmt: skip


def _wanted(
    store: Store, project: Project, id: str, file: str, *, remove: bool, glob: bool, hash: bool,
    symbol: str, lines: str, **_: Any,
) -> Anchor:  # fmt: skip
    kinds = {"glob": glob, "hash": hash, "symbol": symbol, "lines": lines}
    given = [name for name, value in kinds.items() if value]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} exclude each other: give one")
    path, first, last = split_location(file)
    if first is not None and not given:
        given, lines = ["lines"], f"{first}-{last}"
        file = path
    if lines and line_numbers(lines) == (0, 0):
        raise UsageError(f"--lines is '{lines}': give FIRST-LAST, as 10-20")
    if lines:
        first, last = line_numbers(lines)
        lines = f"{first}-{last}"
    kind = given[0] if given else "" if remove else "file"
    path = project.glob(file) if kind == "glob" else project.relative(file)
    return Anchor(id, kind, path, symbol or lines, root_to_keep(store, project.root))


def _since(root: str, text: str) -> str:
    """A time as git takes it: git's own words (``3 months ago``), or lore's (``90d``).

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


def _verified(session: Session, store: Store, ids: Sequence[str]) -> Verified:
    count = len(store.anchors.live(ids))
    with progress_bar("verifying", count) as advance:
        return verify(store, lambda: session.embedder(store), ids, parse=_parse, progress=advance)


def _parse(root: str, paths: Sequence[str]) -> FindSymbol:
    from ...code.find import find_by_grammar  # costs every other command of this family nothing

    return find_by_grammar(root, paths)


def _finder(project: Project, wanted: Anchor) -> FindSymbol:
    if wanted.kind != "symbol":
        return find_definitions
    from ...code.find import find_best

    return find_best(project.root, wanted.path)


def _summary(found: Verified) -> str:
    counts = [f"{count} {verdict}" for verdict, count in found.counts().items() if count]
    number = counted(len(found.found), "anchor")
    return f"{number}: {', '.join(counts)}" if counts else "no anchors"


def _left_out(found: CoChanges, most: int) -> list[str]:
    notes = []
    if found.bulk:
        notes.append(
            f"{counted(found.bulk, 'commit')} of more than {most} files: that says nothing"
        )
    if found.unusable:
        notes.append(f"{counted(found.unusable, 'file')} left out: the name cannot be printed")
    if found.forgotten:
        notes.append(f"{counted(found.forgotten, 'file')} left out, since forgotten")
    return notes


def _stale_text(found: Sequence[dict[str, Any]]) -> str:
    return anchors_text(found) if found else "everything holds\n"


def _counts_text(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in row.items()) + "\n"
