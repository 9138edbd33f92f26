"""Fixtures of more than one test module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from endpoints import Endpoint, serving


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that serves while the test runs."""
    yield from serving(Endpoint())
