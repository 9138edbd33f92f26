"""Anchors of records to code, and the index of a project.

All raise LoreError for a missing node, file, symbol or commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from .. import code as code_reader
from ..anchors.attach import place_anchor, remove_anchors
from ..anchors.project import Project, line_numbers, relative, relative_glob, root_to_keep
from ..anchors.verify import Verified, require_anchors, rows
from ..anchors.verify import verify as judge
from ..code import cochanges
from ..core.errors import LoreError, UsageError
from ..core.model import Anchor
from ..core.text import split_location
from ..indexing.embed import embed_missing
from ..indexing.indexer import write_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..code.cochanges import CoChanges
    from . import Engine

    Rows = list[dict[str, Any]]

COMPACT_FROM = 1000  # added files after which the store is compacted


def anchors_of(engine: Engine, id: str) -> Rows:
    """Return the anchors of a node; LoreError for an unknown id."""
    store = engine.store
    return rows(store, store.anchors.of(store.nodes.require(store.complete_id(id)).id))


def anchor(
    engine: Engine,
    id: str,
    file: str,
    kind: str = "",
    detail: str = "",
    *,
    here: str = "",
    source: str = "user_edit",
) -> dict[str, Any]:
    """Tie a node to code; return the anchor as a row with a ``state``.

    Args:
        file: ``FILE``, ``FILE:10-20``, ``FILE::Class::method`` or a glob, from the folder ``here``
            or the project's root.
        kind: glob, hash, symbol, lines, rule, or empty: as ``file`` has it.
        detail: the symbol, the lines as ``10-20``, or a rule as ``Claim.detail``.
        source: an anchor of a conversation is staged.
    """
    store, project = engine.store, Project(engine.root)
    wanted = _wanted(engine, id, file, kind or None, detail, here)
    write = partial(write_nodes, store)
    with store.faults:
        with store.transaction("anchor"):
            placed, state = place_anchor(store, write, project, wanted, code_reader, source)
        embed_missing(store, engine.embedder)
    return {**rows(store, [placed])[0], "state": state}


def unanchor(
    engine: Engine, id: str, file: str, kind: str = "", detail: str = "", *, here: str = ""
) -> Rows:
    """Remove the anchors of a node to a file, of ``kind`` or any kind."""
    return removed(engine, [_wanted(engine, id, file, kind, detail, here)])


def removed(engine: Engine, anchors: Iterable[Anchor]) -> Rows:
    """Remove anchors; return them as rows."""
    with engine.store.transaction("anchor"):
        gone = [gone for one in anchors for gone in remove_anchors(engine.store, one)]
    return [{**row, "state": "removed"} for row in rows(engine.store, gone)]


def _wanted(engine: Engine, id: str, file: str, kind: str | None, detail: str, here: str) -> Anchor:
    """Return the described anchor; without a kind, of the file."""
    here, root = here or engine.root, engine.root
    path, first, last = split_location(file)
    if "::" in file and not (kind or detail or os.path.lexists(os.path.join(here, file))):
        kind, (file, _, detail) = "symbol", file.partition("::")
    elif first is not None and not kind:
        kind, detail, file = "lines", f"{first}-{last}", path
    kind = "file" if kind is None else kind
    if kind == "symbol":
        detail = detail.replace("::", ".")
    elif kind == "lines":
        first, last = sorted(line_numbers(detail))
        if first == 0:
            raise UsageError(f"lines '{detail}': give FIRST-LAST, as 10-20")
        detail = f"{first}-{last}"
    is_glob, there = kind in ("glob", "rule"), os.path.join(here, file)
    path = relative_glob(root, here, file) if is_glob else relative(root, there, file)
    id = engine.store.complete_id(id)
    return Anchor(id, kind, path, detail, root_to_keep(engine.store, root))


def verify(
    engine: Engine, ids: Sequence[str] = (), progress: Callable[[int], None] = lambda done: None
) -> Verified:
    """Judge the anchors of these nodes, or of all, and keep the verdicts."""
    ids = [*map(engine.store.complete_id, ids)]
    require_anchors(engine.store, ids)
    return judge(engine.store, lambda: engine.embedder, code_reader, ids, progress=progress)


def index(
    engine: Engine,
    below: str = "",
    *,
    history: bool = True,
    progress: Callable[[int, int], None] = lambda done, total: None,
    left_out: Callable[[str, str], None] = lambda path, why: None,
    stage: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Index the files of the project; return counts of the index.

    Args:
        below: a folder of the project; all of it if empty.
        history: update co-changes, if due.
        progress: called with the numbers of read files, and of all.
        left_out: called with each skipped file and the reason.
        stage: called with the step of the history, done and total.
    """
    from ..code import index as code_index

    engine = engine.whole()
    store, root = engine.store, engine.root
    found = code_index.index(
        store,
        engine.settings,
        lambda: engine.embedder,
        root,
        below=code_index.below_root(root, below) if below else "",
        progress=progress,
        left_out=left_out,
    )
    found["cochanges"] = None
    if history and cochanges.cochanges_are_due(store):
        with suppress(LoreError):  # there is no history to read
            made = analyze_cochanges(engine, progress=stage)
            found["cochanges"] = {"commits": made.commits, "edges": made.edges}
    if found["added"] >= COMPACT_FROM:
        with store.faults:
            store.compact()
    return found


def analyze_cochanges(
    engine: Engine, *, since: str = "", progress: Callable[[str, int, int], None] | None = None
) -> CoChanges:
    """Return which files change together, as ``code.cochanges.analyze_cochanges`` does."""
    engine = engine.whole()
    return cochanges.analyze_cochanges(
        engine.store, lambda: engine.embedder, engine.root, since=since, progress=progress
    )
