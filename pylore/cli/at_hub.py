"""``lore search --on NAME``: a hub is asked in place of the store."""

from __future__ import annotations

from ..app.hub_search import open_for_search
from ..core.errors import UsageError
from ..core.settings import BUILT_IN_RETRIEVERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.settings import Settings
    from .args import Arguments

__all__ = ["open_for_search", "settled"]


def settled(given: Arguments, settings: Settings) -> Settings:
    """The settings of a search at a hub: runs and kept answers are those of a store.

    Raises:
        UsageError: files at hand were named, or no leg that a hub has.
    """
    if given.words("files"):
        raise UsageError("--files names files of this project, which a hub does not know: leave "
                         "--on out")  # fmt: skip
    legs = [name for name in settings.retrievers if name in BUILT_IN_RETRIEVERS]
    if not legs:
        raise UsageError("a hub runs no retriever of your own: name fulltext or vector beside "
                         f"{' '.join(settings.retrievers)}")  # fmt: skip
    pairs = [("run", ""), ("cache_seconds", "0"), ("retrievers", " ".join(legs))]
    return settings.changed(pairs, "flag:--on")
