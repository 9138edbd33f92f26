"""The way of asking: what a question is, whom it is put to, and the names that it has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.query import (
    asked_names,
    asks_about_code,
    asks_for_changes,
    asks_what_to_do,
    is_question,
    named_in,
    version_of,
)
from pylore.core.text import joined

LONG = "keys of sessions that were signed by a host which nobody has seen before"


@pytest.mark.parametrize("text,to_do,about_code,question", [
    ("how do I upload files", True, True, True),
    ("can it read files", True, False, True),
    ("how to upload", True, True, True),
    ("we upload our files", True, False, True),
    ("how are files uploaded", False, True, True),
    ("in what file are keys read", False, True, True),
    ("what is a key", False, False, True),
    ("why are keys read twice", False, False, True),
    ("does it read keys", False, False, True),
    ("fix(auth): read keys once", False, True, False),
    ("Add keys", False, True, False),
    ("keys of a session", False, False, False),
    (LONG, False, True, False),
    (f"{LONG} by us", False, True, False),
    (f"what is {LONG}", False, True, True),
    ("", False, False, False),
])  # fmt: skip
def test_way_of_asking(text: str, to_do: bool, about_code: bool, question: bool) -> None:
    found = asks_what_to_do(text), asks_about_code(text), is_question(text)
    assert found == (to_do, about_code, question)


@pytest.mark.parametrize("text,names", [
    ("where is xr.where defined", ["xr.where"]),
    ("Where is the Crawler class implemented?", ["Crawler"]),
    ("Response.json", ["Response.json"]),
    ("open_store function", ["open_store"]),
    ("keys", ["keys"]),
    ("how open_store reads a damaged store again", []),
    ("Session lifetime", []),
])  # fmt: skip
def test_names_are_asked_for_if_hardly_anything_else_is(text: str, names: list[str]) -> None:
    assert asked_names(text) == names


@pytest.mark.parametrize(
    "text,changes",
    [
        ("when was windows dropped", True),
        ("python 3.8", True),
        ("changes of keys", True),
        ("keys of a session", False),
    ],
)
def test_changes_are_asked_for(text: str, changes: bool) -> None:
    assert asks_for_changes(text) is changes


def test_versions_compare_by_number_and_the_coming_one_is_last() -> None:
    headings = ["Fixes", "v2.9", "2.10.0", "2026-01-31", "Unreleased"]
    versions = [version_of(heading) for heading in headings]
    assert versions == sorted(versions) and not versions[0]


def test_neighbouring_words_are_joined_over_one_stop_word() -> None:
    assert joined("a unit of work") == ["unitofwork"]
    assert joined("time limit in seconds") == ["timelimit", "limitinseconds"]
    assert joined("unit of the work") == []


@given(st.text(alphabet='where isXy_?change. \n"`(1'))
def test_any_text_is_read(text: str) -> None:
    is_question(text), asks_about_code(text), asks_for_changes(text), version_of(text)
    assert all(name in text for name in [*asked_names(text), *named_in(text)])
