"""Sync the store with a shared file, and create stores with one."""

from __future__ import annotations

import os
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..core.errors import LoreError, NoStore, StoreError, first_of
from ..core.json import dumps, loads, record_line
from ..core.model import Anchor, Node, edge_name
from ..core.text import counted
from ..formats import is_as_read
from ..formats.export import FILE as KNOWLEDGE
from ..formats.export import shared_lines
from ..formats.jsonl import MOST_BAD, Imported, import_lines
from ..formats.lines import marker_of
from ..formats.merge_file import both_sides
from ..store import FILE, create_store, open_store
from ..store.changes import row_of_thing
from ..system.atomic_write import write_whole
from ..system.files import SHARED, trust
from ..system.git import Git
from ..system.project_files import real_place
from ..system.stores import claim, former
from . import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..core.settings import Settings
    from ..store import Store

_TRIES = 5  # maximum reads of a file that changes meanwhile
_LARGEST = 1 << 30  # maximum bytes of the shared file in memory; the rest is not read
_LINE = 500  # bytes that a line counts besides the text: an empty line takes time, too
_NAMED = 20  # maximum stored faults of bad lines
_LEFT_OUT = "left_out"
"""Key in meta of the bad lines of the shared file: [[place, fault], …]."""


class Synced(NamedTuple):
    """The import, the numbers of lines that were ``added`` to the file and ``removed``, and True if
    the file had conflict markers of git."""

    came_in: Imported
    went_out: dict[str, int]
    resolved: bool


def sync(engine: Engine, path: str, *, out: bool = True, dry_run: bool = False) -> Synced:
    """Merge a file, which may be missing, into the store; with ``out``, write changed lines.

    Lines for an empty store, without ``out``, cannot be undone. A bad line is not removed, and is
    reported once. A file with an overlong line, with ``MOST_BAD`` bad lines or beyond a gigabyte is
    read up to there, and not written. ``dry_run`` changes nothing.

    Raises:
        LoreError: the file cannot be read.
    """
    if not dry_run:
        return _sync(engine, path, write_whole if out else None)
    idle = engine.changed([("embedder", "none")], "dry run")
    with suppress(_TakeBack), engine.store.transaction():
        done = _sync(idle, path, lambda *_: None)
        raise _TakeBack
    return done


class _TakeBack(Exception):
    """Ends a dry run."""


def _sync(engine: Engine, path: str, write: Callable[[str, list[bytes]], None] | None) -> Synced:
    store, longest = engine.store, record_line(engine.settings.max_text)
    command = "sync" if write is not None or store.nodes.count_by_type() else ""
    for _ in range(_TRIES):
        lines, is_cut = _lines(path, longest)
        resolved = any(map(marker_of, lines))
        came_in = Imported()
        if lines:
            given = (store, engine.settings, engine.embedder, both_sides(lines))
            came_in = import_lines(*given, name=path, change=command, by_hand=True, skip_bad=True)
        _drop_reported(store, came_in)
        if write is None or is_cut or len(came_in.left) == MOST_BAD:
            return Synced(came_in, _changes([], []), resolved)
        with store.snapshot():
            shared = shared_lines(store, _pages_of_git(store, engine.root))
            new = [*dict.fromkeys([*(line.encode() for line in shared), *came_in.left])]
            if _lines(path, longest) == (lines, is_cut):  # else: new lines are not in the store yet
                if b"".join(new) != b"".join(lines):
                    write(path, new)
                return Synced(came_in, _changes(lines, new), resolved)
    raise LoreError(f"{path}: changes all the time: try again later")


def _drop_reported(store: Store, came_in: Imported) -> None:
    """Drop the faults of bad lines that the last sync reported, or store them for doctor."""
    found = dumps(came_in.skipped[:_NAMED])
    if found == (store.meta.get(_LEFT_OUT) or "[]"):
        came_in.skipped = []
    elif store.writable:
        with store.transaction():
            store.meta.set(_LEFT_OUT, found)


def reported_lines(store: Store) -> list[str]:
    """Return a message about each bad line of the last sync."""
    return [": ".join(one) for one in loads(store.meta.get(_LEFT_OUT) or "[]")]


def _lines(path: str, longest: int) -> tuple[list[bytes], bool]:
    """Return the lines of a file up to the first line of more than ``longest`` bytes, and True if
    there are more."""
    place, lines, room = real_place(path), list[bytes](), _LARGEST
    if os.path.lexists(place) and not os.path.isfile(place):
        raise LoreError(f"{path}: is not a plain file: name a file")
    try:
        with open(place, "rb") as file:
            while line := file.readline(longest + 1):
                lines.append(line)
                room -= len(line) + _LINE
                if len(line) > longest or room < 0:
                    return lines, True
    except FileNotFoundError:
        pass
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: the store is unchanged") from None
    return lines, False


