"""Another store's knowledge into this one, by a rule that is the same everywhere.

What is told is only what somebody did, with the time at which it was done; what is left out, or
derived, is up to each store. To merge is to unite: of each field of a record, of each link, each
anchor and each declaration the latest value stands, the others are history, and what was deleted
for good takes all with it that was not made later. Nothing that stays is written anew.
"""

from __future__ import annotations

from copy import copy
from operator import attrgetter

from ..core.model import EDGE_HISTORY, Edge, Node, Record
from ..core.stamps import ANEW, BASE, Stamped, conflicts, forgotten, is_after, latest
from ..core.states import (
    EDGE_STATE,
    clock,
    count_reads,
    is_indexed,
    is_kept,
    is_later,
    next_clock,
    order,
    same,
)
from ..core.times import now
from ..core.vocabulary import THING_IDS
from ..store.anchors import ANCHOR_HISTORY as _FIELDS
from .canonical import edge_of, when_gone
from .undo import take_away, take_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.model import EdgeKey
    from ..core.stamps import Value
    from ..core.states import Order
    from ..indexing.indexer import Waiting
    from ..store import Store
    from ..store.anchors import Anchor, AnchorKey

    State = tuple[str, ...]

_BATCH = 500
"""Edges that are written together."""


class AnchorMerge:
    """Anchors and their history, gathered by node; ``finish`` writes them."""

    def __init__(self, store: Store, purged: dict[str, str]) -> None:
        self._store = store
        self._anchors: dict[str, list[Anchor]] = {}
        self._past: dict[str, set[State]] = {}
        self._purged = purged

    def anchor(self, anchor: Anchor) -> None:
        """Take an anchor of the other store."""
        self._anchors.setdefault(anchor.node_id, []).append(anchor)

    def past(self, state: dict[str, str]) -> None:
        """Take a place or a verdict that one has left, with the fields of ``ANCHOR_HISTORY``."""
        self._past.setdefault(state["node_id"], set()).add(tuple(state.values()))

    def purge(self, node_id: str) -> None:
        """Note that a node was deleted for good."""
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
        before = {anchor.key: anchor for anchor in self._store.anchors.of(id)}
        past_here = {tuple(row.values()) for row in self._store.anchors.history(id)}
        past = past_here | self._past.get(id, set())
        past = {state for state in past if _left_at(state) > gone}
        whole = dict(before)
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
            self._store.anchors.settle(anchor)


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


_edge_row = attrgetter(*(name for name in Edge.FIELDS if name != "invalidated_at"))


