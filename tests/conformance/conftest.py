"""What any store must do: every test here runs against each of ``stores.KINDS``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from stores import KINDS, Kept

from pylore.store import Store, create_store


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("made")
    create_store(str(folder)).close()
    return (folder / "search.db").read_bytes()


@pytest.fixture(params=[*KINDS])
def kept(request: pytest.FixtureRequest, tmp_path: Path, made: bytes) -> Kept:
    folder = tmp_path / ".lore"
    folder.mkdir()
    return KINDS[request.param](folder, made)


@pytest.fixture
def store(kept: Kept) -> Iterator[Store]:
    with kept.open() as store:
        yield store
