"""Test that long lines are refused or skipped, and later lines are read."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.errors import LoreError
from pylore.core.json import QUESTION_LINE, lines_of, record_line
from pylore.core.settings import Settings
from pylore.evaluate.queries import read_questions
from pylore.formats.jsonl import import_lines
from pylore.store import Store


@given(
    st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b" "))), st.integers(1, 8)
)
def test_long_lines_are_cut_at_the_limit(lines: list[bytes], longest: int) -> None:
    whole = [line + b"\n" for line in lines]
    found = list(lines_of(io.BytesIO(b"".join(whole)), longest))
    assert found == [line[: longest + 1] for line in whole]


def test_record_beyond_the_limit_is_a_bad_line(store: Store) -> None:
    settings = Settings().changed([("max_text", "1000")], "test")
    longest = record_line(1000)
    long = json.dumps({"id": "note-long", "body": "x" * longest})
    stream = io.BytesIO(f'{long}\n{{"id": "note-after"}}\n'.encode())
    lines = list(lines_of(stream, longest))
    with pytest.raises(LoreError, match=f"^line 1: longer than {longest} bytes: nothing was"):
        import_lines(store, settings, None, lines)
    assert store.nodes.get("note-after") is None
    found = import_lines(store, settings, None, lines, skip_bad=True)
    assert found.skipped == [("line 1", f"longer than {longest} bytes")]
    assert store.nodes.get("note-after") is not None


def test_query_beyond_the_limit_is_a_bad_line() -> None:
    long = b'{"id": "q1", "query": "' + b"x" * QUESTION_LINE + b'"}\n'
    with pytest.raises(LoreError, match=r"^in: line 1: longer than 10000000 bytes"):
        list(read_questions(lines_of(io.BytesIO(long), QUESTION_LINE), "in"))
