"""Anchors of nodes to code, and the files that documents were made from."""

from __future__ import annotations

from ..core.json import dumps
from ..core.model import Anchor, Record
from .connection import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..core.model import AnchorKey


class DocumentFile(Record):
    """One document of a root (``""``: the project; else a folder, where paths start from it).

    ``read_as`` is what a reading depends on beside the file; ``stamp`` is the file's when it was
    read, empty where it has to be read again, ``hash`` that of its text. ``title`` is the file's,
    with its aliases in lines below it. ``state`` is a hash of what the file states, as a node.
    """

    __slots__ = ("node_id", "path", "read_as", "stamp", "hash", "title", "state")

    def __init__(
        self, node_id: str, path: str, read_as: str = "", stamp: str = "", hash: str = "",
        title: str = "", state: str = "",
    ) -> None:  # fmt: skip
        self.node_id = node_id
        self.path = path
        self.read_as = read_as
        self.stamp = stamp
        self.hash = hash
        self.title = title
        self.state = state

    @property
    def names(self) -> list[str]:
        """Return the title, then the aliases."""
        return self.title.split("\n")


_FIELDS = ", ".join(Anchor.FIELDS)
_RULES = (
    f"SELECT {', '.join('a.' + name for name in Anchor.FIELDS)} FROM anchors a JOIN nodes n"
    " ON n.id = a.node_id WHERE a.kind = 'rule' AND a.root = ? AND n.invalidated_at IS NULL"
    " AND a.gone_at IS NULL"
    " ORDER BY a.node_id, a.path, a.detail"
)
_SEEN = {"verified_at": "", "stamps": ""}
MOVED = "moved"
"""The reason of an anchor that is gone because it went with its code to another place."""
_KEY = "node_id = ? AND kind = ? AND path = ? AND detail = ?"
_ORDER = "node_id, kind, path, detail"


class Anchors:
    """Reads and writes anchors, by node, kind, path and detail.

    An anchor that was taken away keeps its row, so that no import brings it back; nothing but
    ``get``, ``all`` and ``of`` with ``gone`` returns it.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def get(self, key: AnchorKey) -> Anchor | None:
        """Return one anchor, taken away or not."""
        rows = self._db.execute(f"SELECT {_FIELDS} FROM anchors WHERE {_KEY}", key)
        return next((Anchor(*row) for row in rows), None)

    def of(self, node_id: str, *, gone: bool = False) -> list[Anchor]:
        """Return the anchors of one node; with ``gone``, those that were taken away too."""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM anchors WHERE node_id = ?"
            f"{'' if gone else ' AND gone_at IS NULL'} ORDER BY {_ORDER}", (node_id,)
        )  # fmt: skip
        return [Anchor(*row) for row in rows]

    def all(self) -> Iterator[Anchor]:
        """Yield every anchor, taken away or not, by node, kind, path and detail."""
        for row in self._db.execute(f"SELECT {_FIELDS} FROM anchors ORDER BY {_ORDER}"):
            yield Anchor(*row)

    def live(self, ids: Sequence[str] = ()) -> list[Anchor]:
        """Return the anchors of these nodes, or of all that are not forgotten, by path."""
        rows = self._db.execute(
            f"SELECT {', '.join('a.' + name for name in Anchor.FIELDS)} FROM anchors a"
            " JOIN nodes n ON n.id = a.node_id WHERE n.invalidated_at IS NULL"
            " AND a.gone_at IS NULL"
            " AND (?1 = '[]' OR a.node_id IN (SELECT value FROM json_each(?1)))"
            " ORDER BY a.root, a.path, a.node_id, a.kind, a.detail",
            (dumps(ids),),
        )
        return [Anchor(*row) for row in rows]

    def about(self, root: str, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return ``(node, path)`` of the anchors to these files, globs aside."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT DISTINCT a.node_id, a.path FROM json_each(?) j CROSS JOIN anchors a"
            " ON a.path = j.value WHERE a.kind <> 'glob' AND a.root = ? AND a.gone_at IS NULL",
            (dumps(paths), root),
        ).fetchall()
        return rows

    def globs(self, root: str) -> list[tuple[str, str]]:
        """Return ``(node, glob)`` of every anchor to a glob."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT node_id, path FROM anchors WHERE kind = 'glob' AND root = ?"
            " AND gone_at IS NULL",
            (root,),
        ).fetchall()
        return rows

    def rules(self, root: str) -> list[Anchor]:
        """Return the rules of a project, those of forgotten nodes aside."""
        return [Anchor(*row) for row in self._db.execute(_RULES, (root,))]

    def globs_like(self, root: str, paths: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return ``(node, glob, path)`` where a glob may match one of these files.

        They are a few too many and none too few: SQLite's own ``*`` goes on past a
        slash, and it negates a class by ``^`` alone.
        """
        rows: list[tuple[str, str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT a.node_id, a.path, j.value FROM anchors a CROSS JOIN json_each(?2) j"
            " WHERE a.kind = 'glob' AND a.root = ?1 AND a.gone_at IS NULL AND (instr(a.path, '[')"
            " OR j.value GLOB replace(replace(a.path, '**/', '*'), '**', '*'))",
            (root, dumps(paths)),
        ).fetchall()
        return rows

    def paths(self, root: str, beginning: str) -> list[str]:
        """Return the files that begin so and have an anchor, globs aside."""
        rows = self._db.execute(
            "SELECT DISTINCT path FROM anchors WHERE path >= ?1 AND path < ?1 || char(1114111)"
            " AND kind NOT IN ('glob', 'rule') AND root = ?2 AND gone_at IS NULL",
            (beginning, root),
        )
        return [str(path) for (path,) in rows]

    def put(self, anchor: Anchor) -> str:
        """Write an anchor whole: ``added``, ``updated``, or ``unchanged``, but for when it was
        seen."""
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
        """Write an anchor whole, with the stamps that it has."""
        updates = ", ".join(f"{name} = excluded.{name}" for name in Anchor.FIELDS[4:])
        self._db.execute(
            f"INSERT INTO main.anchors({_FIELDS}) VALUES ({', '.join('?' * len(Anchor.FIELDS))})"
            f" ON CONFLICT DO UPDATE SET {updates}",
            [getattr(anchor, name) for name in Anchor.FIELDS],
        )

    def replace(self, changes: Iterable[tuple[AnchorKey, Anchor]]) -> None:
        """Write anchors over those with these keys; one that is gone is left out.

        Where an anchor moves to a place that its node is anchored to already, the one
        that is there stays.
        """
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
        """Take one anchor away; return True if it was there."""
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
        """Return (path, detail) of the places that anchors of a kind have left, the last first."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT path, detail FROM anchors WHERE node_id = ? AND kind = ? AND reason = ?"
            " AND gone_at IS NOT NULL ORDER BY gone_at DESC",
            (node_id, kind, MOVED),
        ).fetchall()
        return rows

    def delete_node(self, node_id: str) -> None:
        """Take all anchors of a node away for good."""
        self._db.execute("DELETE FROM main.anchors WHERE node_id = ?", (node_id,))


