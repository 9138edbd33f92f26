"""Fixtures of more than one test module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from endpoints import Endpoint, serving


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What lore remembers of its user is of the tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that serves while the test runs."""
    yield from serving(Endpoint())
