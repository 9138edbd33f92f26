"""Undo and redo commands, restore former states of records, forget and purge."""

from __future__ import annotations

from copy import copy

from ..anchors.attach import accept_anchors
from ..core.errors import LoreError
from ..core.json import dumps, loads
from ..core.model import Anchor, Edge, Node, edge_name
from ..core.stamps import BASE, KINDS, Stamped, clock, is_after, is_ended, is_indexed, same
from ..core.times import now, parse_since
from ..core.vocabulary import path_of
from ..indexing.indexer import Index
from ..store.changes import RESTORE_BACKUP, SEPARATOR, owners
from ..store.connection import TO_WIPE
from ..store.curation import KNOWN, PROMOTED, REFUSED
from .fields import location_of, mark_pruned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    from ..anchors.claims import CodeReader
    from ..core.model import Past, PastCommand
    from ..core.stamps import State, Thing
    from ..store import Store
    from ..store.curation import KeptCandidate

    class Records(Protocol):
        """The members of ``records.Records`` that are used here."""

        store: Store
        reader: CodeReader | None
        notes: list[str]

        def index(self, *nodes: Node) -> None: ...
        def tie(self, node: Node, before: tuple[str, str]) -> None: ...

    Outcome = tuple[str, str]
    """(id, or from relation to; ``restored``, ``invalidated`` or ``unchanged``)"""

UNDO, UNDO_RECORD, REDO, PURGE = "undo", "undo of records", "redo", "purge"
"""Commands in the log."""

_FINAL = {
    PURGE: "import an export that has what it deleted",
    RESTORE_BACKUP: "'lore store restore' the .before-restore-… file beside the store",
}
"""Commands that cannot be undone, and the way back."""


# --- the last command


def undo_command(records: Records, *, redo: bool) -> list[Outcome]:
    """Undo the last command, or redo the last undone command; return the outcome of each thing.

    Raises:
        LoreError: no such command, a final command, or no change left.
    """
    store = records.store
    command, number = _last_command(store, redo=redo)
    changed, done = _take_back(store, number)
    if not done:
        raise LoreError(
            f"no change is left of the last command, '{command.name}' of {command.at}: "
            "see 'lore show --history ID'"
        )
    records.index(*changed)
    restate(store, [node.id for node in changed])
    way = "did '{}' of {} again" if redo else "took back '{}' of {}"
    records.notes.append(way.format(command.name, command.at))
    return [*done.items()]


def _last_command(store: Store, *, redo: bool) -> tuple[PastCommand, int]:
    """Return the command to undo or redo, and the number of the command to revert for that."""
    here = store.changes.command
    standing: list[PastCommand] = []
    undone: list[tuple[PastCommand, int]] = []
    for command in reversed(store.changes.commands()):
        if command.id == here:
            continue
        if command.name == UNDO and standing:
            undone.append((standing.pop(), command.id))
        elif command.name == REDO and undone:
            standing.append(undone.pop()[0])
        else:
            standing.append(command)
            undone.clear()
    if redo:
        if not undone:
            raise LoreError("no command to redo: the last command was not 'lore undo'")
        return undone[-1]
    if not standing:
        raise LoreError("no command to undo: the history is empty")
    last = standing[-1]
    if last.name in _FINAL:
        raise LoreError(
            f"the last command, '{last.name}' of {last.at}, cannot be taken back: "
            f"{_FINAL[last.name]}"
        )
    return last, last.id


