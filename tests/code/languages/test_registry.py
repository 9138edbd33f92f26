"""A language is a module of its own and a rule file: nothing else knows of it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from code_project import Project
from new_stores import new_store

from pylore.code.languages import registry
from pylore.code.languages.registry import add, language
from pylore.code.languages.spec import LanguageSpec
from pylore.code.rules import load_rules
from pylore.core.vocabulary import file_id, symbol_id

CODE = Path(__file__).resolve().parents[3] / "pylore" / "code"
SHARED = [
    path for path in sorted(CODE.rglob("*.py"))
    if path.parent.name != "javascript"
    and (path.parent.name != "languages" or path.name in ("spec.py", "registry.py"))
]  # fmt: skip

PAGE = (CODE.parents[1] / "docs" / "languages.md").read_text()


def example(kind: str) -> str:
    """The first block of the documentation in a language."""
    return PAGE.partition(f"```{kind}\n")[2].partition("```")[0]


@pytest.fixture
def lua(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The documentation's own example."""
    monkeypatch.setattr(registry, "_added", {})
    rules = tmp_path / "lua.yml"
    rules.write_text(example("yaml"))
    module: dict[str, Any] = {"__package__": registry.__package__, "__name__": "lua"}
    exec(example("python"), module)
    add(module["SPEC"], str(rules))


def test_a_language_from_outside_is_read_and_its_names_are_resolved(
    lua: None, tmp_path: Path
) -> None:
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
            (file_id("lib/a.lua"), "defines"), (symbol_id("main.lua", "start"), "calls"),
        }  # fmt: skip
        found = {(edge.from_id, edge.relation) for edge in store.edges.of(file_id("lib/a.lua"))}
    assert found >= {(file_id("main.lua"), "imports"), (file_id("notes.md"), "mentions")}


def test_a_store_is_read_again_with_the_rules_of_a_new_language(tmp_path: Path, lua: None) -> None:
    with pytest.MonkeyPatch.context() as patch, new_store(str(tmp_path / "store")) as store:
        project = Project(tmp_path / "tree", store)
        project.write("a.lua", "function greet()\nend\n")
        patch.setattr(registry, "_added", {})
        assert project.index()["languages"] == {"text": 1}
        patch.undo()
        assert project.index()["languages"] == {"lua": 1}


@pytest.mark.parametrize("name", sorted(load_rules().languages))
def test_every_language_with_rules_has_a_module_that_says_its_name(name: str) -> None:
    spec = language(name)
    assert spec.name == name
    assert spec.importer is not None
    assert spec.extensions == (), "the head of the rule file says them"


@pytest.mark.parametrize("name", ["spec", "registry", "javascript.npm", "..write", "a b", ""])
def test_a_name_that_is_no_language_is_a_family_of_its_own(name: str) -> None:
    assert language(name) == LanguageSpec(name, name)


# --- shared code names no language


def words(source: str) -> Iterator[str]:
    """The words of a module's names, and those of its texts but for docstrings.

    >>> sorted(words("def is_python(): '''Go.'''; return 'a.rb java'"))
    ['.rb', 'a', 'def', 'is', 'java', 'python', 'rb', 'return']
    """
    said = {
        node.value.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield from re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}", token.string)
        elif token.type != tokenize.COMMENT and token.start[0] not in said:
            yield from re.findall(r"\.?\b[a-zA-Z+]+\b", token.string)


@cache
def known_words() -> set[str]:
    """The languages, and the extensions of their files."""
    rules = load_rules()
    known = {end for spec in rules.languages.values() for end in spec.extensions}
    known |= {end for spec in rules.languages.values() for _, ends in spec.dialects for end in ends}
    return known | rules.languages.keys()


def named(source: str) -> set[str]:
    """The languages, and the extensions of their files, that a module names."""
    return {word for word in words(source) if word.lower() in known_words()}


@pytest.mark.parametrize("path", SHARED, ids=lambda path: str(path.relative_to(CODE)))
def test_shared_code_names_no_language(path: Path) -> None:
    assert named(path.read_text()) == set()


def said(source: str) -> set[str]:
    """The words of a module's texts but for docstrings."""
    tree = ast.parse(source)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node.value for node in ast.walk(tree)
             if isinstance(node, ast.Constant) and id(node) not in documented]  # fmt: skip
    return {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}


def test_a_language_that_is_named_is_seen() -> None:
    assert named('if family == "javascript":\n    pass\n') == {"javascript"}
    assert named("_PYTHON = path.endswith(('.py', '.pyi'))\n") == {"PYTHON", ".py", ".pyi"}
    assert named('"""Go, Ruby."""\nx = 1  # as in C\n') == set()
