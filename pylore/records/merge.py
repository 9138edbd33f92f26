"""Another store's knowledge into this one, by a rule that is the same everywhere."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from operator import attrgetter

from ..core.model import EDGE_HISTORY, Edge, Node, Past, Record
from ..core.states import (
    clock,
    greater,
    is_gone,
    is_kept,
    is_later,
    joined,
    latest,
    left,
    next_clock,
    order,
    outcome,
    same,
    set_clock,
    stands_again,
    state_name,
    told,
)
from ..core.times import now
from ..core.vocabulary import RELATIONS, THING_IDS, TYPES
from ..store.anchors import ANCHOR_HISTORY as _FIELDS
from .canonical import KEY, edge_of, how_left, is_gone_state, made, told_anchor, when_gone
from .undo import forget, take_away

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ..core.model import EdgeKey
    from ..core.states import Order
    from ..indexing.indexer import Waiting
    from ..store import Store
    from ..store.anchors import Anchor, AnchorKey

    State = tuple[str, ...]

    Row = dict[str, object]
    """A state that an edge has left, with the fields of ``EDGE_HISTORY``."""


class AnchorMerge:
    """Anchors and their history, gathered by node; ``finish`` writes them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._anchors: dict[str, list[Anchor]] = {}
        self._past: dict[str, set[State]] = {}
        self._purged = store.history.purged()

    def anchor(self, anchor: Anchor) -> None:
        """Take an anchor of the other store."""
        self._anchors.setdefault(anchor.node_id, []).append(anchor)

    def past(self, state: dict[str, str]) -> None:
        """Take a place or a verdict that one has left, with the fields of ``ANCHOR_HISTORY``."""
        self._past.setdefault(state["node_id"], set()).add(tuple(state.values()))

    def purge(self, node_id: str, at: str) -> None:
        """Note that a node was deleted for good at this time."""
        self._purged[node_id] = max(at, self._purged.get(node_id, ""))
        self._past.setdefault(node_id, set())

    def finish(self) -> list[str]:
        """Return what has become of each anchor: ``added``, ``updated``, ``kept`` or
        ``unchanged``."""
        outcomes: list[str] = []
        for id in {**self._anchors, **self._past}:
            outcomes += self._merge(id)
        return outcomes

    def _merge(self, id: str) -> list[str]:
        gone = self._purged.get(id, "")
        rows = [*self._store.anchors.history(id)]
        ours = {anchor.key: anchor for anchor in self._store.anchors.of(id)}
        before = {key: anchor.copy() for key, anchor in ours.items()}
        here = when_gone(rows)
        for key, anchor in ours.items():
            told_anchor(anchor, here.get(key, ""))
        past_here = {tuple(row.values()) for row in rows}
        past = past_here | self._past.get(id, set())
        past = {state for state in past if _left_at(state) > gone}
        whole = dict(ours)
        for theirs in self._anchors.get(id, ()):
            mine = whole.get(theirs.key)
            whole[theirs.key] = theirs.copy() if mine is None else _joined(mine, theirs)
        taken = when_gone(dict(zip(_FIELDS, state, strict=True)) for state in past)
        whole = {key: anchor for key, anchor in whole.items()
                 if anchor.created_at > max(gone, taken.get(key, ""))}  # fmt: skip
        if whole != before or past != past_here:
            self._rewrite(id, whole, past)
        return [_outcome(before.get(theirs.key), whole.get(theirs.key), theirs)
                for theirs in self._anchors.get(id, ())]  # fmt: skip

    def _rewrite(self, id: str, anchors: dict[AnchorKey, Anchor], past: set[State]) -> None:
        """Write the anchors of a node as they are to be, with no other history than this:
        what a store keeps by itself would name this moment."""
        self._store.anchors.delete_node(id)
        for state in sorted(past, key=lambda state: (_left_at(state), state)):
            self._store.anchors.add_history(dict(zip(_FIELDS, state, strict=True)), 1)
        for anchor in anchors.values():
            self._store.anchors.put(anchor)


