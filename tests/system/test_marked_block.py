"""A block comes out of a file as it went in: what was there is as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pylore.system.git_setup import BEGIN, END, with_block, without_any_block, without_block

LINES = st.lists(
    st.text("ab#\r ", max_size=5) | st.sampled_from(["#!/bin/sh", "exit 0", "", BEGIN, END]),
    max_size=5,
)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))
BODIES = st.lists(st.sampled_from(["lore sync", "if x; then", "fi", ""]), max_size=3)
HEAD = "#!/bin/sh"


@given(TEXTS, BODIES, BODIES, st.booleans())
def test_what_was_there_comes_out_as_it_was(
    text: str, body: list[str], other: list[str], first: bool
) -> None:
    once = with_block(text, "'.'", body, head=HEAD, first=first)
    assert with_block(once, "'.'", body, head=HEAD, first=first) == once
    again = with_block(once, "'.'", other, head=HEAD, first=not first)
    assert without_block(once, "'.'", head=HEAD) == text
    assert without_block(again, "'.'", head=HEAD) == text
    assert without_block(text, "'.'", head=HEAD) == text


@given(TEXTS, BODIES, st.booleans())
def test_each_project_has_its_own_block(text: str, body: list[str], first: bool) -> None:
    one = with_block(text, "'.'", body, first=first)
    both = with_block(one, "'sub dir'", body, first=first)
    assert without_block(both, "'sub dir'") == one
    assert "'sub dir'" in str(without_block(both, "'.'"))


def test_a_file_that_came_with_it_goes_with_it() -> None:
    made = with_block(None, "'.'", ["lore sync"], head=HEAD)
    assert made.split("\n")[:2] == [HEAD, BEGIN]
    assert without_block(made, "'.'", head=HEAD) is None
    assert without_block(made + "echo done\n", "'.'", head=HEAD) == f"{HEAD}\necho done\n"
    # an empty file of the person's own stays
    assert without_block(with_block("", "'.'", ["x"]), "'.'") == ""


def test_what_a_person_adds_after_it_stays() -> None:
    once = with_block("a", "'.'", ["x"])
    assert without_block(once + "b\n", "'.'") == "a\nb\n"
    assert with_block("#!/bin/sh\nexit\n", "'.'", ["x"], first=True).split("\n")[1] == BEGIN


@given(st.none() | TEXTS, BODIES, st.booleans(), st.booleans(), st.booleans())
def test_blocks_of_two_come_out_in_either_order(
    text: str | None, body: list[str], first: bool, then: bool, turned: bool
) -> None:
    both = with_block(text, "one", body, head=HEAD, first=first)
    both = with_block(both, "two", body, head=HEAD, first=then)
    if text is None or BEGIN not in text:
        assert without_any_block(both).strip("\n") == (HEAD if text is None else text).strip("\n")
    one, two = ("two", "one") if turned else ("one", "two")
    left = without_block(both, one, head=HEAD)
    assert left is not None and one not in left.split("# ")
    assert without_block(left, two, head=HEAD) == text


def test_a_block_that_has_lost_its_end_takes_nothing_with_it() -> None:
    both = with_block(with_block("a\n", "one", ["x"]) + "mine\n", "two", ["y"])
    broken = both.replace(f"x\n{END}\n", "x\n")
    assert without_block(broken, "one") == broken
    assert "mine\n" in str(without_block(broken, "two"))
