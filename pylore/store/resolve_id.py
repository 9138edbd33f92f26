"""Which node a person means by an id that is spelled another way. Imports nothing heavy."""

from __future__ import annotations

from ..core.vocabulary import dotted, file_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.model import EdgeKey
    from . import Store


SHORTEST_PART = 3
"""Letters of a part of an id that are enough to mean it."""


def resolve_id(store: Store, id: str) -> str:
    """Return the id of the symbol that ``FILE::Class::method`` names, if that is one of the store.

    ``FILE::Class.method`` and the same with ``symbol-`` before it mean it too. What is an id
    as it stands, and what names no symbol, comes back as it is. Under a scope an id that is
    not there means the one of the scope.
    """
    if store.scope:
        from ..core.ids import own

        get = store.nodes.get
        if get(id) is None and get(own(id, store.scope)) is not None:
            return own(id, store.scope)
    if "::" not in id:
        return id
    symbol = dotted(id)
    get = store.nodes.get
    return symbol if symbol != id and get(id) is None and get(symbol) is not None else id


def resolve_ids(store: Store, ids: Iterable[str]) -> list[str]:
    """Return ``resolve_id`` of each."""
    return [resolve_id(store, id) for id in ids]


_NAMED = 3
"""Ids that an ambiguous part of one is said to be of."""


def complete_id(store: Store, id: str) -> str:
    """Return the id that ``resolve_id`` finds, the one that begins or ends so, or the record with
    this title.

    The beginning may be that of the part behind the type: ``1a2b`` of ``decision-1a2b3c4d``. A
    whole part (``auth.py`` of ``file-src/auth.py``) comes before ends of words. A title counts
    whole, in any case. A word that is none of these comes back as it is.

    Raises:
        LoreError: it is part of several ids, or the title of several records.
    """
    id = resolve_id(store, id)
    return id if store.nodes.get(id) is not None else _whole(store, id)


def complete_ids(store: Store, ids: Iterable[str]) -> list[str]:
    """Return ``complete_id`` of each."""
    return [complete_id(store, id) for id in ids]


def _whole(store: Store, part: str) -> str:
    if len(part) < SHORTEST_PART:
        return part
    found = store.nodes.ids_at(part, _NAMED + 1)
    if len(found) == 1 or (
        found and ends_with_part(found[0], part) and not ends_with_part(found[1], part)
    ):
        return found[0]
    titled = store.nodes.ids_titled(part, _NAMED + 1)
    if len(titled) == 1 or not (found or titled):
        return titled[0] if titled else part
    from ..core.errors import LoreError

    named = titled or found
    names = ", ".join(named[:_NAMED]) + (", …" if len(named) > _NAMED else "")
    if titled:
        raise LoreError(f"several records have the title '{part}' ({names}): give an id")
    raise LoreError(f"'{part}' is the beginning or the end of several ids ({names}): "
                    "give more of the one you mean")  # fmt: skip


def ends_with_part(id: str, part: str) -> bool:
    """Return whether a part of an id, and not the end of a word in it, is this.

    >>> ends_with_part("file-src/auth.py", "auth.py"), ends_with_part("entity-jwt", "jwt")
    (True, True)
    >>> ends_with_part("file-src/oauth.py", "auth.py"), ends_with_part("entity-my-jwt", "jwt")
    (False, False)
    """
    before, last = id[: len(id) - len(part)][:-1], id[: len(id) - len(part)][-1:]
    return id.endswith(part) and (last in ("/", ":", ".") or (last == "-" and before.isalpha()))


def file_ids(store: Store, path: str) -> list[str]:
    """Return the ids that the node of a file may have: the common one, and one of the store's
    scope."""
    from ..core.ids import own

    return [*dict.fromkeys((file_id(path), own(file_id(path), store.scope)))]


def file_node_id(store: Store, path: str) -> str:
    """Return the id of a file's node: the common one if there is one, or else one of the scope."""
    if not store.scope:
        return file_id(path)
    first, *others = file_ids(store, path)
    return others[0] if store.nodes.get(first) is None else first


def resolve_edge(store: Store, key: EdgeKey) -> EdgeKey:
    """Return the edge that these three words mean: what the store's scope calls so comes first."""
    if not store.scope:
        return key
    from ..core.ids import own

    scoped = (*key[:2], own(key[2], store.scope))
    return scoped if store.edges.get(*scoped) is not None else key
