"""A form of output is one row of a table: what a new one has without more work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import pylore

ROOT = Path(pylore.__file__).resolve().parents[1]

CSV = """
import json, sys
sys.path[:0] = sys.argv[1:3]
from pylore.terminal import output

def csv_rows(rows):
    import csv, io
    text = io.StringIO()
    writer = csv.DictWriter(text, ["id", "title"], extrasaction="ignore", lineterminator="\\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()

output.FORMS += (output.OutputForm("csv", "CSV", csv_rows),)
from commands import run_here
done = [run_here(words.split()) for words in sys.argv[3:]]
print(json.dumps([(one.code, one.out, one.err) for one in done]))
"""
"""lore with one form more: the function, and the row that a person would add."""

LISTS = ("search tokens signed --csv", "list --oldest --csv", "related note-a note-b --csv")
SHOW = "show note-a --csv"
REFUSED = (
    "search x --csv --json", "list --csv --ids", "search x --csv --jq .", "search x --csv --tree",
    "search x --csv --oneline", "search --batch - --csv", "export --csv",
)  # fmt: skip
HELP = "list --help"
COMMANDS = (*LISTS, SHOW, *REFUSED, HELP)

Answers = dict[str, tuple[int, str, str]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Exit code, stdout and stderr of each command of a process that has the form."""
    folder = tmp_path_factory.mktemp("forms")
    with pylore.open(folder, create=True, embedder="none") as lore:
        lore.add("note", "Tokens, and more", id="note-a", title="Tokens, signed")
        lore.add("note", "Tokens again", id="note-b", title="Two")
    done = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", CSV, str(ROOT), str(ROOT / "tests/support"),
         *COMMANDS],
        env={"LORE_DIR": str(folder), "LORE_EMBEDDER": "none", "HOME": str(folder)}, text=True,
        capture_output=True, stdin=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    return dict(zip(COMMANDS, map(tuple, json.loads(done.stdout)), strict=True))


@pytest.mark.parametrize("words", LISTS)
def test_lists_are_printed_in_a_new_form(answers: Answers, words: str) -> None:
    code, out, _ = answers[words]
    assert code == 0
    assert out.startswith("id,title\n")
    assert words == LISTS[2] or 'note-a,"Tokens, signed"\n' in out


def test_one_thing_is_printed_in_a_new_form(answers: Answers) -> None:
    assert answers[SHOW] == (0, 'id,title\nnote-a,"Tokens, signed"\n', "")


@pytest.mark.parametrize("words", REFUSED)
def test_new_form_excludes_others_and_needs_the_command(answers: Answers, words: str) -> None:
    code, out, said = answers[words]
    assert (code, out) == (2, "")
    assert "--csv" in said


def test_help_has_a_new_form(answers: Answers) -> None:
    assert "--json|--jsonl|--text|--ids|--csv|--jq" in answers[HELP][1]
