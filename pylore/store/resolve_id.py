"""Find the node that a person means by a partial id or a title."""

from __future__ import annotations

from ..core.vocabulary import dotted, file_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.model import EdgeKey
    from . import Store


SHORTEST_PART = 3
"""Minimum characters of a partial id."""

_NAMED = 3
"""Maximum ids in a message about ambiguity."""


def resolve_id(store: Store, id: str) -> str:
    """Return the id of the symbol that ``FILE::Class::method`` names, with or without ``symbol-``,
    or the scope's own id in place of an unknown id; other ids unchanged."""
    get = store.nodes.get
    other = id
    if store.scope and get(id) is None:
        from ..core.ids import own

        other = own(id, store.scope)
        if get(other) is not None:
            return other
    if "::" in id:
        other = dotted(id)
        if other != id and get(id) is None and get(other) is not None:
            return other
    return id


def resolve_ids(store: Store, ids: Iterable[str]) -> list[str]:
    """Return ``resolve_id`` of each."""
    return [resolve_id(store, id) for id in ids]


def complete_id(store: Store, id: str) -> str:
    """Return the id that ``resolve_id`` finds, that begins or ends so, or that has this title in
    any case; else the words unchanged. The beginning may follow the type: ``1a2b`` for
    ``decision-1a2b3c4d``. A whole part (``auth.py`` of ``file-src/auth.py``) comes before ends of
    words. Raise LoreError if several match."""
    id = resolve_id(store, id)
    if store.nodes.get(id) is not None or len(id) < SHORTEST_PART:
        return id
    found = store.nodes.ids_at(id, _NAMED + 1)
    if len(found) == 1 or (
        found and ends_with_part(found[0], id) and not ends_with_part(found[1], id)
    ):
        return found[0]
    titled = store.nodes.ids_titled(id, _NAMED + 1)
    if len(titled) == 1 or not (found or titled):
        return titled[0] if titled else id
    from ..core.errors import LoreError

    named = titled or found
    names = ", ".join(named[:_NAMED]) + (", …" if len(named) > _NAMED else "")
    if titled:
        raise LoreError(f"several records have the title '{id}' ({names}): give an id")
    raise LoreError(
        f"'{id}' is the beginning or the end of several ids ({names}): "
        "give more of the one you mean"
    )


def complete_ids(store: Store, ids: Iterable[str]) -> list[str]:
    """Return ``complete_id`` of each."""
    return [complete_id(store, id) for id in ids]


def ends_with_part(id: str, part: str) -> bool:
    """Return True if an id ends with a whole part, not with the end of a word.

    >>> ends_with_part("file-src/auth.py", "auth.py"), ends_with_part("entity-jwt", "jwt")
    (True, True)
    >>> ends_with_part("file-src/oauth.py", "auth.py"), ends_with_part("entity-my-jwt", "jwt")
    (False, False)
    """
    before, last = id[: len(id) - len(part)][:-1], id[: len(id) - len(part)][-1:]
    return id.endswith(part) and (last in ("/", ":", ".") or (last == "-" and before.isalpha()))


def file_ids(store: Store, path: str) -> list[str]:
    """Return the possible ids of a file's node: the common id, and the scope's."""
    from ..core.ids import own

    return [*dict.fromkeys((file_id(path), own(file_id(path), store.scope)))]


def file_node_id(store: Store, path: str) -> str:
    """Return the id of a file's node: the common id if it exists, or else the scope's."""
    first, *others = file_ids(store, path) if store.scope else [file_id(path)]
    return others[0] if others and store.nodes.get(first) is None else first


def resolve_edge(store: Store, key: EdgeKey) -> EdgeKey:
    """Return an edge's key; the scope's own relation of that name comes first."""
    if not store.scope:
        return key
    from ..core.ids import own

    scoped = (*key[:2], own(key[2], store.scope))
    return scoped if store.edges.get(*scoped) is not None else key
