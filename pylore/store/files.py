"""Tables about files: anchors of nodes, imported documents, the index of code."""

from __future__ import annotations

from ..core.json import dumps
from ..core.model import Anchor, Edge, Node, Row
from .connection import EDGE_ENDS, ID_OF, KEY_OF, Table
from .edges import INSERT_EDGE, edge_rows
from .nodes import COLUMNS, FIELDS_OF_N, NAMED, node_of, put_rows
from .whole_text import packed, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..core.model import AnchorKey, EdgeKey

    Resolved = tuple[float, str, str, bool]
    """(weight, metadata, source, True if the edge is in force)"""


class DocumentFile(Row):
    """An imported file of a root (``""``: the project; or a folder, the base of the paths).

    Attributes:
        read_as: everything else that its reading depends on.
        stamp: the file's when it was read; empty if it must be read again.
        hash: of its text.
        title: its title, with the aliases in lines below.
        state: a hash of the node that the file describes.
    """

    node_id: str
    path: str
    read_as: str = ""
    stamp: str = ""
    hash: str = ""
    title: str = ""
    state: str = ""

    @property
    def names(self) -> list[str]:
        """Return the title, then the aliases."""
        return self.title.split("\n")


_FIELDS = ", ".join(Anchor.FIELDS)
_MARKS = ", ".join("?" * len(Anchor.FIELDS))
_OF_NODES = (
    f"SELECT {', '.join('a.' + name for name in Anchor.FIELDS)} FROM anchors a"
    " JOIN nodes n ON n.id = a.node_id WHERE n.invalidated_at IS NULL AND a.gone_at IS NULL"
)
_SEEN = {"verified_at": "", "stamps": ""}
REMOVED = "removed"
"""Reason of an anchor that was removed here. Others that are gone have followed their code."""
_KEY = "node_id = ? AND kind = ? AND path = ? AND detail = ?"
_ORDER = "ORDER BY node_id, kind, path, detail"


