"""Taking back: records, links and commands as they were before."""

from __future__ import annotations

from ..anchors.attach import accept_anchors
from ..core.errors import LoreError
from ..core.json import Raw, dumps, loads
from ..core.model import Anchor, Edge, Node, edge_name
from ..core.stamps import EDGE, NODE, Stamped, clock, is_indexed, next_clock, same
from ..core.times import now, parse_since
from ..core.vocabulary import file_id, path_of
from ..indexing.indexer import Index
from ..store.changes import RESTORE_BACKUP, row_of_thing, thing_of
from ..store.curation import KNOWN, PROMOTED, REFUSED
from .fields import location_of, mark_pruned, require_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ..anchors.claims import CodeReader
    from ..core.model import EdgeKey, Past, PastCommand
    from ..core.stamps import State, Thing
    from ..store import Store
    from ..store.curation import KeptCandidate

    Outcome = tuple[str, str]
    """(id, or from relation to; ``restored``, ``invalidated`` or ``unchanged``)"""

UNDO, UNDO_RECORD, REDO, PURGE = "undo", "undo of records", "redo", "purge"
"""Commands in the log; a purge cannot be undone."""

_NODE_STATE = (*NODE.hashed, "updated_at", "invalidated_at")
_EDGE_STATE = (*EDGE.hashed, "ended_at")


def history_rows(store: Store, node: Node) -> list[dict[str, Any]]:
    """Return the states that a node has left, the first one first.

    Each has ``number``, ``change`` (the command that ended it), ``made_at`` and ``changed_at``, and
    the fields in which the state after it differs, as this one had them.
    """
    left = store.changes.of(node)
    states = [*(past.row for past in left), node]
    return [
        {
            "number": number,
            "change": past.change,
            "made_at": clock(past.row),
            "changed_at": past.changed_at,
            **_differences(past.row, then),
        }
        for number, (past, then) in enumerate(zip(left, states[1:], strict=True), 1)
    ]


def _differences(one: Any, other: Any) -> dict[str, Any]:
    names = [name for name in _NODE_STATE if name != "updated_at"]
    found = {name: getattr(one, name) for name in names
             if getattr(one, name) != getattr(other, name)}  # fmt: skip
    if "tags" in found:
        found["tags"] = list(one.tags)
    if "data" in found:
        found["data"] = Raw(one.data)
    return found


def last_change(node: Node, left: Sequence[Past]) -> Past | None:
    """Return the state that taking back the last change of a node leads to; None without one.

    A change that was taken back does not count: each ``undo`` goes one change further back.
    """
    states = [*(past.row for past in left), node]
    standing: list[int] = []
    stood: list[int] = []
    for number, past in enumerate(left):
        if past.change == UNDO and number and left[number - 1].change == UNDO_RECORD:
            standing = stood
            continue
        if past.change in (UNDO, UNDO_RECORD):
            stood = standing[:]
            back = [place for place, one in enumerate(standing)
                    if same(states[one], states[number + 1])]  # fmt: skip
            if back:
                del standing[back[-1] :]
                continue
        standing.append(number)
    return next((left[n] for n in reversed(standing) if not same(states[n], node)), None)


def state_at(states: Sequence[State], at: str, name: str) -> State:
    """Return one of the states of a thing, today's last, by its number or by a time.

    Raises:
        LoreError: there is no such state.
        UsageError: ``at`` is neither a number nor a time.
    """
    see = f"see 'lore show {name.split()[0]} --history'"
    if at.isascii() and at.isdigit() and len(at) < 10:
        if not 0 < int(at) <= len(states):
            raise LoreError(f"{name} has {len(states)} states, none with the number {at}: {see}")
        return states[int(at) - 1]
    moment = parse_since(at)
    stood = [state for state in states if clock(state) <= moment]
    if not stood:
        raise LoreError(f"of {name} no state from {moment} or before is kept, "
                        f"the first one is of {clock(states[0])}: {see}")  # fmt: skip
    return stood[-1]


BEFORE = "before"
"""The field of a candidate's data that has what it was before the last decision."""

_DECISION = ("status", "promoted_as", "decided_at")


def decided(
    row: KeptCandidate, status: str, *, promoted_as: str | None = None,
    command: int | None = None,
) -> KeptCandidate:  # fmt: skip
    """Return a candidate with another status; ``command`` is the one that an undo takes back."""
    data = loads(row.data)
    data[BEFORE] = {name: getattr(row, name) for name in _DECISION}
    row.status, row.promoted_as, row.decided_at = status, promoted_as, now()
    row.command, row.data = command, dumps(data)
    return row


