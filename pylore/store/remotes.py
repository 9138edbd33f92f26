"""What a store keeps of the hubs that it syncs with: where it is, and what has changed since.

It is kept in the store itself, so that it is as old as what it speaks of: a backup that is
restored goes on from where it was.
"""

from __future__ import annotations

from ..core.model import Record
from .connection import apsw
from .schema import REMOTES, created, name_of, schema_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class RemoteProgress(Record):
    """How far a store is with one remote; as it is kept (``remotes.sql``)."""

    __slots__ = (
        "name", "generation", "timeline", "takes", "sees", "place", "sent_xid", "sent_seq", "sent",
        "synced_at",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        generation: str = "",
        timeline: str = "",
        takes: str = "",
        sees: str = "",
        place: str = "",
        sent_xid: str = "0",
        sent_seq: int = 0,
        sent: int = -1,
        synced_at: str = "",
    ) -> None:
        self.name = name
        self.generation = generation
        self.timeline = timeline
        self.takes = takes
        self.sees = sees
        self.place = place
        self.sent_xid = sent_xid
        self.sent_seq = sent_seq
        self.sent = sent
        self.synced_at = synced_at


class Touched(Record):
    """What has changed: ids of nodes, of those whose edges may be told or not now, of those
    with anchors, of what was deleted for good; keys of edges; names of relations and types that
    were declared.
    """

    __slots__ = ("anchors", "declared", "edges", "ends", "nodes", "purged")

    def __init__(self) -> None:
        self.nodes: set[str] = set()
        self.ends: set[str] = set()
        self.anchors: set[str] = set()
        self.purged: set[str] = set()
        self.edges: set[tuple[str, str, str]] = set()
        self.declared: set[str] = set()

    def __len__(self) -> int:
        return len(self.nodes | self.ends | self.anchors | self.purged) + len(self.edges)


_COLUMNS = RemoteProgress.__slots__


class Remotes:
    """Reads and writes ``remotes`` and ``touched``; what writes is called in a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    @property
    def are_kept(self) -> bool:
        """Return whether the tables are there."""
        found = self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'touched'").get
        return found is not None

    def make(self) -> None:
        """Make what is lacking of the tables and triggers."""
        there = {str(name) for (name,) in self._db.execute("SELECT name FROM sqlite_schema")}
        for text in created(schema_text(REMOTES)):
            if name_of(text) not in there:
                self._db.execute(text)

    def all(self) -> list[RemoteProgress]:
        """Return how far the store is with each remote, by name."""
        if not self.are_kept:
            return []
        rows = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM remotes ORDER BY name")
        return [RemoteProgress(*row) for row in rows]

    def get(self, name: str) -> RemoteProgress:
        """Return how far it is with one; with a new one nowhere."""
        return next((one for one in self.all() if one.name == name), RemoteProgress(name))

    def put(self, progress: RemoteProgress) -> None:
        """Keep how far it is, and forgets what every remote has been sent."""
        self._db.execute(
            f"INSERT OR REPLACE INTO remotes({', '.join(_COLUMNS)})"
            f" VALUES ({', '.join('?' for _ in _COLUMNS)})",
            [getattr(progress, name) for name in _COLUMNS],
        )
        self._db.execute(
            "DELETE FROM touched WHERE NOT EXISTS"
            " (SELECT 1 FROM remotes WHERE sent >= 0 AND sent < touched.step)"
        )

    def remove(self, name: str) -> None:
        """Forget one; with the last one all of it goes."""
        if not self.are_kept:
            return
        self._db.execute("DELETE FROM remotes WHERE name = ?", (name,))
        if self._db.execute("SELECT count(*) FROM remotes").get:
            return
        for text in created(schema_text(REMOTES)):
            if text.startswith("CREATE TRIGGER "):
                self._db.execute(f"DROP TRIGGER IF EXISTS {name_of(text)}")
        self._db.execute("DROP TABLE touched")
        self._db.execute("DROP TABLE remotes")

    def step(self) -> int:
        """Return the last step that there was."""
        if not self.are_kept:
            return 0
        found = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'touched'").get
        return int(found or 0)

    def touched(self, name: str, after: int, until: int) -> Touched:
        """Return what has changed in these steps, and did not come from the remote of this name."""
        found = Touched()
        of = {"node": found.nodes, "ends": found.ends, "anchor": found.anchors,
              "purged": found.purged, "declared": found.declared}  # fmt: skip
        for what, id, to_id, relation in self._db.execute(
            "SELECT DISTINCT what, id, to_id, relation FROM touched"
            " WHERE step > ? AND step <= ? AND source <> ?",
            (after, until, name),
        ):
            if what == "edge":
                found.edges.add((str(id), str(to_id), str(relation)))
            else:
                of[str(what)].add(str(id))
        return found

    def came_from(self, name: str, after: int) -> None:
        """Note that what has changed after this step has come from a remote."""
        self._db.execute("UPDATE touched SET source = ? WHERE step > ?", (name, after))

    def touch(self, what: str, ids: Iterable[str]) -> None:
        """Note that these are to be sent, again if they were."""
        self._db.executemany("INSERT INTO touched(what, id) VALUES (?, ?)",
                             ((what, id) for id in ids))  # fmt: skip

    def touch_edges(self, keys: Iterable[tuple[str, str, str]]) -> None:
        """Note that these edges are to be sent, again if they were."""
        self._db.executemany("INSERT INTO touched(what, id, to_id, relation) VALUES"
                             " ('edge', ?, ?, ?)", keys)  # fmt: skip
