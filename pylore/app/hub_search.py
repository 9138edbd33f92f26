"""Searching at a hub in place of the store: the remote that is meant, as what can be asked."""

from __future__ import annotations

from ..search.at_hub import open_remote
from .hub_sync import remote_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.settings import Settings
    from ..store.protocols import SearchStore


def open_for_search(settings: Settings) -> SearchStore:
    """The hub that ``on`` names; the caller closes it.

    Raises:
        UsageError: there is no such remote.
        HubUnavailable: nobody answers.
    """
    remote = remote_named(settings, settings.on)
    return open_remote(remote.name, remote.url, settings)[0]
