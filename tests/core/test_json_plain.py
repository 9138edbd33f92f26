"""Test JSON without the package ``json``."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.json import loads

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
