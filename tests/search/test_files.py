"""Pin the rules for files in ``pylore/search/tuning.py``: each test fails without its rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from code_project import Project
from new_stores import new_store
from repositories import Repository

from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.core.text import parse_query
from pylore.core.vocabulary import CODE_IDS, path_of
from pylore.indexing.indexer import Index
from pylore.search.pipeline import Request, search
from pylore.search.places import stretch_of
from pylore.store import Store
from pylore.store.anchors import DocumentFile
from pylore.store.filter import Scope

OTHER = "Of other things this says much, and of what is asked for nothing.\n" * 5
"""Words for the head of a text, where who asks for its title would find them."""
NOW = "2026-01-01T00:00:00Z"
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
    request = Request(query, Scope(types))
    return [hit.id for hit in search(project.store, Settings(), request, None)]


def files(project: Project, query: str, *types: str) -> list[str]:
    ids = look(project, query, *types)
    return list(dict.fromkeys(path_of(id) for id in ids if id.startswith(CODE_IDS)))


def test_a_file_of_a_few_words_is_last_unless_it_is_named(project: Project) -> None:
    project.write("gadget/gadget.typed", "gadget\n")
    project.write("src/shop.py", KEYS.format("gadget"))
    project.index()
    assert files(project, "gadget")[0] == "src/shop.py"
    assert files(project, "where is gadget.typed", "file")[0] == "gadget/gadget.typed"


def test_a_hidden_file_is_after_a_document_unless_it_is_named(project: Project) -> None:
    project.write(".gadget.yml", f"{OTHER}gadget colour: red\ngadget size: small\n")
    project.write("notes.md", f"{OTHER}The colour of things, and of one gadget of these\n" * 3)
    project.index()
    found = files(project, "gadget colour")
    assert found.index("notes.md") < found.index(".gadget.yml")
    assert files(project, "colour in .gadget.yml")[0] == ".gadget.yml"


def test_a_name_in_its_class_is_before_the_same_name_in_another(project: Project) -> None:
    for path, name in (("src/a.py", "Query"), ("src/b.py", "Reply")):
        project.write(path, f"class {name}:\n    def as_text(self):\n        return ''\n")
    project.index()
    for name, path in (("Reply", "b"), ("Query", "a")):
        assert look(project, f"{name}.as_text")[0] == f"symbol-src/{path}.py::{name}.as_text"


def test_the_best_symbol_of_another_file_is_before_a_second_one_of_the_first(
    project: Project,
) -> None:
    project.write("src/all.py", "".join(KEYS.format(name) for name in ("one", "two", "three")))
    project.write("src/some.py", KEYS.format("four") + LAMP * 4)
    project.index()
    found = look(project, "how is the signing key rotated")
    assert [path_of(id) for id in found[:2]] == ["src/all.py", "src/some.py"]


def test_what_a_question_names_is_defined_in_a_better_file(project: Project) -> None:
    project.write("src/loader.py", "def parse_rules(text):\n    return text\n")
    project.write("src/words.py", "# parse_rules of the loader\n" * 3 + LAMP)
    project.index()
    asked = "how do lamps and parse_rules come to the loader of words"
    assert files(project, asked)[0] == "src/loader.py"


def test_changelogs_answer_what_was_changed_and_stand_back_elsewhere(project: Project) -> None:
    log = "Gadgets were dropped, and support ended\n"
    project.write("CHANGES.md", f"# Changes\n\n## 2.0\n\n{OTHER}{log}" + "Lamps are lit\n" * 60)
    project.write("ci/gadgets.yml", f"{OTHER}old: gadgets\nsupport: gadgets\n")
    project.write("src/shop.py", KEYS.format("gadgets") + "# support for old gadgets\n")
    project.index()
    assert files(project, "when was support for old gadgets dropped")[0] == "CHANGES.md"
    for asked in ("gadgets dropped and ended", "support ended in 2.0"):
        assert files(project, asked)[0] == "CHANGES.md"
    for asked in ("how is support for old gadgets made", "support for old gadgets"):
        assert files(project, asked)[0] == "src/shop.py"


def test_a_document_answers_why_something_was_chosen(project: Project) -> None:
    project.write("docs/lamps.md", f"{OTHER}Oil was chosen for lamps: oil lamps shine long.\n")
    project.write("src/lit.py", LAMP.replace("lamp", "lamps with oil"))
    project.index()
    assert files(project, "why was oil chosen for lamps")[0] == "docs/lamps.md"
    assert files(project, "how is oil chosen for lamps")[0] == "src/lit.py"


def test_an_imported_changelog_stands_back_as_its_file_does(project: Project) -> None:
    project.write("src/shop.py", KEYS.format("gadgets") + LAMP * 3)
    log = f"# Changes\n\n## 2.0\n\n{OTHER}- Removed: rotate signing key gadgets by night\n"
    project.write("CHANGES.md", log)
    project.index()
    node = Node("doc-CHANGES", "doc", "Changes", log, created_at=NOW, updated_at=NOW)
    node.file, node.line_start, node.line_end = "CHANGES.md", 1, 10
    put(project.store, node)
    assert look(project, "rotate signing key gadgets by night")[0].startswith("symbol-src/shop.py")
    assert look(project, "removed gadgets by night")[0] == "doc-CHANGES"


def put(store: Store, node: Node) -> None:
    with store.transaction():
        store.nodes.put(node)
        Index(store, None).update([node])
        store.documents.put("", DocumentFile(node.id, "CHANGES.md"), "")


def test_tests_come_first_where_a_query_speaks_of_them_and_stand_back_elsewhere(
    project: Project,
) -> None:
    project.write("src/keys.py", KEYS.format("key") * 2)
    project.write("tests/test_keys.py", "def test_rotation():\n    '''Rotate the key.'''\n" + LAMP)
    project.index()
    for asked in ("tests that rotate the key", "tests for rotate_key", "rotate key tests"):
        assert files(project, asked)[0] == "tests/test_keys.py", asked
    project.write("src/report.py", "class TestKeys:\n    # Report of keys\n")
    project.index()
    assert look(project, "TestKeys")[0] == "symbol-src/report.py::TestKeys"
    for asked in ("rotate the key", "how is the key rotated"):
        assert files(project, asked)[0] == "src/keys.py", asked


def test_words_that_are_far_apart_are_no_place() -> None:
    near, far = "a\n" * 590, "a\n" * 610
    query = parse_query("gadget widget")
    assert stretch_of(f"gadget\n{near}widget\n", query)[:2] == (1, 592)
    assert stretch_of(f"gadget\n{far}widget\n", query)[:2] == (1, 1)


def test_a_frequent_word_has_no_place_after_the_first_fifty() -> None:
    query = parse_query("gadget widget")
    assert stretch_of("gadget\n" * 60 + "widget\n", query)[:2] == (50, 61)