def _take_back(store: Store, number: int) -> tuple[list[Node], dict[str, str]]:
    """Restore the states before a command, and end the things it added; return changed nodes and
    outcomes.

    Fields that changed again since, and nodes of files, are not changed.
    """
    changes = store.changes
    added, left = map(set, changes.things(number))
    changed: list[Node] = []
    done: dict[str, str] = {}
    # nodes first: their links are hidden with them, and need no end
    for thing in sorted(added | left, key=lambda one: (one.count(SEPARATOR), one)):
        row, is_new = store.thing(thing), thing in added
        if row is None:
            continue
        is_hidden = row.gone_at if isinstance(row, Anchor) else row.invalidated_at
        if is_new and (is_hidden or is_indexed(row)):
            continue
        then = copy(row) if is_new else changes.before(number, row)
        if is_new:
            setattr(then, KINDS[type(row)].end, now())
        if put(store, then) != "unchanged":
            changed += [then] if isinstance(then, Node) else []
            name = edge_name(then.key) if isinstance(then, Edge) else owners(thing)[0]
            is_ended_now = is_ended(then) and not isinstance(then, Anchor)
            done.setdefault(name, "invalidated" if is_ended_now else "restored")
    for candidate in store.candidates.decided_by(number):
        store.candidates.put([taken_back(candidate, changes.command)])
        done[candidate.id] = "restored"
    return changed, done


def put(store: Store, row: Thing) -> str:
    """Write a thing as a change of now: ``added``, ``updated`` or ``unchanged``."""
    if isinstance(row, Node):
        return store.nodes.put(row)
    return store.edges.put(row) if isinstance(row, Edge) else store.anchors.put(row)


# --- records and links


def undo_node(records: Records, id: str) -> Outcome:
    """Undo the last change of a node; restore a forgotten node.

    Raises:
        LoreError: no such node or change.
    """
    changes = records.store.changes
    node = records.store.nodes.get(id)
    if node is None and changes.purged([id]):
        raise LoreError(
            f"'{id}' was purged, which cannot be taken back: import an export that has it"
        )
    if node is None or node.invalidated_at is not None:
        return restore_node(records, id)
    left = changes.of(node)
    past = _last_change(node, left)
    if past is None:
        way = "undo ID --at N' has the later states" if left else f"forget {id}' forgets it"
        raise LoreError(f"'{id}' has no change to undo: 'lore {way}")
    records.notes.append(f"{id}: took back '{past.change}' of {past.changed_at}")
    return _give(records, node, past.row)


def _last_change(node: Node, left: Sequence[Past]) -> Past | None:
    """Return the state before the last change that was not undone."""
    states = [*(past.row for past in left), node]
    standing: list[int] = []
    for number, state in enumerate(states):
        if number and left[number - 1].change in (UNDO, UNDO_RECORD):
            same_as = [at for at, one in enumerate(standing) if same(states[one], state)]
            if same_as:
                del standing[same_as[-1] + 1 :]
                continue
        standing.append(number)
    return next((left[at] for at in reversed(standing[:-1]) if not same(states[at], node)), None)


def restore_node(records: Records, id: str, at: str = "") -> Outcome:
    """Restore a node; see ``Records.restore``."""
    store = records.store
    node = store.nodes.require(id)
    if at:
        states = [*(past.row for past in store.changes.of(node)), node]
        done = _give(records, node, _state_at(states, at, id))
    elif node.invalidated_at is None:
        accepted = accept_anchors(store, id, records.reader)
        done = id, "restored" if restate(store, [id]) or accepted else "unchanged"
    else:
        state = copy(node)
        state.invalidated_at = None
        mark_pruned(state, pruned=False)
        done = _give(records, node, state)
    records.notes += [
        f"'{id}' is anchored to {':'.join(filter(None, (one.path, one.detail)))}, which is still "
        f"{one.verdict}: use 'lore anchor {id} FILE' or --remove"
        for one in store.anchors.of(id)
        if one.is_broken
    ]
    return done


def _give(records: Records, node: Node, state: Node) -> Outcome:
    """Give a node a new state; links and anchors to the file follow."""
    if records.store.nodes.put(state) == "unchanged":
        return node.id, "unchanged"
    if state.invalidated_at is None and state.source != "file":
        before = location_of(node)
        if location_of(state) != before:
            records.tie(state, before)
    records.index(state)
    restate(records.store, [node.id])
    return node.id, "invalidated" if state.invalidated_at else "restored"


