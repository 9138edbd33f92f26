"""Empty stores for tests of something else: to make one anew takes five times as long."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from pylore.store import Store, create_store, open_store, scratch_store


def new_store(folder: str, *, fulltext: str = "auto") -> Store:
    """What ``create_store`` gives; where there is none yet, a copy of one that it has made."""
    path = Path(folder, "search.db")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not path.exists():
        path.touch(mode=0o600)
        path.write_bytes(_empty(fulltext))
    return open_store(folder)


def memory_store(path: str = "/.lore/search.db") -> Store:
    """Return an empty store in memory, as if it were at this path."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", _in_memory())
    return Store(connection, path)


@cache
def _in_memory() -> bytes:
    with scratch_store() as store:
        return store.connection.serialize("main")


@cache
def _empty(fulltext: str) -> bytes:
    with TemporaryDirectory() as folder:
        create_store(folder, fulltext=fulltext).close()
        return Path(folder, "search.db").read_bytes()
