"""Ranks of files in a search: by whole texts, by kind, and by the commits that changed them."""

from __future__ import annotations

import pytest
from commands import Lore
from repositories import Repository

LONG = "value = 1\n" * 400


@pytest.fixture
def tree(lore: Lore) -> Lore:
    """Run commands in a git work tree."""
    Repository(lore.project)
    return lore


def commit(lore: Lore, message: str, **files: str) -> None:
    """Write files of ``src`` and commit all."""
    for name, text in files.items():
        lore.write(f"src/{name}.py", text)
    lore.git("add", ".")
    lore.git("commit", "-qm", message)


def indexed(lore: Lore, message: str, **files: str) -> None:
    """Commit files and index the tree."""
    commit(lore, message, **files)
    lore("index", "-q")


def paths(lore: Lore, query: str, *options: str) -> list[str]:
    """Return the paths of the files that a search finds."""
    ids = lore("search", query, "--type", "file", "--ids", *options).lines
    return [id.removeprefix("file-") for id in ids]


def test_words_deep_in_a_file_find_it(tree: Lore) -> None:
    indexed(tree, "one", deep=f"{LONG}# the barometer\n", other=LONG)
    assert paths(tree, "read barometer at night") == ["src/deep.py"]
    [first] = tree("search", "read barometer", "-n", "1").json
    assert first["id"] == "file-src/deep.py" and "barometer" in first["snippet"]
    indexed(tree, "two", deep="value = 1\n")
    assert "src/deep.py" not in paths(tree, "read barometer at night")


def test_search_names_files_that_have_changed_since(
    tree: Lore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pylore.system.files._RACY_NS", 0)
    indexed(tree, "one", deep="def barometer():\n    return 1\n")
    tree.write("page.md", "# A barometer falls\n\nBefore the rain.\n")
    tree("import", "page.md")
    assert tree("search", "barometer").err == ""
    tree.write("src/deep.py", "def barometer():\n    return 22\n")
    assert "src/deep.py has changed since lore read it" in tree("search", "barometer").err
    assert tree("search", "barometer", "-q").err == ""


def test_commits_lead_to_files_and_are_no_results(tree: Lore) -> None:
    commit(tree, "Sessions expire after a night", clock=LONG, door=LONG)
    id = f"commit-{tree.git('rev-parse', 'HEAD')}"
    indexed(tree, "Something else entirely", lamp=LONG)
    assert paths(tree, "why sessions expire at night") == []
    found = tree("search", "sessions expire at night", "--type", "file", "--explain").json
    assert [(hit["id"], hit["explain"]["file"]["commits"]) for hit in found] == [
        ("file-src/clock.py", 1.0),
        ("file-src/door.py", 1.0),
    ]
    shown = tree("show", id).json
    assert (shown["type"], shown["title"]) == ("commit", "Sessions expire after a night")
    assert {edge["relation"] for edge in shown["edges"]} == {"changes"}
    tree.print_each("""
        search 'sessions expire' --graph-depth 1 | file-src/clock.py file-src/door.py
        list --type commit |
    """)
    assert "Sessions expire" not in tree("export").out


def test_renamed_file_has_former_commits(tree: Lore) -> None:
    commit(tree, "Sessions expire after a night", clock=LONG)
    tree.git("mv", "src/clock.py", "src/watch.py")
    indexed(tree, "Another name")
    assert paths(tree, "sessions expire at night") == ["src/watch.py"]
    tree("forget", "file-src/watch.py", "--purge")
    assert paths(tree, "sessions expire at night") == []


def test_symbol_represents_the_file(tree: Lore) -> None:
    keys = 'def rotate_keys(old):\n    """Makes a new signing key at night."""\n    return old\n'
    tree.write("docs/keys.rst", "Keys\n====\n\nHow the signing key is rotated at night.\n")
    for name in ("lamps", "doors", "clocks", "walls"):
        tree.write(f"src/{name}.py", f'def open_{name}(house):\n    """Opens {name} by day."""\n')
    indexed(tree, "one", keys=f"import os\n\n\n{keys}")
    hits = tree("search", "how is the signing key rotated", "--explain").json
    first, page = hits[0], next(hit for hit in hits if hit["file"] == "docs/keys.rst")
    assert first["id"] == "symbol-src/keys.py::rotate_keys"
    assert first["snippet"] == "Makes a new signing key at night. return old"
    assert first["explain"]["stands_for"] == "file-src/keys.py"
    assert [hit["line_start"] for hit in (first, page)] == [4, 4]
    assert "file-src/keys.py" not in [hit["id"] for hit in hits]
