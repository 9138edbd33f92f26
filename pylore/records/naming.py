"""Names that records and edges have in a store: types, relations, and ids under a scope."""

from __future__ import annotations

from ..core.errors import LoreError, UsageError, nearest
from ..core.ids import check_type
from ..core.vocabulary import DECLARED_WEIGHT, LEARNING, LEARNING_TYPES
from ..graph.relations import fold, require_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.settings import Settings
    from ..store import Store


class Naming:
    """Look up the types and relations that a store knows, and declare new ones."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def own(self, name: str) -> str:
        """Return an id or a relation as it is called under the scope that is set."""
        if not self._settings.scope:
            return name
        from ..core.scopes import own

        return own(name, self._settings.scope)

    def require_type(self, type: str, new_type: bool) -> str:
        known = self._store.types.all()
        if type == LEARNING and type not in known and not new_type:
            return LEARNING_TYPES[0]
        if type in known:
            return type
        if not new_type:
            raise UsageError(f"unknown type '{type}'{nearest(type, list(known))}: "
                             "declare it as a new type")  # fmt: skip
        if self._settings.scope:
            from ..core.scopes import COMMON

            raise LoreError(COMMON)
        self._store.types.declare(check_type(type), "")
        return type

    def require_relation(self, relation: str) -> str:
        known = self._store.relations.all()
        name = fold(relation)
        for named in (name, self.own(name)):
            if named in known:
                return named
        if name in self._settings.edge_weights:
            self.declare(name)
            return self.own(name)
        raise UsageError(f"unknown relation '{relation}'{nearest(name, self.called(known))}: "
                         "declare it as a new relation")  # fmt: skip

    def declare(self, relation: str) -> list[str]:
        """Declare a relation that is new; notes where a known one is nearly the same."""
        name = require_name(relation, "relation")
        known = self._store.relations.all()
        if name in known or self.own(name) in known:
            return []
        weight = self._settings.edge_weights.get(name, DECLARED_WEIGHT)
        self._store.relations.declare(self.own(name), weight, weight, "declared")
        hint = nearest(name, self.called(known))
        return [f"new relation '{name}'{hint}"] if hint else []

    def called(self, relations: Iterable[str]) -> list[str]:
        from ..core.scopes import called

        return called(relations, self._settings.scope)

    def relation_between(self, from_id: str, relation: str, to_id: str) -> str:
        """Return a relation that is known, as an edge between these two has it: of two nodes that
        are common, the edge says by its relation that it belongs to a scope."""
        scope = self._settings.scope
        name = self.require_relation(relation)
        if not scope:
            return name
        from ..core.scopes import whose

        if whose(from_id, to_id, name):
            return name
        known = self._store.relations.all()
        weight, backward, _ = known[name]
        if self.own(name) not in known:
            self._store.relations.declare(self.own(name), weight, backward, "declared")
        return self.own(name)
