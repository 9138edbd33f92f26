"""How long a hub takes for a search, and how many it answers: by the two legs that a client asks.

Each query has words that the hub has never met. Latency is that of one client, throughput of
sixteen at once; both with the server on the same machine, whose processors they share.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import get_context
from os import sysconf
from pathlib import Path
from random import Random
from statistics import median
from time import monotonic, perf_counter
from typing import Any

from hub_store import build_hub, questions
from new_words import with_new_words
from places import ROOT, percentile
from report import Row, as_json, as_table, at_least, at_most

sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import postgres

from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import Hub, connect
from pylore.hub.schema import make_schema
from pylore.hub.search import SearchedHub
from pylore.search.pipeline import Request, search

CLIENTS = 16
SECONDS = 15.0
LARGE = {
    "shared_buffers": "5GB", "work_mem": "64MB", "maintenance_work_mem": "2500MB",
    "max_wal_size": "16GB", "checkpoint_timeout": "30min", "random_page_cost": "1.1",
}  # fmt: skip


def main() -> int:
    """Prints the rows; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="hub_search.sh", add_help=False)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--text", action="store_true")
    options = parser.parse_args()
    if postgres.missing():
        print(f"lore: {postgres.missing()}", file=sys.stderr)
        return 1
    folder = options.folder or Path(tempfile.mkdtemp(prefix="lore-bench-hub-"))
    folder.mkdir(parents=True, exist_ok=True)
    server = postgres.Server(folder / "server", {**postgres.FAST, **LARGE}).start()
    try:
        rows = [*measured(_hub(server, options.size), options.size)]
    finally:
        if options.folder:
            server.stop()
        else:
            server.remove()
            shutil.rmtree(folder)
    as_text = options.text or (sys.stdout.isatty() and not options.json)
    sys.stdout.write(as_table(rows) if as_text else as_json(rows))
    return int(any(row.ok is False for row in rows))


def measured(url: str, size: int) -> Iterator[Row]:
    """CPU of the server and median time of whole searches at depths 0 to 2, searches a second."""
    for depth in (0, 1, 2):
        times, cpu = _latencies(url, depth)
        name = f"{size:,} records, depth {depth}: "
        yield at_most(name + "CPU of the server", cpu, "ms", 20)
        yield Row(name + "median", round(median(times), 1), "ms")
        yield Row(name + "95th percentile", round(percentile(times, 0.95), 1), "ms")
    yield at_least(f"{size:,} records, depth 0, {CLIENTS} clients", _throughput(url), "/s", 100)


class Recorded(Hub):
    """A hub that keeps what it is asked."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub.name, hub.connection)
        self.asked: list[tuple[Any, ...]] = []

    def ask(self, *given: Any, **options: Any) -> Any:
        self.asked.append(given)
        return super().ask(*given, **options)


def _hub(server: postgres.Server, size: int) -> str:
    name = f"hub{size}"
    url = server.url(name)
    if not server.rows("SELECT 1 FROM pg_database WHERE datname = %s", (name,)):
        server.rows(f"CREATE DATABASE {name}")
        with connect(url) as hub:
            make_schema(hub, 10_000_000)
            build_hub(hub, size)
    return url


def _latencies(url: str, depth: int) -> tuple[list[float], float]:
    """Return the milliseconds of each search, and the server's CPU of one."""
    embedder, settings = (
        StaticEmbedder(),
        Settings().changed([("graph_depth", str(depth))], "bench"),
    )
    times: list[float] = []
    used = 0.0
    with connect(url) as hub:
        [(number,)] = hub.ask("SELECT pg_backend_pid()")
        for seed in (1, 2):  # the first ones bring into memory what all of them read
            times, rng, before = [], Random(seed), _cpu(number)
            for text in questions(60):
                query = with_new_words(text, rng)
                start = perf_counter()
                store: Any = SearchedHub(hub)
                search(store, settings, Request(query), embedder)
                times.append(1000 * (perf_counter() - start))
            used = (_cpu(number) - before) / len(times)
    return times, round(1000 * used, 1)


def _cpu(process: int) -> float:
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / sysconf("SC_CLK_TCK")


def _throughput(url: str) -> float:
    context = get_context("spawn")
    begin = context.Barrier(CLIENTS)
    counts = context.Queue()
    clients = [
        context.Process(target=_client, args=(url, seed, begin, counts)) for seed in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    found = sum(counts.get() for _ in clients)
    for client in clients:
        client.join()
    return round(float(found) / SECONDS, 1)


def _client(url: str, seed: int, begin: Any, counts: Any) -> None:
    """Ask what recorded searches ask: the pipeline of a client runs on its own machine."""
    embedder, settings, rng = (
        StaticEmbedder(),
        Settings().changed([("graph_depth", "0")], "x"),
        Random(seed),
    )
    searches = []
    with connect(url) as hub:
        for text in questions(30):
            recorded = Recorded(hub)
            store: Any = SearchedHub(recorded)
            search(store, settings, Request(with_new_words(text, rng)), embedder)
            searches.append(recorded.asked)
        begin.wait()
        done, start = 0, monotonic()
        while monotonic() - start < SECONDS:
            for given in searches[done % len(searches)]:
                hub.ask(*given)
            done += 1
    counts.put(done)


if __name__ == "__main__":
    sys.exit(main())
