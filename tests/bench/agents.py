"""Waiting times of agents: start of the server, tools, searches, hooks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from new_words import with_new_words
from places import LORE, BenchmarkError, environment, percentile, read_lines
from report import Row, at_most
from wire import Wire, request, tool

_STARTS = 10
_SEARCHES = 100
_PROMPTS = 30


def agent_rows(store: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """Yield start and memory; warm searches; hooks.

    Every query has words new to the store.
    """
    asked = [item["query"] for item in read_lines(store / "queries.jsonl")]
    say("starting the server")
    yield from _starts(store)
    say("searching through the server")
    through = _searches(asked, store)
    yield at_most("mcp: warm search, depth 0, median", median(through), "ms", 10)
    yield Row("mcp: warm search, depth 0, p95", round(percentile(through, 0.95), 2), "ms")
    say("calling hooks")
    hooks = _hooks(asked, store)
    yield at_most("hook: a prompt, p95, whole process", percentile(hooks, 0.95), "ms", 150)
    yield Row("hook: a prompt, median", round(median(hooks), 2), "ms")


def _starts(store: Path) -> Iterator[Row]:
    times, memory, size = [], 0.0, 0
    for _ in range(_STARTS):
        start = perf_counter()
        wire = _server(store)
        listed = wire.ask(request(1, "tools/list"))
        times.append((perf_counter() - start) * 1000)
        memory = max(memory, _resident(wire.process.pid))
        size = len(json.dumps(listed["result"]["tools"], separators=(",", ":")).encode())
        wire.end()
    yield at_most("mcp: start to tools/list, median", median(times), "ms", 100)
    yield at_most("mcp: memory after tools/list", memory, "MB", 30)
    yield at_most("mcp: tools with --write", size, "bytes", 5000)


def _server(store: Path) -> Wire:
    return Wire(subprocess.Popen(
        ["bash", str(LORE), "mcp", "--write"], env=environment(store), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ))  # fmt: skip


def _resident(process: int) -> float:
    said = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=True
    )
    return int(said.stdout) / 1000


def _searches(asked: list[str], store: Path) -> list[float]:
    """Return ms of searches through a server."""
    wire = _server(store)
    queries = [with_new_words(asked[number % len(asked)]) for number in range(_SEARCHES)]
    times = [_timed(_ask, wire, query) for query in queries]
    wire.end()
    return times[_SEARCHES // 10 :]  # the first searches open the store


def _hooks(asked: list[str], store: Path) -> list[float]:
    times = []
    for number in range(_PROMPTS):
        fields = {
            "session_id": os.urandom(4).hex(),
            "prompt": with_new_words(asked[number % len(asked)]),
        }
        words = ["hook", "run", "prompt", "--client", "claude"]
        times.append(_timed(_run, words, store, json.dumps(fields)))
    return times


def _timed(what: Callable[..., object], *given: object) -> float:
    start = perf_counter()
    what(*given)
    return (perf_counter() - start) * 1000


def _ask(wire: Wire, query: str) -> None:
    answer = wire.ask(tool(1, "lore_search", query=query))
    if answer["result"]["isError"]:
        raise BenchmarkError(str(answer["result"]["content"]))


def _run(words: list[str], store: Path, sent: str) -> None:
    done = subprocess.run(
        ["bash", str(LORE), *words], env=environment(store), input=sent.encode(),
        capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise BenchmarkError(done.stderr.decode())
