"""An anchor: what ties a node to code, and whether it still holds."""

from __future__ import annotations

from ..core.json import dumps
from ..core.model import Record
from ..core.vocabulary import BROKEN
from .connection import DELETED, apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


if TYPE_CHECKING:
    AnchorKey = tuple[str, str, str, str]
    """(node, kind, path, detail)"""

ANCHOR_HISTORY = (
    "node_id", "kind", "path", "detail", "verdict", "reason", "change", "changed_at",
)  # fmt: skip
"""What is kept of a place or a verdict that an anchor has left."""


class Anchor(Record):
    """One tie of a node to code. ``path`` starts from ``root``, that from the project if empty."""

    __slots__ = (
        "node_id", "kind", "path", "detail", "root", "hash", "stamp", "commit_id", "verdict",
        "reason", "created_at", "verified_at",
    )  # fmt: skip

    def __init__(
        self,
        node_id: str,
        kind: str,
        path: str,
        detail: str = "",
        root: str = "",
        hash: str = "",
        stamp: str = "",
        commit_id: str = "",
        verdict: str = "valid",
        reason: str = "",
        created_at: str = "",
        verified_at: str = "",
    ) -> None:
        self.node_id = node_id
        self.kind = kind
        self.path = path
        self.detail = detail
        self.root = root
        self.hash = hash
        self.stamp = stamp
        self.commit_id = commit_id
        self.verdict = verdict
        self.reason = reason
        self.created_at = created_at
        self.verified_at = verified_at

    @property
    def key(self) -> AnchorKey:
        """Return what makes an anchor one anchor: node, kind, path, detail."""
        return (self.node_id, self.kind, self.path, self.detail)

    @property
    def is_accepted(self) -> bool:
        """Return whether it is a rule with violations, all of which were accepted."""
        return self.verdict == "violated" and not self.stamp

    @property
    def is_broken(self) -> bool:
        """Return whether it no longer holds, and nobody has accepted that."""
        return self.verdict in BROKEN and not self.is_accepted

    def is_like(self, other: Anchor) -> bool:
        """Return whether two states differ in nothing but when they were seen."""
        names = [name for name in self.__slots__ if name != "verified_at"]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def copy(self) -> Anchor:
        """Return another one with the same fields."""
        return Anchor(*self.to_dict().values())


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


_FIELDS = ", ".join(Anchor.__slots__)
_RULES = (
    f"SELECT {', '.join('a.' + name for name in Anchor.__slots__)} FROM anchors a JOIN nodes n"
    " ON n.id = a.node_id WHERE a.kind = 'rule' AND a.root = ? AND n.invalidated_at IS NULL"
    " ORDER BY a.node_id, a.path, a.detail"
)
_KEY = "node_id = ? AND kind = ? AND path = ? AND detail = ?"
_ORDER = "node_id, kind, path, detail"


