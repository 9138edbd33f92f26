"""Undo and redo commands, restore former states of records; forget, sweep and purge."""

from __future__ import annotations

from itertools import takewhile

from ..core.errors import LoreError
from ..core.json import dumps, with_fields
from ..core.model import Anchor, Edge, Node, edge_name
from ..core.stamps import BASE, KINDS, Stamped, clock, content, is_after, is_ended, is_indexed
from ..core.times import ago, now, parse_until
from ..core.vocabulary import ANCHORED_TO, path_of, symbol_id
from ..indexing.indexer import Index
from ..store.changes import RESTORE_BACKUP, SEPARATOR, Past, owners, row_of_thing, thing_of
from .fields import PRUNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..core.stamps import Thing
    from ..store import Store

UNDO, UNDO_RECORD, REDO, PURGE = "undo", "undo of records", "redo", "purge"
"""Commands in the log."""

_FINAL = {
    PURGE: "import an export that has what it deleted",
    RESTORE_BACKUP: "'lore store restore' the .before-restore-… file beside the store",
}
"""Commands that cannot be undone, and the way back."""


# --- the last command


def undo_command(store: Store, notes: list[str], *, redo: bool) -> dict[str, str]:
    """Undo the last command, or redo the last undone command; return what ``write_states`` returns.
    Raise LoreError if the command is missing or final."""
    log = store.changes
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
    done = write_states(store, _before(store, last.undone_by or last.id))
    log.set_undone(last.id, None if redo else here)
    what = f"did '{name}' of {at} again" if redo else f"took back '{name}' of {at}"
    notes.append(what if done else f"{what}, without any change")
    return done


def _before(store: Store, command: int) -> Iterator[Thing]:
    """Yield things as they were before a command, ended if the command added them.

    Fields that changed again since, and nodes of files, are not changed.
    """
    added, left = map(set, store.changes.things(command))
    for row in [store.thing(one) for one in added if one.count(SEPARATOR) > 2]:
        if isinstance(row, Anchor):
            link = store.edges.get(row.node_id, symbol_id(row.path, row.detail), ANCHORED_TO)
            if link is not None and link.created_at >= row.created_at:  # of a later lore index
                added.add(thing_of(link))
    gone: set[str] = set()
    # nodes first: the links of an added node are hidden with the node, and need no end
    for thing in sorted(added | left, key=lambda one: (one.count(SEPARATOR), one)):
        row = store.thing(thing)
        if row is None:
            continue
        if thing not in added:
            yield store.changes.before(command, row)
        elif not (is_indexed(row) or is_ended(row) or (type(row) is Edge and gone & {*row.key})):
            gone.add(thing)
            yield _ended(row)


def write_states(store: Store, rows: Iterable[Thing]) -> dict[str, str]:
    """Write former states of things as changes of now; return the outcome of each changed thing:
    ``restored`` or ``invalidated``, by id or (of a link) name."""
    nodes: list[Node] = []
    done: dict[str, str] = {}
    for row in rows:
        nodes += [row] if isinstance(row, Node) else []
        if store.put(row) != "unchanged":
            is_gone = is_ended(row) and not isinstance(row, Anchor)
            done.setdefault(_name(row), "invalidated" if is_gone else "restored")
    Index(store).update([node for node in nodes if node.id in done])
    return dict.fromkeys(_restated(store, nodes), "restored") | done


def _name(row: Thing) -> str:
    """Return the name of a link, or the id of a record or of an anchor's record."""
    return edge_name(row.key) if isinstance(row, Edge) else owners(thing_of(row))[0]


def _ended(row: Thing) -> Thing:
    setattr(row, KINDS[type(row)].end, now())
    return row


# --- records


