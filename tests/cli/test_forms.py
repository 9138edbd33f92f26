"""A form of output is one row of a table: what a new one has without more work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pylore

ROOT = Path(pylore.__file__).resolve().parents[1]

CSV = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from pylore.terminal import output

def csv_rows(rows):
    import csv, io
    text = io.StringIO()
    writer = csv.DictWriter(text, ["id", "title"], extrasaction="ignore", lineterminator="\\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()

output.FORMS += (output.OutputForm("csv", "CSV", csv_rows),)
from pylore.cli.main import run
sys.exit(run(sys.argv[1:]))
"""
"""lore with one form more: the function, and the row that a person would add."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    with pylore.open(folder, create=True, embedder="none") as lore:
        lore.add("note", "Tokens, and more", id="note-a", title="Tokens, signed")
        lore.add("note", "Tokens again", id="note-b", title="Two")
    return folder


def run(store: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", CSV, str(ROOT), *words],
        env={"LORE_DIR": str(store), "LORE_EMBEDDER": "none", "HOME": str(store)}, text=True,
        capture_output=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", [
    ("search", "tokens signed"), ("list", "--oldest"), ("related", "note-a", "note-b"),
])  # fmt: skip
def test_lists_are_printed_in_a_new_form(store: Path, words: tuple[str, ...]) -> None:
    code, out, _ = run(store, *words, "--csv")
    assert code == 0
    assert out.startswith("id,title\n")
    assert words[0] == "related" or 'note-a,"Tokens, signed"\n' in out


def test_one_thing_is_printed_in_a_new_form(store: Path) -> None:
    assert run(store, "show", "note-a", "--csv") == (0, 'id,title\nnote-a,"Tokens, signed"\n', "")


@pytest.mark.parametrize("words", [
    ("search", "x", "--csv", "--json"), ("list", "--csv", "--ids"),
    ("search", "x", "--csv", "--jq", "."), ("search", "x", "--csv", "--tree"),
    ("list", "--csv", "--oneline"),
    ("search", "--batch", "-", "--csv"),
])  # fmt: skip
def test_a_new_form_excludes_the_others(store: Path, words: tuple[str, ...]) -> None:
    code, out, said = run(store, *words)
    assert (code, out) == (2, "")
    assert "--csv" in said


@pytest.mark.parametrize("words", [("context", "x"), ("version",), ("export",)])
def test_a_form_that_a_command_does_not_have_is_refused(
    store: Path, words: tuple[str, ...]
) -> None:
    code, out, said = run(store, *words, "--csv")
    assert (code, out) == (2, "")
    assert "--csv" in said


def test_help_and_completion_have_a_new_form(store: Path) -> None:
    assert "--json, --jsonl, --text, --ids, --csv, --jq" in run(store, "list", "--help")[1]
