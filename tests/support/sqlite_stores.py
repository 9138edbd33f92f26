"""For tests that look into the file of a store, past what any store promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from pylore.store.store import Store

if TYPE_CHECKING:
    from pylore.store import Store


def connection_of(store: Store) -> apsw.Connection:
    """The connection of a store that is one of SQLite's."""
    assert isinstance(store, Store)
    return store.connection