def _joined(ours: Anchor, theirs: Anchor) -> Anchor:
    stands = (theirs if _judged(theirs) > _judged(ours) else ours).copy()
    stands.stamp = ours.stamp if (stands.hash, stands.root) == (ours.hash, ours.root) else ""
    return stands


def _judged(anchor: Anchor) -> State:
    return (anchor.created_at, anchor.verified_at, anchor.verdict, anchor.reason, anchor.hash,
            anchor.commit_id, anchor.root)  # fmt: skip


def _left_at(state: State) -> str:
    return state[_FIELDS.index("changed_at")]


def _outcome(before: Anchor | None, after: Anchor | None, theirs: Anchor) -> str:
    if after is None:
        return "kept"
    if before is None:
        return "added"
    if before == after:
        return "unchanged" if _judged(theirs) == _judged(before) else "kept"
    return "updated"


_row = attrgetter(*Edge.__slots__)

_BATCH = 500
"""Edges that are written together."""


class EdgeMerge:
    """Edges and their history; ``purged`` says what was deleted for good, and may change."""

    def __init__(self, store: Store, purged: dict[str, str], change: str) -> None:
        self.derived: set[EdgeKey] = set()
        self._store = store
        self._purged = purged
        self._change = change
        self._command = store.history.command
        self._changed: dict[EdgeKey, Edge] = {}
        self._lost: dict[EdgeKey, dict[Order, tuple[Edge, bool]]] = {}
        self._rows: tuple[EdgeKey | None, dict[Order, Row]] = (None, {})
        self._by_node: dict[str, list[Row]] | None = None

    def edge(self, theirs: Edge) -> str:
        """Return ``added``, ``updated``, ``kept`` or ``unchanged``."""
        key = theirs.key
        gone = self._gone(key)
        ours = self._changed.get(key) or self._store.edges.get(*key)
        if ours is not None and not gone and _row(ours) == _row(theirs):
            return "unchanged"
        if gone and is_gone(clock(theirs), theirs.invalidated_at, gone):
            return "kept"
        told(theirs)
        if ours is None:
            self._settle(theirs)
            return "added"
        stored, ours = ours, told(copy(ours), gone)
        winner, loser = (theirs, ours) if is_later(theirs, ours) else (ours, theirs)
        if order(ours) != order(theirs) and is_kept(loser):
            self._lost.setdefault(key, {}).setdefault(order(loser), (loser, loser is ours))
        whole = joined(winner, loser)
        if _row(whole) != _row(stored):
            self._settle(whole)
        if same(ours, theirs):
            return "unchanged"
        return "updated" if winner is theirs else "kept"

    def past(self, state: Row) -> None:
        """Take a state that an edge has left in the other store."""
        key: EdgeKey = tuple(map(state.get, KEY))  # type: ignore[assignment]
        if is_gone_state(state, self._gone(key)):
            return
        if not state["made_at"]:
            self._take_old(key, state)
            return
        rows, name = self._rows_of(key), order(edge_of(state))
        old = rows.get(name)
        if old is None:
            _, ours = self._lost.get(key, {}).get(name, (None, False))
            self._keep(state, ours=ours)
            rows[name] = state
        elif how_left(state) < how_left(old):
            rows[name] = {**old, "changed_at": state["changed_at"], "change": state["change"]}
            self._keep(rows[name], ours=False)

    def purge(self, id: str, at: str, before: str) -> None:
        """Note that a node was deleted for good; ``before`` is when it was before."""
        self._by_node = None if self._store.scope else self._by_node
        with self._store.whole(id):
            self._purge(id, at, before)
        self._by_node = None if self._store.scope else self._by_node

    def _purge(self, id: str, at: str, before: str) -> None:
        edges = self._store.edges.of(id, forgotten=True)
        states = self._states_of(id)
        if not edges and not states:
            return
        for edge in edges:
            other = edge.to_id if edge.from_id == id else edge.from_id
            told(edge, max(before, self._purged.get(other, "")))
        self._store.edges.delete_node(id)
        later = [one for one in edges if not is_gone(clock(one), one.invalidated_at, at)]
        self._put(later)
        self._rows = (None, {})
        for state in states:
            if not is_gone_state(state, at):
                self.past(state)

    def stand_again(self) -> list[Edge]:
        """Bring back the edges that were ended with a node that has lived later; which."""
        self.write()
        found = []
        names: dict[str, list[str]] = {}
        for edge in self._store.edges.ended_with_nodes():
            for id in edge.key[:2]:
                if id not in names:
                    names[id] = self._names_of(id)
            again = stands_again(edge, names[edge.from_id], names[edge.to_id])
            if again is not None and clock(edge) > self._gone(edge.key):
                self.edge(again)
                self.derived.add(again.key)
                found.append(again)
        return found

    def _names_of(self, id: str) -> list[str]:
        """Return the names of all states of a node that are known here; none of it was deleted."""
        node = self._store.nodes.get(id)
        states = [past.node for past in self._store.history.of_node(id)]
        names = [state_name(state) for state in (*states, *([node] if node else []))]
        names += self._store.history.ancestors([id]).get(id, [])
        gone = self._purged.get(id, "")
        return [name for name in names if name.partition(" ")[0] > gone]

    def _put(self, edges: Collection[Edge]) -> None:
        self._store.history.settle([], edges)
        things = (edge.from_id for edge in edges if edge.from_id.startswith(THING_IDS))
        self._store.edges.stated.update(things)

    def write(self) -> None:
        """Write what was received so far."""
        if self._changed:
            self._put(self._changed.values())
        self._changed, self._rows = {}, (None, {})

    def finish(self) -> None:
        """Put what stands no more into the history: each was left for the next one known."""
        self.write()
        for key, lost in self._lost.items():
            stands = self._store.edges.get(*key)
            if stands is None:
                continue
            known = self._rows_of(key)
            clocks = {name: made(state) for name, state in known.items()}
            clocks.update({name: clock(edge) for name, (edge, _) in lost.items()})
            clocks[order(stands)] = clock(stands)
            for name, after in pairwise(sorted(clocks)):
                if name not in lost or name in known:
                    continue
                edge, ours = lost[name]
                if not is_gone(clocks[name], edge.invalidated_at, self._gone(key)):
                    state: Row = {field: getattr(edge, field, None) for field in EDGE_HISTORY}
                    state["change"], state["changed_at"] = self._change, clocks[after]
                    state["made_at"] = clocks[name]
                    self._keep(state, ours=ours)
                    self.derived.add(key)

    def _gone(self, key: EdgeKey) -> str:
        return max(self._purged.get(key[0], ""), self._purged.get(key[1], ""))

    def _settle(self, edge: Edge) -> None:
        if len(self._changed) >= _BATCH:
            self.write()
        self._changed[edge.key] = edge

    def _keep(self, state: Row, *, ours: bool) -> None:
        self._store.history.keep_edge(state, self._command if ours else None)
        self._by_node = None

    def _take_old(self, key: EdgeKey, state: Row) -> None:
        """Take a state without its time: it may have been left at several times."""
        if _old_name(state) not in map(_old_name, self._store.edges.history(key)):
            self._store.edges.add_history(state)
            self._by_node = None

    def _rows_of(self, key: EdgeKey) -> dict[Order, Row]:
        if self._rows[0] != key:
            found: dict[Order, Row] = {}
            for state in self._store.edges.history(key):
                if state["made_at"]:
                    name = order(edge_of(state))
                    if how_left(state) < how_left(found.setdefault(name, state)):
                        found[name] = state
            self._rows = (key, found)
        return self._rows[1]

    def _states_of(self, id: str) -> list[Row]:
        """Return the states in the history of all edges of a node; what is no more may be among
        them."""
        if self._by_node is None:
            self._by_node = {}
            for state in self._store.edges.history():
                for end in KEY[:2]:
                    self._by_node.setdefault(str(state[end]), []).append(state)
        return self._by_node.get(id, [])


