"""How fast nodes and edges come in, whole process, into a new store."""

from __future__ import annotations

import shutil
from pathlib import Path
from time import perf_counter

from places import BenchmarkError, lore
from report import Row, at_least

NODES_A_SECOND = 2_000
EDGES_A_SECOND = 10_000


def import_rows(name: str, data: Path, store: Path) -> list[Row]:
    """Makes ``store`` anew from ``data``'s nodes.jsonl and edges.jsonl.

    Full text and vectors are on, as they are by default.
    """
    shutil.rmtree(store, ignore_errors=True)
    lore(store, "init")
    nodes, edges = (_rate(store, data / f"{kind}.jsonl", kind) for kind in ("nodes", "edges"))
    return [
        at_least(f"import {name}: nodes, indexed", nodes, "nodes/s", NODES_A_SECOND),
        at_least(f"import {name}: edges", edges, "edges/s", EDGES_A_SECOND),
    ]


def _rate(store: Path, file: Path, kind: str) -> float:
    with file.open("rb") as lines:
        count = sum(1 for _ in lines)
    start = perf_counter()
    done = lore(store, "import", str(file))
    seconds = perf_counter() - start
    if not done[kind] == done["added"] == count:
        raise BenchmarkError(f"{count} {kind} of {file} went in as {done}")
    return count / seconds
