"""The plain typed objects that the engine returns.

They are not dataclasses, because ``dataclasses`` takes longer to import than a search takes.
"""

from __future__ import annotations

from .vocabulary import BROKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from typing_extensions import Self, dataclass_transform

    EdgeKey = tuple[str, str, str]
    """(from, to, relation)"""
    AnchorKey = tuple[str, str, str, str]
    """(node, kind, path, detail)"""
    Factors = Mapping[str, float]
    """Name to number, in the order in which a search found them: a score is their product."""
else:

    def dataclass_transform():
        return lambda table: table


class Record:
    """Fields, by default the annotated ones, that compare, print and make a dict."""

    FIELDS: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        if "FIELDS" not in vars(cls):
            cls.FIELDS = tuple(cls.__annotations__)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict from field name to value, in the order of the class."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_dict()})"


@dataclass_transform()
class Row(Record):
    """Annotated fields with their defaults, given in that order or by name."""

    def __init__(self, *values: Any, **named: Any) -> None:
        vars(self).update(zip(self.FIELDS, values, strict=False), **named)

    def copy(self) -> Self:
        """Return a row with the same values."""
        return type(self)(**vars(self))


class Node(Row):
    """A row of ``nodes``. Times are UTC, ISO 8601. ``stamps`` is the last change of each field
    (``core.stamps``), as JSON; empty if none changed."""

    id: str
    type: str
    title: str = ""
    body: str = ""
    status: str = "confirmed"
    source: str = "user_edit"
    confidence: float = 1.0
    category: str | None = None
    tags: tuple[str, ...] = ()
    file: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    data: str = "{}"
    created_at: str = ""
    updated_at: str = ""
    accessed_at: str | None = None
    access_count: int = 0
    invalidated_at: str | None = None
    stamps: str = ""

    @property
    def why(self) -> str:
        """Return the reason that was given with a record, or an empty text."""
        from .json import loads

        why = loads(self.data).get("why") if '"why"' in self.data else ""
        return why if isinstance(why, str) else ""

    @property
    def location(self) -> tuple[str, str]:
        """Return (path, lines) as in an anchor: ``("a.py", "10-20")``."""
        first, last = self.line_start, self.line_end or self.line_start
        return self.file or "", "" if first is None else f"{first}-{last}"


class Edge(Row):
    """A row of ``links``: a directed, typed, weighted edge. ``ended_at`` is when the edge was
    ended, ``invalidated_at`` when that or a node was forgotten. ``stamps`` are as in ``Node``."""

    from_id: str
    to_id: str
    relation: str
    weight: float = 1.0
    source: str = "user_edit"
    status: str = "confirmed"
    metadata: str = "{}"
    created_at: str = ""
    accessed_at: str | None = None
    access_count: int = 0
    invalidated_at: str | None = None
    ended_at: str | None = None
    stamps: str = ""

    @property
    def key(self) -> EdgeKey:
        """Return the fields that identify an edge: from, to, relation."""
        return (self.from_id, self.to_id, self.relation)


class Anchor(Row):
    """A tie of a node to code. ``path`` starts at ``root``, or at the project. ``stamp`` is the
    file's when it was last read, ``gone_at`` when the anchor was removed; ``stamps`` are as in
    ``Node``."""

    node_id: str
    kind: str
    path: str
    detail: str = ""
    root: str = ""
    hash: str = ""
    stamp: str = ""
    commit_id: str = ""
    verdict: str = "valid"
    reason: str = ""
    created_at: str = ""
    verified_at: str = ""
    gone_at: str | None = None
    stamps: str = ""

    @property
    def key(self) -> AnchorKey:
        """Return the fields that identify an anchor: node, kind, path, detail."""
        return (self.node_id, self.kind, self.path, self.detail)

    @property
    def is_broken(self) -> bool:
        """Return True if it no longer holds. A rule whose violations were accepted has no stamp."""
        return self.verdict in BROKEN and (self.verdict != "violated" or self.stamp != "")


def edge_name(key: EdgeKey) -> str:
    """Return ``from relation to``, as people name an edge."""
    return f"{key[0]} {key[2]} {key[1]}"


def first_status(source: str) -> str:
    """Return the first status: staged from a conversation, or confirmed."""
    return "staged" if source == "conversation" else "confirmed"


_OF_ORDERED = frozenset(("feedback", "cap", "same_file", "turn"))
"""Factors of a score that has already decided which results there are: it is rounded first."""


class Hit(Record):
    """One search result. ``hops`` 0 is a direct match; ``path`` leads here from a seed.

    ``score`` is the product of ``factors``, to which each stage of a search may add. An imported
    document has the line in which the matching passage begins, and no ``line_end``. ``verdict`` is
    that of its anchors, None without any.

    Not fields of the result: ``credibility``, which is (confidence, source, status, accesses) of
    its node, ``standing``, the factors of its age and credibility, and ``way``, the ``walk.Step``
    that leads to it.
    """

    FIELDS = tuple(
        "id type title snippet file line_start line_end score rrf_score bm25_score vector_score"
        " recency_score feedback_score hops path edge edge_type verdict match weak explain".split()
    )

    type: str = ""
    title: str = ""
    snippet: str = ""
    file: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    rrf_score: float | None = None
    bm25_score: float | None = None
    vector_score: float | None = None
    recency_score: float | None = None
    feedback_score: float = 0.0
    hops: int = 0
    edge_type: str | None = None
    verdict: str | None = None
    weak: bool = False
    explain: dict[str, Any] | None = None
    credibility: tuple[float, str, str, int] = (1.0, "user_edit", "confirmed", 0)
    way: Any = None

    def __init__(self, id: str, score: float = 1.0, match: str = "graph") -> None:
        self.id = id
        self.match = match
        self.path = [id]
        self.factors: Factors = {"match": score}
        self.standing: Factors = {}

    @property
    def edge(self) -> str | None:
        """Return the relation that led here; ``edge_type`` is the same."""
        return self.edge_type

    @property
    def score(self) -> float:
        """Return the product of the factors, 0 to 1 in results of a search."""
        score = 1.0
        for name, number in self.factors.items():
            score = (round(score, 6) if name in _OF_ORDERED else score) * number
        return round(score, 6)

    def times(self, name: str, number: float) -> None:
        """Append a factor."""
        self.factors = {**self.factors, name: number}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of a result; ``explain`` only where it was asked for."""
        names = self.FIELDS if self.explain is not None else self.FIELDS[:-1]
        return {name: getattr(self, name) for name in names}


class Hits(list[Hit]):
    """The results of a search, best first, and notes on them. ``passages`` is a dict from node to
    the key of the passage that matched, ``plain`` the ids of a search without the graph."""

    def __init__(self, hits: list[Hit], notes: list[str]) -> None:
        super().__init__(hits)
        self.notes = notes
        self.passages: dict[str, int] = {}
        self.plain: list[str] = []

    def rows(self) -> list[dict[str, Any]]:
        """Return the fields of each result."""
        return [hit.to_dict() for hit in self]

    @property
    def ids(self) -> list[str]:
        """Return the ids of the results, in their order."""
        return [hit.id for hit in self]
