"""The files that documents were made from."""

from __future__ import annotations

from ...system.json_encode import dumps
from ..document import DocumentFile
from .driver import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PATHS = """
SELECT d.node_id, d.path FROM json_each(?) j
CROSS JOIN documents d ON d.node_id = j.value AND d.root = ''
"""
# A passage that has neither a stretch nor a text of its own is the whole body.
_LINES = """
SELECT key, line_start + length(before) - length(replace(before, char(10), ''))
FROM (
  SELECT p.key, n.line_start, substr(n.body, 1, coalesce(s.start, 1) - 1) AS before
  FROM json_each(?) j CROSS JOIN passages p ON p.key = j.value
  CROSS JOIN passage_texts s ON s.key = p.key AND s.body IS NULL
  CROSS JOIN nodes n ON n.key = p.node_key AND n.line_start IS NOT NULL
  WHERE EXISTS (SELECT 1 FROM documents d WHERE d.node_id = n.id)
    AND NOT EXISTS (SELECT 1 FROM fact_passages f WHERE f.key = p.key)
)
"""

_DOCUMENT = ", ".join(DocumentFile.__slots__)
_PUT = (
    f"INSERT INTO main.documents(root, {_DOCUMENT}, links)"
    f" VALUES ({', '.join('?' * (len(DocumentFile.__slots__) + 2))})"
    " ON CONFLICT DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in (*DocumentFile.__slots__[1:], "links"))
)
_CHANGE = (
    f"UPDATE main.documents SET {', '.join(f'{name} = ?' for name in DocumentFile.__slots__[1:])}"
    " WHERE root = ? AND node_id = ?"
)


class Documents:
    """The files that documents were made from, a document once a root.

    One whose node is deleted goes with it. One whose node is forgotten or restored, or says
    something else than before (its text, or what else a file may state), loses its stamp.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self, root: str) -> list[DocumentFile]:
        """Return those of one root, by path and id."""
        rows = self._db.execute(
            f"SELECT {_DOCUMENT} FROM documents WHERE root = ? ORDER BY path, node_id", (root,)
        )
        return [DocumentFile(*row) for row in rows]

    def has(self, node_id: str) -> bool:
        """Return whether a node was made from a file."""
        row = self._db.execute("SELECT 1 FROM documents WHERE node_id = ? LIMIT 1", (node_id,))
        return row.get is not None

    def paths(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Return those of these nodes that were made from files of the project, with the paths."""
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
        self._db.execute("INSERT OR IGNORE INTO meta VALUES ('names', '0')")

    def change(self, root: str, documents: Iterable[DocumentFile]) -> None:
        """Write those that are there, but for their links."""
        names = DocumentFile.__slots__[1:]
        self._db.executemany(
            _CHANGE, ((*(getattr(one, name) for name in names), root, one.node_id)
                      for one in documents),
        )  # fmt: skip

    def remove(self, root: str, node_ids: Iterable[str]) -> None:
        """Forget them; their nodes stay."""
        self._db.executemany(
            "DELETE FROM main.documents WHERE root = ? AND node_id = ?",
            ((root, id) for id in node_ids),
        )

    def names(self) -> str:
        """Return a text that changes when a node comes, goes, or gets another title, file or
        source.

        It changes too when one is forgotten or restored. Empty before the first ``put``.
        """
        found: str | None = self._db.execute("SELECT value FROM meta WHERE key = 'names'").get
        return found or ""
