"""lore: a shell-first knowledge graph, from Python.

>>> import pylore
>>> with pylore.open() as lore:                                # doctest: +SKIP
...     lore.add("decision", "Sessions are JWTs", tags=["auth"])
...     for hit in lore.search("jwt", graph_depth=2):
...         print(hit.score, hit.id, hit.path)

Importing it imports nothing else: the commands run on it too, and start in milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Any

    from .core.errors import LoreError, StoreError, UsageError
    from .core.model import Edge, Hit, Hits, Node
    from .records.records import Change
    from .sdk import AnchorResult, Lore, SdkResult

__version__ = "1.0.0"

__all__ = [
    "AnchorResult", "Change", "Edge", "Hit", "Hits", "Lore", "LoreError", "Node", "SdkResult",
    "StoreError", "UsageError", "open",
]  # fmt: skip

_HOMES = {
    **dict.fromkeys(("AnchorResult", "Lore", "SdkResult"), "sdk"),
    **dict.fromkeys(("Edge", "Hit", "Hits", "Node"), "core.model"),
    **dict.fromkeys(("LoreError", "StoreError", "UsageError"), "core.errors"),
    "Change": "records.records",
}


def open(
    folder: str | PathLike[str] | None = None,
    *,
    create: bool = False,
    retriever: Callable[..., Any] | None = None,
    **settings: object,
) -> Lore:
    """Open a store, under its config file, the user's, and the environment.

    Args:
        folder: the folder of its ``search.db``; unless given, the store that a command in the
            working directory uses.
        create: make the store if it is not there.
        retriever: a further leg of every search, called with what an executable retriever reads
            (``query``, ``limit``, …); it returns ``[{"id", "score"}]``. Its name among
            ``retrievers`` is ``given``: ``retrievers="given"`` makes it the only leg.
        settings: values by name that go before all others (``graph_depth=2``).

    Raises:
        StoreError: there is no store, or it cannot be read.
        UsageError: a setting is unknown, or its value is wrong.
    """
    from .sdk import Lore

    return Lore(folder, create=create, retriever=retriever, **settings)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'pylore' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
