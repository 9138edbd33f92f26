"""Candidates, results shown to runs, reads of nodes, and staged records."""

from __future__ import annotations

from ..core.json import dumps
from ..core.model import Record
from ..core.vocabulary import THING_IDS
from .connection import CHANGED_AT, EDGE_ENDS, ID_OF, KEY_OF, apsw
from .nodes import WITH_READS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.model import EdgeKey


OPEN, SKIPPED, REFUSED, PROMOTED, KNOWN = "open", "skipped", "refused", "promoted", "known"
"""Its statuses; known: a record said it already."""


class KeptCandidate(Record):
    """One row of ``candidates``. ``data`` is JSON: files, sessions, commits, signals.

    ``promoted_as`` is the record that it became, or that says it already; ``command`` the
    number of the command that made it that, which an undo takes back.
    """

    __slots__ = (
        "id", "type", "title", "body", "score", "first_at", "last_at", "status", "promoted_as",
        "found_at", "decided_at", "command", "data",
    )  # fmt: skip

    def __init__(
        self,
        id: str,
        type: str,
        title: str,
        body: str,
        score: float = 0.0,
        first_at: str = "",
        last_at: str = "",
        status: str = OPEN,
        promoted_as: str | None = None,
        found_at: str = "",
        decided_at: str | None = None,
        command: int | None = None,
        data: str = "{}",
    ) -> None:
        self.id = id
        self.type = type
        self.title = title
        self.body = body
        self.score = score
        self.first_at = first_at
        self.last_at = last_at
        self.status = status
        self.promoted_as = promoted_as
        self.found_at = found_at
        self.decided_at = decided_at
        self.command = command
        self.data = data


_COLUMNS = ", ".join(KeptCandidate.__slots__)
_PLACES = ", ".join("?" for _ in KeptCandidate.__slots__)


