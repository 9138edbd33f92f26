"""A context: what the store has on a question, within a budget of tokens."""

from __future__ import annotations

from ..context.build import build
from ..context.results import ContextBrief, wider
from ..store.filter import Scope
from ..store.resolve_id import resolve_id, resolve_ids
from .search import globs_of, near_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..context.build import Context
    from .engine import Engine

DEPTH = "2"
"""The depth of the walk unless one is set: a context is for what is connected, too."""


def context(
    engine: Engine,
    question: str,
    *,
    form: str = "narrative",
    types: Iterable[str] = (),
    files: Iterable[str] = (),
    exclude: Iterable[str] = (),
    needed: Iterable[str] = (),
    with_superseded: bool = False,
) -> Context:
    """Return a text on a question, and which nodes it holds; the setting ``budget`` bounds it.

    Args:
        question: words, or the id of a task.
        form: one of ``context.build.FORMS``.
        files: globs of files that everything comes from.
        needed: further names of symbols, paths and questions that the answer needs.
        with_superseded: include superseded facts, marked so.

    Raises:
        UsageError: a type is unknown.
        StoreError: the store cannot be read.
    """
    settings = engine.settings
    if not settings.origins.get("graph_depth"):
        settings = settings.changed([("graph_depth", DEPTH)], "default:graph_depth")
    files = globs_of(engine, tuple(files))
    scope = Scope(types=engine.store.types.require(tuple(types)), files=files)
    brief = ContextBrief(
        resolve_id(engine.store, question), form=form, budget=settings.budget,
        root=engine.root, scope=scope, excluded=resolve_ids(engine.store, exclude),
        needed=resolve_ids(engine.store, needed), near=near_files(engine, files),
        with_superseded=with_superseded,
    )  # fmt: skip
    embedder = engine.embedder
    with engine.store.snapshot():
        return build(engine.store, wider(settings), brief, embedder)
