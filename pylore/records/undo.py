"""Undo and redo commands, restore former states of records; forget, sweep and purge."""

from __future__ import annotations

from copy import copy
from itertools import takewhile

from ..anchors.attach import accept_anchors
from ..core.errors import LoreError
from ..core.json import dumps
from ..core.model import Anchor, Edge, Node, edge_name
from ..core.scoring import recency
from ..core.stamps import BASE, KINDS, Stamped, clock, is_after, is_ended, is_indexed, same
from ..core.times import ago, now, parse_since
from ..core.vocabulary import path_of
from ..indexing.indexer import Index
from ..store.changes import RESTORE_BACKUP, SEPARATOR, owners
from ..store.connection import TO_WIPE
from ..store.curation import REFUSED
from .fields import location_of, mark_pruned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Protocol

    from ..anchors.claims import CodeReader
    from ..core.model import Past
    from ..core.settings import Settings
    from ..core.stamps import Thing
    from ..store import Store
    from ..store.curation import KeptCandidate

    class Records(Protocol):
        """The members of ``records.Records`` that are used here."""

        store: Store
        reader: CodeReader | None
        notes: list[str]

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

LEAST_TO_STAY, ENOUGH_ACCESSES = 0.2, 5
"""A sweep drops records below this confidence × recency with fewer accesses. Not measured."""

SWEPT = "conversation"
"""The source of the staged facts and records that a sweep may drop."""


# --- the last command


def undo_command(records: Records, *, redo: bool) -> list[Outcome]:
    """Undo the last command, or redo the last undone command; return the outcome of each thing.

    Raises:
        LoreError: no such command, a final command, or no change left.
    """
    log = records.store.changes
    here = log.command
    past = [one for one in log.commands() if one.id != here and one.name not in (UNDO, REDO)]
    undone = [*takewhile(lambda one: one.undone_by, past)]
    if redo and not undone:
        raise LoreError("no command to redo: the last command was not 'lore undo'")
    if not redo and len(undone) == len(past):
        raise LoreError("no command to undo: the history is empty")
    last = max(undone, key=lambda one: one.undone_by or 0) if redo else past[len(undone)]
    name, at = last.name, last.at
    if name in _FINAL:
        raise LoreError(f"the last command, '{name}' of {at}, cannot be undone: {_FINAL[name]}")
    done = _take_back(records, last.undone_by or last.id)
    if not done:
        raise LoreError(
            f"no change is left of the last command, '{name}' of {at}: see 'lore show --history ID'"
        )
    log.set_undone(last.id, None if redo else here)
    records.notes.append(f"did '{name}' of {at} again" if redo else f"took back '{name}' of {at}")
    return [*done.items()]


def _take_back(records: Records, number: int) -> dict[str, str]:
    """Restore the states before a command, and end the things it added; return outcomes by name.

    Fields that changed again since, and nodes of files, are not changed.
    """
    store = records.store
    added, left = map(set, store.changes.things(number))
    changed: list[Node] = []
    done: dict[str, str] = {}
    # nodes first: their links are hidden with them, and need no end
    for thing in sorted(added | left, key=lambda one: (one.count(SEPARATOR), one)):
        row = store.thing(thing)
        if row is None:
            continue
        if thing not in added:
            then = store.changes.before(number, row)
        elif is_indexed(row) or (row.gone_at if isinstance(row, Anchor) else row.invalidated_at):
            continue
        else:
            then = copy(row)
            setattr(then, KINDS[type(row)].end, now())
        if _put(store, then) != "unchanged":
            changed += [then] if isinstance(then, Node) else []
            name = edge_name(then.key) if isinstance(then, Edge) else owners(thing)[0]
            is_ended_now = is_ended(then) and not isinstance(then, Anchor)
            done.setdefault(name, "invalidated" if is_ended_now else "restored")
    Index(store).update(changed)
    restate(store, [node.id for node in changed])
    return done


def _put(store: Store, row: Thing) -> str:
    if isinstance(row, Node):
        return store.nodes.put(row)
    return store.edges.put(row) if isinstance(row, Edge) else store.anchors.put(row)


# --- records


def undo_node(records: Records, id: str) -> Outcome:
    """Undo the last change of a node; restore a forgotten node.

    Raises:
        LoreError: no such node or change.
    """
    changes = records.store.changes
    node = records.store.nodes.get(id)
    if node is None and changes.purged([id]):
        raise LoreError(f"'{id}' was purged, which cannot be undone: import an export that has it")
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
        if at.isascii() and at.isdigit() and len(at) < 10:
            found = states[int(at) - 1 : int(at)]
        else:
            moment = parse_since(at)
            found = [state for state in states if clock(state) <= moment]
        if not found:
            see = f"'lore show {id} --history'"
            raise LoreError(f"{id} has {len(states)} states, none at {at}: see {see}")
        state = found[-1]
    else:
        state = copy(node)
        state.invalidated_at = None
        mark_pruned(state, pruned=False)
    outcome = _give(records, node, state)
    is_live = not at and node.invalidated_at is None
    if is_live and accept_anchors(store, id, records.reader):
        outcome = id, "restored"
    records.notes += [
        f"'{id}' is anchored to {':'.join(filter(None, (one.path, one.detail)))}, which is still "
        f"{one.verdict}: use 'lore anchor {id} FILE' or --remove"
        for one in store.anchors.of(id)
        if one.is_broken
    ]
    return outcome


