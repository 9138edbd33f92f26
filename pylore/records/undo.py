"""Taking back: records, links and anchors as they were before. Each step is a new state.

Every function runs inside its caller's transaction. Whoever calls indexes the nodes that
``Steps.changed`` has, when all is done.
"""

from __future__ import annotations

from ..core.merging import is_indexed
from ..core.states import EDGE_STATE, NODE_STATE, clock, next_clock
from ..core.times import now
from ..indexing.similar import RELATION as SIMILAR_TO
from .decisions import taken_back
from .sources import mark_pruned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..core.model import Edge, Node
    from ..store import Store
    from ..store.anchor import Anchor, AnchorKey
    from ..store.protocols import EdgeKey

NAME, AGAIN, PURGE = "undo", "redo", "purge"
"""What the history calls it, and the taking back of that; what cannot be taken back."""

_MERGES = ("import", "sync")
"""What leaves a state for the next one that is known, which need not be the one that stands."""


class Steps:
    """The changes of one taking back."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.changed: dict[str, Node] = {}
        """Nodes whose texts or standing are others now."""
        self.done: dict[str, str] = {}
        """Id, or ``from relation to``, to ``restored`` or ``invalidated``."""

    def bring_back(self, node: Node, state: Node) -> None:
        """Gives a node a former state, and its links that state's standing."""
        gone, forgotten = node.invalidated_at, state.invalidated_at is not None
        _take(NODE_STATE, node, state)
        if forgotten and gone is None:
            with self._store.whole():
                node.invalidated_at = forgotten_at(self._store, node.id)
        elif forgotten:
            node.invalidated_at = gone
        if self._store.nodes.put(node) == "unchanged":
            return
        self._carry_links(node, gone)
        self._note(node, "invalidated" if forgotten else "restored")

    def command(self, number: int) -> None:
        """Takes back all that a command did to nodes, links and anchors.

        Links that are kept by how near two texts are follow these texts by themselves.
        """
        history = self._store.history
        nodes, edges = history.added_by(number)
        turned = self._nodes_left(number, nodes)
        made = [id for id in nodes if not self._forget(id)]
        for before in _first(history.edges_left_by(number), edges):
            self._edge_left(before)
        for key in edges:
            self._unlink(key)
        for id in made:
            self._drop_if_bare(id)
        for tie, anchor in history.anchors_left_by(number):
            self._anchor_left(tie, anchor)
        for row in self._store.candidates.decided_by(number):
            self._store.candidates.put([taken_back(row, history.command)])
            self.done[row.id] = "restored"
        if self._store.scope:  # whose history has no links that it does not see
            for node, gone in turned:
                self._carry_links(node, gone)

    def _carry_links(self, node: Node, gone: str | None) -> None:
        """Lets a node's links end or come back with it; ``gone`` is when it was forgotten."""
        at = node.invalidated_at
        if (at is None) == (gone is None):
            return
        with self._store.whole(node.id):
            if at is not None:
                self._store.edges.invalidate_node(node.id, at)
            elif gone is not None:
                self._store.edges.restore_node(node.id, gone)

    def revive(self, id: str) -> None:
        """Brings back a file or a symbol that was forgotten, for whoever links to it."""
        node = self._store.nodes.get(id)
        if node is not None and node.invalidated_at is not None and is_indexed(node):
            gone, node.invalidated_at = node.invalidated_at, None
            self._store.nodes.put(node)
            self._store.edges.restore_node(id, gone)
            self._store.history.note_addition(id)
            self.changed[id] = node

    def _nodes_left(self, number: int, added: list[str]) -> list[tuple[Node, str | None]]:
        """The nodes that were changed, each with when it was forgotten before that."""
        turned = []
        before: dict[str, Node] = {}
        left_for: dict[str, str] = {}
        for past in self._store.history.left_by(number):
            before.setdefault(past.node.id, past.node)
            if past.change not in _MERGES:
                left_for[past.node.id] = past.changed_at
        for id, node in self._store.nodes.get_many(before).items():
            # What git's hooks have brought since is a later state, and no command.
            if id not in added and clock(node) <= left_for.get(id, clock(node)):
                gone = node.invalidated_at
                _take(NODE_STATE, node, before[id])
                if self._store.nodes.put(node) != "unchanged":
                    self._note(node, "invalidated" if node.invalidated_at else "restored")
                    turned.append((node, gone))
        return turned

    def _forget(self, id: str) -> bool:
        """Forgets what was added; False for a file's node, which others may need."""
        node = self._store.nodes.get(id)
        if node is not None and is_indexed(node):
            return False
        if node is not None and node.invalidated_at is None:
            forget(self._store, node)
            self._note(node, "invalidated")
        return True

    def _drop_if_bare(self, id: str) -> None:
        node = self._store.nodes.require(id)
        if node.invalidated_at is None and not self._store.edges.of(id):
            forget(self._store, node)
            self._note(node, "invalidated")

    def _edge_left(self, before: Edge) -> None:
        edge = self._store.edges.get(*before.key)
        if edge is None or _follows(before):
            return
        _take(EDGE_STATE, edge, before)
        if edge.invalidated_at is None:
            for id in edge.key[:2]:
                self.revive(id)
            ends = self._store.nodes.get_many(edge.key[:2])
            edge.invalidated_at = max(
                (node.invalidated_at for node in ends.values() if node.invalidated_at),
                default=None,
            )
        if self._store.edges.put(edge) != "unchanged":
            self._note_edge(edge.key, "invalidated" if edge.invalidated_at else "restored")

    def _unlink(self, key: EdgeKey) -> None:
        edge = self._store.edges.get(*key)
        if edge is not None and edge.invalidated_at is None and not _follows(edge):
            self._store.edges.invalidate(key, now())
            self._note_edge(key, "invalidated")

    def _anchor_left(self, key: AnchorKey, before: Anchor | None) -> None:
        anchors = self._store.anchors
        if before is None:
            if anchors.delete(key):
                self.done.setdefault(key[0], "restored")
            return
        if all(anchor.key != key for anchor in anchors.of(key[0])):
            # An anchor stands where it was made after it was last taken away.
            away = [one["changed_at"] for one in anchors.history(key[0])
                    if (one["kind"], one["path"], one["detail"]) == key[1:]]  # fmt: skip
            before.created_at = next_clock(max(away, default=""), now())
        if anchors.put(before) != "unchanged":
            self.done.setdefault(key[0], "restored")

    def _note(self, node: Node, state: str) -> None:
        self.changed[node.id] = node
        self.done[node.id] = state

    def _note_edge(self, key: EdgeKey, state: str) -> None:
        self.done[f"{key[0]} {key[2]} {key[1]}"] = state


