"""Another store's knowledge into this one, by a rule that is the same everywhere.

The states of a node or an edge that this store and the other one know are united, and the
greatest stands (``core.merging``). What loses goes into the history, so that the order in
which stores are merged, and how often, does not count.
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from operator import attrgetter

from ..core.merging import (
    greater,
    is_kept,
    is_later,
    joined,
    left,
    outcome,
    told,
)
from ..core.model import Node, Past, Record
from ..core.states import clock, latest, next_clock, order, same, set_clock, state_name
from ..core.times import now
from ..core.vocabulary import RELATIONS, TYPES
from .merge_anchors import AnchorMerge
from .merge_edges import EdgeMerge
from .purge import take_away
from .undo import forget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.model import Edge
    from ..core.states import Order
    from ..indexing.indexer import Waiting
    from ..store import Store
    from ..store.anchor import Anchor
    from ..store.protocols import EdgeKey

_node_row = attrgetter(*Node.__slots__)


class Conflict(Record):
    """A node that was changed on both sides; ``stands`` is ``ours`` or ``theirs``, the other
    state is in the history. ``forgotten``: the side that had forgotten it, if one had.
    ``file``: the other side, where that is the file of a document.
    """

    __slots__ = ("file", "forgotten", "id", "stands")

    def __init__(self, id: str, stands: str, forgotten: str = "", file: str = "") -> None:
        self.id = id
        self.stands = stands
        self.forgotten = forgotten
        self.file = file


class Merge:
    """One merge of another store's states; the caller holds a transaction.

    ``back`` names nodes that were deleted for good here, and have been edited after that;
    ``proposed`` those that were forgotten since a file says that they were deleted for good.

    ``change`` is what the history calls it, ``waiting`` indexes what comes in, ``prefer``
    (``ours`` or ``theirs``) decides conflicts in place of the rule: that side becomes the
    later one, and so it stands wherever it comes to.

    What is told by one method each is ``added``, ``updated``, ``kept`` (what is here stands)
    or ``unchanged``; all of it is in the store after ``finish``.
    """

    def __init__(
        self, store: Store, waiting: Waiting, *, change: str = "import", prefer: str = ""
    ) -> None:
        self.conflicts: list[Conflict] = []
        self.purges: list[tuple[str, bool]] = []
        self.proposed: list[str] = []
        self.back: list[str] = []
        self._store = store
        self._waiting = waiting
        self._change = change
        self._prefer = prefer
        self._command = store.history.command
        self._purged = store.history.purged()
        self._purged_before = frozenset(self._purged)
        self._proposed = store.history.proposed_purges()
        self._ended: set[str] = set()
        self.brought: set[EdgeKey] = set()
        self.derived_nodes: set[str] = set()
        self.new_nodes: set[str] = set()
        self._nodes: dict[str, Node] = {}
        self._edges = EdgeMerge(store, self._purged, change)
        self._ours: dict[str, Node | None] = {}
        self._changed: dict[str, None] = {}
        self._names: dict[str, set[str]] = {}
        self._lost: dict[str, dict[Order, Past]] = {}
        self._rows: tuple[str, dict[Order, Past]] = ("", {})
        self._anchors = AnchorMerge(store)

    # --- nodes

    def foresee(self, ids: Sequence[str]) -> None:
        """These nodes come next: they are looked up together."""
        self.write()
        found = self._store.nodes.get_many(ids)
        self._ours = {id: found.get(id) for id in ids}

    def node(self, theirs: Node, was: Sequence[str] = ()) -> str:
        """A node of the other store, with the names of the states that it has been in."""
        id = theirs.id
        gone = self._purged.get(id, "")
        ours = self._our_node(id)
        if ours is not None and not gone and _node_row(ours) == _node_row(theirs):
            self._learn(id, was)
            return "unchanged"
        if clock(theirs) <= max(gone, self._proposed.get(id, "")):
            return "kept"
        told(theirs)
        if ours is None:
            if id in self._purged_before:
                self.back.append(id)
            self._settle(theirs, None)
            self.new_nodes.add(id)
            state = "added"
        else:
            state = self._meet(ours, told(copy(ours), gone), theirs, was)
        self._learn(id, was)
        return state

    def _our_node(self, id: str) -> Node | None:
        if id in self._nodes:
            return self._nodes[id]
        if id not in self._ours:
            self._ours[id] = self._store.nodes.get(id)
        return self._ours[id]

    def _meet(self, stored: Node, ours: Node, theirs: Node, was: Sequence[str]) -> str:
        if order(ours) == order(theirs):
            self._settle(joined(ours, theirs), stored)
            return "unchanged"
        related = outcome(ours, self._known(ours.id), theirs, was)
        winner, loser = (theirs, ours) if is_later(theirs, ours) else (ours, theirs)
        if related == "conflict":
            winner, loser = self._decided(winner, loser, "theirs" if winner is theirs else "ours")
        if is_kept(loser):
            self._lose(loser, ours=loser is ours)
        self._settle(joined(winner, loser), stored)
        if related == "same" and same(ours, theirs):
            return "unchanged"
        return "updated" if loser is ours else "kept"

    def _decided(self, winner: Node, loser: Node, stands: str) -> tuple[Node, Node]:
        """The state that stands of two that were made apart, and the other one."""
        if self._prefer not in ("", stands):
            self._lose(loser, ours=stands == "theirs")
            winner, loser, stands = copy(loser), winner, self._prefer
            set_clock(winner, next_clock(clock(loser), now()))
        other = "ours" if stands == "theirs" else "theirs"
        gone = stands if winner.invalidated_at else other if loser.invalidated_at else ""
        both = winner.invalidated_at and loser.invalidated_at
        self.conflicts.append(Conflict(winner.id, stands, "" if both else gone))
        return winner, loser

    def _settle(self, node: Node, stored: Node | None) -> None:
        """Has a node written where it is another one than that in the store."""
        if stored is not None and _node_row(stored) == _node_row(node):
            return
        self._nodes[node.id] = node
        if stored is None or not same(stored, node):
            self._changed[node.id] = None
            if node.invalidated_at is not None:
                self._ended.add(node.id)

    def _known(self, id: str) -> list[str]:
        """The names of the states that a node has been in, here or in what has come in."""
        names = {state_name(past.node) for past in self._store.history.of_node(id)}
        names.update(self._store.history.ancestors([id]).get(id, ()))
        names.update(self._names.get(id, ()))
        names.update(state_name(past.node) for past in self._lost.get(id, {}).values())
        return latest(names)

    def _learn(self, id: str, names: Sequence[str]) -> None:
        if names:
            self._names.setdefault(id, set()).update(names)

    def _lose(self, node: Node, *, ours: bool) -> None:
        lost = copy(node)
        lost.changed_at = clock(node)
        past = Past(lost, self._change, "", self._command if ours else None)
        self._lost.setdefault(node.id, {}).setdefault(order(lost), past)

    def past(self, past: Past) -> None:
        """A state that a node has left in the other store."""
        node = past.node
        if clock(node) <= self._purged.get(node.id, ""):
            return
        rows, name = self._rows_of(node.id), order(node)
        lost = self._lost.get(node.id, {}).get(name)
        past.command = lost.command if lost else None
        old = rows.get(name)
        if old is None:
            self._store.history.keep(past)
            rows[name] = past
        elif left(past.changed_at, past.change) < left(old.changed_at, old.change):
            rows[name] = Past(old.node, past.change, past.changed_at, old.command)
            self._store.history.keep(rows[name])

    def _rows_of(self, id: str) -> dict[Order, Past]:
        if self._rows[0] != id:
            found: dict[Order, Past] = {}
            for past in self._store.history.of_node(id):
                other = found.setdefault(order(past.node), past)
                if left(past.changed_at, past.change) < left(other.changed_at, other.change):
                    found[order(past.node)] = past
            self._rows = (id, found)
        return self._rows[1]

    # --- what else there is

    def edge(self, theirs: Edge) -> str:
        """An edge of the other store."""
        state = self._edges.edge(theirs)
        if state in ("added", "updated"):
            self.brought.add(theirs.key)
        return state

    @property
    def derived_edges(self) -> set[EdgeKey]:
        """The edges of which there are states now that nobody has told; ``derived_nodes``: the
        same of nodes. Another store may come to them at another time, and otherwise."""
        return self._edges.derived

    def loose(self) -> list[EdgeKey]:
        """The edges that lead nowhere by this merge, since an end was forgotten or deleted
        for good; an end that has never been here is none of these."""
        ended = self._ended | {id for id, lives in self.purges if not lives}
        touched = {edge.key for id in ended for edge in self._store.edges.of(id)}
        return [
            key for key in self._store.edges.dangling_among(touched | self.brought)
            if any(self._is_gone(id) for id in key[:2])
        ]  # fmt: skip

    def _is_gone(self, id: str) -> bool:
        node = self._store.nodes.get(id)
        return id in self._purged if node is None else node.invalidated_at is not None

    def past_edge(self, state: dict[str, object]) -> None:
        """A state that an edge has left in the other store, with the fields of ``EDGE_HISTORY``."""
        self._edges.past(state)

    def anchor(self, anchor: Anchor) -> None:
        """An anchor of the other store; ``finish`` says what has become of it."""
        self._anchors.anchor(anchor)

    def past_anchor(self, state: dict[str, str]) -> None:
        """A place or a verdict that an anchor has left in the other store."""
        self._anchors.past(state)

    def type(self, name: str, description: str) -> None:
        """A type that the other store has declared."""
        ours = self._store.types.all().get(name)
        if ours is None or greater(description, ours, TYPES.get(name)):
            self._store.types.declare(name, description)

    def relation(self, name: str, declared: tuple[float, float, str]) -> None:
        """A relation that the other store has declared: weight, weight backwards, description."""
        ours = self._store.relations.all().get(name)
        if ours is None or greater(declared, ours, RELATIONS.get(name)):
            self._store.relations.declare(name, *declared)

    def purge(self, id: str, at: str) -> None:
        """A node that was deleted for good in the other store, and when."""
        before = self._purged.get(id, "")
        if at <= before:
            return
        self.flush()
        self._purged[id] = at
        node = self._our_node(id)
        if node is not None:
            told(node, before)
            self.purges.append((id, clock(node) > at))
            if clock(node) <= at:
                take_away(self._store, node)
        self._ours.pop(id, None)
        self._purge_history(id, at)
        self._edges.purge(id, at, before)
        self._anchors.purge(id, at)

    def propose_purge(self, id: str, at: str) -> None:
        """A node that was deleted for good elsewhere, as a file says, which anybody may write.

        It is forgotten, until a person here deletes it for good or brings it back.
        """
        if at <= max(self._purged.get(id, ""), self._proposed.get(id, "")):
            return
        self.flush()
        self._proposed[id] = at
        node = self._our_node(id)
        if node is not None and node.invalidated_at is None:
            if clock(told(copy(node), self._purged.get(id, ""))) > at:
                self.purges.append((id, True))
            else:
                forget(self._store, node)
                self._waiting.add(node)
                self._ours.pop(id, None)
                self._ended.add(id)
                self.proposed.append(id)
        self._store.history.propose_purge(id, at)

    def _purge_history(self, id: str, at: str) -> None:
        later = [past for past in self._store.history.of_node(id) if clock(past.node) > at]
        names = self._store.history.ancestors([id]).get(id, [])
        self._store.history.purge(id, at)
        for past in later:
            self._store.history.keep(past)
        self._store.history.add_ancestors(id, [n for n in names if n.partition(" ")[0] > at])
        self._rows = ("", {})

    def flush(self) -> None:
        """Writes and indexes what has been told so far."""
        self.write()
        self._waiting.flush()

    def write(self) -> None:
        """Writes what has been told so far; what else changes the store comes after this."""
        if self._nodes:
            self._store.history.settle(self._nodes.values())
        self._edges.write()
        for id in self._changed:
            self._waiting.add(self._nodes[id])
        self._nodes, self._ours, self._changed, self._rows = {}, {}, {}, ("", {})

    def finish(self) -> list[str]:
        """Writes all that is left; what has become of the anchors, and of edges whose ends
        are back."""
        self.flush()
        for id, lost in self._lost.items():
            self._keep(id, lost)
        for id, names in self._names.items():
            self._keep_names(id, names)
        back = self._edges.stand_again()
        self.brought.update(edge.key for edge in back)
        self._edges.finish()
        return ["updated" for _ in back] + self._anchors.finish()

    def _keep(self, id: str, lost: dict[Order, Past]) -> None:
        """Puts what stands no more into the history: each was left for the next one known."""
        stands = self._store.nodes.get(id)
        if stands is None:
            return
        known = self._rows_of(id)
        clocks = {name: clock(past.node) for name, past in (*known.items(), *lost.items())}
        clocks[order(stands)] = clock(stands)
        names = sorted(clocks)
        for name, after in pairwise(names):
            if name in lost and name not in known and clocks[name] > self._purged.get(id, ""):
                lost[name].changed_at = clocks[after]
                self._store.history.keep(lost[name])
                self.derived_nodes.add(id)

    def _keep_names(self, id: str, names: Iterable[str]) -> None:
        """Keeps the names of states that are not here themselves."""
        gone = self._purged.get(id, "")
        held = {state_name(past.node) for past in self._store.history.of_node(id)}
        held.update(self._store.history.ancestors([id]).get(id, ()))
        lacking = {name for name in names if name.partition(" ")[0] > gone} - held
        if lacking:
            self._store.history.add_ancestors(id, sorted(lacking))
