"""Candidates, results shown to runs, reads of nodes, and staged records."""

from __future__ import annotations

from ..core.json import dumps
from ..core.model import Row
from ..core.times import now
from ..core.vocabulary import THING_IDS
from .connection import CHANGED_AT, EDGE_ENDS, ID_OF, KEY_OF, TO_WIPE, Meta, Table
from .nodes import NAMED, WITH_READS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.model import EdgeKey


OPEN, SKIPPED, REFUSED, PROMOTED, KNOWN = "open", "skipped", "refused", "promoted", "known"
"""Statuses of candidates; ``known`` means equal to a record."""


class KeptCandidate(Row):
    """A row of ``candidates``. ``data``: JSON of files, sessions, commits, signals;
    ``promoted_as``: the equal record; ``command``: number of the command that promoted it. An undo
    of that command opens the candidate."""

    id: str
    type: str
    title: str
    body: str
    score: float = 0.0
    first_at: str = ""
    last_at: str = ""
    status: str = OPEN
    promoted_as: str | None = None
    found_at: str = ""
    decided_at: str | None = None
    command: int | None = None
    data: str = "{}"


_COLUMNS = ", ".join(KeptCandidate.FIELDS)
_UNDONE = "(SELECT undone_by FROM main.commands m WHERE m.id = command) IS NOT NULL"
_OPENED = {"status": "'open'", "promoted_as": "NULL", "decided_at": "NULL"}
_READ = ", ".join(
    f"iif({_UNDONE}, {_OPENED[name]}, {name}) AS {name}" if name in _OPENED else name
    for name in KeptCandidate.FIELDS
)


class StoredCandidates(Table):
    """Proposals for records, until a decision. A scope sees only own candidates."""

    def get_many(self, ids: Iterable[str]) -> dict[str, KeptCandidate]:
        """Return the candidates in ``ids`` that exist."""
        found = self._select("WHERE id IN (SELECT value FROM json_each(?))", dumps([*ids]))
        return {one.id: one for one in found}

    def all(self, statuses: Sequence[str] = ()) -> list[KeptCandidate]:
        """Return the candidates in these statuses, or all, by descending score and first time."""
        return self._select(
            "WHERE ?1 = '[]' OR status IN (SELECT value FROM json_each(?1))"
            " ORDER BY score DESC, first_at, id",
            dumps([*statuses]),
        )

    def of_record(self, id: str) -> list[KeptCandidate]:
        """Return the candidates that became a record, or equal it."""
        return self._select("WHERE promoted_as = ?", id)

    def put(self, candidates: Iterable[KeptCandidate]) -> None:
        """Insert or replace candidates."""
        marks = ", ".join("?" * len(KeptCandidate.FIELDS))
        rows = ([*one.to_dict().values()] for one in candidates)
        into = f"main.candidates({_COLUMNS})"
        self._db.executemany(f"INSERT OR REPLACE INTO {into} VALUES ({marks})", rows)

    def blank(self, candidates: Sequence[KeptCandidate]) -> None:
        """Delete the texts of candidates; their ids never come again. ``Store.wipe`` is due."""
        for row in candidates:
            row.title, row.body, row.data, row.promoted_as = "", "", "{}", None
            row.status, row.command = REFUSED, None
        if candidates:
            self.put(candidates)
            Meta(self._db).set(TO_WIPE, now())

    def remove(self, ids: Iterable[str]) -> None:
        """Delete candidates; found again, they are new."""
        seen = "SELECT id FROM candidates WHERE id IN (SELECT value FROM json_each(?))"
        query = f"DELETE FROM main.candidates WHERE id IN ({seen})"
        self._db.execute(query, (dumps([*ids]),))

    def _select(self, rest: str, *given: object) -> list[KeptCandidate]:
        rows = self._rows(f"SELECT * FROM (SELECT {_READ} FROM candidates) {rest}", *given)
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


