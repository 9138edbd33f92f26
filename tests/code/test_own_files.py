"""Reading a store within the indexed tree must not release the locks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from new_stores import new_store

from pylore.code.index import index
from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.system.project_files import Listed, read_plain

_LOCKED = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        print("locked")
"""
"""Print "locked" if SQLite's shared bytes of a store are locked."""


def is_kept(path: Path) -> bool:
    done = subprocess.run(
        [sys.executable, "-S", "-c", _LOCKED, str(path)], capture_output=True, text=True, check=True
    )
    return done.stdout == "locked\n"


def test_index_preserves_locks_of_a_store_inside(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    path = tmp_path / "data" / "search.db"
    with new_store(str(path.parent)) as store:
        with store.transaction():
            store.meta.set("mark", "1")
        assert is_kept(path)
        assert index(store, Settings(), lambda: None, str(tmp_path))["files"] == 1
        assert is_kept(path)
        with pytest.raises(LoreError, match="of a store"):
            read_plain(str(path), 100)
        assert is_kept(path)
    assert Listed(str(tmp_path), ["data/search.db-wal"]).why_not("data/search.db-wal")