class EdgeMerge:
    """Edges and their history; ``purged`` says what was deleted for good, and may change."""

    def __init__(self, store: Store, purged: dict[str, str], change: str, *, by_hand: bool) -> None:
        self._store = store
        self._purged = purged
        self._change = change
        self._by_hand = by_hand
        self._command = store.history.command
        self._ours: dict[EdgeKey, Edge | None] = {}
        self._without_past: set[EdgeKey] = set()
        self._changed: dict[EdgeKey, Edge] = {}
        self._left: dict[EdgeKey, dict[Order, tuple[Edge, int | None]]] = {}

    def foresee(self, keys: Sequence[EdgeKey]) -> None:
        """Look up together the edges that come next."""
        self.write()
        found = self._store.edges.get_many(keys)
        self._ours = {key: found.get(key) for key in keys}
        new = [key for key in keys if key not in found]
        changed = self._store.edges.with_history({key[0] for key in new})
        self._without_past = {key for key in new if key[0] not in changed}

    def edge(self, theirs: Edge) -> str:
        """Return ``added``, ``updated``, ``kept`` or ``unchanged``."""
        key = theirs.key
        if clock(theirs) <= self._gone(key):
            return "kept"
        ours = self._changed.get(key) or self._our_edge(key)
        if ours is None:
            past = () if key in self._without_past else self._states(key)
            self._settle(max((theirs, *past), key=order) if past else theirs)
            return "added"
        if _edge_row(ours) == _edge_row(theirs):
            return "unchanged"
        times = (clock(ours), ours.created_at)
        if self._by_hand and times == (clock(theirs), theirs.created_at) and not same(ours, theirs):
            self.write()
            edited = copy(ours)
            take_fields(EDGE_STATE, edited, theirs)
            return self._store.edges.put(edited)
        winner, loser = (theirs, ours) if is_later(theirs, ours) else (ours, theirs)
        if order(ours) != order(theirs):
            self._leave(loser, self._command if loser is ours else None)
        whole = copy(winner)
        count_reads(whole, ours, theirs)
        if _edge_row(whole) != _edge_row(ours):
            self._settle(whole)
        if same(ours, theirs):
            return "unchanged"
        return "updated" if winner is theirs else "kept"

    def past(self, state: dict[str, object]) -> None:
        """Take a state that an edge has left in the other store: fields of ``EDGE_HISTORY``."""
        edge = edge_of(state)
        if clock(edge) > self._gone(edge.key):
            self._left.setdefault(edge.key, {}).setdefault(order(edge), (edge, None))

    def purge(self, id: str, at: str) -> None:
        """Take away what was said of the edges of a node up to this time."""
        with self._store.whole(id):
            edges = self._store.edges.of(id, forgotten=True)
            states = [one for one in self._store.edges.history_of(id) if str(one["made_at"]) > at]
            self._store.edges.delete_node(id)
            self._put([edge for edge in edges if clock(edge) > at])
            for state in states:
                self._store.history.keep_edge(state)

    def write(self) -> None:
        """Write what was received so far."""
        self._put([*self._changed.values()])
        self._changed, self._ours, self._without_past = {}, {}, set()

    def finish(self) -> None:
        """Put what does not stand into the history, and what should stand in its place."""
        self.write()
        for key, left in self._left.items():
            stands = self._store.edges.get(*key)
            known = {order(one) for one in self._states(key)}
            edges = {name: edge for name, (edge, _) in left.items()}
            last = max(edges)
            if stands is not None and last > order(stands):
                left[order(stands)] = (stands, self._command)
                stands = copy(edges[last])
                self._put([stands])
            names = sorted({*known, *left, *([order(stands)] if stands else [])})
            for name, after in zip(names, [*names[1:], names[-1]], strict=True):
                if name in left and name not in known and (not stands or name != order(stands)):
                    self._keep(*left[name], after[0])

    def _keep(self, edge: Edge, command: int | None, at: str) -> None:
        if is_kept(edge):
            state = {name: getattr(edge, name, None) for name in EDGE_HISTORY}
            state.update(invalidated_at=edge.ended_at, change=self._change, changed_at=at,
                         made_at=clock(edge))  # fmt: skip
            self._store.history.keep_edge(state, command)

    def _leave(self, edge: Edge, command: int | None) -> None:
        self._left.setdefault(edge.key, {})[order(edge)] = (edge, command)

    def _our_edge(self, key: EdgeKey) -> Edge | None:
        return self._ours[key] if key in self._ours else self._store.edges.get(*key)

    def _states(self, key: EdgeKey) -> list[Edge]:
        """Return the states that an edge has left here."""
        return [edge_of(state) for state in self._store.edges.history(key)]

    def _put(self, edges: Sequence[Edge]) -> None:
        if edges:
            self._store.history.settle([], edges)
            things = (edge.from_id for edge in edges if edge.from_id.startswith(THING_IDS))
            self._store.edges.stated.update(things)

    def _gone(self, key: EdgeKey) -> str:
        return max(self._purged.get(key[0], ""), self._purged.get(key[1], ""))

    def _settle(self, edge: Edge) -> None:
        if len(self._changed) >= _BATCH:
            self.write()
        self._changed[edge.key] = edge


_node_row = attrgetter(*Node.FIELDS)


