"""The front matter parser: what it takes, what it refuses, and that it never crashes."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pylore.core.errors import LoreError
from pylore.formats.frontmatter import parse

KEYS = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,20}", fullmatch=True)
TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40)


def fields(text: str) -> dict[str, str | list[str]]:
    return parse(["---", *text.split("\n"), "---"]).fields


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: b", "b"),
        ("a:", ""),
        ("a: # nothing", ""),
        ("a: ~", ""),
        ("a: null", ""),
        ("a: b # comment", "b"),
        ("a: b#c", "b#c"),
        ("a: http://x.y/z", "http://x.y/z"),
        ("a: 'it''s # no comment'", "it's # no comment"),
        (r'a: "say \"hi\"\tthere: \u00e9"', 'say "hi"\tthere: é'),
        (r'a: "\ud83d\ude00"', "😀"),
        ("a: []", []),
        ("a: [b]", ["b"]),
        ("a: [b, 'c, d', \"e]\"] # x", ["b", "c, d", "e]"]),
        ("a: [b, c, ]", ["b", "c"]),
        ("a: -5", "-5"),
        ("a: 2026-01-31", "2026-01-31"),
        ("a:\n- b\n- 'c: d'", ["b", "c: d"]),
        ("a: # list\n\n  - b\n  # between\n  - c", ["b", "c"]),
    ],
)
def test_what_it_takes(line: str, value: str | list[str]) -> None:
    assert fields(line) == {"a": value}


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a", 2, "key: value"),
        ("ok: 1\n  nested: 2", 3, "key: value"),
        ("ok: 1\n- item", 3, "without a 'key:'"),
        ("a:\n  - b\n    - c", 4, "indented otherwise"),
        ("a: b: c", 2, "means more than text"),
        ("a: &anchor b", 2, "means more than text"),
        ("a: |", 2, "means more than text"),
        ("a: {b: c}", 2, "means more than text"),
        ("a: [b", 2, "not closed"),
        ("a: [b, [c]]", 2, "empty item"),
        ("a: [b,, c]", 2, "empty item"),
        ("a: [b] c", 2, "after the list"),
        ('a: "b', 2, "quote is not closed"),
        ('a: "b" c', 2, "after the closing quote"),
        (r'a: "\q"', 2, "unknown escape"),
        (r'a: "\u0000"', 2, "no character"),
        (r'a: "\ud800"', 2, "no character"),
        ("a: b\nA: c", 3, "twice"),
        ("a: b\n" + "# comment\n" * 8000, 1, "longer than 64000"),
        ("a:\n- - b", 3, "means more than text"),
    ],
)
def test_what_it_refuses_names_the_line(text: str, line: int, why: str) -> None:
    with pytest.raises(LoreError, match=f"^line {line}: .*{why}"):
        fields(text)


def test_a_file_without_front_matter_has_none() -> None:
    assert parse(["# Title", "---", "a: b", "---"]).length == 0
    assert parse([]).length == 0


def test_front_matter_that_is_not_closed() -> None:
    with pytest.raises(LoreError, match="line 1: the front matter is not closed"):
        parse(["---", "a: b", "", "text"])


def _written(value: str | list[str], style: int) -> str:
    if isinstance(value, str):
        return " " + _quoted(value, style)
    if style % 2:
        return " [" + ", ".join(_quoted(item, style) for item in value) + "]"
    return "".join(f"\n  - {_quoted(item, style)} # note" for item in value)


def _quoted(text: str, style: int) -> str:
    if style < 2:
        return json.dumps(text, ensure_ascii=bool(style))
    return "'" + text.replace("'", "''") + "'"


@given(
    st.dictionaries(KEYS, TEXTS | st.lists(TEXTS, min_size=1, max_size=4), max_size=5),
    st.integers(0, 3),
)
def test_what_is_written_comes_back(given_fields: dict[str, str | list[str]], style: int) -> None:
    given_fields = {key.lower(): value for key, value in given_fields.items()}
    text = "\n".join(f"{key}:{_written(value, style)}" for key, value in given_fields.items())
    assert fields(text) == given_fields


@given(KEYS, st.from_regex(r"[A-Za-z0-9_./(][A-Za-z0-9_./ ()-]*[A-Za-z0-9_./]", fullmatch=True))
@example("a", "null")
def test_plain_words_need_no_quotes(key: str, value: str) -> None:
    assert fields(f"{key}: {value}") == {key: "" if value.lower() == "null" else value}


@given(st.text(max_size=200) | st.text("-: #[]'\"\\,ab\n\t", max_size=60))
@example("a: " + "[" * 50)
@example("a: '''")
def test_any_text_is_taken_or_refused_with_its_line(text: str) -> None:
    lines = ["---", *text.split("\n"), "---"]
    try:
        found = parse(lines)
    except LoreError as error:
        assert str(error).startswith("line ")
    else:
        assert found.length <= len(lines)
        assert set(found.lines) == set(found.fields)
