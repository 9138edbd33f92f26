"""Searches of a store, with settings and parts of a request by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pylore.core.model import Hit, Hits
from pylore.core.settings import Settings
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.filter import Scope

if TYPE_CHECKING:
    from pylore.embed import Embedder

_OF_REQUESTS = ("filter_expanded", "min_score", "explain", "excluded", "near", "operators")


def options(**flags: object) -> Settings:
    """Return the settings of these command line options."""
    return Settings.load(environ={}, flags={name: str(value) for name, value in flags.items()})


def look(
    store: Store,
    query: str,
    scope: Scope | None = None,
    embedder: Embedder | None = None,
    **given: Any,
) -> Hits:
    """Search with these fields of ``Request`` and these settings."""
    parts = {name: given.pop(name) for name in _OF_REQUESTS if name in given}
    return search(store, options(**given), Request(query, scope or Scope(), **parts), embedder)


def ids(hits: Iterable[Hit]) -> list[str]:
    """Return the ids of results, in order."""
    return [hit.id for hit in hits]
