"""A store for each test, and ways to open it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import Kept

from pylore.store import Store


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / ".lore")


@pytest.fixture
def store(kept: Kept) -> Iterator[Store]:
    with kept.open() as store:
        yield store
