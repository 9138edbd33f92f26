"""What an index keeps of code: files, and the nodes and edges that belong to them."""

from __future__ import annotations

from ..core.json import dumps
from ..core.model import Edge, Node
from .connection import EDGE_ENDS, ID_OF, KEY_OF, apsw
from .derived import drop_taken
from .edges import INSERT_EDGE, edge_rows
from .nodes import COLUMNS, FIELDS_OF_N, INSERT_NODE, node_of, put_rows, rows_of
from .packing import packed, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


CODE_RELATIONS = ("imports", "calls", "inherits", "instantiates", "mentions")
"""What is found by resolving names; those of source ``system`` are the index's own."""
_UPDATED = [name for name in COLUMNS if name not in ("id", "created_at", "stamps")]


class CodeFiles:
    """The files that ``lore index`` has read, and the nodes and edges that belong to them."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def hold_more(self) -> None:
        """Let this connection keep 256 MB of pages: much is written, all over the indexes."""
        self._db.pragma("cache_size", -262_144)

    def stamps(self) -> dict[str, str]:
        """Return path to stamp of every file; paths have no control characters."""
        # One long string reaches Python faster than as many rows.
        text: str | None = self._db.execute(
            "SELECT group_concat(path || char(31) || stamp, char(31)) FROM code_files"
        ).get
        parts = text.split("\x1f") if text else []
        return dict(zip(parts[::2], parts[1::2], strict=True))

    def known(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return path to ``(hash, language)`` of those of these files that were read before."""
        rows = self._db.execute(
            "SELECT c.path, c.hash, c.language FROM json_each(?) j"
            " CROSS JOIN code_files c ON c.path = j.value",
            (dumps(paths),),
        )
        return {path: (hash, language) for path, hash, language in rows}

    def as_read(self, path: str) -> tuple[str, str, str] | None:
        """Return ``(stamp, hash, language)`` of a file as it was read; no language where it was
        not."""
        row: tuple[str, str, str] | None = self._db.execute(
            "SELECT stamp, hash, language FROM code_files WHERE path = ?", (path,)
        ).get
        return row

    def facts(self, paths: Sequence[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield ``(path, language, facts as JSON)`` of ``paths``, or of all files read, by path."""
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
        """Set ``(stamp, path)`` of files whose content is the same."""
        self._db.executemany("UPDATE code_files SET stamp = ? WHERE path = ?", stamps)

    def remove(self, paths: Iterable[str]) -> None:
        """Forget files, whose texts ``WholeFiles`` has forgotten."""
        self._db.executemany("DELETE FROM code_files WHERE path = ?", ((path,) for path in paths))

    def skipped(self) -> dict[str, int]:
        """Return how many files were left out after a look into them, by reason."""
        return dict(
            self._db.execute(
                "SELECT json_extract(facts, '$.skipped') AS reason, count(*) FROM code_files"
                " WHERE language = '' GROUP BY reason"
            )
        )

    def languages(self) -> dict[str, int]:
        """Return language to the number of its files."""
        return dict(
            self._db.execute(
                "SELECT language, count(*) FROM code_files WHERE language != '' GROUP BY language"
            )
        )

    # --- nodes

    def nodes_of(self, paths: Sequence[str]) -> dict[str, Node]:
        """Return the nodes of these files and of the symbols in them, forgotten ones too."""
        rows = self._db.execute(
            f"SELECT {FIELDS_OF_N} FROM json_each(?) j CROSS JOIN nodes n ON n.file = j.value"
            " LEFT JOIN reads r ON r.key = n.key WHERE n.type IN ('file', 'symbol')",
            (dumps(paths),),
        )
        return {node.id: node for node in map(node_of, rows)}

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        """Write nodes whole; what was there keeps its creation and access."""
        put_rows(self._db, [*nodes], _UPDATED)

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Write nodes whose ids the store has never had."""
        nodes = [*nodes]
        self._db.executemany(INSERT_NODE, rows_of(nodes))
        drop_taken(self._db, (node.id for node in nodes))

    def symbol_count(self) -> int:
        """Return how many symbols stand."""
        count: int = self._db.execute(
            "SELECT count(*) - (SELECT count(*) FROM nodes"
            " WHERE type = 'symbol' AND invalidated_at IS NOT NULL)"
            " FROM nodes WHERE type = 'symbol'"  # each from an index alone
        ).get
        return count

    # --- edges

    def edge_counts(self) -> dict[str, int]:
        """Return relation to the number of its live edges, of those that the index makes."""
        return dict(
            self._db.execute(
                "SELECT relation, count(*) FROM links WHERE invalidated_at IS NULL"
                " AND relation IN (SELECT value FROM json_each(?)) GROUP BY relation"
                " ORDER BY relation",
                (dumps(("defines", *CODE_RELATIONS)),),
            )
        )

    def defined(self, file_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return ``(file, symbol)`` of the live ``defines`` edges of these files."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT n.id, {ID_OF.format('e.to_key')} FROM json_each(?) j"
            " CROSS JOIN nodes n ON n.id = j.value CROSS JOIN links e"
            " ON e.from_key = n.key AND e.relation = 'defines' WHERE e.invalidated_at IS NULL",
            (dumps(file_ids),),
        ).fetchall()
        return set(rows)

    def resolved(self) -> dict[tuple[str, str, str], tuple[float, str, str, bool]]:
        """Return the edges that resolving names has made: key to (weight, metadata, source,
        stands)."""
        rows = self._db.execute(
            f"SELECT {EDGE_ENDS}, relation, weight, metadata, source, invalidated_at IS NULL"
            " FROM links WHERE relation IN (SELECT value FROM json_each(?))",
            (dumps(CODE_RELATIONS),),
        )
        return {(row[0], row[1], row[2]): (row[3], row[4], row[5], bool(row[6])) for row in rows}

    def resolved_from(
        self, ids: Sequence[str]
    ) -> dict[tuple[str, str, str], tuple[float, str, str, bool]]:
        """Return those of ``resolved`` that go from these files and symbols."""
        rows = self._db.execute(
            f"SELECT j.value, {ID_OF.format('e.to_key')}, e.relation, e.weight, e.metadata,"
            " e.source, e.invalidated_at IS NULL"
            " FROM json_each(?) j CROSS JOIN links e"
            f" ON e.from_key = {KEY_OF.format('j.value')}"
            " WHERE e.relation IN (SELECT value FROM json_each(?))",
            (dumps(ids), dumps(CODE_RELATIONS)),
        )
        return {(row[0], row[1], row[2]): (row[3], row[4], row[5], bool(row[6])) for row in rows}

    def resolved_to(self, ids: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return the live edges of the index's own that lead to these files and symbols."""
        rows = self._db.execute(
            f"SELECT {ID_OF.format('e.from_key')}, j.value, e.relation"
            " FROM json_each(?) j CROSS JOIN links e"
            f" ON e.to_key = {KEY_OF.format('j.value')}"
            " WHERE e.relation IN (SELECT value FROM json_each(?))"
            " AND e.source = 'system' AND e.invalidated_at IS NULL",
            (dumps(ids), dumps(CODE_RELATIONS)),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def add_edges(self, edges: Iterable[Edge]) -> None:
        """Write edges that the store has never had; one that it has had stays as it is."""
        self._db.executemany(f"{INSERT_EDGE} ON CONFLICT DO NOTHING", edge_rows(self._db, edges))

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Write edges; one that a person has made, and that stands, stays as it is."""
        self._db.executemany(
            f"{INSERT_EDGE} ON CONFLICT DO UPDATE SET"
            " weight = excluded.weight, metadata = excluded.metadata, source = excluded.source,"
            " ended_at = NULL, invalidated_at = excluded.invalidated_at"
            " WHERE links.ended_at IS NOT NULL"
            " OR links.source NOT IN ('user_edit', 'conversation')",
            edge_rows(self._db, edges),
        )
