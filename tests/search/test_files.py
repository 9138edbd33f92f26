"""The ranks of files: legs, kinds of files, commits, and the lines that are shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import searching
from code_project import Project
from new_stores import new_store
from repositories import Repository
from searching import ids

from pylore.core.text import parse_query
from pylore.core.vocabulary import CODE_IDS, is_auxiliary, is_source, path_of
from pylore.search.files import definitions
from pylore.search.places import stretch_of
from pylore.store.filter import Scope

KEYS = "def rotate_{0}(key):\n    '''Rotate the signing key {0}.'''\n    return key\n\n\n"
LAMP = "def light(lamp):\n    '''Light a lamp.'''\n    return lamp\n"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    repository = Repository(tmp_path / "project")
    with new_store(str(tmp_path / "store")) as store:
        made = Project(repository.root, store)
        for number in range(6):
            made.write(f"src/room{number}.py", LAMP.replace("lamp", f"lamp{number}"))
        yield made


def look(project: Project, query: str, *types: str) -> list[str]:
    """The ids that are found, without vectors."""
    return ids(searching.look(project.store, query, Scope(types)))


def files(project: Project, query: str, *types: str) -> list[str]:
    ids = look(project, query, *types)
    return list(dict.fromkeys(path_of(id) for id in ids if id.startswith(CODE_IDS)))


def test_qualified_name_prefers_the_class(project: Project) -> None:
    for path, name in (("src/a.py", "Query"), ("src/b.py", "Reply")):
        both = "# Query and Reply have as_text\n" * 3
        project.write(path, f"class {name}:\n    def as_text(self):\n        return ''\n\n\n{both}")
    project.index()
    for name, path in (("Reply", "b"), ("Query", "a")):
        assert look(project, f"{name}.as_text")[0] == f"symbol-src/{path}.py::{name}.as_text"


def test_other_files_precede_second_symbols(project: Project) -> None:
    keys = [KEYS.format(name) for name in ("one", "two", "three")]
    project.write("src/all.py", LAMP.replace("a lamp", "a key") + "".join(keys))
    project.write("src/some.py", KEYS.format("four") + LAMP * 4)
    project.index()
    found = look(project, "how is the signing key rotated")
    assert [path_of(id) for id in found[:2]] == ["src/all.py", "src/some.py"]
    assert [id for id in found if "all.py" in id][-1] == "symbol-src/all.py::light"


def test_results_show_matching_lines(project: Project) -> None:
    project.write("src/keys.py", KEYS.format("one") + LAMP + "\n# A zebra\n# at a crossing\n")
    project.write("zoo.rst", ".. _okapi:\n\n.. c:function:: int lynx(fur)\n\n   Meow.\n")
    project.index()
    wanted = {
        '"a zebra at a"': (10, "# A zebra # at a crossing"),
        "rotate_one": (1, "Rotate the signing key one. return key"),
        "okapi": (1, ".. _okapi:"),
        "lynx meow": (3, ".. c:function:: int lynx(fur) Meow."),
    }
    for query, shown in wanted.items():
        hit = searching.look(project.store, query, operators=True)[0]
        assert (hit.line_start, hit.snippet) == shown


def test_names_with_capitals_match_exactly(project: Project) -> None:
    project.write("src/a.py", "def query():\n    return 1\n")
    project.write("src/b.py", "class Query:\n    size = 1\n")
    project.write("src/all.py", "\n".join(f"class C{n}:\n def run(): pass" for n in range(450)))
    project.index()
    assert definitions(project.store, ["Query"]) == {"symbol-src/b.py::Query": 1.0}
    assert definitions(project.store, ["query"]) == {"symbol-src/a.py::query": 1.0}
    assert definitions(project.store, ["QUERY"]) == {}
    assert definitions(project.store, ["c7"]) == {"symbol-src/all.py::C7": 1.0}
    assert files(project, "run")[0] == "src/all.py", "whose symbols exceed the limit of a leg"


def test_changelogs_rank_low_except_for_changes(project: Project) -> None:
    sold, lit = "Old gadgets are sold\n", "Lamps are lit by the painted door\n" * 9
    project.write("CHANGES.md", sold * 3 + lit + "Stack painted crates\n")
    project.write("shop.md", sold + lit)
    project.write("src/crates.py", "# Stack the crates\n")
    project.index()
    assert files(project, "gadgets sold")[:2] == ["shop.md", "CHANGES.md"]
    for asked in ("when were gadgets sold", "gadgets sold in 2.0", "migrate sold gadgets"):
        assert files(project, asked)[:2] == ["CHANGES.md", "shop.md"], asked
    assert files(project, "stack painted crates")[0] == "src/crates.py"


def test_tests_rank_low_except_for_tests(project: Project) -> None:
    project.write("src/keys.py", KEYS.format("key") * 2 + "# This is no test, and has no tests.\n")
    project.write("tests/test_keys.py", "def test_rotation():\n    '''Rotate the key.'''\n" + LAMP)
    project.index()
    for asked in ("rotate the key", "how is the key rotated"):
        assert files(project, asked)[0] == "src/keys.py", asked
    for asked in ("test that rotates the key", "the tests of rotation"):
        assert files(project, asked)[0] == "tests/test_keys.py", asked


def test_data_and_prose_rank_low_in_files(project: Project) -> None:
    project.write("gadgets.yml", "gadget: gadget gadget\n")
    project.write("gadgets.md", "gadget gadget gadget\n")
    project.write("src/shop.py", KEYS.format("gadget") + LAMP)
    project.index()
    found = files(project, "gadget", "file")
    assert found[0] == "src/shop.py" and {*found[1:3]} == {"gadgets.yml", "gadgets.md"}
    assert "gadgets.md" in files(project, "gadget colour")[:3], "pages have a list"


def test_kinds_of_files() -> None:
    source = ["src/latest.py", "lib/a.test", "docs/conf.py", "bin/run", "a.min.js"]
    assert [*filter(is_source, [*source, "ChangeLog", "news/issue-1", ".zshrc"])] == source
    assert [*filter(is_auxiliary, source)] == ["lib/a.test", "docs/conf.py", "a.min.js"]


def test_names_are_found_by_their_words_and_without_a_symbol(project: Project) -> None:
    project.write("src/a.php", "function rotateLamp() {}\n" + "// other words of a file\n" * 300)
    project.write("src/rotate/lamp.php", "// rotate the lamp, rotate a lamp\n")
    project.write("lamps.md", "# Rotate lamps\n\nHow to rotate a lamp.\n")
    project.write("src/unitofwork.py", "def unitofwork():\n    return 1\n" + LAMP)
    project.write("src/clock.py", "class Timelimit:\n    pass\n" + LAMP)
    project.write("src/wall.py", LAMP + "# the limit\n")
    project.index()
    assert files(project, "where is the unit of work")[0] == "src/unitofwork.py"
    assert files(project, "time limit") == ["src/clock.py", "src/wall.py"]
    assert look(project, "rotateLamp")[0] == "file-src/a.php"
    project.write("doors.md", "# Doors\n\nrotateLamp = 3\n")
    project.index()
    assert look(project, "rotateLamp")[0] == "file-doors.md", "pages have the name too"


def test_lines_are_those_around_the_rarest_word() -> None:
    query = parse_query("gadget widget")
    text = "gadget\n" + "a\n" * 900 + "gadget\nwidget\n"
    assert stretch_of(text, query)[:2] == (902, 903)
