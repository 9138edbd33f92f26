"""Evidence in the budget: how many of the relevant records are inside a context.

Usage: .venv/bin/python tests/bench/context.py FOLDER [--only SET,…] [--store SET=STORE …]

FOLDER has sets as ``tests/bench/quality.sh`` takes them. For each budget: the share of
the relevant records that a context has, at depth 0 and 2, and what the same results in
order, each whole, would bring (naive).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from places import ROOT, read_lines
from sets import LeftOut, sets, store_of

sys.path.insert(0, str(ROOT))

from pylore.context.budget import Tokens
from pylore.context.build import Asked, build, wider
from pylore.embed import open_embedder
from pylore.search import Request, search
from pylore.settings import Settings
from pylore.store import Store, open_store
from pylore.store.scope import Scope

BUDGETS = (1000, 2000, 4000)
DEPTHS = (0, 2)


def main() -> int:
    """Prints a line a set and budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--store", action="append", default=[], metavar="SET=STORE")
    parser.add_argument("--queries", type=int, default=0, metavar="N", help="at most N of a set")
    options = parser.parse_args()
    stores = dict(text.split("=", 1) for text in options.store)
    print(
        "| set | budget | naive, depth 0 | context, depth 0 | naive, depth 2 | context, depth 2 |"
    )
    print("|---|---|---|---|---|---|")
    for folder in sets(options.folder, options.only):
        try:
            place = stores.get(folder.name) or str(store_of(folder))
        except LeftOut as reason:
            sys.stderr.write(f"{folder.name}: left out: {reason}\n")
            continue
        for row in _rows(folder, place, options.queries):
            print(row, flush=True)
    return 0


def _rows(folder: Path, place: str, most: int) -> Iterator[str]:
    queries = [row for row in read_lines(folder / "queries.jsonl") if row["relevant"]]
    queries = queries[:: max(1, len(queries) // most)][:most] if most else queries
    with open_store(place) as store:
        kinds = {id.partition("-")[0] for row in queries for id in row["relevant"]}
        types = tuple(sorted(kinds)) if set(store.nodes.count_by_type()) - kinds else ()
        for budget in BUDGETS:
            shares = []
            for depth in DEPTHS:
                start = perf_counter()
                shares += _shares(store, queries, types, budget, depth)
                took = 1000 * (perf_counter() - start) / len(queries)
                sys.stderr.write(f"{folder.name} {budget} depth {depth}: {took:.0f} ms a query\n")
            cells = " | ".join(f"{100 * share:.1f}" for share in shares)
            yield f"| {folder.name} | {budget} | {cells} |"


def _shares(
    store: Store, queries: list[dict], types: tuple[str, ...], budget: int, depth: int
) -> list[float]:
    settings = Settings().changed([("graph_depth", str(depth)), ("budget", str(budget))], "bench")
    embedder = open_embedder("static", store, settings)
    sums = [0.0, 0.0]
    for row in queries:
        relevant = set(row["relevant"])
        scope = Scope(types=types)
        excluded = row.get("exclude", ())
        asked = Asked(
            row["query"], form="prompt", budget=budget, root="/nowhere", scope=scope,
            excluded=excluded,
        )  # fmt: skip
        context = build(store, wider(settings), asked, embedder)
        assert context.tokens_used <= budget
        packed = {entry["id"] for entry in context.included}
        request = Request(row["query"], scope, excluded=excluded)
        hits = search(store, wider(settings), request, embedder)
        naive = _naive(store, [hit.id for hit in hits], budget)
        sums[0] += len(naive & relevant) / len(relevant)
        sums[1] += len(packed & relevant) / len(relevant)
    return [one / len(queries) for one in sums]


def _naive(store: Store, ids: list[str], budget: int) -> set[str]:
    """The results in order, each whole, until the next one has no room."""
    tokens = Tokens()
    found: set[str] = set()
    for id in ids:
        node = store.nodes.get(id)
        budget -= tokens.lines(f"{node.title}\n{node.body}\n") if node else 0
        if budget < 0:
            break
        found.add(id)
    return found


if __name__ == "__main__":
    sys.exit(main())