def taken_back(row: KeptCandidate, command: int | None) -> KeptCandidate:
    """Return a candidate as it was before; taken back once more, it is as it is now."""
    data = loads(row.data)
    before = data.get(BEFORE) or {"status": "open", "promoted_as": None, "decided_at": None}
    data[BEFORE] = {name: getattr(row, name) for name in _DECISION}
    for name in _DECISION:
        setattr(row, name, before[name])
    row.command, row.data = command, dumps(data)
    return row


class Steps:
    """The changes of one taking back."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.changed: dict[str, Node] = {}
        """Nodes whose texts or standing are others now."""
        self.back: list[str] = []
        """Those of them that were forgotten, and live again."""
        self.done: dict[str, str] = {}
        """Id, or ``from relation to``, to ``restored`` or ``invalidated``."""

    def bring_back(self, node: Node, state: Node) -> None:
        """Give a node a former state, and its links that state's standing."""
        if state.invalidated_at is not None:
            state.invalidated_at = node.invalidated_at or forgotten_at(self._store, node.id)
        self._give(node, state)

    def command(self, number: int) -> None:
        """Take back all that a command did to nodes, links and anchors.

        Links that are kept by how near two texts are follow these texts by themselves.
        """
        changes = self._store.changes
        added = [*map(row_of_thing, changes.added_by(number))]
        made = {thing_of(row) for row in added}
        left = [self._store.thing(thing) for thing in changes.left_by(number) if thing not in made]
        before = [changes.before(number, row) for row in left if row is not None]
        for row in before:
            if isinstance(row, Node):
                self._give(self._store.nodes.require(row.id), row)
        new = [row.id for row in added if isinstance(row, Node) and not self._forget(row.id)]
        for row in before:
            if isinstance(row, Edge):
                self._edge_left(row)
        for row in added:
            if isinstance(row, Edge):
                self._unlink(row.key)
        for id in new:
            self._drop_if_bare(id)
        for row in before:
            if isinstance(row, Anchor) and self._store.anchors.put(row) != "unchanged":
                self.done.setdefault(row.node_id, "restored")
        for row in added:
            if isinstance(row, Anchor) and self._store.anchors.delete(row.key):
                self.done.setdefault(row.node_id, "restored")
        for candidate in self._store.candidates.decided_by(number):
            self._store.candidates.put([taken_back(candidate, changes.command)])
            self.done[candidate.id] = "restored"

    def revive(self, id: str) -> None:
        """Bring back a file or a symbol that was forgotten, for whoever links to it."""
        node = self._store.nodes.get(id)
        if node is not None and node.invalidated_at is not None and is_indexed(node):
            node.invalidated_at = None
            self._store.nodes.put(node)
            self._store.changes.add([node])
            self.changed[id] = node

    def _give(self, node: Node, state: Node) -> None:
        was_forgotten = node.invalidated_at is not None
        take_fields(_NODE_STATE, node, state)
        if self._store.nodes.put(node) != "unchanged":
            self._note(node, "invalidated" if node.invalidated_at else "restored")
            if was_forgotten and node.invalidated_at is None:
                self.back.append(node.id)

    def _forget(self, id: str) -> bool:
        """Forget what was added; False for a file's node, which others may need."""
        node = self._store.nodes.get(id)
        if node is not None and is_indexed(node):
            return False
        if node is not None and node.invalidated_at is None:
            forget(self._store, node)
            self._note(node, "invalidated")
        return True

    def _drop_if_bare(self, id: str) -> None:
        node = self._store.nodes.require(id)
        if node.invalidated_at is None and not self._store.edges.of(id):
            forget(self._store, node)
            self._note(node, "invalidated")

    def _edge_left(self, edge: Edge) -> None:
        if edge.ended_at is None:
            for id in edge.key[:2]:
                self.revive(id)
        if self._store.edges.put(edge) != "unchanged":
            self._note_edge(edge.key, "invalidated" if edge.ended_at else "restored")

    def _unlink(self, key: EdgeKey) -> None:
        edge = self._store.edges.get(*key)
        if edge is not None and edge.invalidated_at is None:
            self._store.edges.invalidate(key, now())
            self._note_edge(key, "invalidated")

    def _note(self, node: Node, state: str) -> None:
        self.changed[node.id] = node
        self.done[node.id] = state

    def _note_edge(self, key: EdgeKey, state: str) -> None:
        self.done[edge_name(key)] = state


def forget(store: Store, node: Node) -> None:
    """Mark a node as forgotten, and its links are out with it; the caller takes it out of the
    index."""
    node.invalidated_at = forgotten_at(store, node.id)
    mark_pruned(node, pruned=False)
    store.nodes.put(node)
    store.edges.note_ends(node.id)