def _state_at(states: Sequence[State], at: str, name: str) -> State:
    """Return a state of a thing, the current state last, by number or time."""
    see = f"see 'lore show {name.split()[0]} --history'"
    if at.isascii() and at.isdigit() and len(at) < 10:
        if 0 < int(at) <= len(states):
            return states[int(at) - 1]
        raise LoreError(f"{name} has {len(states)} states, none with the number {at}: {see}")
    moment = parse_since(at)
    found = [state for state in states if clock(state) <= moment]
    if not found:
        raise LoreError(
            f"no state of {name} from {moment} or before is known, "
            f"the first one is of {clock(states[0])}: {see}"
        )
    return found[-1]


def restate(store: Store, ids: Iterable[str]) -> bool:
    """Give live records with a proposed purge, and their links and anchors, a new stamp.

    Other stores accept no value from before a purge. Return True if a record had such values.
    """
    wanted = store.changes.proposed_purges()
    found = False
    for id, node in store.nodes.get_many([id for id in ids if id in wanted]).items():
        if node.invalidated_at is not None or is_after(Stamped.of(node).base, wanted[id]):
            continue
        edges, anchors = store.edges.of(id), store.anchors.of(id)
        rows: list[Thing] = [node, *edges, *anchors]
        stamp = store.changes.stamp(max(map(clock, rows)))
        for row in rows:
            row.stamps = dumps({BASE: stamp})
        store.nodes.settle([node])
        store.edges.settle(edges)
        for anchor in anchors:
            store.anchors.settle(anchor)
        found = True
    return found


# --- candidates

_BEFORE = "before"
"""The key of a candidate's data with the decision before the last."""

_DECISION = ("status", "promoted_as", "decided_at")


def decided(
    row: KeptCandidate, status: str, *, promoted_as: str | None = None, command: int | None = None
) -> KeptCandidate:
    """Return a candidate with a new status; an undo of ``command`` reverts the status."""
    return _with_decision(row, (status, promoted_as, now()), command)


def taken_back(row: KeptCandidate, command: int | None) -> KeptCandidate:
    """Return a candidate with the decision before the last; twice gives the last decision."""
    return _with_decision(row, loads(row.data).get(_BEFORE) or ("open", None, None), command)


def _with_decision(
    row: KeptCandidate, decision: Sequence[str | None], command: int | None
) -> KeptCandidate:
    before = [getattr(row, name) for name in _DECISION]
    for name, value in zip(_DECISION, decision, strict=True):
        setattr(row, name, value)
    row.command, row.data = command, dumps({**loads(row.data), _BEFORE: before})
    return row


# --- forgetting and deleting


def forget(store: Store, node: Node) -> None:
    """Forget a node with its links; the caller updates the index."""
    node.invalidated_at = now()
    mark_pruned(node, pruned=False)
    store.nodes.put(node)


def delete_for_good(store: Store, node: Node) -> None:
    """Delete a node with edges, anchors and the past of all.

    No older export restores the node: the purge is later than all changes here.
    """
    with store.whole(node.id):
        rows: list[Thing] = [
            node,
            *store.edges.of(node.id, forgotten=True),
            *store.anchors.of(node.id, gone=True),
        ]
        at = max(now(), *map(clock, rows))
        take_away(store, node)
        store.edges.delete_node(node.id)
        store.anchors.delete_node(node.id)
        store.changes.purge(node.id, at)
        promoted = store.candidates.all((PROMOTED, KNOWN))
        blank_candidates(store, [row for row in promoted if row.promoted_as == node.id])


def blank_candidates(store: Store, rows: Sequence[KeptCandidate]) -> None:
    """Delete the texts of candidates; their ids never come again. ``Store.wipe`` is due."""
    for row in rows:
        row.title, row.body, row.data, row.promoted_as = "", "", "{}", None
        row.status, row.command = REFUSED, None
    if rows:
        store.candidates.put(rows)
        store.meta.set(TO_WIPE, now())


def take_away(store: Store, node: Node) -> None:
    """Delete a node, the passages and the text of a file."""
    node.invalidated_at = node.invalidated_at or now()
    store.nodes.invalidate(node.id, node.invalidated_at)  # ends facts about the node
    Index(store).update([node])
    store.nodes.delete(node.id)
    if node.type == "file":
        store.whole_files.remove([path_of(node.id)])
