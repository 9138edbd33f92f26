"""What a store keeps of the hubs that it syncs with: where it is, and what has changed since.

It is kept in the store itself, so that it is as old as what it speaks of: a backup that is
restored goes on from where it was.
"""

from __future__ import annotations

from ..core.model import Record


class RemoteProgress(Record):
    """How far a store is with one remote; as it is kept (``sqlite/remotes.sql``)."""

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