class Conflict(Record):
    """A node of which fields were changed on both sides; ``stands`` is ``ours`` or ``theirs``, the
    other values are in the history. ``forgotten``: the side that had forgotten it, if one had.
    ``file``: the other side, where that is the file of a document. ``fields``: which.
    """

    __slots__ = ("fields", "file", "forgotten", "id", "stands")

    def __init__(
        self, id: str, stands: str, forgotten: str = "", file: str = "",
        fields: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.id = id
        self.stands = stands
        self.forgotten = forgotten
        self.file = file
        self.fields = fields


def conflicts_of(id: str, ours: Stamped, theirs: Stamped, found: dict[str, str]) -> list[Conflict]:
    """Return what is to be said of fields that were changed on both sides: for each side that
    stands, of which."""
    standing = "invalidated_at"
    gone = ""
    if standing in found:
        gone = "ours" if ours.at(standing)[1] else "theirs"
        found = {name: side for name, side in found.items() if side != found[standing]}
        found[standing] = "ours" if ours.at(standing) > theirs.at(standing) else "theirs"
    return [
        Conflict(id, side, gone if standing in fields else "", fields=fields)
        for side in ("ours", "theirs")
        if (fields := tuple(sorted(name for name, stands in found.items() if stands == side)))
    ]


class Merge:
    """One merge of what another store tells; the caller holds a transaction.

    ``back`` names nodes that were deleted for good here, and have been edited after that;
    ``proposed`` those that were forgotten since a file says that they were deleted for good, and
    ``edited`` those that were edited after that, and so were not.

    ``change`` is what the history calls it, ``waiting`` indexes what comes in, ``prefer``
    (``ours`` or ``theirs``) decides conflicts in place of the rule: that side's value is stated
    anew, and so it stands wherever it comes to. ``by_hand``: a person may have edited what is
    told, without a lore; what differs with the same stamp is an edit of now.

    What is told by one method each is ``added``, ``updated``, ``kept`` (what is here stands)
    or ``unchanged``; all of it is in the store after ``finish``.
    """

    def __init__(
        self, store: Store, waiting: Waiting, *, change: str = "import", prefer: str = "",
        by_hand: bool = False,
    ) -> None:  # fmt: skip
        self.conflicts: list[Conflict] = []
        self.purges: list[tuple[str, bool]] = []
        self.proposed: list[str] = []
        self.edited: list[str] = []
        self.back: list[str] = []
        self.brought: set[EdgeKey] = set()
        self.new_nodes: set[str] = set()
        self.joined_nodes: set[str] = set()
        """Nodes that are now neither as they were here nor as they were told."""
        self._store = store
        self._waiting = waiting
        self._change = change
        self._prefer = prefer
        self._command = store.history.command
        self._purged = store.history.purged()
        self._purged_before = {*self._purged}
        self._gone = store.history.deleted()
        self._ended: set[str] = set()
        self._nodes: dict[str, Node] = {}
        self._ours: dict[str, Node | None] = {}
        self._with_past: dict[str, bool] = {}
        self._changed: dict[str, None] = {}
        self._seen: dict[str, set[str]] = {}
        self._past: dict[str, list[tuple[str, Value]]] = {}
        self._passed: dict[str, set[str]] = {}
        self._by_hand = by_hand
        self._edges = EdgeMerge(store, self._gone, change, by_hand=by_hand)
        self._anchors = AnchorMerge(store, self._purged)

    # --- nodes

    def foresee(self, ids: Sequence[str]) -> None:
        """Look up together the nodes that come next."""
        self.write()
        found = self._store.nodes.get_many(ids)
        self._ours = {id: found.get(id) for id in ids}
        self._with_past = dict.fromkeys((id for id in ids if id not in found), False)
        self._with_past |= {id: True for id, *_ in self._store.history.former([*self._with_past])}

    def node(self, theirs: Node, was: Sequence[str] = ()) -> str:
        """Take a node of the other store, with the stamps of changes that it has seen."""
        id = theirs.id
        gone = self._gone.get(id, "")
        ours = self._our_node(id)
        if ours is not None and _node_row(ours) == _node_row(theirs):
            self._learn(id, was, gone)
            return "unchanged"
        if clock(theirs) <= gone:
            return "kept"
        if ours is not None:
            mine, whole = Stamped.of(ours), Stamped.of(theirs).after(gone)
            seen_here = self._known(id) | mine.stamps()
            if theirs.stamps:
                self._pass_over(id, whole, seen_here)
            self._learn(id, was, gone)
            seen_there = {*was, *whole.stamps()}
            return self._meet(ours, mine, seen_here, theirs, whole, seen_there)
        self._learn(id, was, gone)
        if id in self._purged_before:
            self.back.append(id)
        if theirs.stamps or gone or self._has_past(id):
            whole = Stamped.of(theirs).after(gone)
            if theirs.stamps:
                self._pass_over(id, whole, self._known(id))
            former = self._store.history.former([id])
            both = _with(whole, [(name, one) for _, name, one in former if name != BASE])
            theirs = both.to_node(theirs)
            self._store.history.let_stand(id, both.fields.items())
            self._leave(id, whole, both, None)
        self._settle(theirs, None)
        self.new_nodes.add(id)
        return "added"

    def _pass_over(self, id: str, told: Stamped, seen_here: set[str]) -> None:
        """Note the changes before the last one that a node is told of, and that are new here: what
        else they made is known only where that is told, too."""
        stamps = told.stamps()
        self._passed[id] = stamps - {max(stamps)} - seen_here

    def _has_past(self, id: str) -> bool:
        """Return whether something that a node has left is here, and the node is not."""
        if id not in self._with_past:
            self._with_past[id] = any(True for _ in self._store.history.former([id]))
        return self._with_past[id]

    def _our_node(self, id: str) -> Node | None:
        if id in self._nodes:
            return self._nodes[id]
        if id not in self._ours:
            self._ours[id] = self._store.nodes.get(id)
        return self._ours[id]

    def _meet(
        self, stored: Node, ours: Stamped, seen_here: set[str], told: Node, theirs: Stamped,
        seen_there: set[str],
    ) -> str:  # fmt: skip
        edited: dict[str, str] = {}
        if self._by_hand:
            theirs = theirs if told.stamps else theirs.seen_as(ours)
            edited = theirs.edited(ours)
            theirs = theirs.having({name: ours.at(name)[1] for name in edited})
        if is_indexed(stored) and is_indexed(told):
            both = theirs if is_later(told, stored) else ours
        else:
            both = ours.joined(theirs)
            found = conflicts(ours, seen_here, theirs, seen_there)
            if found:
                both, found = self._decided(both, ours, theirs, found)
                self.conflicts += conflicts_of(stored.id, ours, theirs, found)
            self._leave(stored.id, ours, both, self._command)
            self._leave(stored.id, theirs, both, None)
        node = both.to_node(stored)
        count_reads(node, stored, told)
        self._settle(node, stored)
        if edited:
            return self._edit(node, both.having(edited))
        if not both.is_same(ours) and not both.is_same(theirs):
            self.joined_nodes.add(node.id)
        if same(stored, node):
            return "unchanged" if same(stored, told) else "kept"
        return "updated"

    def _edit(self, node: Node, edited: Stamped) -> str:
        """Write what somebody has edited by hand as a change of this moment."""
        self.write()
        node = edited.to_node(node)
        node.updated_at = now()
        state = self._store.nodes.put(node)
        self._waiting.add(node)
        return state

    def _decided(
        self, both: Stamped, ours: Stamped, theirs: Stamped, found: dict[str, str]
    ) -> tuple[Stamped, dict[str, str]]:
        """Return the values that stand of fields that were changed on both sides, and which side's
        these are."""
        turned = [name for name, stands in found.items() if self._prefer not in ("", stands)]
        if not turned:
            return both, found
        at = next_clock(max(both.stamps()).partition(" ")[0], now())
        stamp = f"{at} {self._store.nodes.machine()}"
        side = ours if self._prefer == "ours" else theirs
        named = {name: (stamp, side.at(name)[1]) for name in turned}
        anew = {name: (stamp, named.get(name, both.at(name))[1]) for name in ANEW}
        fields = {**both.fields, **named, **anew}
        return Stamped(both.base, fields), {**found, **dict.fromkeys(turned, self._prefer)}

    def _leave(self, id: str, one: Stamped, both: Stamped, command: int | None) -> None:
        """Keep the values of one side that do not stand."""
        for left in one.left_for(both):
            at = both.at(left[0])[0].partition(" ")[0]
            self._store.history.keep(id, [left], at, self._change, command)

    def _settle(self, node: Node, stored: Node | None) -> None:
        """Have a node written where it is another one than that in the store."""
        if stored is not None and _node_row(stored) == _node_row(node):
            return
        self._nodes[node.id] = node
        if stored is None or not same(stored, node):
            self._changed[node.id] = None
            if node.invalidated_at is not None:
                self._ended.add(node.id)

    def _known(self, id: str) -> set[str]:
        """Return the stamps of the changes that a node has seen, here or in what has come in."""
        return self._held(id) | self._seen.get(id, set())

    def _held(self, id: str) -> set[str]:
        stamps = {value[0] for _, _, value in self._store.history.former([id])}
        return stamps.union(self._store.history.ancestors([id]).get(id, ()))

    def _learn(self, id: str, stamps: Sequence[str], gone: str) -> None:
        if stamps:
            self._seen.setdefault(id, set()).update(one for one in stamps if is_after(one, gone))

    def past(self, id: str, values: Iterable[tuple[str, Value]]) -> None:
        """Take values that a node has left in the other store: (field, value)."""
        self._past.setdefault(id, []).extend(values)

    # --- what else there is

    def foresee_edges(self, keys: Sequence[EdgeKey]) -> None:
        """Look up together the edges that come next."""
        self._edges.foresee(keys)

    def edge(self, theirs: Edge) -> str:
        """Take an edge of the other store."""
        state = self._edges.edge(theirs)
        if state in ("added", "updated"):
            self.brought.add(theirs.key)
        return state

    def loose(self) -> list[EdgeKey]:
        """Return the edges that lead nowhere by this merge, since an end was forgotten or deleted
        for good; an end that has never been here is none of these."""
        ended = self._ended | {id for id, lives in self.purges if not lives}
        keys = self.brought.union(
            edge.key for id in ended for edge in self._store.edges.of(id, forgotten=True)
        )
        gone = {*filter(self._is_gone, self._store.edges.without_nodes(keys))}
        some = [key for key in sorted(keys) if not gone.isdisjoint(key[:2])]
        held = self._store.edges.get_many(some)
        return [key for key in some if key in held and held[key].ended_at is None]

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

    def type(self, name: str, at: str, description: str) -> None:
        """Take a type that was declared in the other store, and when."""
        known = self._store.types.all().get(name)
        ours = self._store.types.declared().get(name, ("", ""))
        if known is None or (at, description) > ours:
            self._store.types.declare(name, description, at)

    def relation(self, name: str, at: str, declared: tuple[float, float, str]) -> None:
        """Take a relation of the other store: when, (weight, backward weight, description)."""
        known = self._store.relations.all().get(name)
        ours = self._store.relations.declared().get(name, ("", declared))
        if known is None or (at, declared) > ours:
            self._store.relations.declare(name, *declared, at=at)

    def purge(self, id: str, at: str) -> None:
        """Delete what was said of a node up to a time, for good."""
        if at <= self._purged.get(id, ""):
            return
        self.flush()
        self._purged[id] = at
        self._gone[id] = max(at, self._gone.get(id, ""))
        node = self._our_node(id)
        if node is not None:
            rest = Stamped.of(node).after(at)
            self.purges.append((id, not rest.is_empty()))
            if rest.is_empty():
                take_away(self._store, node)
            else:
                self._settle(rest.to_node(node), node)
                self.flush()
                self.joined_nodes.add(id)
        self._ours.pop(id, None)
        self._seen[id] = {one for one in self._seen.get(id, ()) if is_after(one, at)}
        self._store.history.purge(id, at)
        self._edges.purge(id, at)
        self._anchors.purge(id)

    def propose_purge(self, id: str, at: str) -> None:
        """Propose a node that a file, which anybody may write, says was deleted for good.

        It is forgotten, until a person here deletes it for good or brings it back.
        """
        if at <= self._gone.get(id, ""):
            return
        self.flush()
        self._gone[id] = at
        node = self._our_node(id)
        if node is not None and node.invalidated_at is None:
            ours = Stamped.of(node)
            both = ours.joined(forgotten(at))
            self._leave(id, ours, both, self._command)
            self._settle(both.to_node(node), node)
            self._ended.discard(id)  # of which more is said
            lives = not both.at("invalidated_at")[1]
            (self.edited if lives else self.proposed).append(id)
        self._store.history.propose_purge(id, at)

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
            self._store.edges.note_ends(id)
        self._nodes, self._ours, self._changed = {}, {}, {}

    def finish(self) -> list[str]:
        """Write all that is left; what has become of the anchors."""
        self.flush()
        for id, values in self._past.items():
            self._take_past(id, [one for one in values
                                 if is_after(one[1][0], self._gone.get(id, ""))])  # fmt: skip
        self.flush()
        for id, stamps in self._passed.items():
            told = {value[0] for _, value in self._past.get(id, ())}
            self._store.history.add_ancestors(id, sorted(stamps - told))
        for id, stamps in self._seen.items():
            self._keep_stamps(id, stamps)
        self._edges.finish()
        return self._anchors.finish()

    def _take_past(self, id: str, values: list[tuple[str, Value]]) -> None:
        """Keep what a node has left elsewhere; where it comes before the node itself, it may be
        what stands."""
        node = self._our_node(id)
        self._store.history.drop_ancestors(id, {value[0] for _, value in values})
        bases = [one for one in values if one[0] == BASE]
        values = [one for one in values if one[0] != BASE]
        ours = Stamped.of(node) if node is not None else Stamped("", {})
        both = _with(ours, values)
        for name, value in [*bases, *(values if node is None else ())]:
            at = max(value[0], both.base).partition(" ")[0]
            self._store.history.keep(id, [(name, value, False)], at, self._change)
        if node is None:
            return
        if not both.is_same(ours):
            self._leave(id, ours, both, self._command)
            self._settle(both.to_node(node), node)
        for name, value in values:
            self._leave(id, Stamped("", {name: value}), Stamped("", {name: both.at(name)}), None)

    def _keep_stamps(self, id: str, stamps: set[str]) -> None:
        """Keep the stamps of changes of which no value is here."""
        node = self._our_node(id)
        own = Stamped.of(node).stamps() if node is not None else set()
        held = self._held(id) | own
        lacking = {*latest(stamps | held)} - held
        if lacking:
            self._store.history.add_ancestors(id, sorted(lacking))


def _with(state: Stamped, values: Iterable[tuple[str, Value]]) -> Stamped:
    """Return a state joined with these values."""
    for name, value in values:
        state = state.joined(Stamped("", {name: value}))
    return state