def _pages_of_git(store: Store, root: str) -> set[str]:
    """Return the documents that are as their files in git, which ``lore import`` brings."""
    rows = store.documents.all("")
    if not rows or not root:
        return set()
    try:
        tracked = {*Git(root).fields("ls-files", "-z", "--cached")}
    except (LoreError, TimeoutError):
        return set()
    nodes = store.nodes.get_many([row.node_id for row in rows if row.path in tracked])
    found = ((nodes.get(row.node_id), row) for row in rows)
    return {node.id for node, row in found if node and is_as_read(node, row)}


def _changes(old: Iterable[bytes], new: Iterable[bytes]) -> dict[str, int]:
    before, after = {*filter(bytes.strip, both_sides(old))}, {*new}
    return {"added": len(after - before), "removed": len(before - after)}


def first_store(project: str, settings: Settings, say: Callable[[Iterable[str]], None]) -> Store:
    """Make the store of a project that shares knowledge, read its file, and open the store;
    ``say`` gets notes.

    Raises:
        NoStore: the project has no shared file.
    """
    path = os.path.join(project, SHARED, KNOWLEDGE)
    inside = os.path.join(project, SHARED, FILE)
    if os.path.lexists(inside):
        then = f"'LORE_DIR={os.path.dirname(inside)} lore export | lore import -'"
        why = "a database in a project is not opened"
        raise NoStore(f"{inside}: {why}: run 'lore init', then {then}")
    earlier = earlier_store(project)
    if not os.path.lexists(path):
        raise NoStore(f"no store for {project}: run 'lore init' there{earlier}")
    folder = claim(project)
    read, fault = make_store(folder, project, settings)
    say(filter(None, (f"made a store for {project}, with {read}{earlier}", fault)))
    return open_store(folder, busy_timeout=settings.busy_timeout)


def earlier_store(project: str) -> str:
    """Return the end of a message about the store of an earlier project of this folder."""
    name, original = former(project)
    if original:
        return f"; {original} keeps its own: 'lore store adopt {name}' works when that is gone"
    return name and f"; another project was here: 'lore store adopt {name}' brings its records"


def make_store(folder: str, project: str, settings: Settings) -> tuple[str, str]:
    """Make a project's store in a bound folder; return a count of shared lines, empty without the
    shared file, and a fault.

    The store is filled in a temporary folder, then linked.
    """
    path, place = os.path.join(project, SHARED, KNOWLEDGE), os.path.join(folder, FILE)
    is_shared, read, faults = os.path.lexists(path), "", list[str]()
    with TemporaryDirectory(prefix=".new-", dir=folder) as beside:
        with create_store(beside) as store:
            if is_shared:
                store.project = project
                done = Imported()
                try:
                    with store.faults:
                        done = sync(Engine(store, settings, project), path, out=False).came_in
                except StoreError:
                    raise
                except LoreError as error:
                    faults = [str(error)]
                faults += [f"{place} was left out: {why}" for place, why in done.skipped]
                read = f"{counted(done.added + done.updated, 'line')} of {SHARED}/{KNOWLEDGE}"
        if os.path.exists(place) and not os.path.getsize(place):
            os.unlink(place)
        with suppress(FileExistsError):  # a second command was faster
            os.link(os.path.join(beside, FILE), place)
    if not is_shared:
        trust(folder)  # it will hold only the user's own records
    return read, first_of(faults, 1)


def changed_by(store: Store, name: str, before: int) -> list[dict[str, Any]]:
    """Return ``{id, state}`` of the nodes and edges that commands of this name have changed since
    the command ``before``. The id of an edge is ``from relation to``; ``state`` is ``added`` or
    ``updated``.
    """
    changes, states = store.changes, dict[str, str]()
    for command in changes.commands(before):
        if command.name == name:
            added, changed = changes.things(command.id)
            ends = {**dict.fromkeys(changed, "updated"), **dict.fromkeys(added, "added")}
            states = {**ends, **states}
    rows = [(row_of_thing(thing), state) for thing, state in states.items()]
    return [
        {"id": row.id if isinstance(row, Node) else edge_name(row.key), "state": state}
        for row, state in rows
        if not isinstance(row, Anchor)
    ]
