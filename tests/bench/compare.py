"""Two commits in turns: what one takes, over what the other takes: see compare.sh."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from random import Random
from statistics import median, quantiles

from checkouts import Checkout, checkouts, write_data
from new_words import with_new_words
from places import CACHE, BenchmarkError
from processes import Spent, run
from report import add_forms, wants_text
from scale_material import Text

_SPREAD = 10
"""How many parts of the ratios there are between the least and the largest."""


@dataclass
class Pairs:
    """What B took over what A took, of runs one after the other: 1 is the same, 2 twice as much.

    ``low`` and ``high`` have eight tenths of the pairs between them; ``certain`` is whether
    the median's own interval (95 %) leaves 1 out.
    """

    name: str
    what: str
    pairs: int
    median: float
    low: float
    high: float
    certain: bool


def main() -> int:
    """Fills a store by each commit, runs the commands in turns, prints the ratios."""
    options = _options()
    try:
        with checkouts(options.a, options.b) as (a, b):
            sys.stderr.write(f"bench: A is {a.name}, B is {b.name}\n")
            data = CACHE / f"compare-{options.nodes}"
            ids = write_data(data, Text.of_library(CACHE), options.nodes)
            for side in (a, b):
                sys.stderr.write(f"bench: {side.name}: importing {options.nodes:,} nodes …\n")
                side.fill(data)
            found = _compare(a, b, ids, options.rounds)
    except BenchmarkError as error:
        sys.stderr.write(f"lore: bench: {error}\n")
        return 1
    sys.stdout.write(_table(found) if wants_text(options) else _json(found))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="compare.sh", add_help=False)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=10_000)
    add_forms(parser)
    options = parser.parse_args()
    if options.rounds < _SPREAD or options.nodes < 200:
        parser.error(f"--rounds takes a number from {_SPREAD}, --nodes one from 200")
    return options


def commands(number: int, ids: list[str], questions: list[str]) -> dict[str, list[str]]:
    """One round: the same words for both sides, and none that a store has met before."""
    rng = Random(number)
    asked = with_new_words(questions[number % len(questions)], rng)
    id, other = ids[number % len(ids)], ids[(number + 1) % len(ids)]
    return {
        "search, depth 0": ["search", asked],
        "search, depth 2": ["search", asked, "--graph-depth", "2"],
        "related": ["related", id],
        "show": ["show", id],
        "graph stats": ["graph", "stats"],
        "list -n 20": ["list", "-n", "20"],
        "context": ["context", asked, "--budget", "4000"],
        "add": ["add", "note", asked],
        "link": ["link", id, "relates_to", other, "--meta", f"round={number}"],
    }


def _compare(a: Checkout, b: Checkout, ids: list[str], rounds: int) -> list[Pairs]:
    questions = Text.of_library(CACHE).questions
    ratios: dict[tuple[str, str], list[float]] = {}
    left_out: set[str] = set()
    for number in range(rounds + 1):
        for name, words in commands(number, ids, questions).items():
            if name in left_out:
                continue
            try:
                first, second = _pair(a, b, words, number)
            except BenchmarkError as error:
                sys.stderr.write(f"bench: {name} is left out: {error}\n")
                left_out.add(name)
                continue
            for what in ("cpu", "wall") if number else ():
                ratio = getattr(second, what) / getattr(first, what)
                ratios.setdefault((name, what), []).append(ratio)
    return [_pairs(name, what, values) for (name, what), values in ratios.items()]


def _pair(a: Checkout, b: Checkout, words: list[str], number: int) -> tuple[Spent, Spent]:
    """Both, one after the other: A first in even rounds, B first in odd ones."""
    order = (a, b) if number % 2 == 0 else (b, a)
    took = {side.root: run(side.command(*words), side.environ) for side in order}
    first, second = took[a.root], took[b.root]
    if first is None or second is None:
        raise BenchmarkError("it took more than ten minutes")
    return first, second


def _pairs(name: str, what: str, ratios: list[float]) -> Pairs:
    parts = quantiles(ratios, n=_SPREAD)
    low, high = _interval(sorted(ratios))
    return Pairs(
        name, what, len(ratios), round(median(ratios), 3), round(parts[0], 3),
        round(parts[-1], 3), low > 1 or high < 1,
    )  # fmt: skip


def _interval(ordered: list[float]) -> tuple[float, float]:
    """Where the median is, with 95 % confidence, by ranks alone: n/2 ± 0.98 √n."""
    half, middle = 0.98 * len(ordered) ** 0.5, len(ordered) / 2
    low, high = max(0, int(middle - half)), min(len(ordered) - 1, int(middle + half))
    return ordered[low], ordered[high]


def _json(found: list[Pairs]) -> str:
    return "[\n" + ",\n".join(json.dumps(asdict(pairs)) for pairs in found) + "\n]\n"


def _table(found: list[Pairs]) -> str:
    lines = [f"{'B over A':<18}{'':<6}{'median':>8}{'8 of 10 between':>18}"]
    for row in found:
        what = {"cpu": "CPU", "wall": "time"}[row.what]
        verdict = ("  B takes " + ("more" if row.median > 1 else "less")) if row.certain else ""
        lines.append(
            f"{row.name:<18}{what:<6}{row.median:>8.3f}{row.low:>11.3f}{row.high:>7.3f}{verdict}"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
