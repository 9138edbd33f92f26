"""The files that ``lore index`` has read, and what it wrote of them."""

from __future__ import annotations

from ...core.model import Edge, Node
from ...system.json_encode import dumps
from .driver import apsw
from .nodes import rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

CODE_RELATIONS = ("imports", "calls", "inherits", "instantiates", "mentions")
"""What is found by resolving names; those of source ``system`` are the index's own."""
_FIELDS = ", ".join(Node.__slots__)
_OWN_FIELDS = ", ".join(f"n.{name}" for name in Node.__slots__)
_MARKS = ", ".join("?" * len(Node.__slots__))
_EDGE_FIELDS = (
    "from_id", "to_id", "relation", "weight", "source", "status", "metadata", "created_at",
)  # fmt: skip
_INTO_EDGES = (
    f"INTO graph_edges({', '.join(_EDGE_FIELDS)}) VALUES ({', '.join('?' * len(_EDGE_FIELDS))})"
)
_UPDATES = ", ".join(
    f"{name} = excluded.{name}"
    for name in Node.__slots__
    if name not in ("id", "created_at", "accessed_at", "access_count", "changed_at")
)


def packed(text: str) -> bytes:
    """A text as ``facts`` and ``answers`` keep it."""
    from zlib import compress

    return compress(text.encode(), 4)


def unpacked(kept: bytes | str) -> str:
    """The text; of a store from before, which kept it as it is, too.

    Raises:
        ValueError: it is none.
    """
    if isinstance(kept, str):
        return kept
    from zlib import decompress, error

    try:
        return decompress(kept).decode()
    except error as wrong:
        raise ValueError(str(wrong)) from None


class Unguarded:
    """For rows that are new and made by lore itself: no triggers run, and no checks.

    New rows have no history, and the kept counts go once for all of them; what the checks
    ask for is so by the way in which the rows are made. Both would double the time of an
    edge: a check of the form ``x IN ('a', 'b', 'c')`` makes its list anew for each row.
    """

    __slots__ = ("_db",)

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def __enter__(self) -> None:
        self._set(False)

    def __exit__(self, *_: object) -> None:
        self._set(True)
        self._db.execute("DELETE FROM meta WHERE key = 'stats'")
        self._db.execute("UPDATE meta SET value = value + 1 WHERE key = 'names'")

    def _set(self, guarded: bool) -> None:
        self._db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, int(guarded))
        self._db.pragma("ignore_check_constraints", not guarded)


