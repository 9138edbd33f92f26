"""A language is a module and a rule file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from code_project import Project
from new_stores import new_store

from pylore.code import languages as registry
from pylore.code.languages import add
from pylore.core.vocabulary import file_id, symbol_id

CODE = Path(__file__).resolve().parents[3] / "pylore" / "code"

PAGE = (CODE.parents[1] / "docs" / "languages.md").read_text()


def example(kind: str) -> str:
    """The first block of the documentation in a language."""
    return PAGE.partition(f"```{kind}\n")[2].partition("```")[0]


@pytest.fixture
def lua(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of the documentation."""
    monkeypatch.setattr(registry, "_added", {})
    rules = tmp_path / "lua.yml"
    rules.write_text(example("yaml"))
    module: dict[str, Any] = {"__package__": registry.__package__, "__name__": "lua"}
    exec(example("python"), module)
    add(module["SPEC"], str(rules))


def test_added_language_is_indexed_and_resolved(lua: None, tmp_path: Path) -> None:
    with new_store(str(tmp_path / "store")) as store:
        project = Project(tmp_path / "tree", store)
        project.write("lib/a.lua", "-- Says hello.\nfunction greet()\nend\n")
        project.write(
            "main.lua", 'local m = require("lib.a")\nfunction start()\n  m.greet()\nend\n'
        )
        project.write("notes.md", "See a.lua.\n")
        assert project.index()["languages"]["lua"] == 2
        greet = symbol_id("lib/a.lua", "greet")
        assert "Says hello." in project.node(greet).body
        assert {(edge.from_id, edge.relation) for edge in store.edges.of(greet)} == {
            (file_id("lib/a.lua"), "defines"),
            (symbol_id("main.lua", "start"), "calls"),
        }
        found = {(edge.from_id, edge.relation) for edge in store.edges.of(file_id("lib/a.lua"))}
    assert found >= {(file_id("main.lua"), "imports"), (file_id("notes.md"), "mentions")}


def test_new_language_reads_files_again(tmp_path: Path, lua: None) -> None:
    with pytest.MonkeyPatch.context() as patch, new_store(str(tmp_path / "store")) as store:
        project = Project(tmp_path / "tree", store)
        project.write("a.lua", "function greet()\nend\n")
        patch.setattr(registry, "_added", {})
        assert project.index()["languages"] == {"text": 1}
        patch.undo()
        assert project.index()["languages"] == {"lua": 1}
