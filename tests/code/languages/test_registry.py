"""A language is a module of its own and a rule file: nothing else knows of it."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from code_project import Project

from pylore.code.imports import Bound, Found, Packages, SourceTree
from pylore.code.imports.found import CERTAIN, RESOLVED, UNRESOLVED
from pylore.code.languages import registry
from pylore.code.languages.registry import add, language
from pylore.code.languages.spec import LanguageSpec
from pylore.code.parse.facts import FileFacts, Import
from pylore.code.parse.rules import load_rules
from pylore.core.vocabulary import file_id, symbol_id
from pylore.store import create_store

CODE = Path(__file__).resolve().parents[3] / "pylore" / "code"
SHARED = [
    path for path in sorted(CODE.rglob("*.py"))
    if path.parent.name != "javascript"
    and (path.parent.name != "languages" or path.name in ("spec.py", "registry.py"))
]  # fmt: skip

RULES = r"""# Toy
# extensions: .toy
# comments: --
# mentioned: .toy
id: toy.function
language: Lua
message: "$NAME"
rule: {kind: function_declaration, has: {field: name, pattern: $NAME}}
---
id: toy.use
language: Lua
message: "$MODULE"
rule: {pattern: use($MODULE)}
---
id: toy.call
language: Lua
message: "$CALLEE"
rule: {kind: function_call, has: {field: name, pattern: $CALLEE}}
"""


class ToyImports:
    """``use "lib.a"`` is all of ``lib/a.toy``."""

    def __init__(
        self, tree: SourceTree, files: Mapping[str, FileFacts], packages: Packages
    ) -> None:
        self._paths = tree.paths

    def find(self, facts: FileFacts, item: Import) -> Found:
        path = item.module.replace(".", "/") + ".toy"
        if path not in self._paths:
            return Found(UNRESOLVED)
        return Found(RESOLVED, (path,), (Bound("*", path),), CERTAIN)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_added", {})
    rules = tmp_path / "toy.yml"
    rules.write_text(RULES)
    add(LanguageSpec("toy", "toy", importer=ToyImports), str(rules))


def test_a_language_from_outside_is_read_and_its_names_are_resolved(
    toy: None, tmp_path: Path
) -> None:
    with create_store(tmp_path / "search.db") as store:
        project = Project(tmp_path / "tree", store)
        project.write("lib/a.toy", "-- Says hello.\nfunction greet()\nend\n")
        project.write("main.toy", 'use("lib.a")\nfunction start()\n  greet()\nend\n')
        project.write("notes.md", "See a.toy.\n")
        done = project.index()
        assert done["languages"]["toy"] == 2
        assert "Says hello." in project.node(symbol_id("lib/a.toy", "greet")).body
        ends = {
            (edge.from_id, edge.to_id, edge.relation)
            for path in ("lib/a.toy", "main.toy", "notes.md")
            for id in (file_id(path), symbol_id(path, "start"))
            for edge in store.edges.of(id)
        }
    greet = symbol_id("lib/a.toy", "greet")
    assert (file_id("main.toy"), file_id("lib/a.toy"), "imports") in ends
    assert (symbol_id("main.toy", "start"), greet, "calls") in ends
    assert (file_id("notes.md"), file_id("lib/a.toy"), "mentions") in ends


def test_a_store_is_read_again_with_the_rules_of_a_new_language(tmp_path: Path, toy: None) -> None:
    with pytest.MonkeyPatch.context() as patch, create_store(tmp_path / "search.db") as store:
        project = Project(tmp_path / "tree", store)
        project.write("a.toy", "function greet()\nend\n")
        patch.setattr(registry, "_added", {})
        assert project.index()["languages"] == {"text": 1}
        patch.undo()
        assert project.index()["languages"] == {"toy": 1}


@pytest.mark.parametrize("name", sorted(load_rules().languages))
def test_every_language_with_rules_has_a_module_that_says_its_name(name: str) -> None:
    spec = language(name)
    assert spec.name == name
    assert spec.importer is not None
    assert spec.extensions == (), "the head of the rule file says them"


@pytest.mark.parametrize("name", ["spec", "registry", "javascript.npm", "..write", "a b", ""])
def test_a_name_that_is_no_language_is_a_family_of_its_own(name: str) -> None:
    assert language(name) == LanguageSpec(name, name)


def test_resolving_loads_the_languages_that_are_there_and_no_other() -> None:
    program = (
        "import sys; from pylore.code.resolve.resolve import resolve;"
        "from pylore.code.parse.facts import FileFacts;"
        "resolve({'a.go': FileFacts('a.go', 'go')}, '/');"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True, cwd=CODE.parents[1])  # fmt: skip
    prefix = "pylore.code.languages."
    loaded = {name.removeprefix(prefix) for name in done.stdout.split() if prefix in name}
    assert loaded == {"go", "registry", "spec"}


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


def named(source: str) -> set[str]:
    """The languages, and the extensions of their files, that a module names."""
    rules = load_rules()
    known = {end for spec in rules.languages.values() for end in spec.extensions}
    known |= {end for spec in rules.languages.values() for _, ends in spec.dialects for end in ends}
    known |= rules.languages.keys()
    return {word for word in words(source) if word.lower() in known}


@pytest.mark.parametrize("path", SHARED, ids=lambda path: str(path.relative_to(CODE)))
def test_shared_code_names_no_language(path: Path) -> None:
    assert named(path.read_text()) == set()


def test_a_language_that_is_named_is_seen() -> None:
    assert named('if family == "javascript":\n    pass\n') == {"javascript"}
    assert named("_PYTHON = path.endswith(('.py', '.pyi'))\n") == {"PYTHON", ".py", ".pyi"}
    assert named('"""Go, Ruby."""\nx = 1  # as in C\n') == set()
