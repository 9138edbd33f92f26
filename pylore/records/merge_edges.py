"""Another store's edges into this one: what ``merge`` does for nodes, without conflicts."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from operator import attrgetter

from ..core.merging import is_gone, is_kept, is_later, joined, stands_again, told
from ..core.model import EDGE_HISTORY, Edge
from ..core.states import clock, order, same, state_name
from ..core.vocabulary import THING_IDS
from .exchange import KEY, edge_of, how_left, is_gone_state, made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from ..core.states import Order
    from ..store import Store
    from ..store.protocols import EdgeKey

    Row = dict[str, object]
    """A state that an edge has left, with the fields of ``EDGE_HISTORY``."""

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
        """``added``, ``updated``, ``kept`` or ``unchanged``."""
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
        """A state that an edge has left in the other store."""
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
        """A node was deleted for good at this time; ``before`` is when it was before."""
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
        """Brings back the edges that were ended with a node that has lived later; which."""
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
        """The names of all states of a node that are known here; none of it was deleted."""
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
        """Writes what has been told so far."""
        if self._changed:
            self._put(self._changed.values())
        self._changed, self._rows = {}, (None, {})

    def finish(self) -> None:
        """Puts what stands no more into the history: each was left for the next one known."""
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
        """One that does not say when it was made: it may have been left at several times."""
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
        """The states in the history of all edges of a node; what is no more may be among them."""
        if self._by_node is None:
            self._by_node = {}
            for state in self._store.edges.history():
                for end in KEY[:2]:
                    self._by_node.setdefault(str(state[end]), []).append(state)
        return self._by_node.get(id, [])


def _old_name(state: Row) -> object:
    edge = edge_of(state)
    return None if state["made_at"] else (edge.key, order(edge), how_left(state))
