"""Desks that share a hub and are killed."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable

import postgres
from hubs import a_hub

from pylore.store import open_store

from . import checks
from .desks import Ledger, exported, settle, started, stores

OFF = (0, 0, 0, 3600, -3600, 36_000, -36_000)  # seconds by which clocks of machines are wrong


def chaos(
    root: str, seed: int, desks: int, go_on: Callable[[int], bool], pause: float = 0.3
) -> dict[str, float]:
    """Let desks write and sync, and kill some at random, while ``go_on(kills)``; then compare all
    desks and the hub."""
    chance = random.Random(seed)
    server = postgres.a_server(dict.fromkeys(("fsync", "full_page_writes"), "off"))
    try:
        url = server.url(a_hub(server))
        folders = stores(root, desks)
        ledger = Ledger()
        began, kills = time.monotonic(), 0
        numbers = iter(range(seed * 1_000_000, sys.maxsize))
        offs = [chance.choice(OFF) for _ in folders]
        running = [
            started(folder, url, next(numbers), off)
            for folder, off in zip(folders, offs, strict=True)
        ]
        try:
            while go_on(kills):
                time.sleep(chance.random() * 2 * pause)
                place = chance.randrange(desks)
                ledger.note(running[place].kill())
                kills += 1
                running[place] = started(folders[place], url, next(numbers), offs[place])
                for process in running:
                    ledger.note(process.told())
        finally:
            for process in running:
                ledger.note(process.kill())
                kills += 1
        seconds = time.monotonic() - began
        settle(folders, url)
        return {
            "desks": desks,
            "seconds": round(seconds),
            "kills": kills,
            **ledger.counts,
            **compared(folders, ledger, named_at(server, url)),
            "wrong at the hub": _wrong(server, url, folders[0]),
        }
    finally:
        server.remove()


def named_at(server: postgres.Server, url: str) -> set[str]:
    """Return all ids in the log of the hub."""
    rows = server.rows(
        "SELECT owner FROM lore.lines UNION SELECT split_part(key, chr(31), 2) FROM lore.lines"
        " WHERE kind IN ('from_id', 'history_of')",
        database=url.partition("?")[0].rpartition("/")[2],
    )
    return {id for (id,) in rows}


def compared(folders: list[str], ledger: Ledger, named: set[str]) -> dict[str, float]:
    """Count the desks that differ from the first, and lost or broken records."""
    first, *others = [_shared(folder, named) for folder in folders]
    for number, other in enumerate(others, 1):
        for line in sorted({*first} ^ {*other})[:4]:
            print(f"desk 0 or {number} alone: {line}", file=sys.stderr)
    lost = checks.lost(folders[0], ledger.promised)
    for id in lost[:5]:
        print(f"lost: {id}", file=sys.stderr)
    broken = [text for folder in folders[:3] for text in checks.broken(folder)]
    return {
        "records": len(ledger.promised),
        "lines": len(first),
        "differ": sum(other != first for other in others),
        "lost": len(lost),
        "broken": len(broken),
    }


def _shared(folder: str, named: set[str]) -> list[str]:
    """Return an export with purges of records in the hub's log only, and without the times: a later
    purge of a record that is purged at the hub is not sent."""
    lines = [(line, json.loads(line).get("purged")) for line in exported(folder)]
    return [id or line for line, id in lines if id is None or id in named]


def _wrong(server: postgres.Server, url: str, folder: str) -> int:
    """Count the records that differ at the hub, and purged records with a text there."""
    database = url.partition("?")[0].rpartition("/")[2]
    at_hub = {
        id: said
        for id, *said in server.rows(
            "SELECT id, coalesce(fields->>'title', ''), split_part(text, E'\n', 1), status, gone"
            " FROM lore.nodes WHERE type <> ''",
            database=database,
        )
    }
    with open_store(folder) as store:
        here = {
            node.id: [node.title, node.body, node.status, bool(node.invalidated_at)]
            for node in store.nodes.all()
        }
        purged = store.changes.purged()
    left = server.rows(
        "SELECT owner, order_key FROM lore.lines WHERE line <> '' AND kind <> 'purged'"
        " AND owner = ANY (%s)",
        ([*purged],),
        database,
    )
    kept = [id for id, order in left if order.partition(" ")[0] <= purged[id]]
    wrong = [id for id in {*at_hub, *here} if at_hub.get(id) != here.get(id)]
    for id in wrong[:5]:
        print(f"wrong: {id}: {at_hub.get(id)} {here.get(id)}", file=sys.stderr)
    return len(wrong) + len(kept)
