"""Test that no acknowledged write is lost, by short forms of ``make soak``."""

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


def test_kills_lose_no_acknowledged_write(tmp_path: Path) -> None:
    done = kill(str(tmp_path / "store"), SEED, lambda kills: kills < KILLS)
    assert done | WELL == done
    assert done["kills"] >= KILLS and done["acknowledged"]


def test_power_cuts_lose_no_acknowledged_write() -> None:
    done = cut_power(SEED, lambda cuts: cuts < examples(12))
    assert done | WELL == done
    assert done["acknowledged"]


def test_full_disk_fails_only_the_current_write() -> None:
    done = fill(SEED, ("add", "import_lines"), stride=4 if TRIES_ALL else 8)
    assert done | WELL == done
    assert done["full"] >= 5


def test_merging_stores_become_equal() -> None:
    histories = examples(20)
    assert merge(SEED, histories) == {"histories": histories, "broken": 0}


def test_writers_do_not_starve_during_an_import(tmp_path: Path) -> None:
    done = crowd(str(tmp_path / "store"), 4, 4, 150)
    assert (done["refused"], done["lost"], done["broken"]) == (0, 0, 0)
    assert done["acknowledged"] == 4 * 4 + 150


needs_servers = pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing())


@needs_servers
@pytest.mark.soak
def test_killed_desks_of_a_hub_become_equal(tmp_path: Path) -> None:
    done = chaos(str(tmp_path), SEED, 3, lambda kills: kills < examples(4))
    assert done | dict.fromkeys(("lost", "broken", "differ", "refused"), 0) == done
    assert done["acknowledged"] and done["syncs"]
