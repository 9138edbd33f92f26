"""Hubs with people in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import postgres
import pytest
from hubs import PeopledHub


@pytest.fixture(scope="module")
def hub(postgres_server: postgres.Server) -> Iterator[PeopledHub]:
    """One for all tests here that leave it as it was, or add what no other one looks at."""
    with closing(PeopledHub(postgres_server)) as hub:
        yield hub


@pytest.fixture
def own_hub(postgres_server: postgres.Server) -> Iterator[PeopledHub]:
    with closing(PeopledHub(postgres_server)) as hub:
        yield hub
