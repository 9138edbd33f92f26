"""The application layer: requests in process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import move_home
from new_stores import new_store

import pylore
from pylore.app import Engine
from pylore.app.find import context, related
from pylore.core.errors import LoreError, UsageError
from pylore.core.settings import Settings
from pylore.records.records import Records

TODAYS = "def login(user):\n    return user.check()\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with a store, four records and a file."""
    root = tmp_path_factory.mktemp("a project")
    (root / "src").mkdir()
    (root / "src/auth.py").write_text(TODAYS)
    with new_store(str(root / ".lore")) as store:
        records = Records(store, Settings(), None, str(root))
        records.add("decision", "Sessions are signed tokens", id="decision-a", file="src/auth.py")
        to_a, to_b = [("decision-a", "relates_to")], [("failure-b", "learned_from")]
        records.add("failure", "People kept access", id="failure-b", links=to_a)
        records.add("lesson", "Give it a short life", id="lesson-c", links=to_b)
        records.add("note", "localhost:8080", id="note-d")
    return root


@pytest.fixture
def engine(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine over a copy of the project, in a working directory that is elsewhere."""
    move_home(monkeypatch, tmp_path / "home")
    shutil.copytree(project, tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    settings = Settings.load(environ={}, flags={"embedder": "none"})
    with pylore.store.open_store(str(tmp_path / "copy/.lore")) as store:
        yield Engine(store, settings, str(tmp_path / "copy"))


def test_related_to_node_and_file(engine: Engine) -> None:
    found = related(engine, ["decision-a"], hops=2, types=["lesson"])
    assert [(hit.id, hit.hops) for hit in found] == [("lesson-c", 2)]
    about = related(engine, ["src/auth.py:1-2", "localhost:8080"], types=["decision"])
    assert [hit.id for hit in about] == ["decision-a"]
    with pytest.raises(LoreError):
        related(engine, ["nowhere.py"])
    assert [hit.id for hit in related(engine, ["auth.py"], types=["decision"])] == ["decision-a"]
    here = str(Path(engine.root) / "src")
    assert len(related(engine, ["auth.py"], here=here, types=["decision"])) == 1
    with pytest.raises(UsageError, match="from 1 to 3"):
        related(engine, ["decision-a"], hops=4)


def test_context_walks_by_default(engine: Engine) -> None:
    found = context(engine, "signed tokens", form="prompt")
    assert {row["id"] for row in found.included} >= {"decision-a", "failure-b"}
    flat = engine.changed([("graph_depth", "0")], "flag")
    plain = context(flat, "signed tokens", form="prompt")
    assert [row["id"] for row in plain.included] == ["decision-a"]