def state_before(store: Store, id: str, notes: list[str]) -> Node:
    """Return a node as before the last change; a forgotten node as live. Raise LoreError for an
    unknown node, or without a change."""
    node = store.nodes.get(id)
    if node is None and store.changes.purged([id]):
        raise LoreError(f"'{id}' was purged, which cannot be undone: import an export that has it")
    if node is None or node.invalidated_at is not None:
        return state_at(store, id)
    left = store.changes.of(node)
    past = _last_change(node, left)
    if past is None:
        way = "undo ID --at N' has the later states" if left else f"forget {id}' forgets it"
        raise LoreError(f"'{id}' has no change to undo: 'lore {way}")
    notes.append(f"{id}: took back '{past.change}' of {past.changed_at}")
    state: Node = past.row
    return state


def _last_change(node: Node, left: Sequence[Past]) -> Past | None:
    """Return the state before the last change that was not undone."""
    states = [content(row) for row in (*(past.row for past in left), node)]
    standing: list[int] = []
    for number, state in enumerate(states):
        is_undo = number and left[number - 1].change in (UNDO, UNDO_RECORD)
        back = [at for at in standing if states[at] == state] if is_undo else []
        standing = [at for at in standing if at <= back[-1]] if back else [*standing, number]
    return next((left[at] for at in reversed(standing[:-1]) if states[at] != states[-1]), None)


def state_at(store: Store, id: str, at: str = "") -> Node:
    """Return the state of a node with a number or at a time; without ``at``, the node as live."""
    node = store.nodes.require(id)
    if not at:
        node.invalidated_at = None
        node.data = with_fields(node.data, {PRUNED: None})
        return node
    states: list[Node] = [*(past.row for past in store.changes.of(node)), node]
    if at.isascii() and at.isdigit() and len(at) < 10:
        found = states[int(at) - 1 : int(at)]
    else:
        moment = parse_until(at)
        found = [state for state in states if clock(state) <= moment]
    if not found:
        see = f"'lore show {id} --history'"
        raise LoreError(f"{id} has {len(states)} states, none at {at}: see {see}")
    return found[-1]


def _restated(store: Store, nodes: Sequence[Node]) -> list[str]:
    """Give live nodes with a proposed purge, and their links and anchors, a new stamp if their
    values are older: other stores accept no value from before a purge. Return the ids."""
    proposed, found = store.changes.proposed_purges() if nodes else {}, []
    for node in nodes:
        gone = proposed.get(node.id, "") if node.invalidated_at is None else ""
        if gone and not is_after(Stamped.of(node).base, gone):
            rows: list[Thing] = [node, *store.edges.of(node.id), *store.anchors.of(node.id)]
            stamp = dumps({BASE: store.changes.stamp(max(map(clock, rows)))})
            for row in rows:
                row.stamps = stamp
            store.settle(rows)
            found.append(node.id)
    return found


# --- forgetting


def forget(store: Store, node: Node, *, pruned: bool = False) -> bool:
    """Forget a node with its links, ``pruned`` until an import finds the document's file; return
    True for a change."""
    node.data = with_fields(node.data, {PRUNED: pruned or None})
    node.invalidated_at = node.invalidated_at or now()
    return bool(write_states(store, [node]))


def sweep(
    store: Store, settings: Settings, *, dry_run: bool = False
) -> tuple[list[dict[str, Any]], int]:
    """Forget faded records and facts of conversations, and delete states that were left more than
    ``history_days`` ago, if set; ``dry_run`` counts them only.

    Return ``{id, state, confidence, recency, accesses}`` of each, and the number of states.
    """
    states, days, state = 0, settings.history_days, "due" if dry_run else "invalidated"
    with store.transaction("sweep"):
        faded = store.review.faded(settings.recency_half_life)
        if not dry_run:
            things = map(store.thing, faded)
            write_states(store, [_ended(row) for row in things if row is not None])
        if days:
            states = (store.changes.older if dry_run else store.changes.sweep)(ago(days))
    names = {key: _name(row_of_thing(key)) for key in faded}
    return [{"id": names[key], "state": state, **row} for key, row in faded.items()], states


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
            forget(store, node)  # ends facts about the node
            store.nodes.delete(id)
            if node.type == "file":
                store.whole_files.remove([path_of(id)])
        store.edges.delete_node(id)
        store.anchors.delete_node(id)
        store.changes.purge(id, at)
        store.candidates.blank(store.candidates.of_record(id))
    return kept
