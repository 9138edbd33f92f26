"""Ids and types that the store has, or an error with what may have been meant."""

from __future__ import annotations

from .errors import LoreError, UsageError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model import Node
    from .store import Store


def require_node(store: Store, id: str) -> Node:
    """The node with this id, forgotten or not.

    Raises:
        LoreError: there is none; the message has likely ones.
    """
    node = store.nodes.get(id)
    if node is None:
        likely = store.nodes.ids_like(id, 3)
        hint = f" (did you mean {', '.join(likely)}?)" if likely else ""
        raise LoreError(f"no node '{id}'{hint}: see 'lore list'")
    return node


def known_types(store: Store, names: Sequence[str]) -> tuple[str, ...]:
    """``names`` if the store knows these types.

    Raises:
        UsageError: it does not; the message has the nearest one.
    """
    known = list(store.types.all()) if names else []
    for name in names:
        if name not in known:
            hint = nearest(name, known)
            raise UsageError(f"unknown type '{name}'{hint}: one of {', '.join(known)}")
    return tuple(names)