class StoredCandidates:
    """Proposals for records, until somebody has decided: nothing else reads them.

    Under a scope only its own are there: what is not decided yet is not common.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def get_many(self, ids: Iterable[str]) -> dict[str, KeptCandidate]:
        """Return those that are there, by id."""
        found = self._select("WHERE id IN (SELECT value FROM json_each(?))", dumps([*ids]))
        return {one.id: one for one in found}

    def all(self, statuses: Sequence[str] = ()) -> list[KeptCandidate]:
        """Return all, or those of these statuses: the best first, of two the one found in
        earlier."""
        order = "ORDER BY score DESC, first_at, id"
        if not statuses:
            return self._select(order)
        where = "WHERE status IN (SELECT value FROM json_each(?))"
        return self._select(f"{where} {order}", dumps([*statuses]))

    def decided_by(self, command: int) -> list[KeptCandidate]:
        """Return those that this command decided, by id."""
        return self._select("WHERE command = ? ORDER BY id", command)

    def put(self, candidates: Iterable[KeptCandidate]) -> None:
        """Add candidates, or puts them in the place of what has their ids."""
        self._db.executemany(
            f"INSERT OR REPLACE INTO main.candidates({_COLUMNS}) VALUES ({_PLACES})",
            ([*one.to_dict().values()] for one in candidates),
        )

    def remove(self, ids: Iterable[str]) -> None:
        """Forget candidates altogether: found again, they are new."""
        self._db.execute(
            "DELETE FROM main.candidates WHERE id IN (SELECT id FROM candidates"
            " WHERE id IN (SELECT value FROM json_each(?)))",
            (dumps([*ids]),),
        )

    def _select(self, rest: str, *values: str | int) -> list[KeptCandidate]:
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM candidates {rest}", values)
        return [KeptCandidate(*row) for row in rows]


if TYPE_CHECKING:
    Use = tuple[str, str, str | None, int | None, str | None, str | None, str]
    """(node, run, helpful or unhelpful or None, position, query, when rated, the node's title)"""

    Impression = tuple[int, str, str]
    """(best position, the query of it, JSON object of query to position)"""

    Summary = tuple[str, str, str, int, int, float, float]
    """(run, data, created, shown, used, helpful, unhelpful)"""


_RATING = """CASE WHEN e.weight IS NULL OR json_type(e.metadata, '$.rating') = 'null' THEN NULL
  WHEN e.weight >= 0.5 THEN 'helpful' ELSE 'unhelpful' END"""

_FROM, _TO = ID_OF.format("e.from_key"), ID_OF.format("e.to_key")
_USES = f"""
SELECT {_FROM} AS from_id, {_TO} AS to_id,
  {_RATING} AS rating, json_extract(e.metadata, '$.position') AS position,
  json_extract(e.metadata, '$.query'),
  coalesce(json_extract(e.metadata, '$.rated_at'), e.created_at) AS rated_at,
  coalesce(n.title, '')
FROM links e LEFT JOIN nodes n ON n.key = e.from_key
WHERE e.relation = 'used_in_run' AND e.invalidated_at IS NULL
"""

_LIST = f"""
SELECT r.id, r.data, r.created_at,
  (SELECT count(DISTINCT s.node_id) FROM shown s WHERE s.run_id = r.id AND NOT EXISTS (
    SELECT 1 FROM links WHERE from_key = {KEY_OF.format("s.node_id")} AND to_key = r.key
    AND relation = 'used_in_run' AND invalidated_at IS NULL)),
  count(e.from_key), total({_RATING} IS 'helpful'), total({_RATING} IS 'unhelpful')
FROM (SELECT key, id, data, created_at FROM nodes
  WHERE type = 'run' AND invalidated_at IS NULL AND (?1 IS NULL OR id = ?1)
  ORDER BY created_at DESC, id DESC LIMIT ?2) r
LEFT JOIN links e
  ON e.to_key = r.key AND e.relation = 'used_in_run' AND e.invalidated_at IS NULL
GROUP BY r.id ORDER BY r.created_at DESC, r.id DESC
"""

_TOPS = f"""
SELECT j.value AS run, s.query AS query, s.node_id AS node FROM json_each(?1) j
CROSS JOIN shown s ON s.run_id = j.value WHERE s.position <= ?2
UNION SELECT r.id, a.key, {_FROM}
FROM json_each(?1) j CROSS JOIN nodes r ON r.id = j.value CROSS JOIN links e
  ON e.to_key = r.key AND e.relation = 'used_in_run' AND e.invalidated_at IS NULL
CROSS JOIN json_each(coalesce(json_extract(e.metadata, '$.answers'), json_object(
  coalesce(json_extract(e.metadata, '$.query'), ''), json_extract(e.metadata, '$.position')))) a
WHERE a.value <= ?2
ORDER BY run, query, node
"""


class Impressions:
    """What runs were shown and how it was rated; a run itself is a node, a rating an edge."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def show(self, run: str, ids: Iterable[str], query: str, at: str) -> None:
        """Record the nodes of one answer, the first at position 1.

        An answer to the same query again keeps the best position of each.
        """
        self._db.executemany(
            "INSERT INTO main.shown(run_id, node_id, position, query, shown_at)"
            " VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET position = excluded.position"
            " WHERE excluded.position < position",
            ((run, id, position, query, at) for position, id in enumerate(ids, start=1)),
        )

    def shown(self, run: str) -> dict[str, Impression]:
        """Return the impression of each node, in the order of best positions."""
        rows = self._db.execute(
            "SELECT node_id, min(position), query, json_group_object(query, position) FROM shown"
            " WHERE run_id = ? GROUP BY node_id ORDER BY 2, shown_at, node_id",
            (run,),
        )
        return {id: (position, query, answers) for id, position, query, answers in rows}

    def left_open(self, before: str, most: int) -> list[str]:
        """Return live, open runs that hooks started before this time, oldest first."""
        rows = self._db.execute(
            "SELECT id FROM nodes WHERE type = 'run' AND created_at < ? AND invalidated_at IS NULL"
            " AND json_extract(data, '$.by') = 'hook'"
            " AND json_extract(data, '$.finished_at') IS NULL ORDER BY created_at, id LIMIT ?",
            (before, most),
        )
        return [id for (id,) in rows]

    def clear(self, run: str) -> None:
        """Take away what a run was shown: its edges have it now."""
        self._db.execute("DELETE FROM main.shown WHERE run_id = ?", (run,))

    def uses(self, run: str) -> list[Use]:
        """Return the live ``used_in_run`` edges of one run, in the order of positions."""
        rows: list[Use] = self._db.execute(  # type: ignore[assignment]
            f"{_USES} AND e.to_key = {KEY_OF.format('?1')}"
            " ORDER BY position IS NULL, position, from_id",
            (run,),
        ).fetchall()
        return rows

    def summaries(self, run: str | None, limit: int) -> list[Summary]:
        """Return ``(id, data, created, shown, used, helpful, unhelpful)`` of live runs.

        The newest first; ``used`` counts edges, ``shown`` what has none yet.
        """
        return self._db.execute(_LIST, (run, limit)).fetchall()  # type: ignore[return-value]

    def tops(self, runs: Sequence[str], most: int) -> list[tuple[str, str, str]]:
        """Return ``(run, query, node)`` of what these runs were shown at the first ``most``
        positions.

        In this order.
        """
        return self._db.execute(_TOPS, (dumps(runs), most)).fetchall()  # type: ignore[return-value]

    def state(self, run: str) -> str:
        """Return ``open``, ``finished`` or ``forgotten``; nothing where there is no such run."""
        found: str | None = self._db.execute(
            "SELECT CASE WHEN invalidated_at IS NOT NULL THEN 'forgotten'"
            " WHEN json_extract(data, '$.finished_at') IS NULL THEN 'open' ELSE 'finished' END"
            " FROM nodes WHERE id = ? AND type = 'run'",
            (run,),
        ).get
        return found or ""


if TYPE_CHECKING:
    Staged = tuple[float, float, int]
    """(confidence, days since it last changed, accesses)"""

_STAGED_OF = " UNION ".join(
    "SELECT e.from_key, e.to_key, e.relation FROM json_each(?1) j CROSS JOIN main.nodes s"
    f" ON s.id = j.value CROSS JOIN main.links e INDEXED BY {index} ON e.{end} = s.key"
    " WHERE e.status = 'staged' AND e.invalidated_at IS NULL"
    for end, index in (("from_key", "edges_staged_out"), ("to_key", "edges_staged_in"))
)
_IS_THING = "(SELECT id LIKE 'entity-%' OR id LIKE 'concept-%' FROM main.nodes WHERE key = {})"
_FACTS = (
    f"SELECT * FROM ({_STAGED_OF}) WHERE {_IS_THING.format('from_key')}"
    f" AND {_IS_THING.format('to_key')}"
)
"""The staged facts of the things in json_each(?1). A fact is an edge between things: entities, and
concepts for values."""

_COUNT_NODES = (
    "INSERT INTO main.reads SELECT n.key, 1, ?2 FROM json_each(?1) j CROSS JOIN nodes n"
    " ON n.id = j.value WHERE n.invalidated_at IS NULL"
    " ON CONFLICT DO UPDATE SET count = count + 1, last = max(last, excluded.last)"
)
_COUNT_FACTS = (
    "UPDATE main.links SET access_count = access_count + 1,"
    " accessed_at = max(coalesce(accessed_at, ''), ?2)"
    f" WHERE (from_key, to_key, relation) IN ({_FACTS})"
)


def _things(ids: Iterable[str]) -> str:
    return dumps([id for id in ids if id.startswith(THING_IDS)])


class Review:
    """Accesses, and what is staged. Nothing here changes a node's ``updated_at``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def count_access(self, ids: Sequence[str], at: str) -> None:
        """Count one more access of each of these live nodes, and of the staged facts of things."""
        self._db.execute(_COUNT_NODES, (dumps(ids), at))
        things = _things(ids)
        if things != "[]":
            self._db.execute(_COUNT_FACTS, (things, at))

    def ripe_nodes(self, ids: Sequence[str], accesses: int) -> list[str]:
        """Return those of ``ids`` that are staged and were read so often, by id."""
        rows = self._db.execute(
            "SELECT n.id FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
            " LEFT JOIN reads r ON r.key = n.key WHERE n.status = 'staged'"
            " AND n.invalidated_at IS NULL AND coalesce(r.count, 0) >= ? ORDER BY 1",
            (dumps(ids), accesses),
        )
        return [str(id) for (id,) in rows]

    def ripe_facts(self, ids: Sequence[str], accesses: int) -> list[EdgeKey]:
        """Return the staged facts of these nodes that were read so often."""
        things = _things(ids)
        if things == "[]":
            return []
        return self._db.execute(  # type: ignore[return-value]
            f"SELECT {EDGE_ENDS}, relation FROM ({_FACTS}) JOIN links"
            " USING (from_key, to_key, relation) WHERE access_count >= ?2"
            " ORDER BY 1, 2, 3",
            (things, accesses),
        ).fetchall()

    def staged_size(self, source: str) -> int:
        """Return how many characters the live staged nodes of one source have."""
        size: int = self._db.execute(
            "SELECT coalesce(sum(length(title) + length(body) + length(data)), 0) FROM nodes"
            " WHERE status = 'staged' AND source = ? AND invalidated_at IS NULL",
            (source,),
        ).get
        return size

    def staged_nodes(self, source: str) -> dict[str, Staged]:
        """Return the live staged nodes of one source, by id."""
        rows = self._db.execute(
            "SELECT n.id, n.confidence,"
            " coalesce(julianday('now') - julianday(n.updated_at), 0.0), coalesce(r.count, 0)"
            f" FROM {WITH_READS}"
            " WHERE n.status = 'staged' AND n.source = ? AND n.invalidated_at IS NULL"
            " ORDER BY n.id",
            (source,),
        )
        return {row[0]: row[1:] for row in rows}

    def staged_edges(self, source: str) -> dict[EdgeKey, Staged]:
        """Return the live staged edges of one source. A change makes an edge as new as it is."""
        rows = self._db.execute(
            "SELECT e.from_id, e.to_id, e.relation, e.weight, coalesce(julianday('now')"
            f" - julianday({CHANGED_AT}), 0.0), e.access_count"
            f" FROM (SELECT {EDGE_ENDS}, * FROM links"
            " WHERE status = 'staged' AND source = ? AND invalidated_at IS NULL LIMIT -1) e"
            " ORDER BY e.from_id, e.to_id, e.relation",
            (source,),
        )
        return {row[:3]: row[3:] for row in rows}