def _old_name(state: Row) -> object:
    edge = edge_of(state)
    return None if state["made_at"] else (edge.key, order(edge), how_left(state))


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
        """Look up together the nodes that come next."""
        self.write()
        found = self._store.nodes.get_many(ids)
        self._ours = {id: found.get(id) for id in ids}

    def node(self, theirs: Node, was: Sequence[str] = ()) -> str:
        """Return a node of the other store, with the names of the states that it has been in."""
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
        """Return the state that stands of two that were made apart, and the other one."""
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
        """Have a node written where it is another one than that in the store."""
        if stored is not None and _node_row(stored) == _node_row(node):
            return
        self._nodes[node.id] = node
        if stored is None or not same(stored, node):
            self._changed[node.id] = None
            if node.invalidated_at is not None:
                self._ended.add(node.id)

    def _known(self, id: str) -> list[str]:
        """Return the names of the states that a node has been in, here or in what has come in."""
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
        """Take a state that a node has left in the other store."""
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
        """Return an edge of the other store."""
        state = self._edges.edge(theirs)
        if state in ("added", "updated"):
            self.brought.add(theirs.key)
        return state

    @property
    def derived_edges(self) -> set[EdgeKey]:
        """Return the edges of which there are states now that nobody has told; ``derived_nodes``:
        the same of nodes. Another store may come to them at another time, and otherwise."""
        return self._edges.derived

    def loose(self) -> list[EdgeKey]:
        """Return the edges that lead nowhere by this merge, since an end was forgotten or deleted
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
        """Take a state that an edge has left in the other store: fields of ``EDGE_HISTORY``."""
        self._edges.past(state)

    def anchor(self, anchor: Anchor) -> None:
        """Take an anchor of the other store; ``finish`` says what became of it."""
        self._anchors.anchor(anchor)

    def past_anchor(self, state: dict[str, str]) -> None:
        """Take a place or a verdict that an anchor has left in the other store."""
        self._anchors.past(state)

    def type(self, name: str, description: str) -> None:
        """Take a type that the other store has declared."""
        ours = self._store.types.all().get(name)
        if ours is None or greater(description, ours, TYPES.get(name)):
            self._store.types.declare(name, description)

    def relation(self, name: str, declared: tuple[float, float, str]) -> None:
        """Take a relation of the other store: weight, backward weight, description."""
        ours = self._store.relations.all().get(name)
        if ours is None or greater(declared, ours, RELATIONS.get(name)):
            self._store.relations.declare(name, *declared)

    def purge(self, id: str, at: str) -> None:
        """Delete a node that was deleted for good in the other store."""
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
        """Propose a node that a file, which anybody may write, says was deleted for good.

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
        """Write and index what was received so far."""
        self.write()
        self._waiting.flush()

    def write(self) -> None:
        """Write what was received so far; other changes of the store come after this."""
        if self._nodes:
            self._store.history.settle(self._nodes.values())
        self._edges.write()
        for id in self._changed:
            self._waiting.add(self._nodes[id])
        self._nodes, self._ours, self._changed, self._rows = {}, {}, {}, ("", {})

    def finish(self) -> list[str]:
        """Write all that is left; what has become of the anchors, and of edges whose ends
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
        """Put what stands no more into the history: each was left for the next one known."""
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
        """Keep the names of states that are not here themselves."""
        gone = self._purged.get(id, "")
        held = {state_name(past.node) for past in self._store.history.of_node(id)}
        held.update(self._store.history.ancestors([id]).get(id, ()))
        lacking = {name for name in names if name.partition(" ")[0] > gone} - held
        if lacking:
            self._store.history.add_ancestors(id, sorted(lacking))
