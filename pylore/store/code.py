"""Files that the index of code has read, with their nodes and edges."""

from __future__ import annotations

from ..core.json import dumps
from ..core.model import Edge, Node
from .connection import EDGE_ENDS, ID_OF, KEY_OF, Table
from .edges import INSERT_EDGE, edge_rows
from .nodes import COLUMNS, FIELDS_OF_N, NAMED, node_of, put_rows
from .whole_text import packed, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..core.model import EdgeKey

    Resolved = tuple[float, str, str, bool]
    """(weight, metadata, source, True if the edge is in force)"""


CODE_RELATIONS = ("imports", "calls", "inherits", "instantiates", "mentions")
"""Relations found by resolving names; edges of source ``system`` are the index's."""
_UPDATED = [name for name in COLUMNS if name not in ("id", "created_at", "stamps")]


class CodeFiles(Table):
    """The files that ``lore index`` has read, with their nodes and edges."""

    def hold_more(self) -> None:
        """Let this connection cache 256 MB of pages, for writes all over the indexes."""
        self._db.pragma("cache_size", -262_144)

    def stamps(self) -> dict[str, str]:
        """Return path to stamp of all files."""
        return dict(self._rows("SELECT path, stamp FROM code_files"))

    def known(self, paths: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """Return path to ``(stamp, hash, language or "" if skipped)`` of ``paths``."""
        rows = self._rows(
            "SELECT c.path, c.stamp, c.hash, c.language FROM json_each(?) j"
            " CROSS JOIN code_files c ON c.path = j.value",
            dumps(paths),
        )
        return {path: (stamp, hash, language) for path, stamp, hash, language in rows}

    def facts(self, paths: Sequence[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield ``(path, language, facts as JSON)`` of ``paths``, or of all files, by path."""
        among = "" if paths is None else " AND path IN (SELECT value FROM json_each(?))"
        rows = self._db.execute(
            f"SELECT path, language, facts FROM code_files WHERE language != ''{among}"
            " ORDER BY path",
            () if paths is None else (dumps(paths),),
        )
        return ((path, language, unpacked(facts)) for path, language, facts in rows)

    def put(self, rows: Iterable[tuple[str, str, str, str, str]]) -> None:
        """Write ``(path, hash, stamp, language, facts as JSON)`` rows."""
        self._db.executemany(
            "INSERT INTO code_files(path, hash, stamp, language, facts) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT(path) DO UPDATE SET hash = excluded.hash, stamp = excluded.stamp,"
            " language = excluded.language, facts = excluded.facts",
            ((*row, packed(facts) if row[3] else facts) for *row, facts in rows),
        )

    def restamp(self, stamps: Iterable[tuple[str, str]]) -> None:
        """Write ``(stamp, path)`` of files with the same content."""
        self._db.executemany("UPDATE code_files SET stamp = ? WHERE path = ?", stamps)

    def remove(self, paths: Iterable[str]) -> None:
        """Delete files; ``WholeFiles`` deletes their texts first."""
        self._db.executemany("DELETE FROM code_files WHERE path = ?", ((path,) for path in paths))

    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return the number of read files by language, and of skipped files by reason."""
        reason = "json_extract(iif(language = '', facts, '{}'), '$.skipped')"
        query = f"SELECT language, {reason} AS reason, count(*) FROM code_files GROUP BY 1, 2"
        rows = self._rows(query)
        return {row[0]: row[2] for row in rows if row[0]}, {
            reason: count for language, reason, count in rows if not language
        }

    # --- nodes

    def nodes_of(self, paths: Sequence[str]) -> dict[str, Node]:
        """Return the nodes of these files and of the symbols in them, including forgotten nodes."""
        query = (
            f"SELECT {FIELDS_OF_N} FROM json_each(?) j CROSS JOIN nodes n ON n.file = j.value"
            " LEFT JOIN reads r ON r.key = n.key WHERE n.type IN ('file', 'symbol')"
        )
        return {node.id: node for node in map(node_of, self._rows(query, dumps(paths)))}

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        """Write nodes; existing nodes keep the time of creation and the reads."""
        put_rows(self._db, [*nodes], _UPDATED)

    # --- edges

    def defined(self, file_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return ``(file, symbol)`` of the live ``defines`` edges of these files."""
        return {
            *self._rows(
                f"SELECT n.id, {ID_OF.format('e.to_key')} FROM {NAMED} CROSS JOIN links e"
                " ON e.from_key = n.key AND e.relation = 'defines' WHERE e.invalidated_at IS NULL",
                dumps(file_ids),
            )
        }

    def resolved(self, ids: Sequence[str] | None = None) -> dict[EdgeKey, Resolved]:
        """Return the edges of ``CODE_RELATIONS``, or those from these files and symbols."""
        ends, given = "links", [dumps(CODE_RELATIONS)]
        if ids is not None:
            ends = f"json_each(?2) j CROSS JOIN links ON from_key = {KEY_OF.format('j.value')}"
            given.append(dumps(ids))
        query = (
            f"SELECT {EDGE_ENDS}, relation, weight, metadata, source, invalidated_at IS NULL"
            f" FROM {ends} WHERE relation IN (SELECT value FROM json_each(?1))"
        )
        return {row[:3]: (*row[3:6], bool(row[6])) for row in self._rows(query, *given)}

    def resolved_to(self, ids: Sequence[str]) -> list[EdgeKey]:
        """Return the index's live edges to these files and symbols."""
        query = (
            f"SELECT {ID_OF.format('e.from_key')}, j.value, e.relation"
            f" FROM json_each(?) j CROSS JOIN links e ON e.to_key = {KEY_OF.format('j.value')}"
            " WHERE e.relation IN (SELECT value FROM json_each(?))"
            " AND e.source = 'system' AND e.invalidated_at IS NULL"
        )
        return self._rows(query, dumps(ids), dumps(CODE_RELATIONS))

    def add_edges(self, edges: Iterable[Edge]) -> None:
        """Insert edges; existing edges are not changed."""
        self._db.executemany(f"{INSERT_EDGE} ON CONFLICT DO NOTHING", edge_rows(self._db, edges))

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Write edges, except over those that a person made and did not end."""
        self._db.executemany(
            f"{INSERT_EDGE} ON CONFLICT DO UPDATE SET"
            " weight = excluded.weight, metadata = excluded.metadata, source = excluded.source,"
            " ended_at = NULL, invalidated_at = excluded.invalidated_at"
            " WHERE links.ended_at IS NOT NULL"
            " OR links.source NOT IN ('user_edit', 'conversation')",
            edge_rows(self._db, edges),
        )
