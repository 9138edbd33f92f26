"""Stores that sync with a hub become equal without loss, in any order."""

from __future__ import annotations

from pathlib import Path
from random import Random

import postgres
from histories import Three, clocks
from samples import TRIES_ALL
from syncing import Team, team, told

from pylore.store import Store


def met_at_a_hub(team: Team, seed: int) -> None:
    random = Random(seed)
    names = [f"{seed}-{n}" for n in range(3)]
    stores = [team.store(name) for name in names]
    of = dict(zip(map(id, stores), names, strict=True))

    def sync(ours: Store, theirs: Store, prefer: str) -> None:
        for store in (theirs, ours) if random.random() < 0.7 else (ours,):
            team.sync(of[id(store)])

    three = Three(random, stores, sync, whole=True)
    with clocks(three):
        three.live(25)
        for name in names * 3:
            team.sync(name)
        three._look(stores[0])
        first, *others = [told(store) for store in stores]
        assert others == [first, first]
        assert three.lost() == [] and three.cut_off() == []
        for name in names:
            done = team.sync(name)
            assert (done.sent, done.came_in.added + done.came_in.updated) == (0, 0)
        newcomer = f"{seed}-new"
        team.sync(newcomer)
        assert told(team.store(newcomer)) == first


def test_random_histories_end_up_the_same(postgres_server: postgres.Server, tmp_path: Path) -> None:
    first = Random().randrange(2**32)
    for seed in range(first, first + (16 if TRIES_ALL else 3)):
        with team(postgres_server, tmp_path) as one:
            met_at_a_hub(one, seed)
