"""Anchors of nodes to code, and imported files."""

from __future__ import annotations

from ..core.json import dumps
from ..core.model import Anchor, Row
from .connection import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.model import AnchorKey


class DocumentFile(Row):
    """An imported file of a root (``""``: the project; else a folder, the base of its paths).

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
_OF_NODES = (
    f"SELECT {', '.join('a.' + name for name in Anchor.FIELDS)} FROM anchors a"
    " JOIN nodes n ON n.id = a.node_id WHERE n.invalidated_at IS NULL AND a.gone_at IS NULL"
)
_SEEN = {"verified_at": "", "stamps": ""}
MOVED = "moved"
"""Reason of a removed anchor that followed the code to a different place."""
_KEY = "node_id = ? AND kind = ? AND path = ? AND detail = ?"
_ORDER = "ORDER BY node_id, kind, path, detail"


class Anchors(Table):
    """Reads and writes anchors. The row of a removed anchor stays, so that no import restores it;
    only ``get``, ``all`` and ``of`` with ``gone`` return such anchors."""

    def _read(self, query: str, *given: object) -> list[Anchor]:
        return [Anchor(*row) for row in self._rows(query, *given)]

    def get(self, key: AnchorKey) -> Anchor | None:
        """Return an anchor, removed or not."""
        found = self._read(f"SELECT {_FIELDS} FROM anchors WHERE {_KEY}", *key)
        return found[0] if found else None

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
        return self._read(
            f"{_OF_NODES} AND a.kind = 'rule' AND a.root = ? ORDER BY a.node_id, a.path, a.detail",
            root,
        )

    def about(self, root: str, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return ``(node, path)`` of the anchors to these files, without globs."""
        query = (
            "SELECT DISTINCT a.node_id, a.path FROM json_each(?) j CROSS JOIN anchors a"
            " ON a.path = j.value WHERE a.kind <> 'glob' AND a.root = ? AND a.gone_at IS NULL"
        )
        return self._rows(query, dumps(paths), root)

    def globs(self, root: str) -> list[tuple[str, str]]:
        """Return ``(node, glob)`` of the anchors to globs."""
        return self._rows(
            "SELECT node_id, path FROM anchors WHERE kind = 'glob' AND root = ?"
            " AND gone_at IS NULL",
            root,
        )

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
        self.settle(anchor)

    def settle(self, anchor: Anchor) -> None:
        """Write an anchor with the stamps it has, without a change log."""
        self._db.execute(
            f"INSERT OR REPLACE INTO main.anchors({_FIELDS})"
            f" VALUES ({', '.join('?' * len(Anchor.FIELDS))})",
            [getattr(anchor, name) for name in Anchor.FIELDS],
        )

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
            self.delete(key, MOVED)
            there = self.get(anchor.key)
            if there is None or there.gone_at is not None:
                self._write(there, anchor)

    def delete(self, key: AnchorKey, why: str = "") -> bool:
        """Remove an anchor; return True if it was live."""
        from copy import copy

        from ..core.times import now

        old = self.get(key)
        if old is None or old.gone_at is not None:
            return False
        anchor = copy(old)
        anchor.gone_at, anchor.reason = now(), why or old.reason
        self._write(old, anchor)
        return True

    def left_for_others(self, node_id: str, kind: str) -> list[tuple[str, str]]:
        """Return (path, detail) of the places that moved anchors have left, latest first."""
        query = (
            "SELECT path, detail FROM anchors WHERE node_id = ? AND kind = ? AND reason = ?"
            " AND gone_at IS NOT NULL ORDER BY gone_at DESC"
        )
        return self._rows(query, node_id, kind, MOVED)

    def delete_node(self, node_id: str) -> None:
        """Delete the rows of all anchors of a node."""
        self._db.execute("DELETE FROM main.anchors WHERE node_id = ?", (node_id,))


# Outside the project, a file of the same path is the same file if its text is equal.
_PATHS = """
SELECT d.node_id, d.path FROM json_each(?) j
CROSS JOIN documents d ON d.node_id = j.value
LEFT JOIN code_files c ON c.path = d.path
WHERE d.root = '' OR substr(c.hash, 1, length(d.hash)) = d.hash
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


class Documents(Table):
    """The imported files, by root and node."""

    def all(self, root: str) -> list[DocumentFile]:
        """Return the files of a root, by path and node."""
        query = f"SELECT {_DOCUMENT} FROM documents WHERE root = ? ORDER BY path, node_id"
        return [DocumentFile(*row) for row in self._rows(query, root)]

    def stamps(self, paths: Sequence[str]) -> dict[str, str]:
        """Return path to stamp of the imported or indexed files in ``paths``."""
        return dict(self._rows(_STAMPS, dumps(paths)))

    def has(self, node_id: str) -> bool:
        """Return True if a node was made from a file."""
        return bool(self._value("SELECT 1 FROM documents WHERE node_id = ? LIMIT 1", node_id))

    def paths(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Return the paths of these nodes in the project, or of the same indexed files."""
        return dict(self._rows(_PATHS, dumps(node_ids)))

    def lines(self, passages: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        """Return the first and last lines of symbols, and the first of passages of documents."""
        return {row[0]: row[1:] for row in self._rows(_LINES, dumps(passages))}

    def links(self, root: str, node_id: str) -> str:
        """Return the links of a file as ``put`` got them, or an empty text."""
        query = "SELECT links FROM documents WHERE root = ? AND node_id = ?"
        return self._value(query, root, node_id) or ""

    def put(self, root: str, document: DocumentFile, links: str) -> None:
        """Write a file, with the links as a JSON list."""
        fields = [getattr(document, name) for name in DocumentFile.FIELDS]
        self._db.execute(
            f"INSERT OR REPLACE INTO main.documents(root, {_DOCUMENT}, links)"
            f" VALUES (?, {'?, ' * len(fields)}?)",
            (root, *fields, links),
        )

    def restamp(self, root: str, document: DocumentFile) -> None:
        """Write the stamp of a file."""
        self._db.execute(
            "UPDATE main.documents SET stamp = ? WHERE root = ? AND node_id = ?",
            (document.stamp, root, document.node_id),
        )

    def remove(self, root: str, node_ids: Iterable[str]) -> None:
        """Delete files; their nodes stay."""
        self._db.executemany(
            "DELETE FROM main.documents WHERE root = ? AND node_id = ?",
            ((root, id) for id in node_ids),
        )
