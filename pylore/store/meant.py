"""Which node a person means by an id that is spelled another way. Imports nothing heavy."""

from __future__ import annotations

from ..core.vocabulary import dotted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from . import Store


def meant(store: Store, id: str) -> str:
    """The id of the symbol that ``FILE::Class::method`` names, if that is one of the store.

    ``FILE::Class.method`` and the same with ``symbol-`` before it mean it too. What is an id
    as it stands, and what names no symbol, comes back as it is.
    """
    if "::" not in id:
        return id
    symbol = dotted(id)
    get = store.nodes.get
    return symbol if symbol != id and get(id) is None and get(symbol) is not None else id


def all_meant(store: Store, ids: Iterable[str]) -> list[str]:
    """``meant`` of each."""
    return [meant(store, id) for id in ids]
