"""Hubs with members."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import postgres
import pytest
from hubs import PeopledHub


@pytest.fixture(scope="module")
def hub(postgres_server: postgres.Server) -> Iterator[PeopledHub]:
    """Return a hub for the read-only tests of a module."""
    with closing(PeopledHub(postgres_server)) as hub:
        yield hub


@pytest.fixture
def own_hub(postgres_server: postgres.Server) -> Iterator[PeopledHub]:
    with closing(PeopledHub(postgres_server)) as hub:
        yield hub
