"""A context: what the store has on a question, within a budget of tokens."""

from __future__ import annotations

from ..context.build import build
from ..context.results import ContextBrief, wider
from ..core.model import Record
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


class ContextRequest(Record):
    """A question or the id of a task, the form of the text, and what may be in it.

    ``form`` is one of ``context.context.FORMS``; ``files`` are globs. ``needed`` are further
    things that the answer needs: names of symbols, paths, questions. ``with_superseded``: facts
    that are superseded come too, and say so.
    """

    __slots__ = (
        "exclude", "files", "form", "needed", "question", "types", "with_superseded",
    )  # fmt: skip

    def __init__(
        self,
        question: str,
        *,
        form: str = "narrative",
        types: Iterable[str] = (),
        files: Iterable[str] = (),
        exclude: Iterable[str] = (),
        needed: Iterable[str] = (),
        with_superseded: bool = False,
    ) -> None:
        self.question = question
        self.form = form
        self.types = tuple(types)
        self.files = tuple(files)
        self.exclude = tuple(exclude)
        self.needed = tuple(needed)
        self.with_superseded = with_superseded


def context(engine: Engine, request: ContextRequest) -> Context:
    """Return the text, what it holds and what it does not; the setting ``budget`` is how long it
    may be.

    Raises:
        UsageError: a type is not known.
        StoreError: the store cannot be read.
    """
    settings = engine.settings
    if not settings.origins.get("graph_depth"):
        settings = settings.changed([("graph_depth", DEPTH)], "default:graph_depth")
    files = globs_of(engine, request.files)
    scope = Scope(types=engine.store.types.require(request.types), files=files)
    near = near_files(engine, files)
    brief = ContextBrief(
        resolve_id(engine.store, request.question), form=request.form, budget=settings.budget,
        root=engine.root, scope=scope, excluded=resolve_ids(engine.store, request.exclude),
        needed=[resolve_id(engine.store, need) for need in request.needed],
        near=near, with_superseded=request.with_superseded,
    )  # fmt: skip
    embedder = engine.embedder
    with engine.store.snapshot():
        return build(engine.store, wider(settings), brief, embedder)
