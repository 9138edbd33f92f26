"""Test the similarity of definitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.anchors.moves import Bag, bag_of, similarity

TOKENS = st.lists(
    st.sampled_from(["if", "x", "y2", "(", ")", "=", "==", "return", "'a b'", '"#"', "1"]),
    max_size=25,
)
PATHS = st.sampled_from(["a.py", "a.go", "b/a.ts", "A.java", "a.rb"])


def python(text: str, name: str = "f") -> Bag:
    return bag_of("a.py", text, name)


@given(PATHS, TOKENS, st.data())
def test_layout_and_comments_do_not_count(
    path: str, tokens: list[str], data: st.DataObject
) -> None:
    comments = ["#\n", "# it's\n"] if path.endswith((".py", ".rb")) else ["/* 'a\n*/", "// b's\n"]
    between = st.sampled_from([" ", "\n", "\t\t", " \r\n ", *(f" {one}" for one in comments)])
    spread = "".join(token + data.draw(between) for token in tokens)
    assert similarity(bag_of(path, " ".join(tokens), "f"), bag_of(path, spread, "f")) == 1.0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("def f(a): return a.x + 1", "def f(a): return a.x + 2", False),
        ("def f(a):\n  one(a)\n  two(a)", "def f(a):\n  two(a)\n  one(a)", False),
        ("def f(a): return 'x y'", "def f(a): return 'x z'", False),
        (
            'def f(a):\n  """Says a.\n\n  # Never.\n  """\n  return "#" + a  # ok',
            'def f(a): return "#" + a',
            True,
        ),
    ],
)
def test_tokens_count_and_documentation_does_not(one: str, other: str, same: bool) -> None:
    figure = similarity(python(one), python(other))
    assert figure == 1.0 if same else 0.6 < figure < 1.0
    assert similarity(python(one, "f"), python(one.replace("f(", "g("), "C.g")) == 1.0