def _give(records: Records, node: Node, state: Node) -> Outcome:
    """Give a node a new state; links and anchors to the file follow."""
    is_new = records.store.nodes.put(state) != "unchanged"
    if is_new:
        before = location_of(node)
        is_record = state.invalidated_at is None and state.source != "file"
        if is_record and location_of(state) != before:
            records.tie(state, before)
        Index(records.store).update([state])
    if not (restate(records.store, [node.id]) or is_new):
        return node.id, "unchanged"
    return node.id, "invalidated" if state.invalidated_at else "restored"


def restate(store: Store, ids: Iterable[str]) -> bool:
    """Give live records with a proposed purge, and their links and anchors, a new stamp.

    Other stores accept no value from before a purge. Return True if a record had such values.
    """
    proposed, found = store.changes.proposed_purges(), False
    for id, node in store.nodes.get_many(proposed.keys() & {*ids}).items():
        if node.invalidated_at is None and not is_after(Stamped.of(node).base, proposed[id]):
            rows: list[Thing] = [node, *store.edges.of(id), *store.anchors.of(id)]
            stamp = dumps({BASE: store.changes.stamp(max(map(clock, rows)))})
            for row in rows:
                row.stamps = stamp
            settle(store, rows)
            found = True
    return found


def settle(store: Store, rows: Sequence[Thing]) -> None:
    """Write things with the stamps they have, without a change log."""
    store.nodes.settle([row for row in rows if isinstance(row, Node)])
    store.edges.settle([row for row in rows if isinstance(row, Edge)])
    for row in rows:
        if isinstance(row, Anchor):
            store.anchors.settle(row)


# --- forgetting


def forget(store: Store, node: Node) -> None:
    """Forget a node with its links."""
    node.invalidated_at = now()
    mark_pruned(node, pruned=False)
    store.nodes.put(node)
    Index(store).update([node])


def sweep(
    store: Store, settings: Settings, *, dry_run: bool = False
) -> tuple[list[dict[str, Any]], int]:
    """Forget faded records and facts of conversations, and delete states that were left more than
    ``history_days`` ago, if set; ``dry_run`` counts them only.

    Faded are staged ones with a confidence × recency below ``LEAST_TO_STAY`` and fewer than
    ``ENOUGH_ACCESSES`` accesses. Return ``{id, state, confidence, recency, accesses}`` of each, and
    the number of states.
    """
    rows, faded, states, days = [], [], 0, settings.history_days
    with store.faults, store.transaction("sweep"):
        staged: dict[Any, Any] = {**store.review.staged_edges(SWEPT)}
        staged |= store.review.staged_nodes(SWEPT)
        for key, (confidence, age, accesses) in staged.items():
            fresh = recency(age, settings.recency_half_life)
            if confidence * fresh >= LEAST_TO_STAY or accesses >= ENOUGH_ACCESSES:
                continue
            name = key if isinstance(key, str) else edge_name(key)
            row: dict[str, Any] = {"id": name, "state": "due" if dry_run else "invalidated"}
            row |= {"confidence": confidence, "recency": round(fresh, 6), "accesses": accesses}
            rows.append(row)
            faded.append(key)
        for key in () if dry_run else faded:
            if isinstance(key, str):
                forget(store, store.nodes.require(key))
            else:
                store.edges.invalidate(key, now())
        Index(store).keep_facts()
        if days:
            states = (store.changes.older if dry_run else store.changes.sweep)(ago(days))
    return rows, states


# --- deleting


def purge_node(store: Store, id: str, at: str = "") -> list[Thing]:
    """Delete the values of a node, and of edges, anchors and candidates, up to a time.

    By default that is all of them: no older export restores the node. Return rows of later values.
    """
    with store.whole(id):
        node = store.nodes.get(id)
        rows: list[Thing] = [node] if node is not None else []
        rows += [*store.edges.of(id, forgotten=True), *store.anchors.of(id, gone=True)]
        at = at or max(now(), *map(clock, rows))
        states = ((row, Stamped.of(row).after(at)) for row in rows)
        kept = [state.to_row(row) for row, state in states if state.stamps()]
        if node is not None and not any(isinstance(row, Node) for row in kept):
            _take_away(store, node)
        store.edges.delete_node(id)
        store.anchors.delete_node(id)
        store.changes.purge(id, at)
        blank_candidates(store, store.candidates.of_record(id))
    return kept


def _take_away(store: Store, node: Node) -> None:
    """Delete a node, the passages and the text of a file."""
    node.invalidated_at = node.invalidated_at or now()
    store.nodes.invalidate(node.id, node.invalidated_at)  # ends facts about the node
    Index(store).update([node])
    store.nodes.delete(node.id)
    if node.type == "file":
        store.whole_files.remove([path_of(node.id)])


def blank_candidates(store: Store, rows: Sequence[KeptCandidate]) -> None:
    """Delete the texts of candidates; their ids never come again. ``Store.wipe`` is due."""
    for row in rows:
        row.title, row.body, row.data, row.promoted_as = "", "", "{}", None
        row.status, row.command = REFUSED, None
    if rows:
        store.candidates.put(rows)
        store.meta.set(TO_WIPE, now())
