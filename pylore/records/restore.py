"""Former states of records and links, picked and put in the place of today's."""

from __future__ import annotations

from ..anchors.attach import accept_anchors
from ..core.errors import LoreError
from ..core.scopes import plain
from ..core.states import EDGE_STATE
from ..core.vocabulary import file_id
from ..graph.relations import fold
from ..store.copied import RESTORE_BACKUP
from ..store.meant import edge_meant
from .history import edge_states, last_change, state_at
from .places import location_of, require_ends
from .sources import mark_pruned
from .undo import PURGE, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..anchors.definitions import Finder
    from ..core.model import Node, Past, PastCommand
    from ..store import Store
    from ..store.protocols import EdgeKey

    Outcome = tuple[str, str]
    """(id, or from relation to; ``restored``, ``invalidated`` or ``unchanged``)"""


class Overtaken(Exception):
    """Another command has become the last one meanwhile."""


class Restoring:
    """Runs within a transaction of its caller's, who gives what indexes nodes, and what lets
    links and anchors follow a node from the place where it was before."""

    def __init__(
        self,
        store: Store,
        index: Callable[..., None],
        tie: Callable[[Node, tuple[str, str]], None],
        finder: Finder | None = None,
    ) -> None:
        self._store = store
        self._index = index
        self._tie = tie
        self._finder = finder

    def node(self, id: str) -> Outcome:
        """Brings a forgotten node back; one that stands holds for the code as it is now."""
        node = self._store.nodes.require(id)
        gone = node.invalidated_at
        if gone is None:
            accepted = accept_anchors(self._store, id, self._finder)
            return id, "restored" if accepted else "unchanged"
        node.invalidated_at = None
        mark_pruned(node, pruned=False)
        self._store.nodes.put(node)
        with self._store.whole(id):
            self._store.edges.restore_node(id, gone)
        self._index(node)
        return id, "restored"

    def node_at(self, id: str, at: str) -> Outcome:
        """Gives a node the state with this number, or of this time."""
        node = self._store.nodes.require(id)
        left = [past.node for past in self._store.history.of_node(id)]
        return self.to(id, state_at([*left, node], at, id))

    def to(self, id: str, state: Node) -> Outcome:
        """Gives a node a state that it has left; what is tied to its file follows."""
        node = self._store.nodes.require(id)
        before = location_of(node)
        steps = Steps(self._store)
        steps.bring_back(node, state)
        if node.invalidated_at is None and location_of(node) != before and node.source != "file":
            if node.file:
                steps.revive(file_id(node.file))
            self._tie(node, before)
        self._index(*steps.changed.values())
        return id, steps.done.get(id, "unchanged")

    def last_of(self, id: str) -> Past:
        """The state that taking back the last change of a node leads to.

        Raises:
            LoreError: there is no such node or change.
        """
        if self._store.nodes.get(id) is None and self._store.history.purged([id]):
            raise LoreError(f"'{id}' was purged, which cannot be taken back: "
                            "import an export that has it")  # fmt: skip
        node = self._store.nodes.require(id)
        left = self._store.history.of_node(id)
        past = last_change(node, left)
        if past is None:
            way = "restore ID --at N' has the later states" if left else f"forget {id}' forgets it"
            raise LoreError(f"'{id}' has no change to take back: 'lore {way}")
        return past

    def command(self, number: int) -> tuple[PastCommand, dict[str, str]]:
        """Takes back the command of this number: it, and what became of what it changed.

        Raises:
            Overtaken: it is not the last one any more.
            LoreError: nothing of it is left to take back.
        """
        last = require_takeable(self._store)
        if last.id != number:
            raise Overtaken
        steps = Steps(self._store)
        steps.command(number)
        if not steps.done:
            raise LoreError(f"nothing is left of the last command, '{last.name}' of {last.at}: "
                            "see 'lore show --history ID'")  # fmt: skip
        self._index(*steps.changed.values())
        return last, steps.done

    def edge_of(self, words: Sequence[str]) -> EdgeKey | None:
        """The edge that three words with a relation in the middle are; else they are ids."""
        if len(words) != 3 or self._store.nodes.get(words[1]) is not None:
            return None
        relation = fold(words[1])
        known = {plain(name) for name in self._store.relations.all()}
        if plain(relation) not in known:
            return None
        return edge_meant(self._store, (words[0], words[2], relation))

    def edge(self, key: EdgeKey, at: str) -> Outcome:
        """Lets an edge stand as it last stood, or gives it the state of a number or a time."""
        name = f"{key[0]} {key[2]} {key[1]}"
        edge = self._store.edges.get(*key)
        if edge is None:
            raise LoreError(f"no link {name}: see 'lore show --history {key[0]}'")
        states = edge_states(self._store, edge)
        if at:
            state = state_at(states, at, name)
        else:
            state = next((one for one in reversed(states) if one.invalidated_at is None), edge)
        for field in EDGE_STATE:
            setattr(edge, field, getattr(state, field))
        if not at and edge.invalidated_at is not None:  # it has never stood here
            edge.status, edge.invalidated_at = "confirmed", None
        if edge.invalidated_at is None:
            require_ends(self._store, edge)
        if self._store.edges.put(edge) == "unchanged":
            return name, "unchanged"
        return name, "restored" if edge.invalidated_at is None else "invalidated"


def require_takeable(store: Store) -> PastCommand:
    """The last command, but for one that is under way.

    Raises:
        LoreError: there is none, or what it did is gone for good.
    """
    here = store.history.command
    last = next((one for one in store.history.commands(2) if one.id != here), None)
    if last is None:
        raise LoreError("nothing to take back: no command is kept that changed this store")
    if last.name == PURGE:
        raise LoreError(f"the last command, a purge of {last.at}, cannot be taken back: "
                        "import an export that has what it deleted")  # fmt: skip
    if last.name == RESTORE_BACKUP:
        raise LoreError(f"the last command, a {RESTORE_BACKUP} of {last.at}, cannot be taken back: "
                        f"run 'lore {RESTORE_BACKUP} {store.path}.before-restore-…', which is "
                        "the store as it was")  # fmt: skip
    return last
