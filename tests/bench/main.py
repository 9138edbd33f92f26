"""The benchmark's command line: see run.sh."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from agents import agent_rows
from anchors import verify_rows
from cochanges import cochange_rows
from commands import command_rows
from corpus import write_corpus
from expansion import expansion_rows
from indexing import index_rows
from ledger import keep
from places import CACHE, BenchmarkError, lore
from report import Row, as_json, as_table
from symbols import symbol_rows
from throughput import import_rows

PARTS = ("import", "commands", "expansion", "verify", "cochanges", "symbols", "index", "agents")


def main() -> int:
    """Runs the parts that were asked for and prints their rows."""
    options = _options()
    try:
        rows = list(_rows(options.only, options.rounds))
    except BenchmarkError as error:
        sys.stderr.write(f"lore: bench: {error}\n")
        return 1
    as_text = options.text or (sys.stdout.isatty() and not options.json)
    sys.stdout.write(as_table(rows) if as_text else as_json(rows))
    if options.keep:
        keep("bench", {row.name: row.ratio for row in rows})
    return 1 if options.check and any(row.ok is False for row in rows) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.sh", add_help=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", type=lambda text: text.split(","), default=PARTS)
    parser.add_argument("--rounds", type=int, default=5)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--text", action="store_true")
    options = parser.parse_args()
    if not set(options.only) <= set(PARTS) or options.rounds < 1:
        parser.error(f"--only takes some of {', '.join(PARTS)}, --rounds a number from 1")
    return options


def _rows(parts: list[str], rounds: int) -> Iterator[Row]:
    CACHE.mkdir(exist_ok=True)
    store = CACHE / "store"
    if "import" in parts:
        yield from _import(store)
    if "commands" in parts:
        corpus = _filled(store)
        _say("timing commands")
        stats = lore(store, "graph", "stats")
        yield Row("nodes in the store", stats["nodes"], "nodes")
        yield Row("edges in the store", stats["edges"], "edges")
        yield from command_rows(corpus / "queries.jsonl", store, rounds)
    if "agents" in parts:
        yield from agent_rows(_filled(store) / "queries.jsonl", store, _say)
    if "expansion" in parts:
        yield from expansion_rows(_say)
    if "verify" in parts:
        yield from verify_rows(_say)
    if "cochanges" in parts:
        yield from cochange_rows(_say)
    if "symbols" in parts:
        _say("looking for symbols")
        yield from symbol_rows()
    if "index" in parts:
        _say("indexing a repository")
        yield from index_rows()


def _import(store: Path) -> Iterator[Row]:
    corpus = _corpus()
    _say("importing")
    yield from import_rows("stdlib", corpus, store)
    if os.environ.get("LORE_BENCH_DATA"):
        data = Path(os.environ["LORE_BENCH_DATA"])
        yield from import_rows(data.name, data, CACHE / "other")


def _filled(store: Path) -> Path:
    """The folder of the corpus, which the store has."""
    corpus = _corpus()
    if not (store / "search.db").exists():
        import_rows("stdlib", corpus, store)
    return corpus


def _corpus() -> Path:
    version = ".".join(map(str, sys.version_info[:3]))
    folder = CACHE / f"corpus-{version}"
    if not (folder / "queries.jsonl").exists():
        _say("reading the standard library")
        write_corpus(folder)
    return folder


def _say(what: str) -> None:
    sys.stderr.write(f"bench: {what} …\n")


if __name__ == "__main__":
    sys.exit(main())
