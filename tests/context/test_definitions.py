"""In a context for a model, a file is shown by its definitions that answer, not by its head."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store

from pylore.code.index import index
from pylore.context.build import Context, build
from pylore.context.results import ContextBrief
from pylore.core.settings import Settings
from pylore.store import Store
from pylore.store.filter import Scope

HEAD = '"""Sessions of a shop."""\n' + "".join(f"import lib{n}\n" for n in range(40))
SESSIONS = (
    HEAD
    + '''

def count_visitors(log):
    """Count how many visitors a day has."""
    return len({line.visitor for line in log})


def renew(session, clock):
    """Renew a session before its token expires."""
    if session.expires - clock() < 60:
        session.token = sign(session)
    return session


def drop(item):
    return item
'''
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/sessions[1].py").write_text(SESSIONS)
    (tmp_path / "shop/prices.py").write_text("def price(item):\n    return item.price\n")
    with new_store(str(tmp_path / ".lore")) as store:
        index(store, Settings(), lambda: None, str(tmp_path))
        yield store


def context(store: Store, root: Path, question: str, budget: int) -> Context:
    settings = Settings.load(environ={}, flags={"embedder": "none", "budget": str(budget)})
    brief = ContextBrief(question, form="prompt", budget=budget, root=str(root), scope=Scope())
    return build(store, settings, brief, None)


def test_the_definition_that_answers_is_there_and_the_head_is_not(
    store: Store, tmp_path: Path
) -> None:
    found = context(store, tmp_path, "how is a session renewed before its token expires", 300)
    assert "def renew(session, clock):" in found.text and "session.token = sign" in found.text
    assert "import lib7" not in found.text
    assert found.included[0]["id"] == "symbol-shop/sessions[1].py::renew"
    assert not any(entry["id"] == "file-shop/sessions[1].py" for entry in found.included)
