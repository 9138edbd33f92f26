"""A store's folder, and the ways to open it."""

from __future__ import annotations

from pathlib import Path

import apsw
from new_stores import new_store

from pylore.store import Store, open_store

_TABLES = {"graph": ("links", "ratings"), "anchors": ("anchors",)}


class Kept:
    """An empty store in this folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._path = str(folder / "search.db")
        new_store(self._folder).close()

    def open(self) -> Store:
        """Open the store; a writer does not wait."""
        return open_store(self._folder, busy_timeout=0)

    def read_only(self) -> Store:
        """Open the store read-only."""
        return Store(apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READONLY), self._path)

    def lose(self, part: str) -> None:
        """Drop the ``graph`` or the ``anchors``, as a damage does."""
        with apsw.Connection(self._path) as connection:
            for table in _TABLES[part]:
                connection.execute(f"DROP TABLE {table}")
