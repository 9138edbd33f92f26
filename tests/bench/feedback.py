"""Do ratings help queries that they were not made from?

Usage: LORE_SETS=FOLDER .venv/bin/python tests/bench/feedback.py [--set NAME] [--weights 0.3,…]
           [--splits N] [--json]

For each of N random splits of a set's queries: every query of one half is a run,
whose shown records are rated helpful where they are relevant and unhelpful where
not; then the other half is searched, without the ratings, with them, and with two
controls. One gives each record's ratings to another record, the other deals the
verdicts out anew over what was shown. Prints recall at 5 and nDCG at 10, with 95 %
intervals of the difference to "without" (paired bootstrap over the queries).

A set is a folder with nodes.jsonl, edges.jsonl and queries.jsonl (lines with
``id``, ``query``, ``relevant``, ``exclude``).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pylore.core.model import Hit
from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.formats.jsonl import import_lines
from pylore.records.impressions import keep_shown
from pylore.records.runs import Runs
from pylore.search.pipeline import Request, search
from pylore.search.score import rated
from pylore.store import Store, create_store, open_store

Query = dict[str, Any]
Ratings = dict[str, dict[str, bool]]
"""Query to what it was shown: record to whether it is relevant."""

RESAMPLES = 10_000
SYSTEMS = ("ratings", "other records", "dealt anew")


def main() -> int:
    """Measures every weight and prints a row each."""
    options = _options()
    folder = Path(os.environ.get("LORE_SETS", "")) / options.set
    if not os.environ.get("LORE_SETS") or not (folder / "queries.jsonl").is_file():
        sys.stderr.write("lore: bench: no sets: let LORE_SETS name their folder\n")
        return 1
    queries = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    with tempfile.TemporaryDirectory() as scratch:
        plain = _import(folder, Path(scratch) / "plain")
        rows = [*_measure(plain, queries, options.weights, options.splits)]
    text = "".join(json.dumps(row) + "\n" for row in rows) if options.json else _table(rows)
    sys.stdout.write(text)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="pep")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--weights", type=lambda text: [*map(float, text.split(","))],
        default=[Settings().feedback_weight],
    )  # fmt: skip
    return parser.parse_args()


def _import(folder: Path, target: Path) -> Path:
    with create_store(str(target)) as store:
        embedder = open_embedder("static", store)
        for name in ("nodes.jsonl", "edges.jsonl"):
            with (folder / name).open("rb") as lines:
                import_lines(store, Settings(), embedder, lines, skip_bad=True)
        store.compact()
    return target


def _measure(
    plain: Path, queries: Sequence[Query], weights: Sequence[float], splits: int
) -> Iterable[dict[str, Any]]:
    with open_store(str(plain)) as store:
        hits = {query["id"]: _search(store, query, 0.0) for query in queries}
    without = {id: _ids(found) for id, found in hits.items()}
    gains: dict[tuple[float, str], dict[str, list[tuple[float, float]]]] = {}
    per_split: dict[tuple[float, str], list[float]] = {}
    for seed in range(splits):
        chance = random.Random(seed)
        order = chance.sample(list(queries), len(queries))
        taught, asked = order[: len(order) // 2], order[len(order) // 2 :]
        for system, ratings in _systems(without, taught, chance).items():
            with _rated_copy(plain, taught, ratings) as store:
                _check(store, asked[:5], hits, weights[0])
                for weight in weights:
                    key = (weight, system)
                    here = [_gain(query, _rerated(store, hits, query, weight), without)
                            for query in asked]  # fmt: skip
                    for query, gain in zip(asked, here, strict=True):
                        gains.setdefault(key, {}).setdefault(query["id"], []).append(gain)
                    per_split.setdefault(key, []).append(float(np.mean([g[0] for g in here])))
    for (weight, system), by_query in sorted(gains.items()):
        means = np.array([np.mean(rows, axis=0) for rows in by_query.values()])
        chosen = [query for query in queries if query["id"] in by_query]
        yield _row(weight, system, means, chosen, without, per_split[weight, system])


def _search(store: Store, query: Query, weight: float) -> list[Hit]:
    request = Request(query["query"], excluded=query["exclude"])
    return [*search(store, _settings(weight), request, open_embedder("static", store))]


def _settings(weight: float) -> Settings:
    return Settings.load(environ={}, flags={"feedback_weight": str(weight)})


def _ids(hits: Iterable[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def _rerated(
    store: Store, hits: Mapping[str, Sequence[Hit]], query: Query, weight: float
) -> list[str]:
    """What a search of the rated store finds: feedback is the last that happens to results."""
    found = [copy(hit) for hit in hits[query["id"]]]
    return _ids(rated(store, _settings(weight), found, []))


def _check(
    store: Store, queries: Sequence[Query], hits: Mapping[str, Sequence[Hit]], weight: float
) -> None:
    for query in queries:
        if _ids(_search(store, query, weight)) != _rerated(store, hits, query, weight):
            raise SystemExit("lore: bench: a whole search finds something else: mend _rerated")


def _systems(
    without: Mapping[str, Sequence[str]], taught: Sequence[Query], chance: random.Random
) -> dict[str, Ratings]:
    honest = {
        query["id"]: {id: id in query["relevant"] for id in without[query["id"]]}
        for query in taught
    }
    records = sorted({id for shown in honest.values() for id in shown})
    others = dict(zip(records, chance.sample(records, len(records)), strict=True))
    verdicts = [verdict for shown in honest.values() for verdict in shown.values()]
    dealt = iter(chance.sample(verdicts, len(verdicts)))
    return {
        "ratings": honest,
        "other records": {
            query: {others[id]: verdict for id, verdict in shown.items()}
            for query, shown in honest.items()
        },
        "dealt anew": {query: {id: next(dealt) for id in shown} for query, shown in honest.items()},
    }


def _rated_copy(plain: Path, taught: Sequence[Query], ratings: Ratings) -> Store:
    """A copy of the store with one finished run for each rated query."""
    folder = plain.with_name("rated")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(plain, folder)
    store = open_store(str(folder))
    runs = Runs(store)
    with store.transaction():
        for query in taught:
            shown = ratings[query["id"]]
            run = runs.start()
            keep_shown(store, Settings.load(environ={}, flags={"run": run}), query["query"], shown)
            runs.finish(
                run,
                [id for id, helpful in shown.items() if helpful],
                [id for id, helpful in shown.items() if not helpful],
            )
    return store


def _gain(
    query: Query, new: Sequence[str], without: Mapping[str, Sequence[str]]
) -> tuple[float, float]:
    relevant = set(query["relevant"])
    old = without[query["id"]]
    return (
        recall(new[:5], relevant) - recall(old[:5], relevant),
        ndcg(new[:10], relevant) - ndcg(old[:10], relevant),
    )


def recall(found: Sequence[str], relevant: set[str]) -> float:
    """The share of the relevant ones that were found."""
    return len(relevant.intersection(found)) / len(relevant)


def ndcg(found: Sequence[str], relevant: set[str]) -> float:
    """Normalised discounted cumulative gain, a result being relevant or not."""
    gain = sum(1 / math.log2(place + 2) for place, id in enumerate(found) if id in relevant)
    best = sum(1 / math.log2(place + 2) for place in range(min(len(relevant), len(found) or 1)))
    return gain / best


def _row(
    weight: float, system: str, means: Any, chosen: Sequence[Query],
    without: Mapping[str, Sequence[str]], per_split: Sequence[float],
) -> dict[str, Any]:  # fmt: skip
    base = np.mean([recall(without[q["id"]][:5], set(q["relevant"])) for q in chosen])
    chance = np.random.default_rng(0)
    drawn = chance.integers(0, len(means), (RESAMPLES, len(means)))
    low, high = np.percentile(means[:, 0][drawn].mean(axis=1), [2.5, 97.5])
    return {
        "feedback_weight": weight, "system": system, "queries": len(chosen),
        "recall@5 without": round(100 * float(base), 2),
        "gain": round(100 * float(means[:, 0].mean()), 2),
        "low": round(100 * float(low), 2), "high": round(100 * float(high), 2),
        "gain in nDCG@10": round(100 * float(means[:, 1].mean()), 2),
        "splits": [round(100 * gain, 2) for gain in per_split],
    }  # fmt: skip


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = ["weight  ratings of      recall@5 without   gain   95 % interval   nDCG@10   splits"]
    lines += [
        f"{row['feedback_weight']:>6g}  {row['system']:<14}  {row['recall@5 without']:>16.2f}"
        f"  {row['gain']:>+5.2f}  {row['low']:>+6.2f}, {row['high']:>+5.2f}"
        f"  {row['gain in nDCG@10']:>+8.2f}   " + " ".join(f"{g:+.2f}" for g in row["splits"])
        for row in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