class SqliteCodeFiles:
    """The table ``code_files``, and the nodes and edges that belong to its files."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def hold_more(self) -> None:
        """Lets this connection keep 256 MB of pages: much is written, all over the indexes."""
        self._db.pragma("cache_size", -262_144)

    def stamps(self) -> dict[str, str]:
        """Path to stamp of every file; paths have no control characters."""
        # One long string reaches Python faster than as many rows.
        text: str | None = self._db.execute(
            "SELECT group_concat(path || char(31) || stamp, char(31)) FROM code_files"
        ).get
        parts = text.split("\x1f") if text else []
        return dict(zip(parts[::2], parts[1::2], strict=True))

    def known(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Path to ``(hash, language)`` of those of these files that were read before."""
        rows = self._db.execute(
            "SELECT c.path, c.hash, c.language FROM json_each(?) j"
            " CROSS JOIN code_files c ON c.path = j.value",
            (dumps(paths),),
        )
        return {path: (hash, language) for path, hash, language in rows}

    def as_read(self, path: str) -> tuple[str, str] | None:
        """``(stamp, hash)`` of a file as it was read."""
        row: tuple[str, str] | None = self._db.execute(
            "SELECT stamp, hash FROM code_files WHERE path = ?", (path,)
        ).get
        return row

    def facts(self, but: Container[str] = ()) -> Iterator[tuple[str, str, str]]:
        """``(path, language, facts as JSON)`` of every file that was not left out, by path.

        Those of the paths in ``but`` are not read.
        """
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT path, language FROM code_files WHERE language != '' ORDER BY path"
        ).fetchall()
        for path, language in rows:
            if path not in but:
                yield path, language, self._facts_of(path)

    def _facts_of(self, path: str) -> str:
        facts: bytes = self._db.execute("SELECT facts FROM code_files WHERE path = ?", (path,)).get
        return unpacked(facts)

    def facts_of(self, path: str) -> tuple[str, str] | None:
        """``(language, facts as JSON)`` of a file that was not left out."""
        row: tuple[str, bytes] | None = self._db.execute(
            "SELECT language, facts FROM code_files WHERE path = ? AND language != ''", (path,)
        ).get
        return None if row is None else (row[0], unpacked(row[1]))

    def languages_of_all(self) -> dict[str, str]:
        """Path to language of every file that was not left out, by path."""
        rows = self._db.execute(
            "SELECT path, language FROM code_files WHERE language != '' ORDER BY path"
        )
        return {path: language for path, language in rows}

    def put(self, rows: Iterable[tuple[str, str, str, str, str]]) -> None:
        """Writes ``(path, hash, stamp, language, facts as JSON)`` rows."""
        # What was left out has a line of JSON, by which it is counted.
        self._db.executemany(
            "INSERT OR REPLACE INTO code_files VALUES (?, ?, ?, ?, ?)",
            ((*row[:4], packed(row[4]) if row[3] else row[4]) for row in rows),
        )

    def restamp(self, stamps: Iterable[tuple[str, str]]) -> None:
        """Sets ``(stamp, path)`` of files whose content is the same."""
        self._db.executemany("UPDATE code_files SET stamp = ? WHERE path = ?", stamps)

    def remove(self, paths: Iterable[str]) -> None:
        """Forgets files."""
        self._db.executemany("DELETE FROM code_files WHERE path = ?", ((path,) for path in paths))

    def skipped(self) -> dict[str, int]:
        """How many files were left out after a look into them, by reason."""
        return dict(
            self._db.execute(
                "SELECT json_extract(facts, '$.skipped') AS reason, count(*) FROM code_files"
                " WHERE language = '' GROUP BY reason"
            )
        )

    def languages(self) -> dict[str, int]:
        """Language to the number of its files."""
        return dict(
            self._db.execute(
                "SELECT language, count(*) FROM code_files WHERE language != '' GROUP BY language"
            )
        )

    # --- nodes

    def nodes_of(self, paths: Sequence[str]) -> dict[str, Node]:
        """The nodes of these files and of the symbols in them, forgotten ones too."""
        rows = self._db.execute(
            f"SELECT {_OWN_FIELDS} FROM json_each(?) j CROSS JOIN nodes n ON n.file = j.value"
            " WHERE n.type IN ('file', 'symbol')",
            (dumps(paths),),
        )
        found = {}
        for row in rows:
            node = Node(*row)
            node.tags = tuple(str(row[8]).split())
            found[node.id] = node
        return found

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        """Writes nodes whole; what was there keeps its creation and access."""
        self._db.executemany(
            f"INSERT INTO nodes({_FIELDS}) VALUES ({_MARKS})"
            f" ON CONFLICT(id) DO UPDATE SET {_UPDATES}",
            rows_of(nodes),
        )

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Writes nodes whose ids the store has never had."""
        with Unguarded(self._db):
            self._db.executemany(f"INSERT INTO nodes({_FIELDS}) VALUES ({_MARKS})", rows_of(nodes))

    def symbol_count(self) -> int:
        """How many symbols stand."""
        count: int = self._db.execute(
            "SELECT count(*) FROM nodes WHERE type = 'symbol' AND invalidated_at IS NULL"
        ).get
        return count

    # --- edges

    def edge_counts(self) -> dict[str, int]:
        """Relation to the number of its live edges, of those that the index makes."""
        return dict(
            self._db.execute(
                "SELECT relation, count(*) FROM graph_edges WHERE invalidated_at IS NULL"
                " AND relation IN (SELECT value FROM json_each(?)) GROUP BY relation",
                (dumps(("defines", *CODE_RELATIONS)),),
            )
        )

    def edge_counts_of(self, ids: Sequence[str]) -> dict[str, int]:
        """The same of the edges that touch these nodes alone."""
        return dict(
            self._db.execute(
                "WITH ids(id) AS (SELECT value FROM json_each(?1)),"
                " own(name) AS (SELECT value FROM json_each(?2))"
                " SELECT relation, count(*) FROM ("
                "SELECT e.relation FROM ids CROSS JOIN graph_edges e ON e.from_id = ids.id"
                " WHERE e.invalidated_at IS NULL AND e.relation IN own"
                " UNION ALL"
                " SELECT e.relation FROM ids CROSS JOIN graph_edges e ON e.to_id = ids.id"
                " WHERE e.invalidated_at IS NULL AND e.relation IN own AND e.from_id NOT IN ids"
                ") GROUP BY relation",
                (dumps(ids), dumps(("defines", *CODE_RELATIONS))),
            )
        )

    def defined(self, file_ids: Sequence[str]) -> set[tuple[str, str]]:
        """``(file, symbol)`` of the live ``defines`` edges of these files."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT e.from_id, e.to_id FROM json_each(?) j CROSS JOIN graph_edges e"
            " ON e.from_id = j.value AND e.relation = 'defines' WHERE e.invalidated_at IS NULL",
            (dumps(file_ids),),
        ).fetchall()
        return set(rows)

    def resolved(self) -> dict[tuple[str, str, str], tuple[float, str, str, bool]]:
        """The edges that resolving names has made: key to (weight, metadata, source, stands)."""
        rows = self._db.execute(
            "SELECT from_id, to_id, relation, weight, metadata, source, invalidated_at IS NULL"
            " FROM graph_edges WHERE relation IN (SELECT value FROM json_each(?))",
            (dumps(CODE_RELATIONS),),
        )
        return {(row[0], row[1], row[2]): (row[3], row[4], row[5], bool(row[6])) for row in rows}

    def resolved_from(
        self, ids: Sequence[str]
    ) -> dict[tuple[str, str, str], tuple[float, str, str, bool]]:
        """Those of ``resolved`` that go from these files and symbols."""
        rows = self._db.execute(
            "SELECT e.from_id, e.to_id, e.relation, e.weight, e.metadata, e.source,"
            " e.invalidated_at IS NULL"
            " FROM json_each(?) j CROSS JOIN graph_edges e ON e.from_id = j.value"
            " WHERE e.relation IN (SELECT value FROM json_each(?))",
            (dumps(ids), dumps(CODE_RELATIONS)),
        )
        return {(row[0], row[1], row[2]): (row[3], row[4], row[5], bool(row[6])) for row in rows}

    def add_edges(self, edges: Iterable[Edge]) -> None:
        """Writes edges that the store has never had; one that it has had stays as it is."""
        with Unguarded(self._db):
            self._db.executemany(f"INSERT OR IGNORE {_INTO_EDGES}", _edge_rows(edges))

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Writes edges; one that a person has made, and that stands, stays as it is."""
        self._db.executemany(
            f"INSERT {_INTO_EDGES} ON CONFLICT DO UPDATE SET"
            " weight = excluded.weight, metadata = excluded.metadata, source = excluded.source,"
            " invalidated_at = NULL"
            " WHERE graph_edges.invalidated_at IS NOT NULL"
            " OR graph_edges.source NOT IN ('user_edit', 'conversation')",
            _edge_rows(edges),
        )

    def end_edges(self, keys: Iterable[tuple[str, str, str]], at: str) -> None:
        """Marks edges as invalidated."""
        self._db.executemany(
            "UPDATE graph_edges SET invalidated_at = ?"
            " WHERE from_id = ? AND to_id = ? AND relation = ? AND invalidated_at IS NULL",
            ((at, *key) for key in keys),
        )


def _edge_rows(edges: Iterable[Edge]) -> Iterator[tuple[object, ...]]:
    from operator import attrgetter  # writing alone needs it

    return map(attrgetter(*_EDGE_FIELDS), edges)
