"""The primary of a hub dies in the middle, its standby takes over, and clients go on."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import postgres
from hubs import a_hub
from tcp_proxy import Proxy

from .children import Child
from .desks import Ledger, settle, started, stores
from .hubs import compared, named_at

CUT_FOR = 1.0
"""Seconds that a standby hears nothing before its primary dies, where that is tried."""


def failover(
    root: str, seed: int, desks: int, rounds: int, seconds: float, *, safe: bool
) -> dict[str, float]:
    """So many times in a row: a standby by ``pg_basebackup``, ``seconds`` of work, ``kill -9``,
    promotion. ``lost`` counts what a sync had acknowledged and the standby had not when it
    took over; ``lost for good``, what the hub did not have in the end.

    ``safe``: with ``synchronous_commit=remote_apply``; else with ``local``, and the standby is
    cut off a moment before: then ``lost`` is called ``not at the standby``, and is to be there.
    """
    with tempfile.TemporaryDirectory(prefix="lore-pg-") as place:
        os.chmod(place, 0o711)
        servers = [postgres.Server(Path(place, str(n)), {}) for n in range(rounds + 1)]
        try:
            return _failover(root, seed, desks, servers, seconds, safe)
        finally:
            for server in servers:
                server.remove()


def _failover(
    root: str, seed: int, desks: int, servers: list[postgres.Server], seconds: float, safe: bool
) -> dict[str, float]:
    primary = servers[0].start()
    database = a_hub(primary)
    ports = ",".join(str(server.port) for server in servers)
    hosts = ",".join("127.0.0.1" for _ in servers)
    url = f"postgresql://postgres@/{database}?host={hosts}&port={ports}"
    folders = stores(root, desks)
    ledger = Ledger()
    running = [started(folder, url, seed * 1000 + n) for n, folder in enumerate(folders)]
    lost = acknowledged = 0
    waits: list[float] = []
    try:
        for number, standby in enumerate(servers[1:]):
            acknowledged += len(ledger.at_hub)
            ledger.at_hub.clear()
            with Proxy(primary.port) as line:
                standby.follow(line.port, f"standby{number}")
                primary.set(
                    synchronous_commit="remote_apply" if safe else "local",
                    synchronous_standby_names=f"standby{number}" if safe else "",
                )
                time.sleep(seconds)
                if not safe:
                    line.cut()
                    time.sleep(CUT_FOR)
                primary.kill()
            time.sleep(0.2)
            _hear(ledger, running)
            lost += _lacking(standby, database, ledger)
            standby.promote()
            waits.append(_waited(ledger, running))
            primary = standby
        time.sleep(seconds / 2)
    finally:
        for number, process in enumerate(running):
            ledger.note(process.kill(), str(number))
    settle(folders, url)
    found = compared(folders, ledger, named_at(primary, url))
    found["lost for good"] = found.pop("lost") + _lacking(primary, database, ledger)
    return {"desks": desks, "kills": len(servers) - 1, **ledger.counts,
            "acknowledged by the hub": acknowledged + len(ledger.at_hub),
            "lost" if safe else "not at the standby": lost,
            "longest wait": round(max(waits), 1), **found}  # fmt: skip


def _hear(ledger: Ledger, running: list[Child]) -> None:
    for number, process in enumerate(running):
        ledger.note(process.told(), str(number))


def _waited(ledger: Ledger, running: list[Child]) -> float:
    """Seconds until somebody has synced again."""
    began, before = time.monotonic(), ledger.counts["syncs"]
    while ledger.counts["syncs"] == before and time.monotonic() < began + 60:
        time.sleep(0.1)
        _hear(ledger, running)
    return time.monotonic() - began


def _lacking(server: postgres.Server, database: str, ledger: Ledger) -> int:
    """How much of what was acknowledged by the hub a server does not have."""
    there: dict[str, str] = {}
    for owner, line in server.rows(
        "SELECT owner, line FROM lore.lines WHERE kind IN ('node', 'state')", database=database
    ):
        there[owner] = there.get(owner, "") + line
    lacking = [
        id
        for id, text in ledger.at_hub
        if id not in ledger.purged and text not in there.get(id, "")
    ]
    for id in lacking[:3]:
        print(f"not at the standby: {id}", file=sys.stderr)
    return len(lacking)
