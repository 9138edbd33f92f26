"""A store for the graphs of a module's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from graphs import graph_store

from pylore.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with graph_store(tmp_path_factory.mktemp("graph")) as store:
        yield store
