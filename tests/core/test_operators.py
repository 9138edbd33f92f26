"""The operators of a query: which are read, and that all else is as it was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.query import MOST_WORDS, Operators, read_operators
from pylore.core.text import words

KNOWN = ("note", "auth")


def read(text: str) -> Operators:
    return read_operators(text, lambda kind, name: "" if name in KNOWN else f"no {kind} {name}")


WORDS = st.sampled_from(
    "tokens a-b std::vector foo::bar -Wall -O2 --all -rf -> -1 *.py src/** char** key: value"
    " https://a.b/c:80 title: type::x tag:/x f(\"x\") \"key\": x*y x:y Title:x C:\\x naïve"
    .split()
)  # fmt: skip
PIECES = st.one_of(
    WORDS,
    st.sampled_from(
        'type:note tag:auth type:int title:a-b -cookie tok* to* " "a b" "" -- "x -"'.split(" ")
    ),
    st.text(max_size=8),
)


@given(st.lists(WORDS, max_size=MOST_WORDS))
def test_text_without_operators_is_what_it_was(typed: list[str]) -> None:
    text = "  ".join(typed)
    found = read(text)
    assert (found.any(), found.text, found.unread) == (False, text, [])


@given(st.lists(PIECES, max_size=MOST_WORDS + 3))
def test_any_text_is_read_and_no_word_is_lost(typed: list[str]) -> None:
    text = " ".join(typed)
    found = read(text)
    if not found.any():
        assert found.text == text
        return
    assert words(found.text)
    taken = [*found.without, *found.tags, *found.types]
    marks = ["tag"] * len(found.tags) + ["type"] * len(found.types) + ["title"] * len(found.titled)
    folded = words(" ".join([found.text, *taken, *marks]).casefold())
    assert sorted(folded) == sorted(words(text.casefold()))
    for phrase in (*found.phrases, *found.titled, *found.without, *found.beginnings):
        assert phrase and '"' not in phrase


@pytest.mark.parametrize(
    ("text", "kind", "expected", "rest"),
    [
        ('a "Signed  Tokens"', "phrases", ["signed tokens"], "a Signed Tokens"),
        ('"a-b"', "phrases", ["a b"], "a-b"),
        ("a -Cookie -cookie", "without", ["cookie"], "a -Cookie"),
        ("a tok*", "beginnings", ["tok"], "a tok"),
        ("title:Rotate-keys", "titled", ["rotate keys"], "Rotate-keys"),
        ("a type:note", "types", ["note"], "a"),
        ("tag:auth a", "tags", ["auth"], "a"),
    ],
)
def test_each_operator(text: str, kind: str, expected: list[str], rest: str) -> None:
    found = read(text)
    assert (getattr(found, kind), found.text, found.unread) == (expected, rest, [])


@pytest.mark.parametrize(
    ("text", "notes"),
    [('a "b c', 0), ("a to*", 0), ('a title:"b', 0), ("a type:string", 1), ("a tag:x", 1),
     ("-cookie", 1), ("type:note", 1)],
)  # fmt: skip
def test_what_cannot_be_read_is_words(text: str, notes: int) -> None:
    found = read(text)
    assert (found.any(), found.text, len(found.unread)) == (False, text, notes)


def test_long_text_has_no_operators() -> None:
    text = "-cookie " + "word " * MOST_WORDS
    assert not read(text).any()
    assert read("-cookie " + "word " * (MOST_WORDS - 1)).without == ["cookie"]
