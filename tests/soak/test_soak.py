"""Short forms of the soak (``make soak``): nothing that was acknowledged is ever lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import preload
from homes import move_home
from samples import examples

from soak.crowds import crowd
from soak.kills import kill
from soak.losses import cut_power, fill
from soak.merges import merge

SEED = 20260131
WELL = {"lost": 0, "in part": 0, "broken": 0}


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    preload()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path)


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    done = kill(str(tmp_path / "store"), SEED, lambda kills: kills < examples(8))
    assert done | WELL == done
    assert done["kills"] >= examples(8) and done["acknowledged"]


def test_a_power_cut_loses_nothing_that_was_acknowledged() -> None:
    done = cut_power(SEED, lambda cuts: cuts < examples(12))
    assert done | WELL == done
    assert done["acknowledged"]


def test_a_disk_that_is_full_at_any_write_costs_that_write_alone() -> None:
    done = fill(SEED, ("add", "import_lines"), stride=4)
    assert done | WELL == done
    assert done["full"] >= 10


def test_what_three_stores_tell_each_other_ends_the_same_everywhere() -> None:
    histories = examples(20)
    assert merge(SEED, histories) == {"histories": histories, "broken": 0}


def test_many_writers_and_a_long_import_are_all_served(tmp_path: Path) -> None:
    done = crowd(str(tmp_path / "store"), 4, 4, 150)
    assert (done["refused"], done["lost"], done["broken"]) == (0, 0, 0)
    assert done["acknowledged"] == 4 * 4 + 150
