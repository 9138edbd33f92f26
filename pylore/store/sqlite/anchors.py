"""The table of anchors: what ties a node to code, and whether it still holds."""

from __future__ import annotations

from ...system.json_encode import dumps
from ..anchor import ANCHOR_HISTORY, Anchor
from .driver import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..anchor import AnchorKey

_FIELDS = ", ".join(Anchor.__slots__)
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
            " AND kind <> 'glob' AND root = ?2",
            (beginning, root),
        )
        return [str(path) for (path,) in rows]

    def put(self, anchor: Anchor) -> str:
        """Write an anchor whole: ``added``, ``updated``, or ``unchanged``."""
        rows = self._db.execute(f"SELECT {_FIELDS} FROM anchors WHERE {_KEY}", anchor.key)
        old = next((Anchor(*row) for row in rows), None)
        if old == anchor:
            return "unchanged"
        updates = ", ".join(f"{name} = excluded.{name}" for name in Anchor.__slots__[4:])
        self._db.execute(
            f"INSERT INTO main.anchors({_FIELDS}) VALUES ({', '.join('?' * len(Anchor.__slots__))})"
            f" ON CONFLICT DO UPDATE SET {updates}",
            [getattr(anchor, name) for name in Anchor.__slots__],
        )
        return "added" if old is None else "updated"

    def replace(self, changes: Iterable[tuple[AnchorKey, Anchor]]) -> None:
        """Write anchors over those with these keys; one that is gone is left out.

        Where an anchor moves to a place that its node is anchored to already, the one
        that is there stays.
        """
        sets = ", ".join(f"{name} = ?" for name in Anchor.__slots__[2:])
        for key, anchor in changes:
            values = [getattr(anchor, name) for name in Anchor.__slots__[2:]]
            self._db.execute(
                f"UPDATE OR IGNORE main.anchors SET {sets} WHERE {_KEY}", (*values, *key)
            )
            if anchor.key != key and not self._db.changes():
                self.delete(key)

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
