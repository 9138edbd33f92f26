"""The records and links of a store, pushed to a hub and indexed there."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from pylore.core.json import dumps
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import Hub
from pylore.hub.indexing import index_hub
from pylore.hub.lines import HubLines, Takes
from pylore.store import Store

AT_ONCE = 4000


def copy_store(hub: Hub, store: Store, embedder: StaticEmbedder | None = None) -> None:
    """Make a hub hold what a store holds; the hub is new."""
    push(
        hub,
        ([line.order, line.line] for line in HubLines(store, Takes(scopes=("*",), staged=True))),
    )
    index_hub(hub, lambda: embedder, [])
    hub.ask("ANALYZE")


def push(hub: Hub, lines: Iterable[list[str]]) -> None:
    """Push lines in batches; all are taken."""
    lines = iter(lines)
    while batch := [*islice(lines, AT_ONCE)]:
        done = hub.ask("SELECT lore.push(%s)", (dumps(batch),), seconds=600)[0][0]
        assert not done["refused"], done["refused"][:3]