def forgotten_at(store: Store, id: str) -> str:
    """Return the time to forget a node at: after all else that is known of it."""
    node = store.nodes.get(id)
    return next_clock(clock(node) if node else "", now())


def take_fields(names: Iterable[str], to: Node | Edge, of: Node | Edge) -> None:
    """Give a state these fields of another one."""
    for name in names:
        setattr(to, name, getattr(of, name))


class Restoring:
    """Run within a transaction of its caller's, who gives what indexes nodes, and what lets
    links and anchors follow a node from the place where it was before."""

    def __init__(
        self,
        store: Store,
        index: Callable[..., None],
        tie: Callable[[Node, tuple[str, str]], None],
        reader: CodeReader | None = None,
    ) -> None:
        self._store = store
        self._index = index
        self._tie = tie
        self._reader = reader

    def node(self, id: str) -> Outcome:
        """Bring a forgotten node back; one that stands holds for the code as it is now."""
        node = self._store.nodes.require(id)
        if node.invalidated_at is None:
            accepted = accept_anchors(self._store, id, self._reader)
            restated = restate(self._store, [id])
            return id, "restored" if accepted or restated else "unchanged"
        node.invalidated_at = None
        mark_pruned(node, pruned=False)
        self._store.nodes.put(node)
        self._store.edges.note_ends(id)
        self._index(node)
        restate(self._store, [id])
        return id, "restored"

    def node_at(self, id: str, at: str) -> Outcome:
        """Give a node the state with this number, or of this time."""
        node = self._store.nodes.require(id)
        left = [past.row for past in self._store.changes.of(node)]
        return self.to(id, state_at([*left, node], at, id))

    def to(self, id: str, state: Node) -> Outcome:
        """Give a node a state that it has left; what is tied to its file follows."""
        node = self._store.nodes.require(id)
        before = location_of(node)
        steps = Steps(self._store)
        steps.bring_back(node, state)
        if node.invalidated_at is None and location_of(node) != before and node.source != "file":
            if node.file:
                steps.revive(file_id(node.file))
            self._tie(node, before)
        self._index(*steps.changed.values())
        restate(self._store, steps.back)
        return id, steps.done.get(id, "unchanged")

    def last_of(self, id: str) -> Past:
        """Return the state that taking back the last change of a node leads to.

        Raises:
            LoreError: there is no such node or change.
        """
        if self._store.nodes.get(id) is None and self._store.changes.purged([id]):
            raise LoreError(f"'{id}' was purged, which cannot be taken back: "
                            "import an export that has it")  # fmt: skip
        node = self._store.nodes.require(id)
        left = self._store.changes.of(node)
        past = last_change(node, left)
        if past is None:
            way = "undo ID --at N' has the later states" if left else f"forget {id}' forgets it"
            raise LoreError(f"'{id}' has nothing left to undo: 'lore {way}")
        return past

    def command(self, *, again: bool = False) -> tuple[PastCommand, dict[str, str]]:
        """Take back the last command that was not, or do the last one that was taken back again.

        Return the command, and the outcome of each thing that it changed.

        Raises:
            LoreError: there is none, or nothing of it is left to take back.
        """
        last, number = last_redoable(self._store) if again else last_undoable(self._store)
        steps = Steps(self._store)
        steps.command(number)
        if not steps.done:
            raise LoreError(f"nothing is left of the last command, '{last.name}' of {last.at}: "
                            "see 'lore show --history ID'")  # fmt: skip
        self._index(*steps.changed.values())
        restate(self._store, steps.back)
        return last, steps.done

    def edge(self, key: EdgeKey, at: str) -> Outcome:
        """Let an edge stand as it last stood, or give it the state of a number or a time."""
        name = edge_name(key)
        edge = self._store.edges.get(*key)
        if edge is None:
            raise LoreError(f"no link {name}: see 'lore show --history {key[0]}'")
        states = [*(past.row for past in self._store.changes.of(edge)), edge]
        if at:
            state = state_at(states, at, name)
        else:
            state = next((one for one in reversed(states) if one.ended_at is None), edge)
        take_fields(_EDGE_STATE, edge, state)
        if not at and edge.ended_at is not None:  # it has never stood here
            edge.status, edge.ended_at = "confirmed", None
        if edge.ended_at is None:
            require_ends(self._store, edge)
        if self._store.edges.put(edge) == "unchanged":
            return name, "unchanged"
        return name, "restored" if edge.ended_at is None else "invalidated"


