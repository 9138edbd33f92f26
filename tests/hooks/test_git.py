"""Test lessons in messages of commits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pylore.hooks.git_events import KINDS, learned

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


def test_lessons_of_a_message() -> None:
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
def test_any_message_gives_single_lines(lines: list[str]) -> None:
    for kind, text in learned("\n".join(lines)):
        assert kind in KINDS
        assert text.strip() == text != ""
        assert "\n" not in text
