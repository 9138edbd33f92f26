"""Short forms of the soak (``make soak``): nothing that was acknowledged is ever lost."""

from __future__ import annotations

from pathlib import Path

import postgres
import pytest
from forked import preload
from homes import move_home
from samples import TRIES_ALL, examples

from soak.crowds import crowd
from soak.hubs import chaos
from soak.kills import kill
from soak.losses import cut_power, fill
from soak.merges import merge

SEED = 20260131
KILLS = 8 if TRIES_ALL else 3
WELL = {"lost": 0, "in part": 0, "broken": 0}


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    preload()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path)


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    done = kill(str(tmp_path / "store"), SEED, lambda kills: kills < KILLS)
    assert done | WELL == done
    assert done["kills"] >= KILLS and done["acknowledged"]


def test_a_power_cut_loses_nothing_that_was_acknowledged() -> None:
    done = cut_power(SEED, lambda cuts: cuts < examples(12))
    assert done | WELL == done
    assert done["acknowledged"]


def test_a_disk_that_is_full_at_any_write_costs_that_write_alone() -> None:
    done = fill(SEED, ("add", "import_lines"), stride=4 if TRIES_ALL else 8)
    assert done | WELL == done
    assert done["full"] >= 5


def test_what_three_stores_tell_each_other_ends_the_same_everywhere() -> None:
    histories = examples(20)
    assert merge(SEED, histories) == {"histories": histories, "broken": 0}


def test_many_writers_and_a_long_import_are_all_served(tmp_path: Path) -> None:
    done = crowd(str(tmp_path / "store"), 4, 4, 150)
    assert (done["refused"], done["lost"], done["broken"]) == (0, 0, 0)
    assert done["acknowledged"] == 4 * 4 + 150


needs_servers = pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing())


@needs_servers
@pytest.mark.soak
def test_machines_that_are_killed_over_a_hub_end_up_the_same(tmp_path: Path) -> None:
    done = chaos(str(tmp_path), SEED, 3, lambda kills: kills < examples(4))
    assert done | {**SAME, "lost": 0} == done
    assert done["acknowledged"] and done["syncs"]


SAME = {"broken": 0, "differ": 0, "refused": 0}
