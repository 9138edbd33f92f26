"""Test that git is started in a single place, which disables programs of a repository's config."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pylore

PACKAGE = Path(pylore.__file__).parent
ROOT = PACKAGE.parent
DOOR = "system/git_process.py"

STARTERS = re.compile(r"Popen|posix_spawnp?|create_subprocess_\w+|(exec|spawn)[lv]p?e?|fork|popen")
"""Names of functions that start a program, in any module."""

STARTING = {*"cli/main.py code/scan.py system/plugins.py system/stores.py".split(), DOOR}
STARTING |= {"terminal/__init__.py", "terminal/screen.py"}
"""The modules that start programs. Only ``git_process`` starts git."""


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules, and the names out of modules, that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (alias.name for alias in node.names)


def starts_programs(tree: ast.AST) -> bool:
    """Return True if a file imports ``subprocess`` or starts programs."""
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return "subprocess" in imported(tree) or any(map(STARTERS.fullmatch, named))


TREES = {
    str(path.relative_to(PACKAGE)): ast.parse(source)
    for path in PACKAGE.rglob("*.py")
    for source in [path.read_text(encoding="utf-8")]
    if "subprocess" in source or "find_program" in source or STARTERS.search(source)
}
"""The modules that may start a program, by their names: parsing all takes seconds."""


def test_only_listed_modules_start_programs() -> None:
    found = {name for name, tree in TREES.items() if starts_programs(tree)}
    assert found == STARTING


def test_only_the_door_names_and_looks_up_git() -> None:
    nodes = [(name, node) for name, tree in TREES.items() for node in ast.walk(tree)]
    texts = (
        (name, node.value)
        for name, node in nodes
        if name in STARTING and isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    assert {name for name, text in texts if re.match(r"([^\s]*/)?git(\s|$)", text)} == {DOOR}
    calls = [(name, ast.unparse(node)) for name, node in nodes if isinstance(node, ast.Call)]
    assert {name for name, call in calls if call.endswith("find_program('git')")} == {DOOR}


CALL = re.compile(r"(?:^|[;&|({!]|\b(?:then|do|else|if|while|until|exec|command|env|eval))\s*git\s")


def test_no_shell_script_of_lores_starts_git() -> None:
    files = [ROOT / "lore.sh", *(ROOT / "lib").iterdir(), *(ROOT / "graph").glob("*.sh")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(lines) > 300
    assert [line for line in lines if CALL.search(line) and not line.startswith("#")] == []
    assert CALL.search("  x=$(git log)") and CALL.search("git add") and CALL.search("a && git x")
