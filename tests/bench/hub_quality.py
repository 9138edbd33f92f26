"""Compare a hub with search.db: ``LORE_SETS=FOLDER python tests/bench/hub_quality.py``.

For each set of queries with known answers: how much of the first ten is the same, and recall@5
of both, at depths 0 to 2. With ``--whole`` search.db looks at all vectors.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from places import ROOT, read_lines
from report import Row, as_table, at_least
from sets import sets, store_of

sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import postgres
from hub_copies import copy_store

from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import Hub, connect
from pylore.hub.schema import make_schema
from pylore.hub.search import SearchedHub
from pylore.search.pipeline import Request, search
from pylore.store import Store, open_store, vectors
from pylore.store.filter import Scope

EMBEDDER = StaticEmbedder()
FIRST, TOP = 10, 5
_NO_HUB = ("pytest-commits",)


def main() -> int:
    """Prints the rows; 1 if a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    if options.whole:
        vectors.CANDIDATES = vectors.CANDIDATES_OF_MANY = 200
    rows: list[Row] = []
    server = postgres.a_server()
    try:
        for folder in sets(Path(os.environ["LORE_SETS"]), options.only):
            if folder.name not in _NO_HUB:
                rows += _compared(server, folder, options.queries)
    finally:
        server.remove()
    sys.stdout.write(as_table(rows))
    return int(any(row.ok is False for row in rows))


def _compared(server: postgres.Server, folder: Path, count: int) -> Iterator[Row]:
    queries = read_lines(folder / "queries.jsonl")[:count]
    server.rows(f'CREATE DATABASE "{folder.name}"')
    with open_store(str(store_of(folder))) as store, connect(server.url(folder.name)) as hub:
        make_schema(hub, 10_000_000)
        copy_store(hub, store, EMBEDDER)
        wanted = {id.partition("-")[0] for row in queries for id in row["relevant"]}
        others = {type for type, many in store.nodes.count_by_type().items() if many} - wanted
        for depth in (0, 1, 2):
            yield from _at(depth, store, hub, queries, tuple(sorted(wanted)) if others else ())


def _at(
    depth: int, store: Store, hub: Hub, queries: list[dict[str, Any]], types: tuple[str, ...]
) -> Iterator[Row]:
    settings = Settings().changed([("graph_depth", str(depth))], "bench")
    same = all_of = 0
    here = there = 0.0
    for row in queries:
        request = Request(row["query"], Scope(types=types), excluded=row.get("exclude") or ())
        one = [hit.id for hit in search(store, settings, request, EMBEDDER)]
        hub_store: Any = SearchedHub(hub)
        other = [hit.id for hit in search(hub_store, settings, request, EMBEDDER)]
        same += len({*one[:FIRST]} & {*other[:FIRST]})
        all_of += len(one[:FIRST])
        relevant = {*row["relevant"]}
        here += len(relevant & {*one[:TOP]}) / len(relevant)
        there += len(relevant & {*other[:TOP]}) / len(relevant)
    name = f"{hub.name.rpartition('/')[2]}, depth {depth}: "
    yield Row(name + "the same of the first ten", round(100 * same / all_of, 1), "%")
    yield Row(name + "recall@5 here", round(100 * here / len(queries), 2), "%")
    least = 100 * here / len(queries) - 1
    yield at_least(name + "recall@5 at the hub", 100 * there / len(queries), "%", round(least, 2))


if __name__ == "__main__":
    sys.exit(main())
