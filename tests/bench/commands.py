"""Whole processes against the floor: what someone waits for who calls lore in a loop."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from new_words import with_new_words
from places import CACHE, FLOOR, LORE, BenchmarkError, environment, lore, percentile, read_lines
from report import Row, against_floor

QUERIES = 50
_DEPTH = ("--graph-depth", "2")
_TARGETS: dict[str, tuple[float | None, float | None]] = {
    "search, depth 2": (2.0, 2.5),
    "search, depth 0": (None, None),
    "search, depth 2, known words": (2.0, 2.5),
    "related": (1.6, None),
    "show": (1.6, None),
    "graph stats": (1.6, None),
    "context, 4,000 tokens": (3.0, None),
    "link": (3.0, None),
    "add": (3.0, None),
    "edit": (3.0, None),
    "fact": (3.0, None),
}
"""Command to the most that its median and its p95 over the queries may be, in floors."""


def command_rows(queries: Path, store: Path, rounds: int) -> list[Row]:
    """Times each command once a query and round, next to the floor.

    A query's time is its median over the rounds. The rounds are the outer loop,
    so a machine that gets slower does so for all queries alike.
    """
    asked = read_lines(queries)
    for item, following in zip(asked, [*asked[1:], asked[0]], strict=True):
        item["other"] = following["id"]
    rows, floor = _timed(_commands, asked, store, rounds)
    added = [_check(store, item["query"]) for item in asked[:QUERIES]]
    written = _copy(store)
    rows += _timed(_writing, asked, written, max(1, rounds // 3))[0]
    return [
        Row("floor: python -I -c 'import apsw'", round(floor, 2), "ms"),
        *rows,
        Row("search, depth 2: results that the graph added", median(added), "results"),
    ]


def _timed(
    commands: Callable[[dict[str, Any]], dict[str, list[str]]],
    asked: list[dict[str, Any]],
    store: Path,
    rounds: int,
) -> tuple[list[Row], float]:
    """The rows of these commands, and the ms of the floor that ran among them."""
    for item in asked[QUERIES:]:  # a warm-up that gives no query away
        _time_all(commands(item), store)
    times: dict[str, list[list[float]]] = {}
    for _ in range(rounds):
        for number, item in enumerate(asked[:QUERIES]):
            for name, ms in _time_all(commands(item), store).items():
                times.setdefault(name, [[] for _ in range(QUERIES)])[number].append(ms)
    floor = median(ms for of_query in times.pop("floor") for ms in of_query)
    rows = []
    for name, of_queries in times.items():
        rows += _rows(name, [median(ms) for ms in of_queries], floor)
    return rows, floor


def _copy(store: Path) -> Path:
    """A copy to write to: the next run finds the store as this one did."""
    copy = CACHE / "written"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    shutil.copyfile(store / "search.db", copy / "search.db")
    return copy


def _rows(name: str, times: list[float], floor: float) -> list[Row]:
    most, most_p95 = _TARGETS[name]
    return [
        against_floor(f"{name}: median", median(times), floor, most),
        against_floor(f"{name}: p95", percentile(times, 0.95), floor, most_p95),
    ]


def _commands(item: dict[str, Any]) -> dict[str, list[str]]:
    """Each with words of its own that no store has met: who repeats a query hides what it costs
    to ask it first."""
    query, id = item["query"], item["id"]
    return {
        "floor": FLOOR,
        "search, depth 2": [LORE, "search", with_new_words(query), *_DEPTH],
        "search, depth 0": [LORE, "search", with_new_words(query)],
        "search, depth 2, known words": [LORE, "search", query, *_DEPTH],
        "related": [LORE, "related", id],
        "show": [LORE, "show", id],
        "graph stats": [LORE, "graph", "stats"],
        "context, 4,000 tokens": [LORE, "context", with_new_words(query), "--budget", "4000"],
    }


def _writing(item: dict[str, Any]) -> dict[str, list[str]]:
    query, id = item["query"], item["id"]
    return {
        "floor": FLOOR,
        "link": [LORE, "link", id, "relates_to", item["other"], "--meta", f"at={perf_counter()}"],
        "add": [LORE, "add", "note", with_new_words(query)],
        "edit": [LORE, "edit", id, with_new_words(query), "--force"],
        "fact": [LORE, "fact", with_new_words("").strip(), "relates_to", "the benchmark"],
    }


def _time_all(commands: dict[str, list[str]], store: Path) -> dict[str, float]:
    environ = environment(store)
    return {name: _time(words, environ) for name, words in commands.items()}


def _time(words: list[str], environ: dict[str, str]) -> float:
    """Wall-clock ms from the start of a process to its end, its output thrown away."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    start = perf_counter()
    process = os.posix_spawn(words[0], words, environ, file_actions=quiet)
    _, status = os.waitpid(process, 0)
    ms = (perf_counter() - start) * 1000
    if status:
        raise BenchmarkError(f"exit code {os.waitstatus_to_exitcode(status)}: {' '.join(words)}")
    return ms


def _check(store: Path, query: str) -> int:
    """How many results the graph adds; the times of a search that finds nothing say nothing."""
    plain = lore(store, "search", query)
    deep = lore(store, "search", query, *_DEPTH)
    for leg in ("bm25_score", "vector_score"):
        if not any(hit[leg] for hit in plain):
            raise BenchmarkError(f"no result has a {leg}: {query}")
    added = [hit["id"] for hit in deep if hit["hops"]]
    if not added or not {hit["id"] for hit in plain} < {hit["id"] for hit in deep}:
        raise BenchmarkError(f"the graph added nothing: {query}")
    return len(added)
