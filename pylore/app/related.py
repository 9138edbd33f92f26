"""Connections of nodes: related ones, the shortest way between two, and knowledge about files."""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError
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


def require_hops(value: int | str) -> int:
    """``value`` as a number of hops.

    Raises:
        UsageError: it is not one that a walk can have.
    """
    most = int(BY_NAME["graph_depth"].high)
    if str(value) not in map(str, range(1, most + 1)):
        raise UsageError(f"--hops is '{value}': give a whole number from 1 to {most}")
    return int(value)


def related(
    engine: Engine,
    names: Iterable[str] = (),
    *,
    near: Iterable[str] = (),
    hops: int = 1,
    types: Iterable[str] = (),
    exclude: Iterable[str] = (),
    explain: bool = False,
    here: str = "",
    limit: int = 0,
    symbols: bool = False,
) -> Hits:
    """Return the nodes that a walk reaches from some nodes; of files, what is known about them.

    Args:
        names: ids, or paths of files: from the folder ``here``, if that is given and the file is
            there, or else from the project's root.
        near: globs of files.
        hops: how far to walk.
        limit: the most results; 0 returns all.
        symbols: return the symbols that the files themselves define, too.

    Raises:
        LoreError: there is no such node or file.
        UsageError: a type, ``hops`` or a setting is wrong.
    """
    depth = str(require_hops(hops))
    settings = engine.settings.changed([("graph_depth", depth)], "flag:--hops")
    store = engine.store
    wanted = store.types.require(tuple(types))
    with store.snapshot():
        found = [_named(engine, name, here) for name in names]
        excluded = complete_ids(store, exclude)
        ids = [name for name in found if store.nodes.get(name) is not None]
        files = (*near, *(_path(engine, name, here) for name in found if name not in ids))
        place = None
        if files:
            from ..search.query import Near

            place = Near(engine.root, files)
        hits = walk_from(
            store, settings, ids, place, types=wanted, excluded=excluded, explain=explain,
            symbols=symbols,
        )  # fmt: skip
    if limit:
        del hits.hits[limit:]
    return hits


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


def path(engine: Engine, from_id: str, to_id: str, max_hops: int | None = None) -> dict[str, Any]:
    """Return ``{from, to, hops, path, edges}``; ``hops`` is None where there is no path.

    Raises:
        LoreError: there is no such node.
        UsageError: a relation of the settings is unknown.
    """
    store = engine.store
    first, last = (store.nodes.require(complete_id(store, id)).id for id in (from_id, to_id))
    return shortest_path(store, engine.settings, first, last, max_hops)


def neighbours(engine: Engine, id: str, direction: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return every node one edge away, strongest edge first, with the kept verdict of its anchors;
    and notes.

    Raises:
        LoreError: unknown node.
    """
    from ..core.text import counted
    from ..core.vocabulary import COMMIT_IDS
    from ..graph.queries import neighbours as list_neighbours

    store = engine.store
    commit = resolve_id(store, id)
    known = commit.startswith(COMMIT_IDS) and store.commits.get(commit) is not None
    id = commit if known else store.nodes.require(complete_id(store, id)).id
    found, nowhere = list_neighbours(store, engine.settings, id, direction)
    verdicts, notes = store.nodes.verdicts([row["id"] for row in found])
    if nowhere:
        notes.append(f"{counted(nowhere, 'edge leads', 'edges lead')} to what is not in the store")
    return [{**row, "verdict": verdicts.get(row["id"])} for row in found], notes
