"""Laws of merging after random histories of three stores."""

from __future__ import annotations

import pytest
from laws import check
from samples import examples


@pytest.mark.parametrize("steps", [3, 8, 20])
def test_laws_of_merging_hold(steps: int) -> None:
    for seed in range(examples(8)):
        check(seed, steps)


@pytest.mark.soak
def test_laws_hold_for_many_histories() -> None:
    for seed in range(100, 400):
        check(seed, 1 + seed % 24)
