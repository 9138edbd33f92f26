"""Try the laws of merging after short histories of three stores."""

from __future__ import annotations

from random import Random

from laws import check, histories
from samples import examples


def test_after_any_one_step() -> None:
    for world in histories(1, seconds=(0,), skews=(0, 2, -2)):
        check(world)


def test_after_some_of_three_and_four_steps() -> None:
    for steps in (3, 4):
        some = Random()
        found = histories(steps, seconds=(0, 0, 1), skews=(0, 2, -2), some=some,
                          count=examples(40))  # fmt: skip
        for world in found:
            check(world)
