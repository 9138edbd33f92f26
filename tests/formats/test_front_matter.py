"""Front matter: values, faults with their lines, and any text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pylore.core.errors import LoreError
from pylore.core.json import DEEPEST
from pylore.formats.document import front_matter

if TYPE_CHECKING:
    from pylore.formats.document import Value

KEYS = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,20}", fullmatch=True)
TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Cn", "Zl", "Zp")), max_size=40)


def fields(text: str) -> dict[str, Value]:
    found, _ = front_matter(["---", *text.split("\n"), "---"])
    return {key: value for key, (_, value) in found.items()}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b", "b"),
        ("a: null", ""),
        (r'a: "say \"hi\"\tthere: \u00e9"', 'say "hi"\tthere: é'),
        (r'a: "\ud83d\ude00"', "😀"),
        ("a: [b, 'c, d', \"e]\"] # x", ["b", "c, d", "e]"]),
        ("a: # list\n\n  - b\n  # between\n  - c", ["b", "c"]),
        ("a: >\n  two\n  lines\n\n  and one", "two lines\nand one\n"),
        ("a:\n  b: c\n  B: [d]\n  e:\n    f: 1.0", {"b": "c", "B": ["d"], "e": {"f": "1.0"}}),
        ("a:\n  - b: c\n    d: yes\n  - e", [{"b": "c", "d": "yes"}, "e"]),
        ("a: [b, [c, 'null'], [[d]]]", ["b", ["c", "null"], "[[d]]"]),
        ('a: ["b, [[c]], d", "- [[e]]"]', ["b, [[c]], d", "- [[e]]"]),
        ("a: b - [[c]], [[d]]", "b - [[c]], [[d]]"),
        ("a: 2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("a:\tb\r\n# c\r", "b"),
    ],
)
def test_yaml_values(text: str, value: Value) -> None:
    assert fields(text) == {"a": value}


def test_lines_of_keys() -> None:
    text = "a: >\n  1\n\n  2\n# b\n'b':\n  c: 'x'\n  d: [\n    e]\nf: 3"
    found, _ = front_matter(["---", *text.split("\n"), "---"])
    assert {key: line for key, (line, _) in found.items()} == {"a": 2, "b": 7, "f": 11}


NESTED = "a: " + "[" * DEEPEST + "]" * DEEPEST


def test_depth_is_limited() -> None:
    assert str(fields(NESTED)["a"]).count("[") == DEEPEST
    for deeper in (
        NESTED.replace("[]", "[[]]"),
        NESTED.replace("[]", "[{}]"),
        "a: " + "[" * 50_000,
    ):
        with pytest.raises(LoreError, match=r"nested more than|too many lists"):
            fields(deeper)


BOMB = "a: &a [x, x]\n" + "".join(
    f"{key}: &{key} [*{last}, *{last}]\n" for last, key in pairwise("abcdefghijklmnop")
)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a", 2, "key: value"),
        ("ok: 1\n  nested: 2", 3, "not YAML .*mapping values are not allowed"),
        ("ok: 1\n- item", 3, "not YAML .*found '-'"),
        ("a: &anchor b", 2, "means more than text"),
        ("a:\n  b: &anchor [c]", 3, "means more than text"),
        ("a: b\n<<: *a", 3, "means more than text"),
        (BOMB, 2, "means more than text"),
        ("a: !!python/object:os.system b", 2, "means more than text"),
        ("a: b\nc: !secret d", 3, "means more than text"),
        ("ok: 1\na: [b\n\n", 3, "not YAML .*flow sequence"),
        ('ok: 1\na: "b\n\n', 3, "not YAML .*quoted scalar"),
        ("a: b\nc: \x1b", 3, "a control character"),
        ("a: b\na: c", 3, "duplicate"),
        ("a: b\n? [c]\n: d", 3, "a key is a line of text"),
        ('ok: 1\n"a\\nb": c', 3, "a key is a line of text"),
        (f"{'k' * 101}: c", 2, "a key is a line of text, 100 characters"),
        ("a: b\n--- c", 3, "another document"),
        ('a: "\\UFFFFFFFF"', 2, "a number that YAML does not allow"),
        ("a: b\n" + "# comment\n" * 8000, 1, "longer than 64000"),
    ],
)
def test_faults_name_their_line(text: str, line: int, why: str) -> None:
    with pytest.raises(LoreError, match=f"^line {line}: .*{why}"):
        fields(text)


def test_no_front_matter() -> None:
    assert front_matter(["# Title", "---", "a: b", "---"]) == front_matter([]) == ({}, 0)
    assert front_matter(["---", "a: b", "...", "text", "---"]) == ({"a": (2, "b")}, 3)
    assert front_matter(["+++", 'a="b = c"', "[d]", "e = 1", "+++"]) == ({"a": (2, "b = c")}, 5)


@pytest.mark.parametrize(
    "text", ["---\na: b\n\ntext", "---\nA page: with: a rule.\n\n---\nmore", "---\n\n# T\n---"]
)
def test_rule_is_not_front_matter(text: str) -> None:
    assert front_matter(text.split("\n")) == ({}, 0)


@given(st.text(max_size=200) | st.text("-: #[]'\"\\,ab\n\t", max_size=60))
@example("a: " + "[" * 50)
@example("a: '''")
def test_any_text_parses_or_names_a_line(text: str) -> None:
    lines = ["---", *text.split("\n"), "---"]
    try:
        found, length = front_matter(lines)
    except LoreError as error:
        assert re.fullmatch("line [0-9]+: [^\n]+", str(error))
    else:
        assert length <= len(lines)
        assert all(0 < line <= len(lines) for line, _ in found.values())
