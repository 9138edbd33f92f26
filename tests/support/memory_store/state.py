"""What one store of dicts holds, who has it open, and what its parts have in common."""

from __future__ import annotations

from calendar import timegm
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from time import strptime, time
from typing import TYPE_CHECKING, Any

from pylore.core.model import Edge, Node, Past, PastCommand
from pylore.core.states import clock, next_clock
from pylore.core.times import now
from pylore.core.vocabulary import (
    COLLECTIONS,
    RELATIONS,
    TEXTS,
    TYPES,
)
from pylore.store.anchor import Anchor
from pylore.store.candidate import KeptCandidate
from pylore.store.document import DocumentFile
from pylore.store.filter import Scope

if TYPE_CHECKING:
    from . import MemoryStore

Key = tuple[str, str, str]
AnchorKey = tuple[str, str, str, str]


class State:
    """All that one store holds."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[Key, Edge] = {}
        self.edge_history: list[dict[str, object]] = []
        self.node_history: list[Past] = []
        self.ancestors: set[tuple[str, str]] = set()
        self.purged: dict[str, str] = {}
        self.proposed_purges: dict[str, str] = {}
        self.commands: list[PastCommand] = []
        self.additions: list[tuple[int, str, str, str]] = []
        self.anchors_left: dict[int, dict[AnchorKey, Anchor | None]] = {}
        self.command: int | None = None
        self.passages: dict[int, tuple[str, str]] = {}
        self.facts: dict[int, tuple[Key, str]] = {}
        self.rows: dict[str, dict[int, tuple[str, ...]]] = {name: {} for name in _collections()}
        self.vectors: dict[int, bytes] = {}
        self.next_vectors: dict[int, bytes] = {}
        self.anchors: dict[tuple[str, str, str, str], Anchor] = {}
        self.anchor_history: list[dict[str, str]] = []
        self.code: dict[str, tuple[str, str, str, str]] = {}
        self.code_answers: dict[str, tuple[str, bytes, str, frozenset[int]]] = {}
        self.whole_files: dict[str, tuple[str, str]] = {}
        self.commits: dict[str, tuple[str, int, str, str]] = {}
        self.commit_files: set[tuple[str, str]] = set()
        self.documents: dict[tuple[str, str], tuple[DocumentFile, str]] = {}
        self.candidates: dict[str, KeptCandidate] = {}
        self.shown: dict[str, dict[str, tuple[int, str, str]]] = {}
        self.meta = {"fulltext": "memory"}
        self.types = dict(TYPES)
        self.relations: dict[str, tuple[float, float, str]] = dict(RELATIONS)
        self.lost: set[str] = set()


def _collections() -> list[str]:
    return [*dict.fromkeys([TEXTS, *COLLECTIONS.values()])]


class Shared:
    """What several open stores have in common: the state, and who is writing."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state or State()
        self.writer: MemoryStore | None = None
        self.writes: Counter[int] = Counter()


class Part:
    """One part of a store."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    @property
    def _state(self) -> State:
        return self._store.state

    @property
    def _changing(self) -> State:
        return self._store.changing

    def _node_is_live(self, id: str) -> bool:
        node = self._state.nodes.get(id)
        return node is not None and node.invalidated_at is None


def within(scope: Scope, node: Node) -> bool:
    """Whether a node meets the conditions of a scope."""
    patterns = [pattern.replace("[^", "[!") for pattern in scope.files]
    return (
        (not scope.types or node.type in scope.types)
        and (not scope.statuses or node.status in scope.statuses)
        and set(scope.tags) <= set(node.tags)
        and (not patterns or any(fnmatchcase(node.file or "", one) for one in patterns))
        and (not scope.since or node.updated_at >= scope.since)
        and (not scope.until or node.updated_at <= scope.until)
        and node.id not in scope.excluded
        and node.status not in scope.hides
    )


def move_on(old: Node | Edge, new: Node | Edge) -> None:
    """Makes the clock of a new state later than that of the one before."""
    if clock(new) <= clock(old):
        new.changed_at = next_clock(clock(old), now())


def limited(rows: Iterable[Any], limit: int) -> list[Any]:
    """The first ones; all of them for ``ALL``."""
    found = list(rows)
    return found if limit < 0 else found[:limit]


def days_since(moment: str) -> float:
    """Days from a time in the past till now."""
    try:
        return (time() - timegm(strptime(moment[:19], "%Y-%m-%dT%H:%M:%S"))) / 86_400
    except ValueError:
        return 0.0
