"""Empty stores for tests, copied from a template: five times as fast as creating one."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from pylore.store import Store, create_store, open_store, scratch_store


def new_store(folder: str, *, fulltext: str = "auto") -> Store:
    """Open the store in ``folder``; copy an empty store there if the folder has none."""
    path = Path(folder, "search.db")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not path.exists():
        path.touch(mode=0o600)
        path.write_bytes(_empty(fulltext))
    return open_store(folder)


def memory_store(path: str = "/.lore/search.db") -> Store:
    """Return an empty store in memory that claims this path."""
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
