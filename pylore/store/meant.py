"""Which node a person means by an id that is spelled another way. Imports nothing heavy."""

from __future__ import annotations

from ..core.vocabulary import dotted, file_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from . import Store
    from .protocols import EdgeKey


def meant(store: Store, id: str) -> str:
    """The id of the symbol that ``FILE::Class::method`` names, if that is one of the store.

    ``FILE::Class.method`` and the same with ``symbol-`` before it mean it too. What is an id
    as it stands, and what names no symbol, comes back as it is. Under a scope an id that is
    not there means the one of the scope.
    """
    if store.scope:
        from ..core.scopes import own

        get = store.nodes.get
        if get(id) is None and get(own(id, store.scope)) is not None:
            return own(id, store.scope)
    if "::" not in id:
        return id
    symbol = dotted(id)
    get = store.nodes.get
    return symbol if symbol != id and get(id) is None and get(symbol) is not None else id


def all_meant(store: Store, ids: Iterable[str]) -> list[str]:
    """``meant`` of each."""
    return [meant(store, id) for id in ids]


def file_ids(store: Store, path: str) -> list[str]:
    """The ids that the node of a file may have: the common one, and one of the store's scope."""
    from ..core.scopes import own

    return [*dict.fromkeys((file_id(path), own(file_id(path), store.scope)))]


def file_node_id(store: Store, path: str) -> str:
    """The id of a file's node: the common one if there is one, or else one of the scope."""
    if not store.scope:
        return file_id(path)
    first, *others = file_ids(store, path)
    return others[0] if store.nodes.get(first) is None else first


def edge_meant(store: Store, key: EdgeKey) -> EdgeKey:
    """The edge that these three words mean: what the store's scope calls so comes first."""
    if not store.scope:
        return key
    from ..core.scopes import own

    scoped = (*key[:2], own(key[2], store.scope))
    return scoped if store.edges.get(*scoped) is not None else key
