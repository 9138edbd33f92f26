"""What commits teach, as their messages say it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.hooks.git_events import KINDS, commit_of, learned

MESSAGE = """\
Decision: sign tokens

Some text, and lesson: not at the start of a line.
LESSON : look twice,
  then leap
\tand land
Failure:
  the first line may be empty
lesson: look twice, then leap and land
Lesson:

Lessons: none
Pattern: a: b
 ​
  late"""


def test_lines_of_a_message_teach_as_trailers_do() -> None:
    assert learned(MESSAGE) == [
        ("decision", "sign tokens"),
        ("lesson", "look twice, then leap and land"),
        ("failure", "the first line may be empty"),
        ("pattern", "a: b ​ late"),
    ]
    assert len(learned("".join(f"lesson: {n}\n" for n in range(99)))) == 50


LINES = st.lists(
    st.builds(str.__add__, st.sampled_from(["Lesson:", "decision :", " ", "", "x: "]), st.text()),
    max_size=5,
)


@given(LINES)
def test_whatever_a_message_says_texts_are_lines_with_words(lines: list[str]) -> None:
    for kind, text in learned("\n".join(lines)):
        assert kind in KINDS
        assert text.strip() == text != ""
        assert "\n" not in text


@pytest.mark.parametrize(
    ("data", "files", "message"),
    [
        (b"\0ab12\nLook\n\nmore\n\0a.py\0src/b\nc.py\0", ["a.py", "src/b\nc.py"],
         "Look\n\nmore\n"),
        (b"sub/\0ab12\nLook\n\0a.py\0sub/a.py\0", ["a.py"], "Look\n"),
        (b"sub/\0ab12\nLook\n\0", [], "Look\n"),
        (b"", [], ""),
        (b"\xff\0\xff\0\xff/a\0b", ["/a"], ""),
    ],
)  # fmt: skip
def test_what_a_hook_sends_is_read(data: bytes, files: list[str], message: str) -> None:
    assert commit_of(data, made=True)[1:] == (message, files)
