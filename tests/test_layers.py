"""Which way imports point, and what the hot path loads. The table is docs/architecture.md's."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import move_home

import pylore

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pylore"

FLOORS = (
    (
        "errors", "model", "text", "rank", "vocabulary", "programs", "folders", "temporary", "bugs",
    ),
    (
        "jsontext", "jsonlines", "settings", "ids", "times", "gitprocess", "stamps", "citations",
        "endings", "links",
    ),
    ("output", "render", "store", "questions", "git", "atomic_write"),
    (
        "embed",
        "options",
        "expand",
        "batch",
        "retrievers",
        "fulltext_leg",
        "similar",
        "places",
        "tree",
        "ask",
        "verdicts",
        "cochange_age",
    ),
    (
        "index", "relations", "accumulate", "activation", "legs", "hits", "anchors",
        "diversity", "lifecycle",
    ),
    (
        "reach", "records", "graph_shape", "runs", "shown", "embedding", "similar_bulk", "nearby",
        "facts", "accesses",
    ),
    ("search", "formats", "graph", "graph_path", "detail", "code", "verify", "common"),
    ("hot", "sdk", "doctor", "evaluate", "context", "view"),
    ("cli", "telling"),
    ("main",),
)  # fmt: skip
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

HEAVY = {
    "apsw.ext", "click", "collections", "contextlib", "dataclasses", "enum", "json", "numpy",
    "pathlib", "re", "sqlite_vec", "tokenizers", "typing", "wordllama",
}  # fmt: skip


def imports(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """The rooms that a module of ``package`` imports from, types and late imports too.

    >>> list(imports("from ..errors import LoreError", ("store",)))
    ['errors']
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            for name in names:
                yield ".".join((*base, name)).split(".")[0]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def upward(room: str, others: set[str]) -> list[str]:
    """What a room imports and should not."""
    return sorted(o for o in others if o != room and FLOOR[o] >= FLOOR[room])


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    found = set(imports(path.read_text(), path.relative_to(PACKAGE).parent.parts))
    assert upward(room_of(path), found) == []


def test_an_import_that_points_up_is_seen() -> None:
    source = "def f():\n    from ..search import search\n"
    assert upward("store", set(imports(source, ("store",)))) == ["search"]
    assert upward("ids", {"times", "errors"}) == ["times"]
    assert upward("cli", {"hot", "cli"}) == []


def test_the_table_has_every_room_and_no_other() -> None:
    assert {room_of(path) for path in MODULES} == FLOOR.keys()


def test_the_architecture_has_the_same_table() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^([0-9])  ((?:\w+/?   ?)*\w+/?)", text, re.MULTILINE)
    drawn = {int(floor): set(rooms.replace("/", " ").split()) for floor, rooms in rows}
    assert drawn == {floor: set(rooms) for floor, rooms in enumerate(FLOORS)}


def test_only_the_store_speaks_sql() -> None:
    sql = re.compile(r"\b(?:SELECT .* FROM|INSERT (?:OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM)\b")
    outside = [path for path in MODULES if room_of(path) != "store"]
    assert [path.name for path in outside if sql.search(path.read_text())] == []
    assert sql.search((PACKAGE / "store/nodes.py").read_text())


def spelled_ids(source: str) -> list[str]:
    """The texts of a module that begin as an id of a type that has names; no docstrings."""
    prefixes = ("file-", "symbol-", "entity-", "concept-", "commit-")
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        and node.value.startswith(prefixes) and id(node) not in said
    ]  # fmt: skip


def test_ids_are_spelled_in_one_place() -> None:
    found = [path.name for path in MODULES if spelled_ids(path.read_text())]
    assert found == ["vocabulary.py"]
    assert spelled_ids('"""file-a"""\nf(f"symbol-{path}::f", "a file-b")') == ["symbol-"]


# --- what is loaded

# As lib/common.sh starts it: without the site module, which would load half of these.
PRELUDE = "import sys; sys.path += sys.argv[1:3]; del sys.argv[1:3]\n"
REPORT = "\nprint(*sorted(sys.modules), file=sys.stderr)"
SITE = next(ROOT.glob(".venv/lib/python3*/site-packages"))


def loaded(program: str, *argv: str, store: str = "") -> set[str]:
    """The modules in memory after a program."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", PRELUDE + program + REPORT,
         str(ROOT), str(SITE), *argv],
        env={**os.environ, "LORE_STORE": store}, capture_output=True, text=True, check=True,
    )  # fmt: skip
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


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded("import pylore") & HEAVY == set()


@pytest.mark.parametrize("form", ["json", "prompt", "narrative"])
def test_a_context_loads_nothing_heavy(form: str, store: str) -> None:
    program = "from pylore.cli.context import context_command; context_command(sys.argv[1:])"
    found = loaded(program, "signed tokens", "--as", form, store=store)
    assert "pylore.context.build" in found
    assert found & HEAVY == set()


@pytest.mark.parametrize(
    "words",
    [
        ("search", "signed tokens", "--graph-depth", "2", "--explain"),
        ("search", "Sessions", "--text"),
        ("search", "Sessions", "--run", "run-none"),
        ("search", "--files", "src/a.py", "--graph-depth", "1"),
        ("related", "decision-a", "--hops", "2"),
        ("related", "src/a.py"),
        ("show", "decision-a"),
        ("stats",),
    ],
    ids=" ".join,
)
def test_the_hot_path_loads_nothing_heavy(words: tuple[str, ...], store: str) -> None:
    program = "from pylore import hot, main; hot.COMMANDS[sys.argv[1]](sys.argv[2:])"
    found = loaded(program, *words, store=store)
    assert "pylore.store.sqlite.store" in found
    assert found & HEAVY == set()


def test_the_check_sees_what_is_loaded() -> None:
    assert loaded("import pylore.sdk, json") >= {"json", "pylore.sdk"}
