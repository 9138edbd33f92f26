"""What of a text is searched for, and what in it names code."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.core.query import cleaned, head_of, named_in
from pylore.core.text import words

MESSAGE = """Reports of :class:`~pytest.Item` lose their sections (#123)

<!-- please
fill this in --> As of 1f2e3d4c5b the hook `pytest_runtest_logreport` is called
too early, see https://example.org/issues/1?x=y

Signed-off-by: A Person <a@example.org>
Co-authored-by: Another <b@example.org>
"""


def test_what_tools_have_written_is_left_out() -> None:
    left = cleaned(MESSAGE)
    for gone in ("#123", "class", "fill", "1f2e3d4c5b", "https", "Signed", "Another"):
        assert gone not in left
    for kept in ("Reports", "`~pytest.Item`", "sections", "`pytest_runtest_logreport`", "early"):
        assert kept in left


def test_a_short_query_stays_as_it_is_typed() -> None:
    for text in ("1f2e3d4c5b", "what did #123 change", "https://example.org/a", "Cc: all"):
        assert cleaned(text) == text


NOISE = st.sampled_from([
    "https://example.org/a/b?c", "1f2e3d4c5b6a7988", "#4711", "(#4711)", "<https://example.org>",
])  # fmt: skip
PLAIN = st.lists(st.sampled_from("tokens are signed with a key that nobody knows".split()),
                 min_size=8, max_size=12)  # fmt: skip


@given(PLAIN, st.lists(st.tuples(st.integers(0, 8), NOISE), max_size=4))
@settings(max_examples=examples(40))
def test_noise_between_words_leaves_the_words(
    plain: list[str], noise: list[tuple[int, str]]
) -> None:
    text = [*plain]
    for place, chunk in noise:
        text.insert(place, chunk)
    assert cleaned(" ".join(text)) == " ".join(plain)


@given(st.text(alphabet=st.sampled_from("a1f#:`<!->/.\n (b_C"), max_size=80) | st.text())
@settings(max_examples=examples(100))
def test_any_text_can_be_cleaned_and_never_to_nothing(text: str) -> None:
    left = cleaned(text)
    assert bool(words(left)) == bool(words(text))
    assert len(left) <= len(text) + 1
    assert words(cleaned(left)) == [] or set(words(cleaned(left))) <= set(words(text))
    head_of(text)
    assert all(name in text for name in named_in(text))


def test_names_of_code() -> None:
    assert named_in("the parser `Tokens` and read_all() of a.b.Class, HTTPServer; plain words") == [
        "Tokens", "read_all", "a.b.Class", "HTTPServer",
    ]  # fmt: skip
    trace = 'File "/src/app/main.py", line 12, in load_all\n  raise KeyError(name)'
    assert named_in(trace) == ["/src/app/main.py", "load_all", "KeyError"]
    assert named_in("Nothing of that, e.g. here. And so on") == []
