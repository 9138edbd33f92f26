"""Canonical form: the same knowledge in the same words and order in every store."""

from __future__ import annotations

from itertools import groupby

from ..core.model import EDGE_HISTORY, Edge, Node
from ..core.stamps import Stamped, is_after, latest
from ..core.states import count_no_reads, order, set_clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..core.states import Order
    from ..store import Store
    from ..store.anchors import AnchorKey


GONE = ("removed", "relocated")
"""The changes by which an anchor is taken away from where it was."""


def told_nodes(
    store: Store, gone: Mapping[str, str] | None = None
) -> Iterator[tuple[Node, list[str]]]:
    """Yield every node by id, with the stamps of other changes that it has seen, in order.

    ``gone`` says up to when a node was deleted for good: what was said after that is told.
    """
    gone = store.history.purged() if gone is None else gone
    known = {id: set(names) for id, names in store.history.ancestors().items()}
    for id, _, value in store.history.former():
        known.setdefault(id, set()).add(value[0])
    for node in store.nodes.all():
        stamps, at = known.get(node.id, set()), gone.get(node.id, "")
        if at:
            rest = Stamped.of(node).after(at)
            if rest.is_empty():
                continue
            node = rest.to_node(node)
            count_no_reads(node)
            stamps = {one for one in stamps if is_after(one, at)}
        yield node, told_stamps(node, stamps)


def told_stamps(node: Node, known: Iterable[str]) -> list[str]:
    """Return those of the stamps that a node has seen, and does not have itself, that it is told
    with."""
    known = {*known}
    if not known:
        return []
    own = Stamped.of(node).stamps()
    return [stamp for stamp in latest(known | own) if stamp not in own]


def withheld(store: Store) -> frozenset[str]:
    """Return the records that others want deleted for good, and that are forgotten here."""
    here = store.nodes.get_many([*store.history.proposed_purges()])
    return frozenset(id for id, node in here.items() if node.invalidated_at)


def told_past(store: Store) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield (node, stamp, field to value) of what nodes have left, by node and stamp."""
    rows = store.history.former()
    for (id, stamp), some in groupby(rows, lambda row: (row[0], row[2][0])):
        yield id, stamp, {field: value[1] for _, field, value in some}


def told_past_edges(store: Store) -> Iterator[dict[str, object]]:
    """Yield the states that edges have left, each once, by edge and in their order, with the fields
    of ``EDGE_STATE_TOLD``."""
    for _, group in groupby(store.edges.history(), lambda state: tuple(map(state.get, KEY))):
        found: dict[Order, dict[str, object]] = {}
        for state in group:
            found[order(edge_of(state))] = {name: state[name] for name in EDGE_STATE_TOLD}
        yield from (found[name] for name in sorted(found))


KEY = EDGE_HISTORY[:3]
EDGE_STATE_TOLD = tuple(name for name in EDGE_HISTORY if name not in ("change", "changed_at"))
"""Fields of a state of an edge that are told: when and how it was left follows from others."""


def edge_of(state: dict[str, object]) -> Edge:
    """Return the edge as it was in a state of its history."""
    edge = Edge(*(state[name] for name in EDGE_HISTORY[:7]))  # type: ignore[arg-type]
    edge.invalidated_at = edge.ended_at = state["invalidated_at"]  # type: ignore[assignment]
    edge.created_at = str(state["created_at"])
    set_clock(edge, str(state["made_at"]))
    return edge


def told_past_anchors(store: Store) -> Iterator[dict[str, str]]:
    """Yield the places and verdicts that anchors have left, by node and time, each once."""
    for _, group in groupby(store.anchors.history(), lambda state: state["node_id"]):
        found = {(state["changed_at"], *state.values()): state for state in group}
        yield from (found[name] for name in sorted(found))


def when_gone(history: Iterable[dict[str, str]]) -> dict[AnchorKey, str]:
    """Return when each anchor was last taken away from where it was."""
    gone: dict[AnchorKey, str] = {}
    for state in history:
        if state["change"] in GONE:
            key = (state["node_id"], state["kind"], state["path"], state["detail"])
            gone[key] = max(state["changed_at"], gone.get(key, ""))
    return gone
