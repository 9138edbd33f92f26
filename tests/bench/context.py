"""Evidence in the budget: how many of the relevant records are inside a context.

Usage: .venv/bin/python tests/bench/context.py FOLDER [--only SET,…] [--store SET=STORE …]

FOLDER has sets as ``tests/bench/quality.sh`` takes them. For each budget: the share of
the relevant records that a context has, at depth 0 and 2, beside what the same results
bring when they are packed in order until one has no room: each whole, or each with the
passage that matched. A file counts as inside where one of its symbols is. Of a set with a
repository, the last columns have the lines of code that a context shows, each counted once,
and those that it shows again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from places import ROOT, read_lines
from sets import LeftOut, checkout_of, sets, store_of

sys.path.insert(0, str(ROOT))

from pylore.context.build import build
from pylore.context.results import ContextBrief, wider
from pylore.context.text import tokens_of
from pylore.core.model import Hits
from pylore.core.settings import Settings
from pylore.core.vocabulary import file_id, path_of
from pylore.embed import open_embedder
from pylore.search.pipeline import Request, search
from pylore.store import Store, open_store
from pylore.store.filter import Scope

BUDGETS = (1000, 2000, 4000)
DEPTHS = (0, 2)
TELLING = 25
"""Letters of a line that is not likely to stand twice in a file."""


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
        "| set | budget | depth | whole records | matching passages | `lore context`"
        " | lines of code | again |"
    )
    print("|---|---|---|---|---|---|---|---|")
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
    snapshot = folder / "snapshot.json"
    root = None
    if snapshot.exists():
        root = checkout_of(json.loads(snapshot.read_text())["repository"])
    with open_store(place) as store:
        kinds = {id.partition("-")[0] for row in queries for id in row["relevant"]}
        types = tuple(sorted(kinds)) if set(store.nodes.count_by_type()) - kinds else ()
        if root:
            types = ()  # a file is shown by the symbols in it
        for budget in BUDGETS:
            for depth in DEPTHS:
                *shares, lines, again = _shares(store, queries, types, budget, depth, root)
                cells = " | ".join(f"{100 * share:.1f}" for share in shares)
                cells += f" | {lines:.1f} | {again:.1f}"
                yield f"| {folder.name} | {budget} | {depth} | {cells} |"


def _shares(
    store: Store, queries: list[dict], types: tuple[str, ...], budget: int, depth: int,
    root: Path | None,
) -> list[float]:  # fmt: skip
    settings = Settings().changed([("graph_depth", str(depth)), ("budget", str(budget))], "bench")
    embedder = open_embedder("static", store, settings)
    sums = [0.0] * 5
    for row in queries:
        relevant = set(row["relevant"])
        scope = Scope(types=types)
        excluded = row.get("exclude", ())
        asked = ContextBrief(
            row["query"], form="prompt", budget=budget, root=str(root or "/nowhere"), scope=scope,
            excluded=excluded,
        )  # fmt: skip
        context = build(store, wider(settings), asked, embedder)
        assert context.tokens_used <= budget
        packed = {entry["id"] for entry in context.included}
        request = Request(row["query"], scope, excluded=excluded)
        hits = search(store, wider(settings), request, embedder)
        wholes = {hit.id: store.nodes.require(hit.id).body for hit in hits}
        matching = {
            id: store.fulltext.body(hits.passages[id]) if id in hits.passages else body[:1600]
            for id, body in wholes.items()
        }
        found = (_in_order(hits, wholes, budget), _in_order(hits, matching, budget), packed)
        for column, ids in enumerate(found):
            inside = {_of_file(id) for id in ids} if root else ids
            sums[column] += len(inside & relevant) / len(relevant)
        lines, again = _code_shown(context.text)
        sums[3] += lines
        sums[4] += again
    return [one / len(queries) for one in sums]


def _of_file(id: str) -> str:
    """The file of a symbol, by its id; any other id as it is.

    >>> _of_file("symbol-a.py::f")
    'file-a.py'
    """
    return file_id(path_of(id)) if id.startswith("symbol-") else id


def _code_shown(text: str) -> tuple[int, int]:
    """How many lines of code a context shows for the first time, and how many again.

    Lines that many functions have, as ``return None``, are too short to tell and not counted.
    """
    seen: set[tuple[str, str]] = set()
    lines = again = 0
    path = ""
    inside = False
    for line in text.split("\n"):
        if line.startswith("### "):
            path = re.split(r"::|:\d| \(lines", line[4:])[0]
        elif line.startswith("```"):
            inside = path != "" and not inside
        elif inside and len(line.strip()) >= TELLING:
            again += (path, line.strip()) in seen
            lines += (path, line.strip()) not in seen
            seen.add((path, line.strip()))
    return lines, again


def _in_order(hits: Hits, texts: dict[str, str], budget: int) -> set[str]:
    """What is packed without thought: each result in order, until one has no room."""
    found: set[str] = set()
    for hit in hits:
        budget -= tokens_of(f"{hit.title}\n{texts[hit.id]}\n")
        if budget < 0:
            break
        found.add(hit.id)
    return found


if __name__ == "__main__":
    sys.exit(main())