class Anchors(Table):
    """Reads and writes anchors. The row of a removed anchor stays, so that no import restores it;
    only ``get``, ``all`` and ``of`` with ``gone`` return such anchors."""

    def _read(self, query: str, *given: object) -> list[Anchor]:
        return [Anchor(*row) for row in self._rows(query, *given)]

    def get(self, key: AnchorKey) -> Anchor | None:
        """Return an anchor, removed or not."""
        return next(iter(self._read(f"SELECT {_FIELDS} FROM anchors WHERE {_KEY}", *key)), None)

    def of(self, node_id: str, *, gone: bool = False) -> list[Anchor]:
        """Return the anchors of a node; with ``gone``, including removed anchors."""
        live = "" if gone else " AND gone_at IS NULL"
        query = f"SELECT {_FIELDS} FROM anchors WHERE node_id = ?{live} {_ORDER}"
        return self._read(query, node_id)

    def all(self) -> list[Anchor]:
        """Return all anchors, removed or not, by node, kind, path and detail."""
        return self._read(f"SELECT {_FIELDS} FROM anchors {_ORDER}")

    def live(self, ids: Sequence[str] = ()) -> list[Anchor]:
        """Return the anchors of these live nodes, or of all, by path."""
        return self._read(
            f"{_OF_NODES} AND (?1 = '[]' OR a.node_id IN (SELECT value FROM json_each(?1)))"
            " ORDER BY a.root, a.path, a.node_id, a.kind, a.detail",
            dumps(ids),
        )

    def rules(self, root: str) -> list[Anchor]:
        """Return the rules of live nodes in a project."""
        where = "a.kind = 'rule' AND a.root = ? ORDER BY a.node_id, a.path, a.detail"
        return self._read(f"{_OF_NODES} AND {where}", root)

    def about(self, root: str, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return ``(node, path)`` of the anchors to these files, without globs."""
        query = (
            "SELECT DISTINCT a.node_id, a.path FROM json_each(?) j CROSS JOIN anchors a"
            " ON a.path = j.value WHERE a.kind <> 'glob' AND a.root = ? AND a.gone_at IS NULL"
        )
        return self._rows(query, dumps(paths), root)

    def globs(self, root: str) -> list[tuple[str, str]]:
        """Return ``(node, glob)`` of the anchors to globs."""
        where = "kind = 'glob' AND root = ? AND gone_at IS NULL"
        return self._rows(f"SELECT node_id, path FROM anchors WHERE {where}", root)

    def globs_like(self, root: str, paths: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return ``(node, glob, path)`` where a glob may match a path; some do not. SQLite's ``*``
        goes on past a slash, and only ``^`` negates a class."""
        query = (
            "SELECT a.node_id, a.path, j.value FROM anchors a CROSS JOIN json_each(?2) j"
            " WHERE a.kind = 'glob' AND a.root = ?1 AND a.gone_at IS NULL AND (a.path GLOB '*[[{]*'"
            " OR j.value GLOB replace(replace(a.path, '**/', '*'), '**', '*'))"
        )
        return self._rows(query, root, dumps(paths))

    def paths(self, root: str, beginning: str) -> list[str]:
        """Return the indexed and the anchored files with a prefix."""
        query = (
            "SELECT substr(id, 6) FROM nodes WHERE id >= 'file-' || ?1"
            " AND id < 'file-' || ?1 || char(1114111) AND invalidated_at IS NULL"
            " UNION SELECT path FROM anchors WHERE path >= ?1 AND path < ?1 || char(1114111)"
            " AND kind NOT IN ('glob', 'rule') AND root = ?2 AND gone_at IS NULL"
        )
        return self._column(query, beginning, root)

    def put(self, anchor: Anchor) -> str:
        """Write an anchor; return ``added``, ``updated`` or ``unchanged`` (but ``verified_at``)."""
        old = self.get(anchor.key)
        if old is not None and {**old.to_dict(), **_SEEN} == {**anchor.to_dict(), **_SEEN}:
            return "unchanged"
        is_new = old is None or (old.gone_at is not None and anchor.gone_at is None)
        self._write(old, anchor)
        return "added" if is_new else "updated"

    def _write(self, old: Anchor | None, anchor: Anchor) -> None:
        from .changes import ChangeLog

        ChangeLog(self._db).record(old, anchor)
        self.settle([anchor])

    def settle(self, anchors: Iterable[Anchor]) -> None:
        """Write anchors with the stamps they have, without a change log."""
        query = f"INSERT OR REPLACE INTO main.anchors({_FIELDS}) VALUES ({_MARKS})"
        self._db.executemany(query, ([*one.to_dict().values()] for one in anchors))

    def replace(self, changes: Iterable[tuple[AnchorKey, Anchor]]) -> None:
        """Write anchors over live anchors with these keys. An anchor that moves onto a live anchor
        of the same node is dropped."""
        for key, anchor in changes:
            old = self.get(key)
            if old is None or old.gone_at is not None:
                continue
            if anchor.key == key:
                self._write(old, anchor)
                continue
            self.delete(key, "")
            there = self.get(anchor.key)
            if there is None or there.gone_at is not None:
                self._write(there, anchor)

    def delete(self, key: AnchorKey, why: str = REMOVED) -> bool:
        """Remove an anchor; return True if it was live."""
        from ..core.times import now

        old = self.get(key)
        if old is None or old.gone_at is not None:
            return False
        anchor = old.copy()
        anchor.gone_at, anchor.reason = now(), why
        self._write(old, anchor)
        return True

    def left_by(self, anchor: Anchor) -> list[tuple[str, str]]:
        """Return (path, detail) of the places that an anchor has left, latest first: those with its
        fingerprint, or of a file, which may have changed, with its time of creation."""
        query = (
            "SELECT path, detail FROM anchors WHERE node_id = ? AND kind = ? AND reason <> ?"
            " AND iif(kind = 'file', created_at = ?, substr(hash, 1, 32) = ?)"
            " AND gone_at IS NOT NULL ORDER BY gone_at DESC"
        )
        own = anchor.created_at, anchor.hash[:32]
        return self._rows(query, anchor.node_id, anchor.kind, REMOVED, *own)

    def delete_node(self, node_id: str) -> None:
        """Delete the rows of all anchors of a node."""
        self._db.execute("DELETE FROM main.anchors WHERE node_id = ?", (node_id,))


# Outside the project, a file of the same path is the same file if its text is equal.
_PATHS = """
SELECT d.node_id, d.path FROM json_each(?) j
CROSS JOIN documents d ON d.node_id = j.value
LEFT JOIN code_files c ON c.path = d.path
WHERE substr(c.hash, 1, length(d.hash)) = d.hash OR (d.root = '' AND (? OR c.path IS NOT NULL))
"""
_LINES = """
SELECT key, iif(is_symbol, line_start,
  line_start + length(before) - length(replace(before, char(10), ''))),
  iif(is_symbol, line_end, NULL)
FROM (
  SELECT p.key, n.line_start, n.line_end, n.type = 'symbol' AS is_symbol,
    substr(n.body, 1, p.start - 1) AS before
  FROM json_each(?) j CROSS JOIN passages p ON p.key = j.value
  CROSS JOIN nodes n ON n.key = p.node_key
  WHERE is_symbol OR (n.line_start IS NOT NULL AND p.relation IS NULL
    AND EXISTS (SELECT 1 FROM documents d WHERE d.node_id = n.id))
)
"""
_STAMPS = """
SELECT path, stamp FROM code_files WHERE path IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT path, stamp FROM documents WHERE root = '' AND path IN (SELECT value FROM json_each(?1))
"""
_DOCUMENT = ", ".join(DocumentFile.FIELDS)
_THIS_FILE = "root = ? AND node_id = ?"


class Documents(Table):
    """The imported files, by root and node."""

    def all(self, root: str) -> list[DocumentFile]:
        """Return the files of a root, by path and node."""
        query = f"SELECT {_DOCUMENT} FROM documents WHERE root = ? ORDER BY path, node_id"
        return [DocumentFile(*row) for row in self._rows(query, root)]

    def stamps(self, paths: Sequence[str]) -> dict[str, str]:
        """Return path to stamp of the imported or indexed files in ``paths``."""
        return dict(self._rows(_STAMPS, dumps(paths)))

    def places(self, node_id: str) -> list[tuple[str, str]]:
        """Return root and path of each file that a node was made from."""
        return self._rows("SELECT root, path FROM documents WHERE node_id = ?", node_id)

    def paths(self, node_ids: Sequence[str], *, listed: bool = False) -> dict[str, str]:
        """Return paths of nodes in the project (``listed``: in the index), or of equal files."""
        return dict(self._rows(_PATHS, dumps(node_ids), not listed))

    def lines(self, passages: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        """Return the first and last lines of symbols, and the first of passages of documents."""
        return {row[0]: row[1:] for row in self._rows(_LINES, dumps(passages))}

    def links(self, root: str, node_id: str) -> str:
        """Return the links of a file as ``put`` got them, or an empty text."""
        return self._value(f"SELECT links FROM documents WHERE {_THIS_FILE}", root, node_id) or ""

    def put(self, root: str, document: DocumentFile, links: str) -> None:
        """Write a file, with the links as a JSON list."""
        values = [root, links, *(getattr(document, name) for name in DocumentFile.FIELDS)]
        into = f"main.documents(root, links, {_DOCUMENT})"
        marks = ", ".join("?" * len(values))
        self._db.execute(f"INSERT OR REPLACE INTO {into} VALUES ({marks})", values)

    def restamp(self, root: str, document: DocumentFile) -> None:
        """Write the stamp of a file."""
        given = (document.stamp, root, document.node_id)
        self._db.execute(f"UPDATE main.documents SET stamp = ? WHERE {_THIS_FILE}", given)

    def remove(self, root: str, node_ids: Iterable[str]) -> None:
        """Delete files, and no nodes."""
        rows = [(root, id) for id in node_ids]
        self._db.executemany(f"DELETE FROM main.documents WHERE {_THIS_FILE}", rows)


CODE_RELATIONS = ("imports", "calls", "inherits", "instantiates", "mentions")
"""Relations found by resolving names; edges of source ``system`` are the index's."""
_UPDATED = [name for name in COLUMNS if name not in ("id", "created_at", "stamps")]


class CodeFiles(Table):
    """The files that ``lore index`` has read, with their nodes and edges."""

    def enlarge_cache(self) -> None:
        """Let this connection cache 256 MB of pages, for writes all over the indexes."""
        self._db.pragma("cache_size", -262_144)

    def stamps(self) -> dict[str, str]:
        """Return path to stamp of all files."""
        return dict(self._rows("SELECT path, stamp FROM code_files"))

    def known(self, paths: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """Return path to ``(stamp, hash, language or "" if skipped)`` of ``paths``."""
        query = (
            "SELECT c.path, c.stamp, c.hash, c.language FROM json_each(?) j"
            " CROSS JOIN code_files c ON c.path = j.value"
        )
        return {row[0]: row[1:] for row in self._rows(query, dumps(paths))}

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
        skipped = {reason: count for language, reason, count in rows if not language}
        return {language: count for language, _, count in rows if language}, skipped

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
        query = (
            f"SELECT n.id, {ID_OF.format('e.to_key')} FROM {NAMED} CROSS JOIN links e"
            " ON e.from_key = n.key AND e.relation = 'defines' WHERE e.invalidated_at IS NULL"
        )
        return {*self._rows(query, dumps(file_ids))}

    def resolved(self, ids: Sequence[str] | None = None) -> dict[EdgeKey, Resolved]:
        """Return the edges of ``CODE_RELATIONS``, or the edges from these files and symbols."""
        ends, given = "links", [dumps(CODE_RELATIONS)]
        if ids is not None:
            ends = f"json_each(?2) j CROSS JOIN links ON from_key = {KEY_OF.format('j.value')}"
            given.append(dumps(ids))
        query = (
            f"SELECT {EDGE_ENDS}, relation, weight, metadata, source, invalidated_at IS NULL"
            f" FROM {ends} WHERE relation IN (SELECT value FROM json_each(?1))"
        )
        return {row[:3]: (*row[3:6], bool(row[6])) for row in self._rows(query, *given)}

    def add_edges(self, edges: Iterable[Edge]) -> None:
        """Insert edges; existing edges are not changed."""
        self._db.executemany(f"{INSERT_EDGE} ON CONFLICT DO NOTHING", edge_rows(self._db, edges))

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Write edges, except over live edges that a person made."""
        self._db.executemany(
            f"{INSERT_EDGE} ON CONFLICT DO UPDATE SET"
            " weight = excluded.weight, metadata = excluded.metadata, source = excluded.source,"
            " ended_at = NULL, invalidated_at = excluded.invalidated_at"
            " WHERE links.ended_at IS NOT NULL"
            " OR links.source NOT IN ('user_edit', 'conversation')",
            edge_rows(self._db, edges),
        )
