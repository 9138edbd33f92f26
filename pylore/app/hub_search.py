"""Searching at a hub in place of the store: the remote that is meant, as what can be asked."""

from __future__ import annotations

from ..embed import open_embedder
from ..search.at_hub import open_hub
from ..store.postgres.connection import connect
from .hub_remotes import remote_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.settings import Settings
    from ..store import Store


def open_for_search(settings: Settings) -> Store:
    """The hub that ``on`` names; the caller closes it.

    Raises:
        UsageError: there is no such remote.
        HubUnavailable: nobody answers.
    """
    remote = remote_named(settings, settings.on)
    store = open_hub(connect(remote.url, remote.name, writes=False), settings)
    embedder = open_embedder(settings.embedder, store, settings)  # type: ignore[arg-type]
    store.meta.held = None if embedder is None else embedder.name
    return store  # type: ignore[return-value]
