"""Loading into memory what searches read, so that the first one need not wait for the disk."""

from __future__ import annotations

from time import perf_counter

from ..core.model import Record
from ..core.setting_values import OWN_EMBEDDERS
from ..core.settings import BUILT_IN_RETRIEVERS
from ..embed import files_of_queries
from ..graph.relations import relation_weights
from ..store.filter import Scope
from ..store.resolve_id import complete_id
from .search import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .engine import Engine

_BLOCK = 1 << 20
_MOST_NODES = 10_000
"""Of a neighbourhood."""


class WarmRequest(Record):
    """What is to be loaded: what every search reads, and the neighbourhood of ``entity``, an id."""

    __slots__ = ("entity",)

    def __init__(self, entity: str = "") -> None:
        self.entity = entity


def warm(engine: Engine, request: WarmRequest) -> dict[str, Any]:
    """``{bytes, ms}``; with an entity ``{entity, nodes, edges, passages}`` of what is around it.

    Raises:
        LoreError: there is no such node.
        StoreError: the store cannot be read.
    """
    start = perf_counter()
    store = engine.store
    found: dict[str, Any] = {"bytes": 0, "ms": 0.0}
    around = store.nodes.require(complete_id(store, request.entity)) if request.entity else None
    found["bytes"] = store.read_ahead() + sum(map(_read, files_of_queries(engine.settings)))
    _search(engine)
    if around is not None:
        found |= {"entity": around.id, **_neighbourhood(engine, around.id)}
    found["ms"] = round(1000 * (perf_counter() - start), 1)
    return found


def _search(engine: Engine) -> None:
    """One search at depth 2, for what it loads beside all that: lore itself, and sqlite-vec."""
    own = engine.settings.embedder in OWN_EMBEDDERS  # nothing is sent to anybody for this
    pairs = [("retrievers", " ".join(BUILT_IN_RETRIEVERS if own else BUILT_IN_RETRIEVERS[:1]))]
    for node in engine.store.nodes.select(Scope(), 1):
        pairs.append(("graph_depth", "2"))
        search(engine.changed(pairs, "warm"), node.title)


def _neighbourhood(engine: Engine, id: str) -> dict[str, int]:
    """Reads what a walk from a node comes by within ``activation_hops``; how many of each."""
    store, settings = engine.store, engine.settings
    relations = list(relation_weights(store, settings))
    near, frontier, edges = {id}, [id], 0
    for _ in range(settings.activation_hops):
        ends: set[str] = set()
        bundles = store.edges.bundles(frontier, relations, settings.graph_fanout + 1)
        for _, _, _, others, _ in bundles:
            ends.update(others)
            edges += len(others)
        frontier = sorted(ends - near)[: _MOST_NODES - len(near)]
        near.update(frontier)
        if not frontier:
            break
    ids = sorted(near)
    store.nodes.get_many(ids)
    keys = [key for key, _ in store.nodes.passages(ids)]
    for key in keys:
        store.fulltext.indexed(key)
    sum(1 for _ in store.vectors.of_nodes(ids))
    return {"nodes": len(ids), "edges": edges, "passages": len(keys)}


def _read(path: str) -> int:
    """Reads a file; how many bytes it has."""
    size = 0
    try:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                size += len(block)
    except OSError:
        return size
    return size
