"""The benchmark's command line: see run.sh."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from agents import agent_rows
from places import CACHE, BenchmarkError
from report import Row, add_forms, as_json, as_table, wants_text
from scale import store_of_size
from symbols import symbol_rows

PARTS = ("symbols", "agents")


def main() -> int:
    """Run the selected parts and print their rows."""
    options = _options()
    try:
        rows = list(_rows(options.only))
    except BenchmarkError as error:
        sys.stderr.write(f"lore: bench: {error}\n")
        return 1
    sys.stdout.write(as_table(rows) if wants_text(options) else as_json(rows))
    return 1 if options.check and any(row.ok is False for row in rows) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.sh", add_help=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", type=lambda text: text.split(","), default=PARTS)
    add_forms(parser)
    options = parser.parse_args()
    if not set(options.only) <= set(PARTS):
        parser.error(f"--only takes some of {', '.join(PARTS)}")
    return options


def _rows(parts: list[str]) -> Iterator[Row]:
    CACHE.mkdir(exist_ok=True)
    if "agents" in parts:
        yield from agent_rows(store_of_size(10_000), _say)
    if "symbols" in parts:
        _say("looking for symbols")
        yield from symbol_rows()


def _say(what: str) -> None:
    sys.stderr.write(f"bench: {what} …\n")


if __name__ == "__main__":
    sys.exit(main())
