"""Reading a store within the indexed tree must not release the locks."""

from __future__ import annotations

from pathlib import Path

import pytest
from new_stores import is_locked, new_store

from pylore.code.index import index
from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.system.project_files import Listed, read_plain


def test_index_preserves_locks_of_a_store_inside(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    path = tmp_path / "data" / "search.db"
    with new_store(str(path.parent)) as store:
        with store.transaction():
            store.meta.set("mark", "1")
        assert is_locked(path)
        assert index(store, Settings(), lambda: None, str(tmp_path))["files"] == 1
        assert is_locked(path)
        with pytest.raises(LoreError, match="of a store"):
            read_plain(str(path), 100)
        assert is_locked(path)
    assert Listed(str(tmp_path), ["data/search.db-wal"]).why_not("data/search.db-wal")
