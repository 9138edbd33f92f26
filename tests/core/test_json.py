"""Test JSON without the package ``json``, and limits of lines."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.errors import LoreError
from pylore.core.json import lines_of, loads, parse_object, record_line
from pylore.core.settings import Settings
from pylore.evaluate.queries import QUESTION_LINE, read_questions
from pylore.formats.jsonl import import_lines
from pylore.store import Store

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans())
def test_loads_agrees_with_json(value: Any, spaced: bool) -> None:
    text = json.dumps(value, indent=1 if spaced else None) + "\n" * spaced
    assert repr(loads(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "{", "x", '{"a":1}x', '{"a":"\n"}', "[1,]", '{"a" 1}', "01"])
def test_errors_agree_with_json(text: str) -> None:
    with pytest.raises(ValueError) as wanted:
        json.loads(text)
    with pytest.raises(type(wanted.value)) as found:
        loads(text)
    assert str(found.value) == str(wanted.value)


def test_invalid_json_is_detected_without_json() -> None:
    program = (
        "import sys; from pylore.core.json import is_json\n"
        "assert 'json' not in sys.modules\n"
        "assert [is_json(text) for text in ('{x', '[1,', 'x', '{}')] == [False] * 3 + [True]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@given(
    st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b" "))), st.integers(1, 8)
)
def test_long_lines_are_cut_at_the_limit(lines: list[bytes], longest: int) -> None:
    whole = [line + b"\n" for line in lines]
    found = list(lines_of(io.BytesIO(b"".join(whole)), longest))
    assert found == [line[: longest + 1] for line in whole]


def test_byte_order_mark_is_ignored() -> None:
    assert parse_object('\ufeff{"a": 1}\r\n'.encode(), 99) == {"a": 1}


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
