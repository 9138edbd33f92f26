"""The states that a record or a link has been in: how they are told, counted and picked."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.model import Edge, Node
from ..core.states import EDGE_STATE, NODE_STATE, clock, same
from ..core.times import parse_since
from ..system.json_encode import Raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    from ..core.model import Past
    from ..store import Store

    State = TypeVar("State", Node, Edge)

_TOLD = tuple(name for name in NODE_STATE if name != "updated_at")


def told_history(store: Store, node: Node) -> list[dict[str, Any]]:
    """Return the states that a node has left, the first one first: ``number``, ``change`` (by what
    it was left), ``made_at`` and ``changed_at`` (from when to when), and those fields in which the
    state after it is another one, as this one had them."""
    left = store.history.of_node(node.id)
    states = [*(past.node for past in left), node]
    return [
        {
            "number": number,
            "change": past.change,
            "made_at": clock(past.node),
            "changed_at": past.changed_at,
            **_differences(past.node, then),
        }
        for number, (past, then) in enumerate(zip(left, states[1:], strict=True), 1)
    ]


def _differences(one: Node, other: Node) -> dict[str, Any]:
    found = {name: getattr(one, name) for name in _TOLD
             if getattr(one, name) != getattr(other, name)}  # fmt: skip
    if "tags" in found:
        found["tags"] = list(one.tags)
    if "data" in found:
        found["data"] = Raw(one.data)
    return found


def last_change(node: Node, left: Sequence[Past]) -> Past | None:
    """Return the state that taking back the last change of a node leads to; None where there is
    none.

    What was taken back already does not count: each ``undo`` goes one change further back.
    """
    states = [*(past.node for past in left), node]
    standing: list[int] = []
    for number, past in enumerate(left):
        if past.change == "undo":
            back = [place for place, one in enumerate(standing)
                    if same(states[one], states[number + 1])]  # fmt: skip
            if back:
                del standing[back[-1] :]
                continue
        standing.append(number)
    return left[standing[-1]] if standing else None


def state_at(states: Sequence[State], at: str, what: str) -> State:
    """Return one of these states, the first one first and today's last, by its number or by a time.

    Raises:
        LoreError: there is no such state.
        UsageError: ``at`` is neither a number nor a time.
    """
    if at.isascii() and at.isdigit() and len(at) < 10:
        if not 0 < int(at) <= len(states):
            raise LoreError(f"{what} has {len(states)} states, none with the number {at}: "
                            f"see 'lore show {what.split()[0]} --history'")  # fmt: skip
        return states[int(at) - 1]
    moment = parse_since(at)
    stood = [state for state in states if clock(state) <= moment]
    if not stood:
        raise LoreError(f"of {what} no state from {moment} or before is kept, "
                        f"the first one is of {clock(states[0])}: "
                        f"see 'lore show {what.split()[0]} --history'")  # fmt: skip
    return stood[-1]


def edge_states(store: Store, edge: Edge) -> list[Edge]:
    """Return the states that a link has been in, the first one first, and as it is now."""
    found = []
    for left in store.edges.history(edge.key):
        state = Edge(*edge.key, created_at=edge.created_at)
        for name in EDGE_STATE:
            setattr(state, name, left[name])
        state.changed_at = str(left["made_at"]) or None
        found.append(state)
    return [*found, edge]
