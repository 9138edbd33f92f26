"""Merge two states of a node or an edge, whichever comes first.

A store is a set of states of each node and edge, of which the greatest by ``states.order``
stands. To merge is to unite these sets, so it may be done in any order and any number of
times. What is here knows no store.
"""

from __future__ import annotations

from copy import copy

from .model import Edge, Node
from .states import clock, descends, lived_after, order, same, set_clock, state_name
from .times import following, just_after
from .vocabulary import CODE_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import TypeVar

    State = TypeVar("State", Node, Edge)
    Left = tuple[str, str]
    """(the clock of the state after it, the command by which it was left)"""


def outcome(
    ours: Node, known_here: Collection[str], theirs: Node, known_there: Collection[str]
) -> str:
    """Return what two states of a node are to each other: ``same``, ``newer``, ``older``,
    ``conflict``.

    ``newer``: theirs was made from ours; ``older``: ours from theirs. ``known_…`` are names of
    states that each side has been in (``states.latest``).
    """
    if same(ours, theirs) or (is_indexed(ours) and is_indexed(theirs)):
        return "same"
    if descends(state_name(ours), known_there):
        return "newer"
    return "older" if descends(state_name(theirs), known_here) else "conflict"


def is_later(one: State, other: State) -> bool:
    """Return whether one state stands where both are known."""
    return order(one) > order(other)


def joined(winner: State, loser: State) -> State:
    """Return the state that stands, with what no state alone says: since when it is, and
    accesses."""
    at, state = clock(winner), copy(winner)
    state.created_at = min(winner.created_at or loser.created_at,
                           loser.created_at or winner.created_at)  # fmt: skip
    state.access_count = max(winner.access_count, loser.access_count)
    state.accessed_at = max(winner.accessed_at or "", loser.accessed_at or "") or None
    set_clock(state, at)
    return state


def stands_again(edge: Edge, *ends: Iterable[str]) -> Edge | None:
    """Return the state of an edge that was ended with one of its ends, if that one has lived later.

    ``ends`` are names of states of each end. The state is made of the ended one alone and
    comes right after it, so it is the same wherever it is made; whatever else was made after
    the ended one takes its place.
    """
    at = edge.invalidated_at
    if at is None or at != clock(edge) or not is_kept(edge):
        return None
    if not any(lived_after(names, at) for names in ends):
        return None
    again = copy(edge)
    again.invalidated_at = None
    set_clock(again, just_after(at))
    return again


def is_gone(at: str, ended: object, purged: str) -> bool:
    """Return whether a state of an edge with the clock ``at`` goes with an end that was ``purged``.

    What ended at that very time goes, and with it the state that ``stands_again`` makes of it,
    so that it does not count whether that one had been made before the purge was heard of.

    >>> is_gone("2026-01-31", True, "2026-01-31"), is_gone("2026-02-01", False, "2026-01-31")
    (True, False)
    """
    return at <= purged or bool(purged and not ended and at == just_after(purged))


def told(state: State, purged: str = "") -> State:
    """Return a state as it is told to others: one form for one state.

    What was deleted for good (at ``purged``) and is there again was made after that, even
    within the same second; how often it was read stays untold, since that may count both.
    """
    at = clock(state)
    if purged and at <= purged:
        at = following(purged)
    if purged and state.created_at <= purged:
        state.created_at = min(following(purged), at)
    if purged:
        state.access_count, state.accessed_at = 0, None
    set_clock(state, at)
    return state


def left(changed_at: str, change: str) -> Left:
    """Return when and how a state was left; of two accounts of it the lesser one is kept."""
    return changed_at, "import" if change == "sync" else change


def is_indexed(node: Node) -> bool:
    """Return whether the index of code made this state: it has the repository's own history."""
    return node.source == "file" and node.type in CODE_TYPES


def is_kept(state: Node | Edge) -> bool:
    """Return whether a state that another one takes the place of goes into the history."""
    return not is_indexed(state) if isinstance(state, Node) else state.source != "system"


def greater(theirs: object, ours: object, default: object) -> bool:
    """Return whether their declaration of a type or a relation takes the place of ours.

    One that differs from lore's own ranks above that, and else the greater one.
    """
    return (theirs != default, theirs) > (ours != default, ours)
