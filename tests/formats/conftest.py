"""A project of documents with a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store
from pages import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Return a folder with an empty store."""
    root = tmp_path / "a project"
    with new_store(str(root / ".lore")) as store:
        yield Project(root, store)
