"""Queries: operators, the text of tools in them, names of code, and the kind of question."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.core.query import (
    MOST_WORDS,
    Operators,
    asked_names,
    asks_about_code,
    asks_for_changes,
    asks_what_to_do,
    cleaned,
    head_of,
    is_question,
    named_in,
    read_operators,
    version_of,
)
from pylore.core.text import words

KNOWN = ("note", "auth")


def read(text: str) -> Operators:
    return read_operators(text, lambda kind, name: "" if name in KNOWN else f"no {kind} {name}")


WORDS = st.sampled_from(
    "tokens a-b std::vector foo::bar -Wall -O2 --all -rf -> -1 *.py src/** char** key: value"
    ' https://a.b/c:80 title: type::x tag:/x f("x") "key": x*y x:y Title:x C:\\x naïve'.split()
)
PIECES = st.one_of(
    WORDS,
    st.sampled_from(
        'type:note tag:auth type:int title:a-b -cookie tok* to* " "a b" "" -- "x -"'.split(" ")
    ),
    st.text(max_size=8),
)


@given(st.lists(WORDS, max_size=MOST_WORDS))
def test_text_without_operators_is_unchanged(typed: list[str]) -> None:
    text = "  ".join(typed)
    found = read(text)
    assert (found.any(), found.text, found.unread) == (False, text, [])


@given(st.lists(PIECES, max_size=MOST_WORDS + 3))
def test_operators_of_any_text_lose_no_word(typed: list[str]) -> None:
    text = " ".join(typed)
    found = read(text)
    if not found.any():
        assert found.text == text
        return
    assert words(found.text)
    of = found.found
    taken = [*of["without"], *of["tag"], *of["type"]]
    marks = [kind for kind in ("tag", "type", "title") for _ in of[kind]]
    folded = words(" ".join([found.text, *taken, *marks]).casefold())
    assert sorted(folded) == sorted(words(text.casefold()))
    for phrase in (*of["phrase"], *of["title"], *of["without"], *of["beginning"]):
        assert phrase and '"' not in phrase


@pytest.mark.parametrize(
    ("text", "kind", "expected", "rest"),
    [
        ('a "Signed  Tokens"', "phrase", ["signed tokens"], "a Signed Tokens"),
        ("“a-b 接続API設定”", "phrase", ["a b 接続 続 api 設定"], "a-b 接続API設定"),
        ("a -Cookie -直す －🚀", "without", ["直す", "u1f680"], "a -Cookie"),
        ("a 接続*", "beginning", ["接続"], "a 接続"),
        ("title:Rotate-keys", "title", ["rotate keys"], "Rotate-keys"),
        ("a type:note", "type", ["note"], "a"),
        ("tag:auth a", "tag", ["auth"], "a"),
    ],
)
def test_each_operator(text: str, kind: str, expected: list[str], rest: str) -> None:
    found = read(text)
    assert (found.found[kind], found.text, found.unread) == (expected, rest, [])


def test_invalid_operators_are_words() -> None:
    silent, noted = ('a "b c', "a to*"), ("a type:string", "a tag:x", "-cookie", "type:note")
    for text in (*silent, *noted):
        found = read(text)
        assert (found.any(), found.text, len(found.unread)) == (False, text, int(text in noted))


MESSAGE = """Reports of :class:`~pytest.Item` lose their sections (#123)

<!-- please
fill this in --> As of 1f2e3d4c5b the hook `pytest_runtest_logreport` is called
too early, see https://example.org/issues/1?x=y

Signed-off-by: A Person <a@example.org>
Co-authored-by: Another <b@example.org>
"""


def test_text_of_tools_is_removed() -> None:
    left = cleaned(MESSAGE)
    for gone in ("#123", "class", "fill", "1f2e3d4c5b", "https", "Signed", "Another"):
        assert gone not in left
    for kept in ("Reports", "`~pytest.Item`", "sections", "`pytest_runtest_logreport`", "early"):
        assert kept in left


@given(st.text("a1f#:`<!->/.\n (b_Cwhere isXy_?", max_size=80) | st.text())
@settings(max_examples=examples(100))
def test_any_text_is_read_and_cleaned(text: str) -> None:
    left = cleaned(text)
    assert bool(words(left)) == bool(words(text))
    assert len(left) <= len(text) + 1
    assert words(cleaned(left)) == [] or set(words(cleaned(left))) <= set(words(text))
    head_of(text)
    is_question(text), asks_about_code(text), asks_for_changes(text), version_of(text)
    assert all(name in text for name in [*asked_names(text), *named_in(text)])


def test_names_of_code() -> None:
    text = "the parser `Tokens` and read_all() of a.b.Class, HTTPServer; plain words"
    assert named_in(text) == ["Tokens", "read_all", "a.b.Class", "HTTPServer"]
    trace = 'File "/src/app/main.py", line 12, in load_all\n  raise KeyError(name)'
    assert named_in(trace) == ["/src/app/main.py", "load_all", "KeyError"]
    assert named_in("Nothing of that, e.g. here. And so on") == []


LONG = "keys of sessions that were signed by a host which nobody has seen before"


@pytest.mark.parametrize(
    "text,to_do,about_code,question",
    [
        ("how do I upload files", True, True, True),
        ("how to upload", True, True, True),
        ("we upload our files", True, False, True),
        ("how are files uploaded", False, True, True),
        ("in what file are keys read", False, True, True),
        ("why are keys read twice", False, False, True),
        ("fix(auth): read keys once", False, True, False),
        ("Add keys", False, True, False),
        ("[auth] Keys", False, True, False),
        ("add keys of a session", False, False, False),
        (LONG, False, True, False),
        (f"{LONG} by us", False, True, False),
        (f"what is {LONG}", False, True, True),
        ("", False, False, False),
    ],
)
def test_way_of_asking(text: str, to_do: bool, about_code: bool, question: bool) -> None:
    found = asks_what_to_do(text), asks_about_code(text), is_question(text)
    assert found == (to_do, about_code, question)


@pytest.mark.parametrize(
    "text,names",
    [
        ("where is xr.where defined", ["xr.where"]),
        ("Where is the Crawler class implemented?", ["Crawler"]),
        ("Response.json", ["Response.json"]),
        ("open_store function", ["open_store"]),
        ("keys", ["keys"]),
        ("how open_store reads a damaged store again", []),
        ("Session lifetime", []),
    ],
)
def test_names_are_queried_if_other_words_are_few(text: str, names: list[str]) -> None:
    assert asked_names(text) == names


def test_versions_compare_by_number_and_unreleased_is_last() -> None:
    assert asks_for_changes("python 3.8") and not asks_for_changes("keys of a session")
    headings = ["Fixes", "v2.9", "2.10.0", "2026-01-31", "Unreleased"]
    versions = [version_of(heading) for heading in headings]
    assert versions == sorted(versions) and not versions[0]
