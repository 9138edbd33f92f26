"""Stores for tests: empty ones, copied from a template, and those of a project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import pytest

from pylore.store import Store, create_store, open_store, scratch_store
from pylore.system.stores import claim


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


def store_folder(data: Path | str, project: Path) -> Path:
    """Return the folder of a project's store in a data home; create the store if needed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(data))
        (project / ".lore").mkdir(exist_ok=True)
        return Path(claim(str(project)))


def copy_store(data: Path | str, project: Path, other: Path, to: Path | str = "") -> Path:
    """Copy the store of a project to a second project; return the folder."""
    folder = store_folder(to or data, other)
    for file in store_folder(data, project).glob("search.db*"):
        shutil.copy2(file, folder)
    return folder


_IS_LOCKED = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        print("locked")
"""


def is_locked(path: Path | str) -> bool:
    """Return True if a process holds SQLite's shared bytes of a store."""
    run = [sys.executable, "-I", "-S", "-c", _IS_LOCKED, str(path)]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout == "locked\n"


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
