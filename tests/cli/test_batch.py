"""Test ``lore search --batch``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from commands import Lore

QUERIES = '{"id":"q1","query":"cookie"}\n{"id":"q2","query":"sixty requests"}\n'
ANSWERS = [
    {"id": "q1", "results": ["decision-sessions"]},
    {"id": "q2", "results": ["decision-limits"]},
]


@pytest.fixture
def filled(lore: Lore) -> Lore:
    """Run commands in a project of three records."""
    lore.fill(
        {"id": "decision-sessions", "title": "Sessions are signed tokens, kept in a cookie"},
        {"id": "decision-limits", "title": "Requests above sixty a minute are refused"},
        {"id": "lesson-keys", "title": "Rotate the keys that sign tokens"},
        {"from_id": "lesson-keys", "relation": "relates_to", "to_id": "decision-limits"},
    )
    lore.write("queries.jsonl", QUERIES)
    return lore


def batch(lore: Lore, *lines: dict[str, Any] | str, options: str = "", code: int = 0) -> list[Any]:
    """Return the results for lines on stdin."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return lore("search", "--batch", "-", "-q", *options.split(), stdin=text, code=code).rows


def test_each_line_gets_a_result(filled: Lore) -> None:
    whole = filled("search", "--batch", "queries.jsonl").rows
    assert [{**row, "results": [row["results"][0]["id"]]} for row in whole] == ANSWERS
    assert filled("search", "--batch", "-", "--ids", stdin=QUERIES).rows == ANSWERS
    filled.write("marked.jsonl", f"\ufeff{QUERIES}")
    assert filled("search", "--batch", "marked.jsonl", "--ids").rows == ANSWERS
    ids = filled("search", "--batch", "queries.jsonl", "--jq", ".results[].id").lines
    assert ids == ["decision-sessions", "decision-limits"]
    assert filled("search", "--batch", "/dev/null").out == ""


@pytest.mark.parametrize(
    "words", ["", "--type lesson --graph-depth 1 -n 1", "--explain --mmr-lambda 1"]
)
def test_batch_finds_the_same_as_search(filled: Lore, words: str) -> None:
    found = batch(filled, {"id": "a", "query": "tokens"}, options=words)
    assert found[0]["results"] == filled("search", "tokens", "-q", *words.split()).json


def test_excluded_records_are_not_walked(filled: Lore) -> None:
    excluded = {"id": "b", "query": "keys", "exclude": ["decision-limits"]}
    found = batch(filled, excluded, {"query": "keys", "id": "c"}, options="--ids --graph-depth 1")
    results = [row["results"] for row in found]
    assert results == [["lesson-keys"], ["lesson-keys", "decision-limits"]]
    line: dict[str, Any] = {"id": "a", "query": "tokens", "exclude": ["lesson-keys"]}
    assert batch(filled, line, options="--ids --exclude decision-sessions")[0]["results"] == []
    filled.print_each("search cookie tokens -n 1 --exclude decision-sessions | lesson-keys")


def test_notes_name_their_query(filled: Lore) -> None:
    line = '{"id":"q7","query":"zebra"}'
    assert "q7: nothing matches" in filled("search", "--batch", "-", stdin=line).notes[0]
    assert not filled("search", "--batch", "-", "-q", stdin=line).err


def test_lines_of_stdin_may_be_plain_words(filled: Lore) -> None:
    found = batch(filled, "cookie", "", "sixty requests", options="--ids")
    numbered = [(row["id"], *row["results"]) for row in found]
    assert numbered == [("1", "decision-sessions"), ("2",), ("3", "decision-limits")]


def test_wrong_lines_get_an_error(filled: Lore) -> None:
    fields = ('"query":3', '"query":"x","exclude":"a"', '"query":"x","exclude":[1]')
    wrong = ("{x", '{"id":"x"}', *(f'{{"id":"x",{some}}}' for some in fields))
    filled.write("wrong.jsonl", "\n".join([*wrong, "cookie"]))
    done = filled("search", "--batch", "wrong.jsonl", "--ids", code=1)
    *errors, last = done.rows
    assert [row["id"] for row in errors] == ["1", *["x"] * 4]
    assert all(set(row) == {"id", "error"} for row in errors)
    assert "query is not a string" in errors[2]["error"]
    assert last == {"id": "6", "results": ["decision-sessions"]}
    assert "wrong.jsonl: line 1: " in done.err and "and 4 more" in done.err
