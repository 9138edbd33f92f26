"""A context as commands make it: from the settings and from what stands on a command line.

It is called in loops as a search is: it imports no click.
"""

from __future__ import annotations

from ..store.filter import Scope
from .build import ContextRequest, build, wider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from .build import Context

DEPTH = "2"
"""The depth of the walk unless one is set: a context is for what is connected, too."""


def context_on(
    store: Store, settings: Settings, embedder: Embedder | None, question: str, *, root: str,
    form: str, types: tuple[str, ...], files: tuple[str, ...],
) -> Context:  # fmt: skip
    """The context for a question, from nodes of these types and files under ``root``.

    Raises:
        UsageError: a type is not known.
        StoreError: the store cannot be read.
    """
    if not settings.origins.get("graph_depth"):
        settings = settings.changed([("graph_depth", DEPTH)], "default:graph_depth")
    scope = Scope(types=store.types.require(types), files=files)
    asked = ContextRequest(question, form=form, budget=settings.budget, root=root, scope=scope)
    with store.snapshot():
        return build(store, wider(settings), asked, embedder)
