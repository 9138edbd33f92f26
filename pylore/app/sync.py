"""One file and the store: afterwards both have what either had, and plugins hear of it."""

from __future__ import annotations

import os
from hashlib import sha256
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from time import time
from typing import NamedTuple

from ..core.errors import LoreError, NoStore, StoreError
from ..core.lines import RepeatableLines, lines_of, record_line
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
from ..system.git import Git
from ..system.project_files import real_place
from ..system.projects import trust
from ..system.stores import claim, former
from .engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..store import Store


_IN_MEMORY = 32_000_000
"""Bytes of lines that are kept in memory; more go to a file without a name."""

_TRIES = 5
"""How often a file is read that changes meanwhile."""

_SIDES = {"--ours": "this", "--theirs": "the other"}
"""Option of 'git checkout' to our name of a side of a merge."""

_NOTHING = {"added": 0, "updated": 0, "removed": 0}


class Synced(NamedTuple):
    """What came in, the lines that went out (``added``, ``updated``, ``removed``), and True if both
    sides of a merge came in that git could not make."""

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
        read = _Source(path, record_line(engine.settings.max_text))
        came_in = Imported() if read.is_empty else import_lines(
            store, engine.settings, engine.embedder, read.lines(), change="sync", by_hand=True,
            names=read.names,
        )  # fmt: skip
        if not out:
            return Synced(came_in, _NOTHING, read.is_in_conflict)
        with store.snapshot(), _new_lines(engine, read) as new:
            if not read.is_unchanged():
                continue  # what has come meanwhile is not in the store yet
            went_out = _NOTHING
            if _digest(new) != read.digest:
                new.seek(0)
                went_out = read.said.changes(new)
                new.seek(0)
                write_whole(path, new)
        return Synced(came_in, went_out, read.is_in_conflict)
    raise LoreError(f"{path}: changes all the time: try again when nobody writes it")


