"""Test ``lore index``."""

from __future__ import annotations

import pytest
from commands import Lore


@pytest.fixture(autouse=True)
def _code(lore_without_store: Lore) -> None:
    """Two modules: the first imports and calls the second."""
    lore = lore_without_store
    lore.write("src/a.py", "from .b import f\n\ndef g():\n    return f()\n")
    lore.write("src/b.py", "def f():\n    return 1\n")


def test_second_index_reads_no_file(lore: Lore) -> None:
    for read in (2, 0):
        done = lore("graph", "analyze-imports", "--path", "src/")
        row = done.json
        counts = [row[name] for name in ("files", "symbols", "read", "unchanged")]
        assert counts == [2, 2, read, 2 - read]
        assert (row["edges"]["calls"], row["edges"]["imports"], done.err) == (1, 1, "")


def test_symbols_are_shown_related_and_found(lore: Lore) -> None:
    lore("index")
    node = lore("show", "symbol-src/a.py::g").json
    assert (node["file"], node["line_start"], node["line_end"]) == ("src/a.py", 3, 4)
    assert node["data"]["kind"] == "function"
    assert lore.id("related", "symbol-src/a.py::g", "--edges", "calls") == "symbol-src/b.py::f"
    assert lore.id("search", "g", "--type", "symbol") == "symbol-src/a.py::g"


def test_index_refuses_in_a_line(lore: Lore) -> None:
    lore.refuse_each("""
        index src src | 2 | unexpected argument
        index nowhere | 1 | nowhere: is not a folder
        index .. | 1 | leads outside the project
        index --since 7d | 1 | is not a git repository
        index src --since 7d | 2 | exclude each other
    """)
    grep = lore.program("ast-grep", "echo failed to spawn thread >&2")
    lore.patch.setattr("pylore.code.scan.program", lambda: str(grep))
    assert "raise the limit" in lore.refuse("index", code=1)
    lore.patch.setenv("LORE_DIR", str(lore.root / "none"))
    assert "no store in" in lore.refuse("index", code=1)


def test_paths_start_at_the_project(lore: Lore) -> None:
    lore.patch.chdir(lore.project / "src")
    assert lore("index").json["files"] == 2
    lore.patch.setenv("LORE_DIR", str(lore.store))  # the repository's paths, without its project
    (lore.project / ".git").mkdir()
    assert lore("index").json["unchanged"] == 2 and lore.id("show", "file-src/a.py")