# Elsewhere than in the project, a file of the same path is the same file if its text is the same.
_PATHS = """
SELECT d.node_id, d.path FROM json_each(?) j
CROSS JOIN documents d ON d.node_id = j.value
LEFT JOIN code_files c ON c.path = d.path
WHERE d.root = '' OR substr(c.hash, 1, length(d.hash)) = d.hash
"""
_LINES = """
SELECT key, line_start + length(before) - length(replace(before, char(10), ''))
FROM (
  SELECT p.key, n.line_start, substr(n.body, 1, p.start - 1) AS before
  FROM json_each(?) j CROSS JOIN passages p ON p.key = j.value
  CROSS JOIN nodes n ON n.key = p.node_key AND n.line_start IS NOT NULL
  WHERE p.relation IS NULL AND EXISTS (SELECT 1 FROM documents d WHERE d.node_id = n.id)
)
"""

_STAMPS = """
SELECT path, stamp FROM code_files WHERE path IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT path, stamp FROM documents WHERE root = '' AND path IN (SELECT value FROM json_each(?1))
"""
_DOCUMENT = ", ".join(DocumentFile.__slots__)
_PUT = (
    f"INSERT INTO main.documents(root, {_DOCUMENT}, links)"
    f" VALUES ({', '.join('?' * (len(DocumentFile.__slots__) + 2))})"
    " ON CONFLICT DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in (*DocumentFile.__slots__[1:], "links"))
)


class Documents:
    """The files that documents were made from, a document once a root."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self, root: str) -> list[DocumentFile]:
        """Return those of one root, by path and id."""
        rows = self._db.execute(
            f"SELECT {_DOCUMENT} FROM documents WHERE root = ? ORDER BY path, node_id", (root,)
        )
        return [DocumentFile(*row) for row in rows]

    def stamps(self, paths: Sequence[str]) -> dict[str, str]:
        """Return path to stamp of those of these files of the project that were read: documents,
        and indexed files."""
        rows = self._db.execute(_STAMPS, (dumps(paths),))
        return {str(path): str(stamp) for path, stamp in rows}

    def has(self, node_id: str) -> bool:
        """Return whether a node was made from a file."""
        row = self._db.execute("SELECT 1 FROM documents WHERE node_id = ? LIMIT 1", (node_id,))
        return row.get is not None

    def paths(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Return those of these nodes that were made from files of the project, or from indexed
        files, with the paths."""
        rows: list[tuple[str, str]] = self._db.execute(_PATHS, (dumps(node_ids),)).fetchall()  # type: ignore[assignment]
        return dict(rows)

    def lines(self, passages: Sequence[int]) -> dict[int, int]:
        """Return the lines of their files, from 1 on, in which those of these passages begin that
        are a stretch of a document's text."""
        rows: list[tuple[int, int]] = self._db.execute(_LINES, (dumps(passages),)).fetchall()  # type: ignore[assignment]
        return dict(rows)

    def links(self, root: str, node_id: str) -> str:
        """Return the links of one, a JSON list as it was given; nothing where it is not known."""
        found: str | None = self._db.execute(
            "SELECT links FROM documents WHERE root = ? AND node_id = ?", (root, node_id)
        ).get
        return found or ""

    def put(self, root: str, document: DocumentFile, links: str) -> None:
        """Write one, with its links."""
        self._db.execute(
            _PUT, (root, *(getattr(document, name) for name in DocumentFile.__slots__), links)
        )

    def restamp(self, root: str, document: DocumentFile) -> None:
        """Write the stamp of one."""
        self._db.execute(
            "UPDATE main.documents SET stamp = ? WHERE root = ? AND node_id = ?",
            (document.stamp, root, document.node_id),
        )

    def remove(self, root: str, node_ids: Iterable[str]) -> None:
        """Forget them; their nodes stay."""
        self._db.executemany(
            "DELETE FROM main.documents WHERE root = ? AND node_id = ?",
            ((root, id) for id in node_ids),
        )
