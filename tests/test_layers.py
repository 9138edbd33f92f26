"""Test the direction of imports, by docs/architecture.md, and the imports of the hot path."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Container, Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from homes import move_home

import pylore

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pylore"

FLOORS = (
    ("core",),
    ("system",),
    ("terminal",),
    ("store",),
    ("embed", "graph"),
    ("indexing",),
    ("anchors",),
    ("records", "search", "code"),
    ("formats",),
    ("evaluate", "context", "view", "ask"),
    ("app",),
    ("sdk",),
    ("hooks",),
    ("cli",),
    ("capture", "hub", "mcp"),
    ("__main__",),
)
FLOOR = {package: floor for floor, packages in enumerate(FLOORS) for package in packages}
NEEDS_ALONE = {"ask": {"core", "system"}}
"""Packages that need less than their floor allows."""
PARTS = {"capture", "hub"}
"""Packages that can be left out: ``system.part`` imports them."""

HEAVY = {
    *"apsw.ext click collections contextlib dataclasses enum json numpy pathlib re".split(),
    *"sqlite_vec tokenizers typing wordllama".split(),
}

Name = tuple[str, ...]
"""A module or package below ``pylore``, in parts."""


def name_of(path: Path) -> Name:
    """``pylore/store/filter.py`` → ``("store", "filter")``; a package's own file is the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


IMPORT = re.compile(r"^[ \t]*from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


def imports(source: str, package: Name, modules: Container[Name]) -> set[Name]:
    """Return the modules that a module of ``package`` imports from, types and late ones too.

    >>> imports("from ..errors import LoreError", ("core", "sub"), {("core", "errors")})
    {('core', 'errors')}
    """
    found = set()
    for dots, module, names in IMPORT.findall(source):
        base = package[: len(package) - len(dots) + 1] + tuple(filter(None, module.split(".")))
        for name in re.findall(r"(?:^|[(,])\s*(\w+)", re.sub("#.*", "", names)):
            found.add((*base, name) if (*base, name) in modules else base)
    return found


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]
NAMES = {name_of(path) for path in MODULES}


@cache
def arrows() -> dict[Name, set[Name]]:
    """Module to the modules that it imports."""
    return {
        name_of(path): imports(path.read_text(), path.relative_to(PACKAGE).parent.parts, NAMES)
        - {()}
        for path in MODULES
    }


def upward(module: Name, others: Iterable[Name]) -> list[Name]:
    """Return the imports of a module that are not allowed."""
    room = module[0]
    return sorted(
        other
        for other in others
        if other[0] != room
        and (FLOOR[other[0]] >= FLOOR[room] or other[0] not in NEEDS_ALONE.get(room, FLOOR))
    )


def test_imports_point_down() -> None:
    found = {module: upward(module, others) for module, others in arrows().items()}
    assert {module: up for module, up in found.items() if up} == {}
    assert len(found) > 150


def test_optional_parts_are_not_imported() -> None:
    found = {
        module: parts
        for module, others in arrows().items()
        if (parts := {other[0] for other in others} & PARTS - {module[0]})
    }
    assert found == {}
    late = "def f():\n    from ..hub import search\n"
    assert imports(late, ("cli",), {("hub", "search")}) == {("hub", "search")}


def test_no_modules_import_each_other_in_a_circle() -> None:
    TopologicalSorter(arrows()).prepare()  # raises CycleError


def test_the_table_has_every_package_and_no_other() -> None:
    assert {name[0] for name in NAMES} == FLOOR.keys()


def test_every_package_has_a_summary_line() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_the_architecture_has_the_same_table() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^([0-9]+) +((?:\w+, )*\w+)  ", text, re.MULTILINE)
    drawn = {int(floor): set(packages.split(", ")) for floor, packages in rows}
    assert drawn == {floor: set(packages) for floor, packages in enumerate(FLOORS)}


def test_modules_that_comments_name_exist() -> None:
    named = re.compile(rf"``((?:{'|'.join(FLOOR)})/\w+\.(?:py|sql))``|\(([\w/]+\.(?:py|sql))\)")
    there = {str(path) for path in PACKAGE.rglob("*.*")}
    for path in (*MODULES, *PACKAGE.rglob("*.sql")):
        for name in ("".join(found) for found in named.findall(path.read_text())):
            assert any(one.endswith(f"/{name}") for one in there), (path, name)


