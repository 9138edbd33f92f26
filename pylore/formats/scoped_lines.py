"""The lines of an import under a scope: each id is renamed to the scope's, or kept as common."""

from __future__ import annotations

from copy import copy

from ..core.errors import LoreError
from ..core.ids import is_seen, own
from ..core.model import Node
from ..core.stamps import same
from ..graph.relations import fold
from .lines import edge_key_from, is_whole, row_from, text, whole_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..store import Store


_OF_A_NODE = ("state_of", "anchor_of", "anchor_history_of")
_FOREIGN = "belongs to another scope: import it under that one, or under none"


class ScopedLines:
    """Rename the lines of one import; the line of a node comes before other lines about it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._own: set[str] = set()
        self._common: set[str] = set()

    def renamed(self, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a line as lines of the scope; empty if the store has the same as common.

        Raises:
            LoreError: it belongs to another scope.
        """
        if "from_id" in fields:
            return [*self._edge(fields)]
        if "id" in fields:
            return self._node(fields)
        if "history_of" in fields:
            return [*self._past_edge(fields)]
        if "declare_relation" in fields:
            name = self._required(text(fields, "declare_relation"))
            known = name in self._store.relations.all()
            return [] if known else [{**fields, "declare_relation": self._named(name)}]
        if "declare_type" in fields:
            return [] if text(fields, "declare_type") in self._store.types.all() else [fields]
        if "purged" in fields:
            id = self._required(text(fields, "purged"))
            known = id in self._store.changes.purged([id])
            return [] if known else [{**fields, "purged": self._named(id)}]
        for name in _OF_A_NODE:
            if name in fields:
                id = self._required(text(fields, name))
                named = self._id(id)
                is_common = named == id and id != self._named(id)
                return [] if is_common else [{**fields, name: named}]
        return [fields]

    def _node(self, fields: dict[str, Any]) -> list[dict[str, Any]]:
        id = self._required(text(fields, "id"))
        old = self._store.nodes.get(id)
        if old is not None and id != self._named(id):
            if is_whole(fields):
                is_same = same(whole_row(fields, Node(id, old.type)), old)
            else:
                is_same = self._store.nodes.holds(row_from(fields, copy(old)))
            if is_same:
                self._common.add(id)
                return []
        self._own.add(id)
        return [{**fields, "id": self._named(id)}]

    def _edge(self, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        ends = [self._id(text(fields, name)) for name in ("from_id", "to_id")]
        relation = fold(self._required(text(fields, "relation")))
        old = self._store.edges.get(ends[0], ends[1], relation)
        if old is not None and same(row_from(fields, copy(old)), old):
            return
        known = self._store.relations.all()
        scoped = self._relation_of(relation, ends)
        if scoped not in known and relation in known:
            weight, backward, _ = known[relation]
            yield {"declare_relation": scoped, "weight": weight, "backward_weight": backward,
                   "description": "declared"}  # fmt: skip
        yield {**fields, "from_id": ends[0], "to_id": ends[1], "relation": scoped}

    def _past_edge(self, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        key = edge_key_from(fields)
        ends = [self._id(id) for id in key[:2]]
        relation = self._required(key[2])
        scoped = self._relation_of(relation, ends)
        if scoped == relation and not any(end == self._named(end) for end in (*ends, relation)):
            return
        yield {**fields, "history_of": [*ends, scoped]}

    def _relation_of(self, relation: str, ends: list[str]) -> str:
        """Return the relation of an edge between these: it says whose that is where no end does,
        and where nobody else has it."""
        if relation in self._store.relations.all() and any(end == self._named(end) for end in ends):
            return relation
        return self._named(relation)

    def _id(self, id: str) -> str:
        """Return the id of a node in the store: its own where it is common and not in the scope."""
        named = self._named(self._required(id))
        get = self._store.nodes.get
        is_own = id in self._own or get(named) is not None or get(id) is None
        return named if is_own and id not in self._common else id

    def _named(self, name: str) -> str:
        return own(name, self._store.scope)

    def _required(self, name: str) -> str:
        if not is_seen(name, self._store.scope):
            raise LoreError(f"'{name}' {_FOREIGN}")
        return name
