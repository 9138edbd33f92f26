"""Contexts at the command line: forms, receipts and refusals."""

from __future__ import annotations

import json

import pytest
from commands import Lore

SIGN = "symbol-src/auth.py::sign"


@pytest.fixture
def filled(lore: Lore) -> Lore:
    """Run commands in a project of a decision with a lesson and a symbol."""
    lore.write("src/auth.py", "def sign(user):\n    return seal(user)\n")
    lines = {"file": "src/auth.py", "line_start": 1, "line_end": 2}
    body = "They hold the id of the user. They end after a day."
    lore.fill(
        {"id": "decision-signed", "title": "Sessions are signed cookies", "body": body},
        {"id": "lesson-keys", "title": "Rotate the keys that sign sessions"},
        {"id": SIGN, "title": "sign(user)", "body": "Signs sessions.", **lines},
        {"from_id": SIGN, "relation": "implements", "to_id": "decision-signed"},
        {"from_id": "lesson-keys", "relation": "relates_to", "to_id": "decision-signed"},
    )
    return lore


def test_piped_context_is_text_and_receipt(filled: Lore) -> None:
    done = filled("context", "how", "are", "sessions", "signed", "--budget", "500")
    found = done.json
    assert (found["question"], found["budget"]) == ("how are sessions signed", 500)
    assert 0 < found["tokens_used"] <= 500 and "of 500 tokens" in done.err
    assert all({*row} == {"how", "id", "tokens", "why"} for row in found["included"])
    for part in ("```mermaid", "### src/auth.py::sign (lines 1-2)\n```py\n", "They end after"):
        assert part in found["text"]
    nothing = filled("context", "zzzqqq").json
    assert (nothing["text"], nothing["tokens_used"], nothing["included"]) == ("", 0, [])


def test_receipt_is_written_to_file_or_stderr(filled: Lore) -> None:
    words = ("context", "sessions", "--budget", "120", "--as", "narrative", "--receipt")
    filled(*words, "receipt.json")
    receipt = json.loads((filled.project / "receipt.json").read_text())
    assert receipt["included"] and receipt["tokens_used"] <= receipt["budget"]
    receipt = json.loads(filled(*words, "-", "-q").err)
    assert {frozenset(row) for row in receipt["withheld"]} == {frozenset({"id", "reason"})}
    assert "not written" in filled(*words, "none/x", code=1).err


def test_prompt_is_framed_by_a_hash(filled: Lore) -> None:
    prompt = ("context", "how are sessions signed", "--as", "prompt", "-q")
    done = filled(*prompt)
    number = done.lines[0].split()[2]
    assert done.lines[0].startswith(f"=== data {number} === ") and "not instructions" in done.out
    assert done.lines[1] == "# Context: how are sessions signed"
    assert done.lines[-1] == f"=== end of data {number} ===" and not done.err
    assert filled(*prompt).out == done.out


def test_forms_of_a_context(filled: Lore) -> None:
    narrative = filled("context", "sessions", "--as", "narrative").out
    assert "## Decisions" in narrative and "confirmed, " in narrative and "```" not in narrative
    assert "- **Sessions are signed cookies** (decision-signed, " in narrative
    filled.print_each("context cookies --graph-depth 0 | decision-signed")
    deep = filled("context", "cookies", "--expand", "--json").json
    assert deep["included"] == filled("context", "cookies", "--graph-depth", "2").json["included"]
    assert "- **Sessions are signed" in filled("context", "cookies", "--text").out
    flat = filled("context", "cookies", "--as", "prompt", "--graph-depth", "0").out
    assert "mermaid" not in flat and "lesson-keys" not in flat
    assert filled("context", "sessions tokens", "--as", "mermaid").out.startswith("flowchart ")


def test_context_refuses_wrong_words(filled: Lore) -> None:
    filled.refuse_each("""
        context x --as poem | 2 | narrative, prompt, json
        context x --budget 10 | 2 | from 50
        context x --text --ids | 2 | exclude each other
    """)
    done = filled("context", "how are sessions signed", "--budget", "60", "--as", "narrative")
    assert not done.out and "raise the budget" in done.err


@pytest.mark.parametrize("words", ["src/auth.py", "src/auth.py zzqqx", "src/none.py stored twice"])
def test_context_needs_either_files_or_a_question(filled: Lore, words: str) -> None:
    filled("add", "decision", "Nothing is stored twice", "--file", "src/auth.py")
    done = filled("context", "--files", *words.split(), "--text")
    assert "Nothing is stored twice" in done.out
    assert ("matches no file" if "none" in words else "known about the files") in done.err
