"""Access to the SQLite connection of a store, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from pylore.store.store import Store

if TYPE_CHECKING:
    from pylore.store import Store


def connection_of(store: Store) -> apsw.Connection:
    """Return the SQLite connection of a store."""
    assert isinstance(store, Store)
    return store.connection