class Anchors:
    """Reads and writes anchors, by node, kind, path and detail; triggers keep their history."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def of(self, node_id: str) -> list[Anchor]:
        """Return the anchors of one node."""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM anchors WHERE node_id = ? ORDER BY {_ORDER}", (node_id,)
        )
        return [Anchor(*row) for row in rows]

    def all(self) -> Iterator[Anchor]:
        """Yield every anchor, by node, kind, path and detail."""
        for row in self._db.execute(f"SELECT {_FIELDS} FROM anchors ORDER BY {_ORDER}"):
            yield Anchor(*row)

    def live(self, ids: Sequence[str] = ()) -> list[Anchor]:
        """Return the anchors of these nodes, or of all that are not forgotten, by path."""
        rows = self._db.execute(
            f"SELECT {', '.join('a.' + name for name in Anchor.__slots__)} FROM anchors a"
            " JOIN nodes n ON n.id = a.node_id WHERE n.invalidated_at IS NULL"
            " AND (?1 = '[]' OR a.node_id IN (SELECT value FROM json_each(?1)))"
            " ORDER BY a.root, a.path, a.node_id, a.kind, a.detail",
            (dumps(ids),),
        )
        return [Anchor(*row) for row in rows]

    def about(self, root: str, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return ``(node, path)`` of the anchors to these files, globs aside."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT DISTINCT a.node_id, a.path FROM json_each(?) j CROSS JOIN anchors a"
            " ON a.path = j.value WHERE a.kind <> 'glob' AND a.root = ?",
            (dumps(paths), root),
        ).fetchall()
        return rows

    def globs(self, root: str) -> list[tuple[str, str]]:
        """Return ``(node, glob)`` of every anchor to a glob."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT node_id, path FROM anchors WHERE kind = 'glob' AND root = ?", (root,)
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
            " WHERE a.kind = 'glob' AND a.root = ?1 AND (instr(a.path, '[')"
            " OR j.value GLOB replace(replace(a.path, '**/', '*'), '**', '*'))",
            (root, dumps(paths)),
        ).fetchall()
        return rows

    def paths(self, root: str, beginning: str) -> list[str]:
        """Return the files that begin so and have an anchor, globs aside."""
        rows = self._db.execute(
            "SELECT DISTINCT path FROM anchors WHERE path >= ?1 AND path < ?1 || char(1114111)"
            " AND kind NOT IN ('glob', 'rule') AND root = ?2",
            (beginning, root),
        )
        return [str(path) for (path,) in rows]

    def put(self, anchor: Anchor) -> str:
        """Write an anchor whole: ``added``, ``updated``, or ``unchanged``, but for when it was
        seen.

        It is made after one of its key was last taken away, or its node deleted for good.
        """
        rows = self._db.execute(f"SELECT {_FIELDS} FROM anchors WHERE {_KEY}", anchor.key)
        old = next((Anchor(*row) for row in rows), None)
        if old is not None and old.is_like(anchor):
            return "unchanged"
        self._outlive(anchor)
        self.settle(anchor)
        return "added" if old is None else "updated"

    def settle(self, anchor: Anchor) -> None:
        """Write an anchor whole, with the times that it has."""
        updates = ", ".join(f"{name} = excluded.{name}" for name in Anchor.__slots__[4:])
        self._db.execute(
            f"INSERT INTO main.anchors({_FIELDS}) VALUES ({', '.join('?' * len(Anchor.__slots__))})"
            f" ON CONFLICT DO UPDATE SET {updates}",
            [getattr(anchor, name) for name in Anchor.__slots__],
        )

    def replace(self, changes: Iterable[tuple[AnchorKey, Anchor]]) -> None:
        """Write anchors over those with these keys; one that is gone is left out.

        Where an anchor moves to a place that its node is anchored to already, the one
        that is there stays.
        """
        sets = ", ".join(f"{name} = ?" for name in Anchor.__slots__[2:])
        for key, anchor in changes:
            self._outlive(anchor)
            values = [getattr(anchor, name) for name in Anchor.__slots__[2:]]
            self._db.execute(
                f"UPDATE OR IGNORE main.anchors SET {sets} WHERE {_KEY}", (*values, *key)
            )
            if anchor.key != key and not self._db.changes():
                self.delete(key)

    def _outlive(self, anchor: Anchor) -> None:
        gone: str | None = self._db.execute(
            "SELECT max(at) FROM (SELECT changed_at AS at FROM anchor_history"
            " WHERE (node_id, kind, path, detail) = (?1, ?2, ?3, ?4)"
            " AND change IN ('removed', 'relocated')"
            f" UNION ALL SELECT at FROM {DELETED} WHERE id = ?1)",
            anchor.key,
        ).get
        if gone and anchor.created_at <= gone:
            from ..core.states import next_clock
            from ..core.times import now

            anchor.created_at = next_clock(gone, now())

    def delete(self, key: AnchorKey) -> bool:
        """Take one anchor away; return whether it was there."""
        self._db.execute(f"DELETE FROM main.anchors WHERE {_KEY}", key)
        return self._db.changes() > 0

    def delete_node(self, node_id: str) -> None:
        """Take all anchors of a node away for good, their history too."""
        self._db.execute("DELETE FROM main.anchors WHERE node_id = ?", (node_id,))
        self._db.execute("DELETE FROM main.anchor_history WHERE node_id = ?", (node_id,))

    def history(self, node_id: str = "") -> Iterator[dict[str, str]]:
        """Yield the places and verdicts that anchors have left, of one node or of all, oldest
        first."""
        rows = self._db.execute(
            f"SELECT {', '.join(ANCHOR_HISTORY)} FROM anchor_history"
            " WHERE ?1 = '' OR node_id = ?1 ORDER BY node_id, changed_at, rowid",
            (node_id,),
        )
        for row in rows:
            yield dict(zip(ANCHOR_HISTORY, row, strict=True))

    def add_history(self, state: dict[str, str], copies: int) -> None:
        """Write one line of history from an export, until it is there ``copies`` times."""
        columns, marks = ", ".join(ANCHOR_HISTORY), ", ".join("?" * len(ANCHOR_HISTORY))
        same = " AND ".join(f"{name} = ?" for name in ANCHOR_HISTORY)
        values = [state[name] for name in ANCHOR_HISTORY]
        self._db.execute(
            f"INSERT INTO main.anchor_history({columns}) SELECT {marks}"
            f" WHERE (SELECT count(*) FROM anchor_history WHERE {same}) < ?",
            (*values, *values, copies),
        )


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
