"""The shortest way between two nodes."""

from __future__ import annotations

from ..core.model import Record
from ..graph.queries import path as shortest_path
from ..store.resolve_id import complete_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .engine import Engine


class PathRequest(Record):
    """From one id to another, in at most ``max_hops`` edges where that is set."""

    __slots__ = ("from_id", "max_hops", "to_id")

    def __init__(self, from_id: str, to_id: str, max_hops: int | None = None) -> None:
        self.from_id = from_id
        self.to_id = to_id
        self.max_hops = max_hops


def path(engine: Engine, request: PathRequest) -> dict[str, Any]:
    """``{from, to, hops, path, edges}``; ``hops`` is None where there is no path.

    Raises:
        LoreError: there is no such node.
        UsageError: a relation of the settings is not known.
    """
    from_id, to_id = (
        engine.store.nodes.require(complete_id(engine.store, id)).id
        for id in (request.from_id, request.to_id)
    )
    return shortest_path(engine.store, engine.settings, from_id, to_id, request.max_hops)
