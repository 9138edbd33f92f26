"""Laws of merging after short histories of three stores."""

from __future__ import annotations

from random import Random

import pytest
from laws import check, histories
from samples import some


def test_laws_hold_after_one_step() -> None:
    for world in some([*histories(1, seconds=(0,), skews=(0, 2, -2))], 24):
        check(world)


@pytest.mark.soak
def test_laws_hold_after_three_and_four_steps() -> None:
    for steps in (3, 4):
        for world in histories(steps, seconds=(0, 0, 1), skews=(0, 2, -2), some=Random(), count=40):
            check(world)
