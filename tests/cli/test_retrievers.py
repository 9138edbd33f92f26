"""Test retrievers of the user in a search."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import Lore
from repositories import Repository

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMANDS = "home of a user/config/lore/commands"


@pytest.fixture
def filled(lore: Lore) -> Lore:
    """Run commands in a project of two records, with a retriever that notes that it ran."""
    lore.fill(
        {"id": "decision-a", "title": "Sessions are signed tokens"},
        {"id": "note-b", "title": "Of another matter"},
    )
    rows = json.dumps([{"id": "note-b", "score": 1}])
    lore.program(f"{COMMANDS}/lore-retriever-mine", f"touch '{lore.root}/ran'", f"echo '{rows}'")
    return lore


def test_user_enables_a_retriever(filled: Lore) -> None:
    filled.print_each("search tokens | decision-a")
    assert not (filled.root / "ran").exists()
    filled.print_each("""
        search tokens --retrievers 'fulltext mine' | decision-a note-b
        search tokens --retrievers mine | note-b
    """)
    filled.config.write_text('retrievers="mine"\n')
    filled.print_each("search tokens | note-b")
    filled.patch.setenv("LORE_RETRIEVERS", "fulltext")
    filled.print_each("search tokens | decision-a")


def test_retriever_is_not_taken_from_the_working_folder(filled: Lore) -> None:
    filled.program("a project/lore-retriever-here", f"touch '{filled.root}/ran'")
    filled.patch.setenv("PATH", ".", prepend=":")
    done = filled("search", "tokens", "--retrievers", "fulltext here", "--ids")
    assert done.lines == ["decision-a"] and not (filled.root / "ran").exists()
    assert "no program lore-retriever-here in " in done.err
    filled.refuse_each("""
        search tokens --retrievers 'fulltext ../x' | 2 | give names
        search tokens --retrievers a/b | 2 | give names
        search tokens --retrievers Mine | 2 | give names
        search tokens --retrievers vectro | 2 | did you mean 'vector'?
    """)


def test_documented_retriever_works(filled: Lore) -> None:
    blocks = re.findall(r"^```bash\n(#!.*?)^```$", (DOCS / "plugins.md").read_text(), re.M | re.S)
    [script] = [text for text in blocks if "lore-retriever-grep" in text]
    filled.program(f"{COMMANDS}/lore-retriever-grep", *script.splitlines())
    Repository(filled.project)
    text = 'def rotate_token():\n  """Token rotation, once a day."""\n'
    filled.write("src/with space/rotation.py", text)
    filled.write("src/auth.py", "token = None\n")
    filled.git("add", "src")
    for path in ("src/with space/rotation.py", "src/auth.py"):
        filled("add", "file", path)
    query = ("search", "expiring token", "--retrievers", "fulltext grep", "--type", "file", "--ids")
    found = filled(*query).lines
    assert sorted(found) == ["file-src/auth.py", "file-src/with space/rotation.py"]
