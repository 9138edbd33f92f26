"""Fixtures that several test modules share."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from commands import Lore
from endpoints import Endpoint, serving
from hypothesis import settings
from new_stores import new_store
from repositories import Repository
from samples import TRIES_ALL, examples, is_chosen

from pylore.store import Store

# Chance chooses other examples each time. --hypothesis-profile=thorough tries a changed property.
settings.register_profile("quick", deadline=None, max_examples=examples(40))
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("quick")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soak: only TEST_ALL=1 tries it")
    config.addinivalue_line(
        "markers", "one_in(count): try the first of these cases and 1 in count of the others"
    )


def pytest_sessionstart() -> None:
    os.environ["PAGER"] = "cat"  # no pager for output on a terminal
    gc.disable()  # objects made during collection live until the end


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen, tested = [], set()
    for item in items:
        if item.get_closest_marker("soak") and not TRIES_ALL:
            continue
        marker = item.get_closest_marker("one_in")
        test = item.nodeid.partition("[")[0]
        if not marker or test not in tested or is_chosen(item.nodeid, int(marker.args[0])):
            chosen.append(item)
            tested.add(test)
    if len(chosen) < len(items):
        kept = {*chosen}
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = chosen


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if postgres.missing():
        terminalreporter.write_line(postgres.missing(), red=True, bold=True)


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the whole test run a new state and cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store, of the project ``tmp_path``."""
    with new_store(str(tmp_path / ".lore")) as store:
        yield store


@pytest.fixture
def lore_without_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lore:
    """Run commands in this process, in a new home and a folder without a store."""
    return Lore(tmp_path, monkeypatch)


@pytest.fixture
def lore(lore_without_store: Lore) -> Lore:
    """Run commands in this process, in a new home and a project with an empty store."""
    lore_without_store.make_store()
    return lore_without_store


@pytest.fixture
def repository(lore_without_store: Lore) -> Lore:
    """Run commands in this process, in a git repository with an empty store."""
    Repository(lore_without_store.project)
    lore_without_store.make_store()
    return lore_without_store


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that serves while the test runs."""
    yield from serving(Endpoint())


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """Start the PostgreSQL server of this run; each test makes a database with ``a_database``."""
    if postgres.missing():
        pytest.skip(postgres.missing())
    server = postgres.a_server()
    yield server
    server.remove()
    shutil.rmtree(os.path.dirname(server.folder))
