"""What a question is for, and which words are left of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.query import asked_names, intent_of


@pytest.mark.parametrize("text,kind,rest,names", [
    ("where is xr.where defined", "where", "is xr.where", {"xr.where"}),
    ("Where is the Crawler class implemented?", "where", "is the Crawler", {"crawler"}),
    ("how does it sign cookies", "how", "does it sign cookies", set()),
    ("why was the cache removed", "why", "was the cache removed", set()),
    ("when was 3.8 dropped", "why", "was 3.8 dropped", set()),
    ("what must I change when I change pools", "changes", "I when I pools", set()),
    ("why does the property return a copy", "how", "why does the property return a copy", set()),
    ("what is the role of the signer", "how", "what is the role of the signer", set()),
    ("who calls open_store", "changes", "open_store", {"open_store"}),
])  # fmt: skip
def test_the_words_that_say_what_for_go(text: str, kind: str, rest: str, names: set[str]) -> None:
    intent = intent_of(text)
    assert intent is not None
    assert (intent.kind, intent.text, set(intent.names)) == (kind, rest, names)


@given(st.text(alphabet='where iswhy?change. \n"`', min_size=1))
def test_what_is_left_is_never_nothing(text: str) -> None:
    intent = intent_of(text) if text.split() else None
    assert intent is None or intent.text.split()


@pytest.mark.parametrize("text", ["token expiry", "where is it defined", "who are you", "why"])
def test_what_is_no_question_stays(text: str) -> None:
    assert intent_of(text) is None


@pytest.mark.parametrize("text,tests", [
    ("how does the test that signs in open a store", True),
    ("where is the login test-suite", True),
    ("what does TestLogin check", True),
    ("how is test_login set up", True),
    ("where is the test client defined", False),
    ("how does it specify a specific testament", False),
])  # fmt: skip
def test_whether_a_question_asks_for_tests(text: str, tests: bool) -> None:
    intent = intent_of(text)
    assert intent is not None
    assert intent.tests is tests


@pytest.mark.parametrize("text,names", [
    ("Response.json", {"response.json"}),
    ("open_store function", {"open_store"}),
    ("how open_store reads a damaged store again", set()),
    ("session lifetime", set()),
])  # fmt: skip
def test_a_short_query_asks_for_the_definitions_of_its_names(text: str, names: set[str]) -> None:
    assert asked_names(text) == names
