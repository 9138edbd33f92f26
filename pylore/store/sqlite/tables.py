"""The small tables: meta, types, relations, ratings."""

from __future__ import annotations

from ...core.errors import UsageError, nearest
from ...core.vocabulary import LEARNING, RECORDS, types_named
from ...system.json_encode import dumps
from .driver import apsw
from .faults import GraphFaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Meta:
    """Facts about the store itself: whose vectors it holds, which full-text engine."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self) -> dict[str, str]:
        """Return every key with its value."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def get(self, key: str) -> str | None:
        """Return the value of one key, if it is set."""
        row: str | None = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).get
        return row

    def set(self, key: str, value: str | None) -> None:
        """Set one key; None takes it away."""
        if value is None:
            self._db.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


class Types:
    """The node types that this store knows."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self) -> dict[str, str]:
        """Return name to description."""
        return dict(self._db.execute("SELECT name, description FROM types ORDER BY name"))

    def require(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return ``names`` if these types are known; ``records`` and ``learning`` are several.

        Raises:
            UsageError: one of them is not; the message has the nearest one.
        """
        asked = [*names]
        known = list(self.all()) if asked else []
        wanted = types_named(asked, known)
        for name in wanted:
            if name not in known:
                names = [RECORDS, LEARNING, *known]
                raise UsageError(f"unknown type '{name}'{nearest(name, names)}: "
                                 f"one of {', '.join(names)}")  # fmt: skip
        return tuple(wanted)

    def declare(self, name: str, description: str) -> None:
        """Add a type, or gives a known one another description."""
        self._db.execute(
            "INSERT INTO main.types VALUES (?1, ?2)"
            " ON CONFLICT(name) DO UPDATE SET description = ?2",
            (name, description),
        )


class Relations:
    """The relations that this store knows, with their weights."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self) -> dict[str, tuple[float, float, str]]:
        """Return name to (weight, weight walked backwards, description)."""
        rows = self._db.execute(
            "SELECT name, weight, coalesce(backward_weight, weight), description"
            " FROM relations ORDER BY name"
        )
        return {name: (weight, backward, text) for name, weight, backward, text in rows}

    def declare(self, name: str, weight: float, backward: float, description: str) -> None:
        """Add a relation, or gives a known one another weight and description."""
        self._db.execute(
            "INSERT INTO main.relations(name, weight, backward_weight, description)"
            " VALUES (?1, ?2, ?3, ?4) ON CONFLICT(name) DO UPDATE"
            " SET weight = ?2, backward_weight = ?3, description = ?4",
            (name, weight, backward, description),
        )


_COUNTED = (
    "SELECT from_key, sum(weight), count(*) FROM graph_edges WHERE relation = 'used_in_run'"
    " AND invalidated_at IS NULL AND json_type(metadata, '$.rating') IS NOT 'null'"
    " GROUP BY from_key"
)

_TOLERANCE = 1e-6
"""Sums of floats, added up one by one as they came and went, differ in their last digits."""
_WRONG = f"""
  WITH counted(node_key, helpful, rated) AS ({_COUNTED})
  SELECT count(*) FROM (
    SELECT r.node_key FROM ratings r LEFT JOIN counted c ON c.node_key = r.node_key
    WHERE c.node_key IS NULL OR c.rated IS NOT r.rated OR NOT abs(c.helpful - r.helpful) <= ?
    UNION
    SELECT c.node_key FROM counted c LEFT JOIN ratings r ON r.node_key = c.node_key
    WHERE r.node_key IS NULL)"""


class Ratings:
    """How nodes were rated: sums over their live, rated ``used_in_run`` edges, which triggers keep
    in step."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def of(self, ids: Sequence[str]) -> dict[str, tuple[float, int]]:
        """Return (sum of the weights, number of ratings) of those of ``ids`` that were rated.

        Raises:
            GraphUnavailable: the table is missing or damaged.
        """
        with GraphFaults():
            rows: list[tuple[str, float, int]] = self._db.execute(  # type: ignore[assignment]
                "SELECT n.id, r.helpful, r.rated FROM json_each(?) j"
                " CROSS JOIN nodes n ON n.id = j.value CROSS JOIN ratings r ON r.node_key = n.key",
                (dumps(ids),),
            ).fetchall()
        return {id: (helpful, rated) for id, helpful, rated in rows}

    def recount(self) -> None:
        """Count all of them anew; the caller holds a transaction."""
        self._db.execute("DELETE FROM main.ratings")
        self._db.execute(f"INSERT INTO main.ratings {_COUNTED}")

    def wrong(self) -> int:
        """Return how many nodes have other ratings than their edges say."""
        number: int = self._db.execute(_WRONG, (_TOLERANCE,)).get
        return number
