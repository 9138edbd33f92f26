"""Commands that bring in and take out: import, export, sync, merge-file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ..app.sync import changed_by
from ..app.sync import sync as sync_file
from ..core.errors import LoreError, UsageError, first_of
from ..core.json import lines_of, record_line, set_aside
from ..core.text import counted
from ..formats import is_page
from ..formats.export import FILE, export_lines, read_state, state_lines
from ..formats.jsonl import Imported, LineImport
from ..formats.merge_file import merge_files
from ..graph.ontology import misfits_among
from ..indexing.embed import embed_missing
from ..system import require_part
from ..system.atomic_write import write_whole
from ..system.files import SHARED
from ..system.plugins import Events
from ..system.project_files import real_place
from ..terminal import note, write
from ..terminal.text import counts_text
from .command import TYPES, argument, command, exclusive, option
from .session import project_folder, project_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..formats.import_documents import DocumentImport
    from ..records.merge import Conflict
    from ..store import Store
    from .session import Session

COMPACT_FROM = 1000  # changed nodes and edges after which an import compacts the store
_MOST_NAMED = 10  # maximum number of records in a message of a merge
_OUTCOMES = {
    "back": "deleted for good here, and edited elsewhere after that: back again",
    "purged": "deleted for good elsewhere",
    "kept": "deleted for good elsewhere, and edited after that: kept",
    "edited": (
        "deleted for good elsewhere, and edited after that: only the edits are shared; "
        "'lore restore ID' shares all of it, 'lore forget --purge ID' deletes it"
    ),
    "proposed": (
        "deleted for good elsewhere, and forgotten here: 'lore forget --purge --proposed' "
        "deletes it, 'lore undo ID' brings it back"
    ),
    "forgotten": "still forgotten: 'lore undo ID' brings it back",
}
"""Notes on the outcomes of a merge."""


@command("import [options] PATH…")
def import_paths(
    session: Session,
    paths: tuple[str, ...] = argument("PATH…", complete="files"),
    *,
    type: str = option("--type TYPE", "type of the documents", "doc", complete="types"),
    prune: bool = option("--prune", "forget documents without a file"),
    ours: bool = option("--ours", "in a conflict keep the version here"),
    theirs: bool = option("--theirs", "in a conflict take theirs; default: the later"),
    skip_bad: bool = option("--skip-bad", "skip broken lines or files, and name them"),
    new_types: bool = option("--new-types", "declare unknown types"),
    new_relations: bool = option("--new-relations", "declare unknown relations"),
) -> None:
    """Import JSON lines, documents, or folders of documents.

    Files in .md, .markdown, .rst, .adoc, .asciidoc and .txt become nodes, and links between them
    edges; broken files of a folder are skipped and named. Other files, and - (stdin), are JSON
    lines of 'lore export': the newer version of a record wins.

    \b
    lore import docs/decisions --type decision --prune
    """
    given: dict[str, Any] = {
        "prefer": exclusive(ours=ours, theirs=theirs).removeprefix("--"),
        "skip_bad": skip_bad,
        "new_types": new_types,
        "new_relations": new_relations,
        "type": type,
        "prune": prune,
    }
    root = project_root()
    for path in paths:
        if path != "-" and not (real_place(path) and os.path.exists(path)):
            raise LoreError(f"{path}: no such file: check the name")
    documents = [path for path in paths if os.path.isdir(path) or is_page(path)]
    files = [path for path in paths if path not in documents]
    if not documents and (prune or type != "doc"):
        raise UsageError("--type and --prune need documents: remove these options")
    size = sum(os.path.getsize(path) for path in files if os.path.isfile(path))
    events = Events(session.settings)
    with session.open() as store, store.faults:
        before = store.changes.last_command()
        with session.progress("importing", size, kept="nothing was imported") as advance:
            parts: list[LineImport | DocumentImport] = []
            settings, given["progress"] = session.settings, advance
            for path in files:
                name, lines = "" if path == "-" else path, _lines(session, path)
                parts.append(LineImport(store, settings, lines, name=name, **given))
            if documents:
                from ..formats.import_documents import DocumentImport

                parts.append(DocumentImport(store, settings, documents, root, **given))
            with store.transaction("import"):
                total = _write(store, parts)
            embed_missing(store, session.engine(store).embedder, total.notes, bulk=True)
        changes = changed_by(store, "import", before) if events.has_plugins("post-import") else []
        session.wipe(store)
        if total.added + total.updated >= COMPACT_FROM:
            store.compact()
    say_imported(session, total)
    counts = {name: count for name, count in sorted(vars(total).items()) if isinstance(count, int)}
    conflicting = [conflict.to_dict() for conflict in total.conflicting]
    row = {**counts, "skipped": len(total.skipped), "conflicting": conflicting}
    session.output.one(row, lambda row: counts_text(_counts(row)))
    session.tell("post-import", changes, events)


def _lines(session: Session, path: str) -> Iterable[bytes]:
    """Return the lines of a file; a pipe is read completely before a transaction begins."""

    def read() -> Iterator[bytes]:
        with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as file:
            yield from lines_of(file, record_line(session.settings.max_text))

    return read() if os.path.isfile(path) else set_aside(read())


def _write(store: Store, parts: Iterable[LineImport | DocumentImport]) -> Imported:
    total = Imported()
    for part in parts:
        total.add(part.write())
    total.dangling = len(total.brought.intersection(store.edges.dangling()))
    if misfits := len(misfits_among(store, total.brought)):
        edges = counted(misfits, "edge joins", "edges join")
        total.notes.append(f"{edges} types that the relation does not: 'lore doctor' has them")
    if total.dangling:
        edges = counted(total.dangling, "edge leads", "edges lead")
        total.notes.append(f"{edges} to what is not in the store")
    return total


def _counts(row: dict[str, Any]) -> dict[str, int]:
    shown = row.keys() - {"nodes", "edges", "dangling"}
    return {name: n for name, n in row.items() if n and isinstance(n, int) and name in shown}


@command("export [options] [FILE]", settings=("scope",))
def export(
    session: Session,
    path: str = argument("[FILE]", default="", complete="files"),
    *,
    types: tuple[str, ...] = TYPES,
    state: bool = option("--state", "what this store has, for --since elsewhere"),
    since: str | None = option("--since STATE", "what that store lacks", complete="files"),
) -> None:
    """Export the store as sorted JSON lines, for 'lore import'.

    The type 'records' is everything that people or agents wrote.

    \b
    lore export --type records knowledge.jsonl && git add knowledge.jsonl
    lore export --state | ssh b lore export --since - | lore import -
    """
    exclusive(state=state, since=since is not None, type=types)
    if session.form_given() not in ("", "jsonl"):
        raise UsageError(f"export prints JSON lines: leave --{session.form_given()} out")
    known = set() if since is None else read_state(_lines(session, since), since)
    with session.open() as store, store.faults, store.snapshot():
        every = export_lines(store, store.types.require(types), known)
        lines = state_lines(store) if state else every
        if path not in ("", "-"):
            write_whole(path, lines)
            return
        for line in lines:
            write(line)


@command("sync [options] [FILE|REMOTE]")
def sync(
    session: Session,
    path: str = argument("[FILE|REMOTE]", default="", complete="files"),
    *,
    only_in: bool = option("--in", "read the file, do not write it"),
    dry_run: bool = option("--dry-run", "for a file: only print the changes"),
    all_lines: bool = option("--all", "for a remote: send and read all records again"),
) -> None:
    """Share knowledge by git, with .lore/knowledge.jsonl, or through a hub.

    Merges FILE into the store and writes it back. REMOTE is a hub ('lore hub add'). See also 'lore
    hook install merge' (git merges the file by record) and 'lore hook install sync'.

    \b
    lore sync && git add .lore/knowledge.jsonl
    lore sync team
    """
    is_name = bool(path) and not {"/", "."} & {*path} and not os.path.lexists(path)
    of_remote = is_name or path in session.settings.remotes or "://" in path
    if of_remote and not (only_in or dry_run):
        hub = require_part("hub", "commands")
        _sync(session, lambda store: hub.sync_with_hub(session, store, path, all=all_lines))
    elif of_remote or all_lines:
        raise UsageError("--in and --dry-run are for a file; --all for a remote")
    else:
        if not (path or project_folder()):
            raise LoreError("no project here: run 'lore init', or name the file: 'lore sync FILE'")
        file = path or os.path.join(project_folder(), SHARED, FILE)
        if not (only_in or dry_run):
            os.makedirs(os.path.dirname(os.path.abspath(file)), exist_ok=True)

        def run(store: Store) -> tuple[Imported, dict[str, Any]]:
            done = sync_file(session.engine(store), file, out=not only_in, dry_run=dry_run)
            if done.resolved:
                both = "both sides of git's merge are in the store and in the file"
                done.came_in.notes.append(f"{file}: {both}: 'git add' it")
            return done.came_in, {"out": done.went_out, "file": os.path.abspath(file)}

        _sync(session, run)


def _sync(session: Session, run: Callable[[Store], tuple[Imported, dict[str, Any]]]) -> None:
    """Run a sync that returns imported records and a row; print the row, and call the plugins."""
    events = Events(session.settings)
    with session.open(whole="sync") as store, store.faults:
        before = store.changes.last_command()
        came_in, row = run(store)
        changes = changed_by(store, "sync", before) if events.has_plugins("post-sync") else []
        session.wipe(store)
    say_imported(session, came_in)
    counts = {name: getattr(came_in, name) for name in ("added", "updated", "kept", "conflicts")}
    session.output.one({"in": counts, **row}, synced_text)
    session.tell("post-sync", changes, events)


def say_imported(session: Session, came_in: Imported) -> None:
    """Print conflicts (even with --quiet), notes, and skipped lines."""
    for conflict in came_in.conflicting[:_MOST_NAMED]:
        note(conflict_text(conflict))
    if came_in.conflicting:
        found = counted(len(came_in.conflicting), "conflict")
        hint = "'lore show ID --history' has both states, 'lore undo ID --at N' takes the other one"
        note(f"{found}: {hint}")
    session.say([*outcome_notes(came_in), *came_in.notes])
    session.say_skipped(came_in.skipped)


def conflict_text(one: Conflict) -> str:
    """Return the record and the fields of a conflict, and the side with the later values."""
    side = "here" if one.stands == "ours" else "there"
    other = f"in {one.file}" if one.file else "there"
    fields = f" ({', '.join(one.fields)})" if one.fields else ""
    for name, shown in (("data.", ""), ("tags.", "tag "), ("invalidated_at", "forgotten")):
        fields = fields.replace(name, shown)
    return f"{one.id} was changed here and {other}{fields}: the version {side} stands"


def outcome_notes(came_in: Imported) -> list[str]:
    """Return a note for each outcome, with the first ids."""
    found: dict[str, list[str]] = {}
    for outcome, id in came_in.outcomes:
        found.setdefault(outcome, []).append(id)
    return [f"{first_of(ids, _MOST_NAMED)}: {_OUTCOMES[name]}" for name, ids in found.items()]


def synced_text(row: dict[str, Any]) -> str:
    """Return a line for each direction in which something went."""
    ways = {way: _counts({**row[way], "kept": 0, "known": 0}) for way in ("in", "out")}
    return "".join(f"{way:<4}{counts_text(counts)}" for way, counts in ways.items() if counts)


@command("merge-file [--path PATH] BASE OURS THEIRS")
def merge_file(
    session: Session,
    base: str = argument("BASE", complete="files"),
    ours: str = argument("OURS", complete="files"),
    theirs: str = argument("THEIRS", complete="files"),
    *,
    path: str | None = option("--path PATH", "the file's name in messages"),
) -> None:
    """Merge two exports by record and edge into OURS, as git's merge driver."""
    name = path or ours
    try:
        lines, conflicts = merge_files(*(_lines(session, file) for file in (base, ours, theirs)))
    except LoreError as error:
        raise LoreError(f"{name}: {error}: not merged: correct it, then merge again") from None
    write_whole(ours, lines)
    if conflicts:
        named = first_of(conflicts, _MOST_NAMED)
        note(f"{name}: changed on both sides, the newer version wins: {named}")