def forget(store: Store, node: Node) -> None:
    """Marks a node and its links as forgotten; the caller takes it out of the index."""
    with store.whole(node.id):
        at = forgotten_at(store, node.id)
        node.invalidated_at = at
        mark_pruned(node, pruned=False)
        store.nodes.put(node)
        store.edges.invalidate_node(node.id, at)


def forgotten_at(store: Store, id: str) -> str:
    """The time to forget a node at.

    It is after all else that is known of the node and its edges: what was unlinked before must
    not come back with it, and the clocks of what ends now are this very time.
    """
    node = store.nodes.get(id)
    clocks = [clock(edge) for edge in store.edges.of(id, forgotten=True)]
    return next_clock(max([*clocks, clock(node) if node else ""]), now())


def _take(names: Iterable[str], to: Node | Edge, of: Node | Edge) -> None:
    for name in names:
        setattr(to, name, getattr(of, name))


def _first(states: Iterable[Edge], added: Iterable[EdgeKey]) -> Iterator[Edge]:
    """Of each edge that was there before, the state before all others."""
    seen = {*added}
    for state in states:
        if state.key not in seen:
            seen.add(state.key)
            yield state


def _follows(edge: Edge) -> bool:
    return edge.relation == SIMILAR_TO and edge.source == "system"
