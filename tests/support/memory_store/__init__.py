"""A second store, of dicts: what ``pylore/store/protocols.py`` asks for, and nothing faster.

It stands for whatever else may keep knowledge one day. Several ``MemoryStore`` of one
``Shared`` are like several processes with one file.
"""

from __future__ import annotations

import os
from copy import deepcopy
from types import TracebackType

from pylore.core.errors import LoreError, StoreBusy, StoreReadOnly
from pylore.core.model import PastCommand
from pylore.core.scopes import COMMON, is_own
from pylore.core.times import now

from .code import Anchors, CodeAnswers, CodeFiles
from .contents import Contents
from .documents import Documents
from .edges import Edges, Statistics
from .facts import Facts
from .files import Commits, WholeFiles
from .history import History
from .nodes import Nodes
from .placed import Placed
from .runs import Candidates, Impressions, Ratings, Review
from .scoped import joined, parted, require_own
from .small import Meta, Relations, Types
from .state import Shared, State
from .vectors import StagedVectors, Vectors
from .words import FullText

__all__ = ["MemoryStore", "Shared"]


class Nothing:
    """A ``with`` block that changes no error: there is no driver whose own could come."""

    def refuse_writes(self) -> None:
        """Make every write from now on fail."""
        self.writable = False

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


class Block:
    """A transaction: works on a copy, which is put in place of the state at the end."""

    def __init__(self, store: MemoryStore, command: str = "") -> None:
        self._store = store
        self._command = command
        self._inner = False

    def refuse_writes(self) -> None:
        """Make every write from now on fail."""
        self.writable = False

    def __enter__(self) -> None:
        store = self._store
        self._inner = store.own is not None
        if self._inner:
            return
        store.require_writing()
        store.shared.writer = store
        store.own = deepcopy(store.shared.state)
        if store.scope:
            self._all = store.own
            self.part()
            store.block = self
        if self._command:
            commands = store.own.commands
            number = commands[-1].id + 1 if commands else 1
            commands.append(PastCommand(number, self._command, now()))
            store.own.command = number

    def part(self) -> None:
        """Sets aside what the scope does not see."""
        store = self._store
        assert store.own is not None
        store.own, self._hidden = parted(store.own, store.scope)
        self._before = deepcopy(store.own)

    def join(self) -> None:
        """Puts it back beside what the scope has made of its own."""
        store = self._store
        assert store.own is not None
        require_own(self._before, store.own, store.scope)
        store.own = joined(store.own, self._hidden, self._all)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        store = self._store
        if self._inner or store.own is None:
            return
        if self._command:
            self._end_command(store.own)
        own, store.own, store.shared.writer = store.own, None, None
        if kind is None:
            if store.scope:
                require_own(self._before, own, store.scope)
                own = joined(own, self._hidden, self._all)
            store.shared.state = own
            store.shared.writes[id(store)] += 1

    def _end_command(self, state: State) -> None:
        """One that has changed nothing is none."""
        number, state.command = state.command, None
        done = [one[0] for one in state.additions]
        done += [past.command or 0 for past in state.node_history]
        done += [int(str(one["command"] or 0)) for one in state.edge_history]
        done += state.anchors_left
        if number not in done and self._command != "purge":
            state.commands.pop()


class Whole:
    """A part of a transaction in which nothing is set aside."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._scope = store.scope

    def refuse_writes(self) -> None:
        """Make every write from now on fail."""
        self.writable = False

    def __enter__(self) -> None:
        if self._scope:
            self._store.block.join()
            self._store.scope = ""

    def __exit__(self, *_: object) -> None:
        if self._scope:
            self._store.scope = self._scope
            self._store.block.part()


class View(Block):
    """A snapshot: a copy that nobody else sees."""

    def refuse_writes(self) -> None:
        """Make every write from now on fail."""
        self.writable = False

    def __enter__(self) -> None:
        self._store.own = deepcopy(self._store.state)

    def __exit__(self, *_: object) -> None:
        self._store.own = None


class MemoryStore:
    """One open store."""

    expect = walked = None

    def __init__(
        self, shared: Shared | None = None, folder: str = "/memory", *, read_only: bool = False
    ) -> None:
        self.shared = shared or Shared()
        self.own: State | None = None
        self.scope = ""
        self.block = Block(self)
        self.path = os.path.join(folder, "memory")
        self.project = os.path.dirname(folder)
        self.writable = not read_only
        self.faults, self.graph_faults = Nothing(), Nothing()
        self.meta, self.types, self.relations = Meta(self), Types(self), Relations(self)
        self.ratings, self.nodes = Ratings(self), Nodes(self)
        self.edges, self.fulltext, self.vectors = Edges(self), FullText(self), Vectors(self)
        self.staged_vectors, self.statistics = StagedVectors(self), Statistics(self)
        self.anchors, self.code = Anchors(self), CodeFiles(self)
        self.code_answers = CodeAnswers(self)
        self.whole_files, self.commits = WholeFiles(self), Commits(self)
        self.history, self.documents = History(self), Documents(self)
        self.candidates = Candidates(self)
        self.contents, self.facts = Contents(self), Facts(self)
        self.placed = Placed(self)
        self.impressions, self.review, self.checks = Impressions(self), Review(self), Checks()

    @property
    def state(self) -> State:
        """What this store sees."""
        if self.own is None and self.scope:
            return parted(self.shared.state, self.scope)[0]
        return self.own or self.shared.state

    def keep_to(self, scope: str) -> None:
        self.scope = scope

    def whole(self, own: str = "") -> Whole:
        if self.scope and own and not is_own(own, self.scope):
            raise LoreError(COMMON)
        return Whole(self)

    @property
    def changing(self) -> State:
        """The same, to be written to."""
        if self.own is None:
            self.require_writing()
            self.shared.writes[id(self)] += 1
        return self.state

    def require_writing(self) -> None:
        """Goes on where this store may write now."""
        if not self.writable:
            raise StoreReadOnly(f"{self.path}: cannot be written: open it otherwise")
        if self.shared.writer not in (None, self):
            raise StoreBusy(f"{self.path}: is locked by another writer: try again")

    @property
    def in_transaction(self) -> bool:
        return self.own is not None

    def data_version(self) -> object:
        return self.shared.writes.total() - self.shared.writes[id(self)]

    def transaction(self, command: str = "") -> Block:
        return Block(self, command)

    def aside(self, patience: float = 0.0) -> Block:
        return Block(self)

    def snapshot(self) -> View:
        return View(self)

    def keep(self) -> None:
        return None

    def interrupt(self) -> None:
        return None

    @property
    def kept(self) -> None:
        return None

    def read_ahead(self) -> int:
        return 0

    def compact(self) -> None:
        return None

    def copied_to(self, folder: str) -> MemoryStore:
        copy = MemoryStore(Shared(deepcopy(self.shared.state)), folder)
        copy.keep_to(self.scope)
        return copy

    def close(self) -> None:
        return None

    def refuse_writes(self) -> None:
        """Make every write from now on fail."""
        self.writable = False

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


class Checks:
    """Nothing can be wrong with dicts."""

    version = 1
    derived: frozenset[str] = frozenset()
    faults = Nothing()

    def is_sound(self) -> bool:
        return True

    def any_embedded(self) -> None:
        return None

    def only_without_vectors(self) -> bool:
        return False

    def log_size(self) -> int:
        return 0

    def _nothing(self, *, made: bool = False, full: bool = False) -> list[str]:
        return []

    wrong_values = missing_tables = replaced_tables = damage = fulltext_damage = _nothing
    foreign_key_violations = unindexed = unembedded = _nothing
