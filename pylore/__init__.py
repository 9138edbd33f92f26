"""lore: a shell-first knowledge graph, from Python.

>>> import pylore
>>> with pylore.open() as lore:                                # doctest: +SKIP
...     lore.add("decision", "Sessions are JWTs", tags=["auth"])
...     for hit in lore.search("jwt", graph_depth=2):
...         print(hit.score, hit.id, hit.path)

Importing it imports no other module, since commands start in milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .core.errors import LoreError as LoreError
    from .core.errors import StoreError as StoreError
    from .core.errors import UsageError as UsageError
    from .core.model import Edge as Edge
    from .core.model import Hit as Hit
    from .core.model import Hits as Hits
    from .core.model import Node as Node
    from .records.records import Change as Change
    from .sdk import Lore as Lore

    open = Lore

__version__ = "1.0.0"

_HOMES = {
    **dict.fromkeys(("Lore", "open"), "sdk"),
    **dict.fromkeys(("Edge", "Hit", "Hits", "Node"), "core.model"),
    **dict.fromkeys(("LoreError", "StoreError", "UsageError"), "core.errors"),
    "Change": "records.records",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'pylore' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), "Lore" if name == "open" else name)
