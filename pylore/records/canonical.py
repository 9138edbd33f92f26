"""Canonical form: the same knowledge in the same words and order in every store."""

from __future__ import annotations

from itertools import groupby

from ..core.model import EDGE_HISTORY, Edge, Node, Past
from ..core.states import clock, is_gone, latest, left, order, state_name, told
from ..core.times import following

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..core.states import Order
    from ..store import Store
    from ..store.anchors import Anchor, AnchorKey


GONE = ("removed", "moved")
"""The changes by which an anchor is taken away from where it was."""


def told_nodes(store: Store) -> Iterator[tuple[Node, list[str]]]:
    """Yield every node by id, with the names of the states that it has been in, the latest last."""
    purged = store.history.purged()
    known = {id: set(names) for id, names in store.history.ancestors().items()}
    for past in store.history.of_nodes():
        known.setdefault(past.node.id, set()).add(state_name(past.node))
    for node in store.nodes.all():
        gone, names = purged.get(node.id, ""), known.get(node.id)
        told(node, gone)
        yield node, told_names(node, names, gone) if names else []


def withheld(store: Store) -> frozenset[str]:
    """Return the records that others want deleted for good, and that are forgotten here for that.

    They are not told to these again, until a person here brings them back.
    """
    here = store.nodes.get_many([*store.history.proposed_purges()])
    return frozenset(id for id, node in here.items() if node.invalidated_at)


def told_names(node: Node, names: Iterable[str], purged: str) -> list[str]:
    """Return those of the names of states that a node is told to come after."""
    own = state_name(node)
    return latest(name for name in names if name != own and name.partition(" ")[0] > purged)


def told_edges(store: Store) -> Iterator[Edge]:
    """Yield every edge, by from, to, relation."""
    purged = store.history.purged()
    for edge in store.edges.all():
        yield told(edge, max(purged.get(edge.from_id, ""), purged.get(edge.to_id, "")))


def told_past(store: Store) -> Iterator[Past]:
    """Yield the states that nodes have left, by node and by their order, each once."""
    purged = store.history.purged()
    for id, group in groupby(store.history.of_nodes(), lambda past: past.node.id):
        found: dict[Order, Past] = {}
        for past in group:
            if clock(past.node) > purged.get(id, ""):
                past.changed_at, past.change = left(past.changed_at, past.change)
                other = found.setdefault(order(past.node), past)
                if (past.changed_at, past.change) < (other.changed_at, other.change):
                    found[order(past.node)] = past
        for name in sorted(found):
            yield found[name]


def told_past_edges(store: Store) -> Iterator[dict[str, object]]:
    """Yield the states that edges have left, with the fields of ``EDGE_HISTORY``, likewise.

    One of old that does not say when it was made may have been left at several times.
    """
    purged = store.history.purged()
    for key, group in groupby(store.edges.history(), lambda state: tuple(map(state.get, KEY))):
        gone = max(purged.get(str(key[0]), ""), purged.get(str(key[1]), ""))
        found: dict[object, tuple[Order, dict[str, object]]] = {}
        for state in group:
            if is_gone_state(state, gone):
                continue
            state["changed_at"], state["change"] = how_left(state)
            name = order(edge_of(state))
            identity = name if state["made_at"] else (name, how_left(state))
            _, other = found.setdefault(identity, (name, state))
            if how_left(state) < how_left(other):
                found[identity] = (name, state)
        yield from (state for _, state in sorted(
            found.values(), key=lambda pair: (pair[0], how_left(pair[1]))))  # fmt: skip


KEY = EDGE_HISTORY[:3]


def edge_of(state: dict[str, object]) -> Edge:
    """Return the edge as it was in a state of its history."""
    edge = Edge(*(state[name] for name in EDGE_HISTORY[:7]))  # type: ignore[arg-type]
    edge.invalidated_at = state["invalidated_at"]  # type: ignore[assignment]
    edge.changed_at = str(state["made_at"]) or None
    return edge


def made(state: dict[str, object]) -> str:
    """Return the clock of a state of an edge; of an old one the time when it was left."""
    return str(state["made_at"] or state["changed_at"])


def is_gone_state(state: dict[str, object], purged: str) -> bool:
    """Return whether a state that an edge has left goes with an end of it: ``is_gone``."""
    return is_gone(made(state), state["invalidated_at"] or not state["made_at"], purged)


def how_left(state: dict[str, object]) -> tuple[str, str]:
    """Return when and how an edge left a state."""
    return left(str(state["changed_at"]), str(state["change"]))


def told_anchors(store: Store) -> Iterator[Anchor]:
    """Yield every anchor, by node, kind, path and detail."""
    gone, purged = when_gone(store.anchors.history()), store.history.purged()
    for anchor in store.anchors.all():
        yield told_anchor(anchor, max(gone.get(anchor.key, ""), purged.get(anchor.node_id, "")))


def told_anchor(anchor: Anchor, gone: str) -> Anchor:
    """Return a live anchor, made after the last time that it was removed."""
    if gone and anchor.created_at <= gone:
        anchor.created_at = following(gone)
    return anchor


def told_past_anchors(store: Store) -> Iterator[dict[str, str]]:
    """Yield the places and verdicts that anchors have left, by node and time, each once."""
    purged = store.history.purged()
    for id, group in groupby(store.anchors.history(), lambda state: state["node_id"]):
        gone = purged.get(id, "")
        found = {(state["changed_at"], *state.values()): state for state in group}
        yield from (found[name] for name in sorted(found) if name[0] > gone)


def when_gone(history: Iterable[dict[str, str]]) -> dict[AnchorKey, str]:
    """Return when each anchor was last taken away from where it was."""
    gone: dict[AnchorKey, str] = {}
    for state in history:
        if state["change"] in GONE:
            key = (state["node_id"], state["kind"], state["path"], state["detail"])
            gone[key] = max(state["changed_at"], gone.get(key, ""))
    return gone