def test_only_store_hub_and_tokenizer_use_sql() -> None:
    sql = re.compile(r"\b(?:SELECT .* FROM|INSERT (?:OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM)\b")
    outside = [path for path in MODULES if name_of(path)[0] not in ("store", "hub", "embed")]
    assert [path.name for path in outside if sql.search(path.read_text())] == []
    assert sql.search((PACKAGE / "store/nodes.py").read_text())


DRIVER = re.compile(
    r"^ *(?:import|from) (?:apsw|sqlite3|sqlite_vec|sqlite_fts4|\S+ import apsw)\b", re.MULTILINE
)


def test_only_store_and_tokenizer_use_a_driver() -> None:
    found = {name_of(path)[0]: path.name for path in MODULES if DRIVER.search(path.read_text())}
    assert found.keys() == {"store", "core", "embed"}
    assert found["core"] == "text.py", "whose words are SQLite's tokens"


# --- loaded modules

# As lib/common.sh starts it: without the site module, which would load half of these.
PRELUDE = "import sys; sys.path += sys.argv[1:3]; del sys.argv[1:3]\n"
REPORT = "\nprint(*sorted(sys.modules), file=sys.stderr)"
SITE = next(ROOT.glob(".venv/lib/python3*/site-packages"))


def loaded(program: str, *argv: str, store: str = "") -> set[str]:
    """The modules in memory after a program."""
    words = [*"-I -S -X utf8 -c".split(), PRELUDE + program + REPORT, str(ROOT), str(SITE), *argv]
    environ = {**os.environ, "LORE_DIR": store}
    done = subprocess.run(
        [sys.executable, *words], env=environ, capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("layers")
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, folder)
        with pylore.open(folder / ".lore", create=True) as lore:
            lore.add("decision", "Sessions are signed tokens", id="decision-a")
            lore.add("note", "Words", id="note-c", file="src/a.py")
            lore.add("note", "Names are words", id="note-c", file="src/a.py")
        lore.add("lesson", "Tokens expire", id="lesson-b", links=[("decision-a", "relates_to")])
    return str(folder / ".lore")


RUN = "from pylore.cli.main import _run; _run(sys.argv[1:])"


def test_package_and_search_load_few_modules(store: str) -> None:
    assert loaded("import pylore") & HEAVY == set()
    assert sum("pylore" in one for one in loaded(RUN, "search", "signed", store=store)) <= 40


@pytest.mark.parametrize(
    "words",
    [
        ("search", "signed tokens", "--graph-depth", "2", "--explain"),
        ("search", "Sessions", "--text"),
        ("search", "Unheardofwords", "новые слова 会话", "Sessions are signed tokens"),
        ("search", "Sessions", "--run", "run-none"),
        ("search", "--files", "src/a.py", "--graph-depth", "1"),
        ("related", "decision-a", "--hops", "2"),
        ("related", "src/a.py"),
        ("show", "decision-a"),
        ("context", "signed tokens", "--as", "json"),
        ("context", "signed tokens", "--as", "prompt"),
        ("context", "signed tokens", "--as", "narrative"),
        ("list", "-n", "2"),
        ("list", "--type", "note", "--since", "1d", "--ids"),
    ],
    ids=" ".join,
)
def test_hot_path_avoids_heavy_modules(words: tuple[str, ...], store: str) -> None:
    found = loaded(RUN, *words, store=store)
    assert "pylore.store.store" in found
    assert found & HEAVY == set()


@pytest.mark.parametrize(
    "words",
    [
        ("add", "note", "Sesquipedalian новые слова 会话", "--why", "so", "--file", "src/b.py:1-2"),
        ("add", "note", "Linked", "--link", "decision-a:relates_to", "--tags", "a,b", "--text"),
        ("link", "note-c", "relates_to", "decision-a", "--meta", "by=me"),
        ("fact", "jacq", "depends_on", "oslo", "--status", "confirmed"),
        ("edit", "note-c", "Names are other words", "--title", "Names"),
    ],
    ids=" ".join,
)
def test_write_commands_avoid_heavy_modules(words: tuple[str, ...], store: str) -> None:
    found = loaded(RUN, *words, store=store)
    assert "pylore.records.records" in found
    assert found & {*HEAVY, "functools", "hashlib", "subprocess"} == set()


def test_batch_avoids_heavy_modules(store: str, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "1", "query": "signed tokens"}\n')
    found = loaded(RUN, "search", "--batch", str(questions), store=store)
    assert "pylore.evaluate.queries" in found
    assert found & HEAVY == set()