class _Source:
    """The file as it is now, and where git has not merged it the sides that git has of it."""

    def __init__(self, path: str, longest: int) -> None:
        self.path = path
        self._place = real_place(path)
        self._longest = longest
        if os.path.lexists(self._place) and not os.path.isfile(self._place):
            raise LoreError(f"{path}: is not a plain file: name another one")
        self._sides = _unmerged(self._place)
        self.digest, self._marked, count = self._seen()
        blobs = [sha256(side).digest() for _, side in self._sides]
        self.is_empty = not count and not self._sides
        mended = count > 0 and self.digest not in blobs
        self.names = _NamesOfSides(path, count, self._sides, mended=mended)
        self.said = KnowledgeFile(path, RepeatableLines(self._own_lines))

    @property
    def is_in_conflict(self) -> bool:
        """True if git has left a merge of it undone."""
        return self._marked or bool(self._sides)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the file, and of the sides that git has."""
        yield from both_sides(self._own_lines())
        for _, side in self._sides:
            yield from both_sides(line + b"\n" for line in side.split(b"\n"))

    def is_unchanged(self) -> bool:
        """Return True if the file is as it was read."""
        return self._seen()[0] == self.digest

    def _own_lines(self) -> Iterator[bytes]:
        try:
            with open(self._place, "rb") as file:
                yield from lines_of(file, self._longest)
        except FileNotFoundError:
            return
        except OSError as error:
            raise LoreError(f"{self.path}: {error.strerror}: nothing was changed") from None

    def _seen(self) -> tuple[bytes, bool, int]:
        """Return the digest, True if there are conflict markers, and the number of lines."""
        digest, marked, count = sha256(), False, 0
        for line in self._own_lines():
            digest.update(line)
            marked = marked or bool(marker_of(line))
            count += 1
        return digest.digest(), marked, count


class _NamesOfSides(LineNames):
    """Names of the lines of the file, then of the sides that git has of it.

    Nobody can mend a line of git's index: broken ones are left out if the file is neither side, so
    that a person or git has made it.
    """

    def __init__(
        self, name: str, count: int, sides: Sequence[tuple[str, bytes]], *, mended: bool
    ) -> None:
        super().__init__(name)
        self._mended = mended
        self._starts = [(0, name, "")]
        for option, side in sides:
            whose = _SIDES[option]
            self._starts.append((count, f"{name}: {whose} side's file in git's index", option))
            count += side.count(b"\n") + 1

    def place(self, number: int) -> str:
        start, name, option = self._part(number)
        return f"{name}{', ' if option else ': '}line {number - start}"

    def advice(self, number: int) -> str:
        option = self._part(number)[2]
        take = f"have that file by 'git checkout {option} FILE', " if option else ""
        return f"nothing was changed; {take}mend the line, then run 'lore sync' again"

    def may_be_left_out(self, number: int) -> bool:
        return self._mended and bool(self._part(number)[2])

    def _part(self, number: int) -> tuple[int, str, str]:
        return next(part for part in reversed(self._starts) if part[0] < number)


def _unmerged(place: str) -> list[tuple[str, bytes]]:
    """Return both sides (of ``_SIDES``) of a merge of this file that git has not ended."""
    folder, name = os.path.split(place)
    git = Git(folder)
    found = git.ask_bytes("ls-files", "--unmerged", "-z", "--", name) or b""
    sides = []
    for entry in filter(None, found.split(b"\0")):
        _, blob, stage = entry.partition(b"\t")[0].decode().split(" ")
        if stage != "1":
            option = "--ours" if stage == "2" else "--theirs"
            sides.append((option, git.ask_bytes("cat-file", "blob", blob) or b""))
    return sides


def _new_lines(engine: Engine, read: _Source) -> SpooledTemporaryFile[str]:
    """Return the lines that the file is to have, in a file without a name."""
    kept = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="\n")  # noqa: SIM115
    records = engine.store.types.require([RECORDS])
    kept.writelines(read.said.lines(export_lines(engine.store, records, shared=True)))
    return kept


def _digest(lines: SpooledTemporaryFile[str]) -> bytes:
    lines.seek(0)
    digest = sha256()
    for line in lines:
        digest.update(line.encode())
    return digest.digest()


_NEW, _DAY = ".new-", 86_400


def first_store(project: str, settings: Settings, say: Callable[[str], None]) -> Store:
    """Make the store of a project that shares knowledge, read its file, and open the store.

    Where the data folder cannot be written, the store is one in memory that takes no writes.
    NoStore, if the project shares nothing, says what to do.
    """
    path, folder = os.path.join(project, SHARED, KNOWLEDGE), ""
    _refuse_inside(project)
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


def make_store(folder: str, project: str, settings: Settings, fulltext: str = "auto") -> int:
    """Make a project's store in a folder that is bound to it; return how many lines it shares.

    ``fulltext`` is fts5, fts4 or auto, which takes FTS5 where SQLite has it.
    """
    path = os.path.join(project, SHARED, KNOWLEDGE)
    if os.path.lexists(path):
        return _make(folder, path, project, settings, fulltext)
    create_store(folder, fulltext=fulltext, busy_timeout=settings.busy_timeout).close()
    trust(folder)  # all that it will hold is the user's own
    return 0


def _make(folder: str, path: str, project: str, settings: Settings, fulltext: str = "auto") -> int:
    """Fill a store beside its place, then put it there whole."""
    _remove_abandoned(folder)
    with TemporaryDirectory(prefix=_NEW, dir=folder) as beside:
        with create_store(beside, fulltext=fulltext) as store:
            count = _read(store, path, project, settings)
        place = os.path.join(folder, FILE)
        if os.path.exists(place) and not os.path.getsize(place):
            os.unlink(place)
        try:
            os.link(os.path.join(beside, FILE), place)
        except FileExistsError:
            return count  # another command was first
    return count


def _remove_abandoned(folder: str) -> None:
    """Delete what killed commands left here a day ago or earlier."""
    from shutil import rmtree

    for entry in os.scandir(folder):
        if entry.name.startswith(_NEW) and time() - entry.stat().st_mtime > _DAY:
            rmtree(entry.path, ignore_errors=True)


def _read(store: Store, path: str, project: str, settings: Settings) -> int:
    store.project = project
    with store.faults:
        done = sync(Engine(store, settings, project), path, out=False)
    return done.came_in.added + done.came_in.updated


def _refuse_inside(project: str) -> None:
    inside = os.path.join(project, SHARED, FILE)
    if os.path.lexists(inside):
        raise NoStore(
            f"{inside}: a database in a project is not opened: if it is yours, run 'lore init', "
            f"then 'LORE_DIR={os.path.dirname(inside)} lore export | lore import -'"
        )


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
