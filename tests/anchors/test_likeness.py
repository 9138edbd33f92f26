"""How alike two definitions are: what counts, and what does not."""

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


@given(PATHS, TOKENS, TOKENS)
def test_it_is_symmetric_and_within_bounds(path: str, one: list[str], other: list[str]) -> None:
    first, second = (bag_of(path, " ".join(tokens), "f") for tokens in (one, other))
    assert similarity(first, second) == similarity(second, first)
    assert 0.0 <= similarity(first, second) <= 1.0
    assert (similarity(first, second) == 1.0) == (first == second)


@given(PATHS, TOKENS, st.data())
def test_layout_and_comments_do_not_count(
    path: str, tokens: list[str], data: st.DataObject
) -> None:
    comments = ["#\n", "# it's\n"] if path.endswith((".py", ".rb")) else ["/* 'a\n*/", "// b's\n"]
    between = st.sampled_from([" ", "\n", "\t\t", " \r\n ", *(f" {one}" for one in comments)])
    spread = "".join(token + data.draw(between) for token in tokens)
    plain = bag_of(path, " ".join(tokens), "f")
    assert similarity(plain, bag_of(path, spread, "f")) == 1.0


@given(TOKENS)
def test_a_new_name_is_no_difference_and_another_token_is_one(tokens: list[str]) -> None:
    body = " ".join(tokens)
    one, other = (
        python(f"def old(): old({body})", "old"),
        python(f"def neu(): neu({body})", "C.neu"),
    )
    assert similarity(one, other) == 1.0
    assert 0.0 < similarity(one, python(f"def old(): old({body}) or other", "old")) < 1.0


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("def f(a): return a.x + 1", "def f(a): return a.x + 2"),  # a literal
        ("def f(a):\n  one(a)\n  two(a)", "def f(a):\n  two(a)\n  one(a)"),  # the order
        ("def f(a): return 'x y'", "def f(a): return 'x z'"),  # a string
    ],
)
def test_what_a_program_does_counts(less: str, more: str) -> None:
    assert 0.6 < similarity(python(less), python(more)) < 1.0


def test_documentation_does_not_count_and_marks_within_strings_are_none() -> None:
    documented = 'def f(a):\n    """Says a.\n\n    # Never b.\n    """\n    return "#" + a  # ok'
    assert similarity(python(documented), python('def f(a): return "#" + a')) == 1.0
    slashes = 'func f() string { return `//` + "/*" } // ok'
    bare = 'func f() string { return `//` + "/*" }'
    assert similarity(bag_of("a.go", slashes, "f"), bag_of("a.go", bare, "f")) == 1.0
