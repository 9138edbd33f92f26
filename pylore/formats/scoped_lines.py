"""The lines of an import under a scope: each id is renamed to the scope's, or kept as common."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.ids import is_seen, own
from ..core.stamps import same
from ..graph.relations import fold
from .lines import edge_key_from, is_whole, key_row, row_from, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from .lines import Fields


class ScopedLines:
    """Rename the lines of one import; the line of a node comes before other lines about it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._own: set[str] = set()
        self._common: set[str] = set()

    def renamed(self, fields: Fields) -> list[Fields]:
        """Return a line as lines of the scope; empty if the store has the same as common.

        Raises:
            LoreError: it belongs to another scope.
        """
        if "id" in fields:
            return self._node(fields)
        if "from_id" in fields or "history_of" in fields:
            return self._edge(fields)
        if "declare_type" in fields:
            return [] if text(fields, "declare_type") in self._store.types.all() else [fields]
        for name in ("declare_relation", "purged", "state_of", "anchor_of", "anchor_history_of"):
            if name in fields:
                id = self._required(text(fields, name))
                if name == "declare_relation":
                    is_known, named = id in self._store.relations.all(), self._named(id)
                elif name == "purged":
                    is_known, named = id in self._store.changes.purged([id]), self._named(id)
                else:
                    named = self._id(id)
                    is_known = named == id != self._named(id)
                return [] if is_known else [{**fields, name: named}]
        return [fields]

    def _node(self, fields: Fields) -> list[Fields]:
        id = self._required(text(fields, "id"))
        old = self._store.nodes.get(id)
        if old is not None and id != self._named(id):
            base = key_row({"id": id}) if is_whole(fields) else old
            if same(row_from(fields, base), old):
                self._common.add(id)
                return []
        self._own.add(id)
        return [{**fields, "id": self._named(id)}]

    def _edge(self, fields: Fields) -> list[Fields]:
        *ids, name = edge_key_from(fields)
        ends, relation = [*map(self._id, ids)], fold(self._required(name))
        old = self._store.edges.get(ends[0], ends[1], relation)
        if "from_id" in fields and old is not None and same(row_from(fields, old), old):
            return []
        known, lines = self._store.relations.all(), []
        is_own = relation in known and any(end == self._named(end) for end in ends)
        scoped = relation if is_own else self._named(relation)
        if scoped not in known and relation in known:
            weight, backward, _ = known[relation]
            lines = [{"declare_relation": scoped, "weight": weight, "backward_weight": backward,
                      "description": "declared"}]  # fmt: skip
        if "history_of" in fields:
            return [*lines, {**fields, "history_of": [*ends, scoped]}]
        return [*lines, {**fields, "from_id": ends[0], "to_id": ends[1], "relation": scoped}]

    def _id(self, id: str) -> str:
        """Return the id of a node in the store: unchanged if it is common and not in the scope."""
        named, get = self._named(self._required(id)), self._store.nodes.get
        is_own = id in self._own or get(named) is not None or get(id) is None
        return named if is_own and id not in self._common else id

    def _named(self, name: str) -> str:
        return own(name, self._store.scope)

    def _required(self, name: str) -> str:
        if not is_seen(name, self._store.scope):
            raise LoreError(f"'{name}' belongs to another scope: import it under that one, or "
                            "under none")  # fmt: skip
        return name