class Impressions(Table):
    """Results that runs were shown, and their ratings; a run is a node, a rating an edge."""

    def show(self, run: str, ids: Iterable[str], query: str) -> None:
        """Insert the nodes of an answer, from position 1 on; the best positions count."""
        at = now()
        self._db.executemany(
            "INSERT INTO main.shown(run_id, node_id, position, query, shown_at)"
            " VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET position = excluded.position"
            " WHERE excluded.position < position",
            ((run, id, position, query, at) for position, id in enumerate(ids, start=1)),
        )

    def shown(self, run: str) -> dict[str, Impression]:
        """Return the impression of each node, by best position."""
        query = (
            "SELECT node_id, min(position), query, json_group_object(query, position) FROM shown"
            " WHERE run_id = ? GROUP BY node_id ORDER BY 2, shown_at, node_id"
        )
        return {row[0]: row[1:] for row in self._rows(query, run)}

    def left_open(self, before: str, most: int) -> list[str]:
        """Return live, open runs that hooks started before a time, oldest first."""
        query = (
            "SELECT id FROM nodes WHERE type = 'run' AND created_at < ? AND invalidated_at IS NULL"
            " AND json_extract(data, '$.by') = 'hook'"
            " AND json_extract(data, '$.finished_at') IS NULL ORDER BY created_at, id LIMIT ?"
        )
        return self._column(query, before, most)

    def clear(self, run: str) -> None:
        """Delete the impressions of a run, which are in the run's edges now."""
        self._db.execute("DELETE FROM main.shown WHERE run_id = ?", (run,))

    def uses(self, run: str) -> list[Use]:
        """Return the live ``used_in_run`` edges of a run, by position."""
        order = "ORDER BY position IS NULL, position, from_id"
        return self._rows(f"{_USES} AND e.to_key = {KEY_OF.format('?1')} {order}", run)

    def summaries(self, run: str | None, limit: int) -> list[Summary]:
        """Return summaries of live runs, newest first. ``used`` counts edges, ``shown`` nodes
        without an edge."""
        return self._rows(_LIST, run, limit)

    def tops(self, runs: Sequence[str], most: int) -> list[tuple[str, str, str]]:
        """Return ``(run, query, node)`` of the first ``most`` positions in these runs, sorted."""
        return self._rows(_TOPS, dumps(runs), most)

    def state(self, run: str) -> str:
        """Return ``open``, ``finished``, ``forgotten``, or an empty text for an unknown run."""
        query = (
            "SELECT CASE WHEN invalidated_at IS NOT NULL THEN 'forgotten'"
            " WHEN json_extract(data, '$.finished_at') IS NULL THEN 'open' ELSE 'finished' END"
            " FROM nodes WHERE id = ? AND type = 'run'"
        )
        return self._value(query, run) or ""


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
"""The staged facts of the things in json_each(?1): edges between entities and concepts."""

_STAGED = "status = 'staged' AND source = 'conversation' AND invalidated_at IS NULL"

LEAST_TO_STAY, ENOUGH_ACCESSES = 0.2, 5
"""Minimum of confidence × recency, or of accesses, of records that do not fade. Not measured."""

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


class Review(Table):
    """Reads, and staged records and facts, without a new ``updated_at``."""

    def count_access(self, ids: Sequence[str], at: str) -> None:
        """Count a read of each live node in ``ids``, and of the staged facts of things."""
        self._db.execute(_COUNT_NODES, (dumps(ids), at))
        self._db.execute(_COUNT_FACTS, (_things(ids), at))

    def ripe_nodes(self, ids: Sequence[str], accesses: int) -> list[str]:
        """Return the staged nodes in ``ids`` with at least ``accesses`` reads, by id."""
        query = (
            f"SELECT n.id FROM {NAMED} LEFT JOIN reads r ON r.key = n.key WHERE n.status = 'staged'"
            " AND n.invalidated_at IS NULL AND coalesce(r.count, 0) >= ? ORDER BY 1"
        )
        return self._column(query, dumps(ids), accesses)

    def ripe_facts(self, ids: Sequence[str], accesses: int) -> list[EdgeKey]:
        """Return the staged facts of these nodes with at least so many reads."""
        query = (
            f"SELECT {EDGE_ENDS}, relation FROM ({_FACTS}) JOIN links"
            " USING (from_key, to_key, relation) WHERE access_count >= ?2 ORDER BY 1, 2, 3"
        )
        return self._rows(query, _things(ids), accesses)

    def staged_size(self) -> int:
        """Return the number of characters in the live staged nodes of conversations."""
        size = "coalesce(sum(length(title) + length(body) + length(data)), 0)"
        return int(self._value(f"SELECT {size} FROM nodes WHERE {_STAGED}"))

    def faded(self, half_life: float) -> dict[str, dict[str, float]]:
        """Return ``{confidence, recency, accesses}`` by key of the change log: live staged edges
        and nodes of conversations with a low confidence × recency and few accesses."""
        from ..core.scoring import recency

        age = "coalesce(julianday('now') - julianday({}), 0.0)"
        query = (
            "SELECT from_id || char(31) || to_id || char(31) || relation, weight,"
            f" {age.format(CHANGED_AT)}, access_count"
            f" FROM (SELECT {EDGE_ENDS}, * FROM links WHERE {_STAGED} LIMIT -1) e"
            f" UNION ALL SELECT n.id, n.confidence, {age.format('n.updated_at')},"
            f" coalesce(r.count, 0) FROM {WITH_READS} WHERE {_STAGED} ORDER BY 1"
        )
        found = {}
        for key, sure, days, reads in self._rows(query):
            fresh = recency(days, half_life)
            if sure * fresh < LEAST_TO_STAY and reads < ENOUGH_ACCESSES:
                found[key] = {"confidence": sure, "recency": round(fresh, 6), "accesses": reads}
        return found
