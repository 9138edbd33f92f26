"""The walk in process, on a large graph whose degrees follow a power law."""

from __future__ import annotations

import hashlib
import inspect
import random
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from statistics import median
from time import perf_counter

import apsw
from places import CACHE, percentile
from report import Row, at_least, at_most

from pylore.core.settings import Settings
from pylore.graph.relations import relation_weights
from pylore.graph.walk import Walk, walk
from pylore.store import Store, create_store, open_store
from pylore.store.schema import SCHEMA, schema_text

NODES = 100_000
EDGES = 1_000_000
WALKS = 250
SEEDS = 10
DEPTH = 2
_EXPONENT = 2.5  # of the degrees' distribution; 2 to 3 is usual for graphs that grew
_RELATIONS = ("relates_to", "links_to", "mentions", "depends_on", "part_of", "derived_from")


def expansion_rows(say: Callable[[str], None]) -> list[Row]:
    """Walks of depth 2 with the default settings, then with caps of 17,000 edges."""
    folder = CACHE / f"graph-{_fingerprint()}"
    if not folder.exists():
        say(f"writing {EDGES:,} edges")
        _build(folder)
    say("walking")
    with open_store(str(folder)) as store:
        seeds = _seeds(store)
        usual, wide = Settings(), Settings()
        wide.graph_fanout, wide.graph_max_nodes = 50, 200
        times = [ms for ms, _ in _walks(store, usual, seeds)][SEEDS:]
        walked = [(ms, result.edges_seen) for ms, result in _walks(store, wide, seeds[::25])]
        rate = 10 * sum(edges for _, edges in walked) / sum(ms for ms, _ in walked)
        return [
            Row("expansion, depth 2: p50", round(median(times), 2), "ms"),
            at_most("expansion, depth 2: p95", percentile(times, 0.95), "ms", 10),
            at_least("expansion, 17,000 edges a walk: edges in 10 ms", round(rate), "edges", 5_000),
            at_most("expansion, depth 2: memory", _memory(store, usual, seeds), "MB", 10),
            at_most("storage of an edge, indexes too", _bytes_an_edge(store), "bytes", 300),
        ]


def _walks(
    store: Store, settings: Settings, seeds: list[list[str]]
) -> Iterator[tuple[float, Walk]]:
    """``(ms, what was reached)`` of a walk from each list of seeds."""
    weights = relation_weights(store, settings)
    for ids in seeds:
        scores = {id: 1 - 0.05 * rank for rank, id in enumerate(ids)}
        start = perf_counter()
        result = walk(
            store.edges, scores, weights, depth=DEPTH, decay=settings.hop_decay,
            fanout=settings.graph_fanout, max_nodes=settings.graph_max_nodes,
        )  # fmt: skip
        yield (perf_counter() - start) * 1000, result


def _seeds(store: Store) -> list[list[str]]:
    """``WALKS`` lists of nodes; every fifth list has three hubs among them."""
    chance = random.Random(1)
    hubs = [_id(number) for number in range(100)]
    lists = []
    for number in range(WALKS + SEEDS):
        ids = [_id(chance.randrange(NODES)) for _ in range(SEEDS)]
        lists.append(list(dict.fromkeys(chance.sample(hubs, 3) + ids if number % 5 == 0 else ids)))
    return [ids[:SEEDS] for ids in lists]


def _memory(store: Store, settings: Settings, seeds: list[list[str]]) -> float:
    """The most that one walk holds beyond what was there before, Python's and SQLite's, in MB."""
    most = 0
    for ids in seeds[:20]:
        tracemalloc.start()
        before = apsw.memory_used()
        apsw.memory_high_water(True)
        list(_walks(store, settings, [ids]))
        held = tracemalloc.get_traced_memory()[1] + apsw.memory_high_water() - before
        tracemalloc.stop()
        most = max(most, held)
    return most / 1e6


def _bytes_an_edge(store: Store) -> float:
    pages = store.connection.execute(
        "SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN"
        " (SELECT name FROM sqlite_schema WHERE tbl_name = 'links')"
    ).get
    return float(pages / EDGES)


# --- the graph: made once, kept in .bench/


def _fingerprint() -> str:
    """Changes when the schema or the making of the graph does."""
    made = schema_text(SCHEMA)
    made += f"{NODES} {EDGES} {_EXPONENT} {_RELATIONS}"
    made += "".join(inspect.getsource(step) for step in (_build, _edges, _id))
    return hashlib.sha256(made.encode()).hexdigest()[:8]


def _build(folder: Path) -> None:
    for old in CACHE.glob("graph-*"):
        shutil.rmtree(old)
    part = CACHE / "graph.part"
    shutil.rmtree(part, ignore_errors=True)
    with create_store(str(part)) as store, store.transaction():
        # In bulk and not through the store's interface, which writes an edge at a
        # time and would take minutes; the rows are those it would write.
        store.connection.pragma("cache_size", -500_000)
        store.connection.executemany(
            "INSERT INTO nodes(id, type, created_at, updated_at) VALUES (?, 'note', ?2, ?2)",
            ((_id(number), "2026-01-31T12:00:00Z") for number in range(NODES)),
        )
        store.connection.executemany(
            "INSERT OR IGNORE INTO links(from_key, to_key, relation, weight, created_at)"
            " VALUES ((SELECT key FROM nodes WHERE id = ?), (SELECT key FROM nodes WHERE id = ?),"
            " ?, ?, '2026-01-31T12:00:00Z')",
            _edges(),
        )
    part.rename(folder)


def _edges() -> Iterator[tuple[str, str, str, float]]:
    """``EDGES`` different edges whose ends are drawn by weights that follow a power law."""
    chance = random.Random(2)
    weights = list(accumulate((n + 10) ** (-1 / (_EXPONENT - 1)) for n in range(NODES)))
    seen: set[tuple[int, int]] = set()
    while len(seen) < EDGES:
        ends = chance.choices(range(NODES), cum_weights=weights, k=20_000)
        for start, end in zip(ends[::2], ends[1::2], strict=True):
            if start != end and (start, end) not in seen and len(seen) < EDGES:
                seen.add((start, end))
                relation = chance.choice(_RELATIONS)
                yield _id(start), _id(end), relation, round(chance.uniform(0.3, 1), 2)


def _id(number: int) -> str:
    # Neighbours in rank are not neighbours in the table, as with real ids.
    return f"note-{number * 2_654_435_761 % (1 << 32):08x}"
