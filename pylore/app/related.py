"""Connections of nodes: related ones, the shortest way between two, and knowledge about files."""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError
from ..core.model import Record
from ..core.settings import BY_NAME
from ..graph.queries import path as shortest_path
from ..search.related import related as walk_from
from ..store.resolve_id import complete_id, complete_ids, resolve_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..core.model import Hits
    from .engine import Engine


class RelatedRequest(Record):
    """``names`` are ids or paths of files, ``near`` globs of files, ``hops`` how far to walk.

    ``limit``: how many to return, best first; 0 is all. ``symbols``: also those that the files
    themselves define.

    A path starts from the folder ``here``, if that is given and the file is there, or else from
    the project's root.
    """

    __slots__ = ("exclude", "explain", "here", "hops", "limit", "names", "near", "symbols", "types")

    def __init__(
        self,
        names: Iterable[str] = (),
        *,
        near: Iterable[str] = (),
        hops: int | str = 1,
        types: Iterable[str] = (),
        exclude: Iterable[str] = (),
        explain: bool = False,
        here: str = "",
        limit: int = 0,
        symbols: bool = False,
    ) -> None:
        self.names = tuple(names)
        self.near = tuple(near)
        self.hops = require_hops(hops)
        self.types = tuple(types)
        self.exclude = tuple(exclude)
        self.explain = explain
        self.here = here
        self.limit = limit
        self.symbols = symbols


def require_hops(value: int | str) -> int:
    """``value`` as a number of hops.

    Raises:
        UsageError: it is not one that a walk can have.
    """
    most = int(BY_NAME["graph_depth"].high)
    if str(value) not in map(str, range(1, most + 1)):
        raise UsageError(f"--hops is '{value}': give a whole number from 1 to {most}")
    return int(value)


def related(engine: Engine, request: RelatedRequest) -> Hits:
    """Return what the walk reaches from these nodes; of files, what is known about them, records
    first.

    Raises:
        LoreError: there is no such node or file.
        UsageError: a type or a setting is wrong.
    """
    found = _all_related(engine, request)
    if request.limit:
        del found.hits[request.limit :]
    return found


def _all_related(engine: Engine, request: RelatedRequest) -> Hits:
    settings = engine.settings.changed([("graph_depth", str(request.hops))], "flag:--hops")
    store = engine.store
    types = store.types.require(request.types)
    with store.snapshot():
        names = [_named(engine, name, request.here) for name in request.names]
        excluded = complete_ids(store, request.exclude)
        ids = [name for name in names if store.nodes.get(name) is not None]
        near = None
        if request.near or len(ids) < len(names):
            from ..search.query import Near

            paths = [_path(engine, name, request.here) for name in names if name not in ids]
            near = Near(engine.root, (*request.near, *paths))
        return walk_from(
            store, settings, ids, near, types=types, excluded=excluded,
            explain=request.explain, symbols=request.symbols,
        )  # fmt: skip


def _path(engine: Engine, name: str, here: str) -> str:
    """Return a mark, or the path from the root that a name means: from ``here``, if it is there.

    Raises:
        LoreError: neither a node nor a file, or outside the project.
    """
    from ..anchors.project import relative
    from ..search.file_context import MARKS, files_near
    from ..search.query import Near

    if name in MARKS:
        return name
    if here and os.path.lexists(os.path.join(here, name)):
        return relative(engine.root, os.path.join(here, name), name)
    if not files_near(engine.store, Near(engine.root, [name]), []):
        if name.partition("-")[0] in engine.store.types.all() or not {*"/."} & {*name}:
            engine.store.nodes.require(name)
        raise LoreError(f"{name}: there is no such file, and nothing is known of one: "
                        "check its name")  # fmt: skip
    return name


def _named(engine: Engine, name: str, here: str) -> str:
    """Return the id that a name means; what is a path, or may be one, stays as it is."""
    found = resolve_id(engine.store, name)
    if engine.store.nodes.get(found) is not None:
        return found
    if any(os.path.lexists(os.path.join(folder, name)) for folder in (here, engine.root)):
        return found
    whole = complete_id(engine.store, name) if name.strip("./") else name
    return found if engine.store.nodes.get(whole) is None else whole


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


def neighbours(engine: Engine, id: str, direction: str) -> tuple[list[dict[str, Any]], int]:
    """Return every node one edge away, strongest edge first, and how many edges end nowhere.

    Raises:
        LoreError: there is no such node.
    """
    from ..core.vocabulary import COMMIT_IDS
    from ..graph.queries import neighbours as list_neighbours

    store = engine.store
    commit = resolve_id(store, id)
    known = commit.startswith(COMMIT_IDS) and store.commits.get(commit) is not None
    id = commit if known else store.nodes.require(complete_id(store, id)).id
    return list_neighbours(store, engine.settings, id, direction)
