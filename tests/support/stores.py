"""The kinds of store that tests/conformance runs on, and the ways to open each.

Another one takes its place by a class like those below, and a row in ``KINDS``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import apsw
from memory_store import MemoryStore, Shared

from pylore.store import Store, open_store
from pylore.store.sqlite.store import SqliteStore


class Kept(Protocol):
    """One store's data, and the ways to open it."""

    def open(self) -> Store:
        """Another open store of the same data; a writer waits for nobody."""

    def read_only(self) -> Store:
        """The same, that cannot be written to."""

    def lose(self, part: str) -> None:
        """Takes the ``graph`` or the ``anchors`` away, as a damage does."""


class InSqlite:
    """search.db; ``made`` is an empty one, so that none is made for each test."""

    _TABLES = {"graph": ("graph_edges", "ratings"), "anchors": ("anchors",)}  # noqa: RUF012

    def __init__(self, folder: Path, made: bytes) -> None:
        self._folder = str(folder)
        (folder / "search.db").write_bytes(made)

    def open(self) -> Store:
        return open_store(self._folder, busy_timeout=0)

    def read_only(self) -> Store:
        path = os.path.join(self._folder, "search.db")
        return SqliteStore(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY), path)

    def lose(self, part: str) -> None:
        with apsw.Connection(os.path.join(self._folder, "search.db")) as connection:
            for table in self._TABLES[part]:
                connection.execute(f"DROP TABLE {table}")


class InMemory:
    """Dicts."""

    def __init__(self, folder: Path, made: bytes) -> None:
        self._folder = str(folder)
        self._shared = Shared()

    def open(self) -> Store:
        return MemoryStore(self._shared, self._folder)

    def read_only(self) -> Store:
        return MemoryStore(self._shared, self._folder, read_only=True)

    def lose(self, part: str) -> None:
        self._shared.state.lost.add(part)


KINDS: dict[str, Callable[[Path, bytes], Kept]] = {"sqlite": InSqlite, "memory": InMemory}
