"""How long a hub takes for a search, and how many it answers: by the function that a client calls.

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
from pathlib import Path
from random import Random
from statistics import median
from time import monotonic, perf_counter
from typing import Any

import psycopg2
from hub_store import build_hub, questions
from new_words import with_new_words
from places import ROOT, percentile
from report import Row, as_json, as_table, at_least, at_most

sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import postgres

from pylore.core.json import dumps
from pylore.core.settings import Settings
from pylore.core.text import parse_query
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import connect
from pylore.hub.schema import migrate
from pylore.hub.search import question
from pylore.search.pipeline import Request
from pylore.store.filter import Scope

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
    """Median and 95th percentile at depths 0 and 2, and searches a second at depth 0."""
    for depth in (0, 2):
        times = _latencies(url, depth)
        name = f"{size:,} records, depth {depth}: "
        if depth:
            yield at_most(name + "median", median(times), "ms", 150)
        else:
            yield Row(name + "median", round(median(times), 1), "ms")
        yield Row(name + "95th percentile", round(percentile(times, 0.95), 1), "ms")
    yield at_least(f"{size:,} records, depth 0, {CLIENTS} clients", _throughput(url), "/s", 100)


def asked(depth: int, seed: int, count: int = 60) -> list[str]:
    """What is sent for so many queries."""
    embedder, rng = StaticEmbedder(), Random(seed)
    settings = Settings().changed([("graph_depth", str(depth))], "bench")
    found = []
    for text in questions(count):
        query = parse_query(with_new_words(text, rng))
        request = Request(query.text, Scope(hides=("superseded", "retracted")))
        sent = question(query, embedder.embed([query.text])[0], settings, request, 50)
        found.append(dumps({**sent, "embedder": embedder.name}))
    return found


def _hub(server: postgres.Server, size: int) -> str:
    name = f"hub{size}"
    url = server.url(name)
    if not server.rows("SELECT 1 FROM pg_database WHERE datname = %s", (name,)):
        server.rows(f"CREATE DATABASE {name}")
        with connect(url) as hub:
            migrate(hub)
        build_hub(url, size)
    return url


def _cursor(url: str) -> Any:
    psycopg2.extensions.set_wait_callback(None)
    connection = psycopg2.connect(url)
    connection.autocommit = True
    return connection.cursor()


def _latencies(url: str, depth: int) -> list[float]:
    cursor = _cursor(url)
    times: list[float] = []
    for seed in (1, 2):  # the first ones bring into memory what all of them read
        times = []
        for sent in asked(depth, seed):
            start = perf_counter()
            cursor.execute("SELECT lore.search(%s)::text", (sent,))
            cursor.fetchall()
            times.append(1000 * (perf_counter() - start))
    cursor.connection.close()
    return times


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
    return float(found) / SECONDS


def _client(url: str, seed: int, begin: Any, counts: Any) -> None:
    cursor = _cursor(url)
    queries = asked(0, seed)
    cursor.execute("SELECT lore.search(%s)::text", (queries[0],))
    begin.wait()
    done, start = 0, monotonic()
    while monotonic() - start < SECONDS:
        cursor.execute("SELECT lore.search(%s)::text", (queries[done % len(queries)],))
        cursor.fetchall()
        done += 1
    counts.put(done)


if __name__ == "__main__":
    sys.exit(main())