def restate(store: Store, ids: Iterable[str]) -> list[str]:
    """Give live records that others proposed to purge, with their links and anchors, a new stamp.

    Others take no value from before a purge. Return the ids of records that had such values.
    """
    wanted = store.changes.proposed_purges()
    nodes = store.nodes.get_many([id for id in ids if id in wanted])
    found = []
    for id, node in nodes.items():
        if node.invalidated_at is not None or _first_stamp(node) > wanted[id]:
            continue
        edges, anchors = store.edges.of(id), store.anchors.of(id)
        rows: list[Thing] = [node, *edges, *anchors]
        stamp = store.changes.stamp(max(map(clock, rows)))
        store.nodes.settle([_restamped(node, stamp)])
        store.edges.settle([_restamped(edge, stamp) for edge in edges])
        for anchor in anchors:
            store.anchors.settle(_restamped(anchor, stamp))
        found.append(id)
    return found


def _first_stamp(node: Node) -> str:
    return min(Stamped.of(node).stamps()).partition(" ")[0]


def _restamped(row: State, stamp: str) -> State:
    """Return a row of which all values are of one change."""
    values = Stamped.of(row)
    fields = {name: (stamp, value) for name, (_, value) in values.fields.items() if value}
    return Stamped(stamp, fields, values.kind).to_row(row)


def _stacks(
    store: Store,
) -> tuple[list[PastCommand], list[tuple[PastCommand, PastCommand]]]:
    """Return the commands that stand, and (command, undo) of those that were taken back since, the
    last ones last."""
    here = store.changes.command
    standing: list[PastCommand] = []
    undone: list[tuple[PastCommand, PastCommand]] = []
    for command in reversed(store.changes.commands()):
        if command.id == here or not command.name:
            continue
        if command.name == UNDO and standing:
            undone.append((standing.pop(), command))
        elif command.name == REDO and undone:
            standing.append(undone.pop()[0])
        else:
            standing.append(command)
            undone.clear()
    return standing, undone


def last_undoable(store: Store) -> tuple[PastCommand, int]:
    """Return the last command that was not undone, and its number.

    Raises:
        LoreError: no such command, or it cannot be undone.
    """
    standing, _ = _stacks(store)
    if not standing:
        raise LoreError("nothing to take back: no command is kept that changed this store")
    last = standing[-1]
    if last.name == PURGE:
        raise LoreError(f"the last command, a purge of {last.at}, cannot be taken back: "
                        "import an export that has what it deleted")  # fmt: skip
    if last.name == RESTORE_BACKUP:
        raise LoreError(f"the last command, a restored backup of {last.at}, cannot be taken back: "
                        f"run 'lore store restore {store.path}.before-restore-…', which is "
                        "the store as it was")  # fmt: skip
    return last, last.id


def last_redoable(store: Store) -> tuple[PastCommand, int]:
    """Return the last command that was taken back, and the number of the undo.

    Raises:
        LoreError: no such command since the last one of another kind.
    """
    _, undone = _stacks(store)
    if not undone:
        raise LoreError("nothing to do again: the last command was no 'lore undo'")
    return undone[-1][0], undone[-1][1].id


def delete_for_good(store: Store, node: Node) -> None:
    """Take a node away with its edges, its anchors and the past of all.

    No older export brings it back: it was deleted after all that is known of it here.
    """
    with store.whole(node.id):
        rows: list[Thing] = [node, *store.edges.of(node.id, forgotten=True),
                *store.anchors.of(node.id, gone=True)]  # fmt: skip
        at = max(now(), *map(clock, rows))
        take_away(store, node)
        store.edges.delete_node(node.id)
        store.anchors.delete_node(node.id)
        store.changes.purge(node.id, at)
        became = [
            row for row in store.candidates.all((PROMOTED, KNOWN)) if row.promoted_as == node.id
        ]
        blank_candidates(store, became)


def blank_candidates(store: Store, rows: Sequence[KeptCandidate]) -> None:
    """Take the texts of candidates away; their ids never come again. ``Store.wipe`` is due."""
    for row in rows:
        row.title, row.body, row.data, row.promoted_as = "", "", "{}", None
        row.status, row.command = REFUSED, None
    if rows:
        store.candidates.put(rows)
        store.changes.leave_to_wipe(now())


def take_away(store: Store, node: Node) -> None:
    """Take the node itself away, and what is indexed of it."""
    node.invalidated_at = node.invalidated_at or now()
    store.nodes.invalidate(node.id, node.invalidated_at)  # what is stated of it ends, too
    Index(store).update([node])
    store.nodes.delete(node.id)
    if node.type == "file":
        store.whole_files.remove([path_of(node.id)])
