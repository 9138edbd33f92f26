"""One file and the store: afterwards both have what either had, and plugins hear of it."""

from __future__ import annotations

import os
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..core.errors import LoreError, NoStore, StoreError
from ..core.lines import lines_of, record_line
from ..core.model import edge_name
from ..core.text import counted
from ..core.vocabulary import RECORDS
from ..formats.jsonl import Imported, LineNames, import_lines
from ..formats.knowledge import FILE as KNOWLEDGE
from ..formats.knowledge import KnowledgeFile
from ..formats.lines import export_lines
from ..formats.merge_lines import both_sides, marker_of
from ..store import FILE, create_store, open_store, scratch_store
from ..system.atomic_write import write_whole
from ..system.files import SHARED
from ..system.project_files import real_place
from ..system.projects import trust
from ..system.stores import claim, former
from .engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..core.settings import Settings
    from ..store import Store


_TRIES = 5
"""How often a file is read that changes meanwhile."""

_NOTHING = {"added": 0, "updated": 0, "removed": 0}
_ADVICE = "nothing was changed; mend the line, then run 'lore sync' again"


class Synced(NamedTuple):
    """What came in, the lines that went out (``added``, ``updated``, ``removed``), and True if the
    file had conflict markers of git."""

    came_in: Imported
    went_out: dict[str, int]
    resolved: bool


def sync(engine: Engine, path: str, *, out: bool = True) -> Synced:
    """Merge a file, which need not be there, into the store; with ``out``, write it back if its
    bytes change.

    Raises:
        LoreError: a line is broken, or the file is not one that may be read; nothing is changed.
    """
    store = engine.store
    for _ in range(_TRIES):
        file = _File(path, record_line(engine.settings.max_text))
        digest, resolved = file.state()
        came_in = Imported() if digest == _digest(()) else import_lines(
            store, engine.settings, engine.embedder, both_sides(file), change="sync", by_hand=True,
            names=LineNames(path, advice=_ADVICE),
        )  # fmt: skip
        if not out:
            return Synced(came_in, _NOTHING, resolved)
        with store.snapshot():
            known, records = KnowledgeFile(path, file), store.types.require([RECORDS])
            new = [*known.lines(export_lines(store, records, shared=True))]
            if file.state()[0] != digest:
                continue  # what has come meanwhile is not in the store yet
            went_out = _NOTHING
            if _digest(line.encode() for line in new) != digest:
                went_out = known.changes(new)
                write_whole(path, new)
        return Synced(came_in, went_out, resolved)
    raise LoreError(f"{path}: changes all the time: try again when nobody writes it")


class _File:
    """A file's lines, of ``longest`` bytes at most, read again by each loop."""

    def __init__(self, path: str, longest: int) -> None:
        self._path, self._place, self._longest = path, real_place(path), longest
        if os.path.lexists(self._place) and not os.path.isfile(self._place):
            raise LoreError(f"{path}: is not a plain file: name another one")

    def __iter__(self) -> Iterator[bytes]:
        try:
            with open(self._place, "rb") as file:
                yield from lines_of(file, self._longest)
        except FileNotFoundError:
            return
        except OSError as error:
            raise LoreError(f"{self._path}: {error.strerror}: nothing was changed") from None

    def state(self) -> tuple[bytes, bool]:
        """Return the digest of the lines, and True if there are conflict markers of git."""
        return _digest(self), any(map(marker_of, self))


def _digest(lines: Iterable[bytes]) -> bytes:
    digest = sha256()
    for line in lines:
        digest.update(line)
    return digest.digest()


def first_store(project: str, settings: Settings, say: Callable[[str], None]) -> Store:
    """Make the store of a project that shares knowledge, read its file, and open the store.

    Where the data folder cannot be written, the store is one in memory that takes no writes.
    NoStore, if the project shares nothing, says what to do.
    """
    path, folder = os.path.join(project, SHARED, KNOWLEDGE), ""
    inside = os.path.join(project, SHARED, FILE)
    if os.path.lexists(inside):
        raise NoStore(
            f"{inside}: a database in a project is not opened: if it is yours, run 'lore init', "
            f"then 'LORE_DIR={os.path.dirname(inside)} lore export | lore import -'"
        )
    earlier = earlier_store(project)
    if not os.path.lexists(path):
        raise NoStore(f"no store for {project}: run 'lore init' there{earlier}")
    try:
        folder = claim(project)
        read = f"{counted(_make(folder, path, project, settings), 'line')} of {SHARED}/{KNOWLEDGE}"
        say(f"made a store for {project}, with {read}{earlier}")
        store = open_store(folder, busy_timeout=settings.busy_timeout)
        store.project = project
        return store
    except (StoreError, OSError):
        if folder and os.path.exists(os.path.join(folder, FILE)):
            raise
        store = scratch_store(os.path.join(folder or project, FILE))
        count = _read(store, path, project, settings)
        store.refuse_writes()
        say(f"your data folder cannot be written: answering from memory, with "
            f"{counted(count, 'line')} of {SHARED}/{KNOWLEDGE}")  # fmt: skip
        return store


def earlier_store(project: str) -> str:
    """Return the end of a message if an earlier project of this folder has left a store."""
    name, original = former(project)
    if original:
        return f"; {original} keeps its own: 'lore store adopt {name}' works when that is gone"
    return name and f"; another project was here: 'lore store adopt {name}' brings its records"


def make_store(folder: str, project: str, settings: Settings) -> int:
    """Make a project's store in a folder that is bound to it; return how many lines it shares."""
    path = os.path.join(project, SHARED, KNOWLEDGE)
    if os.path.lexists(path):
        return _make(folder, path, project, settings)
    create_store(folder, busy_timeout=settings.busy_timeout).close()
    trust(folder)  # all that it will hold is the user's own
    return 0


def _make(folder: str, path: str, project: str, settings: Settings) -> int:
    """Fill a store beside its place, then put it there whole."""
    with TemporaryDirectory(prefix=".new-", dir=folder) as beside:
        with create_store(beside) as store:
            count = _read(store, path, project, settings)
        place = os.path.join(folder, FILE)
        if os.path.exists(place) and not os.path.getsize(place):
            os.unlink(place)
        try:
            os.link(os.path.join(beside, FILE), place)
        except FileExistsError:
            return count  # another command was first
    return count


def _read(store: Store, path: str, project: str, settings: Settings) -> int:
    store.project = project
    with store.faults:
        done = sync(Engine(store, settings, project), path, out=False)
    return done.came_in.added + done.came_in.updated


def last_command(store: Store) -> int:
    """Return the number of the last command that changed the store; 0 before the first."""
    found = store.history.commands(1)
    return found[0].id if found else 0


def changed_by(store: Store, name: str, before: int) -> list[dict[str, Any]]:
    """Return rows of the nodes and edges that commands of this name have changed.

    ``before`` is the number of the last command before these. The id of an edge is ``from relation
    to``; ``state`` is ``added`` or ``updated``.
    """
    history = store.history
    rows: dict[str, str] = {}
    for command in history.commands():
        if command.id <= before:
            break
        if command.name == name:
            nodes, edges = history.added_by(command.id)
            added = [*nodes, *map(edge_name, edges)]
            left = [
                *(past.node.id for past in history.left_by(command.id)),
                *(edge_name(edge.key) for edge in history.edges_left_by(command.id)),
            ]
            rows = {**dict.fromkeys(left, "updated"), **dict.fromkeys(added, "added"), **rows}
    return [{"id": id, "state": state} for id, state in rows.items()]
