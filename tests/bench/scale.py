"""Costs by size of the store: each command at each size, with the floor: see scale.sh."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from new_words import with_new_words
from places import CACHE, FLOOR, LORE, BenchmarkError, environment, percentile, read_lines
from processes import Spent, run
from report import add_forms, wants_text

_MOST, _LEAST = 20, 3
"""Maximum and minimum runs of a command, until ``_ENOUGH`` seconds are spent."""
_ENOUGH = 25.0
_PATIENCE = 300.0


@dataclass
class Figure:
    """A measurement at a size; ``ratio`` is to the floor of the same run, in CPU time."""

    size: int
    name: str
    measured: float | None
    unit: str
    ratio: float | None = None


def main() -> int:
    """Builds the stores that are missing, measures each size, prints the table."""
    options = _options()
    figures: list[Figure] = []
    try:
        for size in options.size:
            figures += _measure(size, store_of_size(size, options.store))
    except BenchmarkError as error:
        sys.stderr.write(f"lore: bench: {error}\n")
        return 1
    sys.stdout.write(_table(figures) if wants_text(options) else _json(figures))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scale.sh", add_help=False)
    parser.add_argument("--size", type=_sizes, default=[10_000])
    parser.add_argument("--store", type=Path)
    add_forms(parser)
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    sizes = [int(size.replace("_", "")) for size in text.split(",")]
    if min(sizes) < 1_000:
        raise argparse.ArgumentTypeError("give numbers of nodes, from 1000")
    return sizes


def store_of_size(size: int, folders: Path | None = None) -> Path:
    """Return the folder of a store of ``size`` nodes; build the store if it is missing."""
    short = f"{size // 1_000_000}m" if size % 1_000_000 == 0 else f"{size // 1_000}k"
    folder = (folders or CACHE / "scale") / short
    if not (folder / "search.db").exists():
        # A forked process would count this process's memory.
        builder = get_context("spawn").Process(target=_build, args=(folder, size))
        builder.start()
        builder.join()
        if builder.exitcode:
            raise BenchmarkError(f"no store of {size:,} nodes could be built")
    return folder


def _build(folder: Path, size: int) -> None:
    from scale_material import Text
    from scale_store import build_store

    build_store(folder, size, Text.of_library(CACHE))


def _measure(size: int, folder: Path) -> Iterator[Figure]:
    queries = [item["query"] for item in read_lines(folder / "queries.jsonl")]
    ids = [item["id"] for item in read_lines(folder / "queries.jsonl")]
    _say(f"{size:,} nodes: a copy to write to")
    with TemporaryDirectory(prefix="lore-scale-", dir=CACHE) as place:
        store = Path(place) / "store"
        store.mkdir()
        shutil.copyfile(folder / "search.db", store / "search.db")
        environ = environment(store)
        run([LORE, "show", ids[0]], environ)  # older stores are upgraded
        yield from _Size(size, store, environ, queries, ids).figures()


class _Size:
    """The figures of a store, which is written to."""

    def __init__(
        self, size: int, store: Path, environ: dict[str, str], queries: list[str], ids: list[str]
    ) -> None:
        self._size = size
        self._store = store
        self._environ = environ
        self._queries = queries
        self._ids = ids
        self._floor = 0.0

    def figures(self) -> Iterator[Figure]:
        """Yield all figures; reading commands first, since the store changes afterwards."""
        file = self._store / "search.db"
        yield Figure(self._size, "search.db", round(file.stat().st_size / 1e6, 1), "MB")
        yield from self._searches()
        yield from self._command("related", lambda i: ["related", self._ids[i]])
        yield from self._command("show", lambda i: ["show", self._ids[i]])
        yield from self._command("list", lambda _: ["list"], most=3)
        yield from self._command(
            "context, 4,000 tokens", lambda i: ["context", self._asked(i), "--budget", "4000"]
        )
        yield from self._command("add", lambda i: ["add", "note", self._asked(i)])
        yield from self._command(
            "link", lambda i: ["link", self._ids[i], "relates_to", self._ids[i + 1]]
        )

    def _asked(self, number: int) -> str:
        return with_new_words(self._queries[number % len(self._queries)])

    def _searches(self) -> Iterator[Figure]:
        """Both depths and the floor in turns, each time with words that the store never met."""
        kinds: dict[str, Callable[[int], list[str]]] = {
            "floor": lambda _: FLOOR,
            "search, depth 0": lambda i: [LORE, "search", self._asked(i)],
            "search, depth 2": lambda i: [LORE, "search", self._asked(i), "--graph-depth", "2"],
        }
        times = self._in_turns(kinds, _MOST * 2)
        self._floor = median(spent.cpu for spent in times["floor"])
        yield Figure(self._size, "floor: python -I -c 'import apsw'", round(self._floor, 1), "ms")
        for name in list(kinds)[1:]:
            yield from self._rows(name, times[name], p95=True)

    def _in_turns(
        self, kinds: dict[str, Callable[[int], list[str]]], most: int
    ) -> dict[str, list[Spent]]:
        found: dict[str, list[Spent]] = {name: [] for name in kinds}
        spent = 0.0
        for number in range(most + 1):
            for name, words in kinds.items():
                took = run(words(number), self._environ, patience=_PATIENCE)
                if took is None:
                    return found
                spent += took.wall / 1000
                if number:  # the first run reads the file from the disk
                    found[name].append(took)
            if spent > _ENOUGH and number >= _LEAST:
                break
        return found

    def _command(
        self, name: str, words: Callable[[int], list[str]], most: int = _MOST
    ) -> Iterator[Figure]:
        _say(f"{self._size:,} nodes: {name}")
        times = self._in_turns({name: lambda i: [LORE, *words(i)]}, most)[name]
        yield from self._rows(name, times)

    def _rows(self, name: str, times: list[Spent], *, p95: bool = False) -> Iterator[Figure]:
        cpus = [spent.cpu for spent in times]
        if not times:
            yield Figure(self._size, name, None, "ms")
            return
        yield self._ms(name, median(cpus))
        if p95:
            yield self._ms(f"{name}: p95", percentile(cpus, 0.95))
        most = max(spent.rss for spent in times)
        yield Figure(self._size, f"{name}: memory", round(most, 1), "MB")

    def _ms(self, name: str, ms: float) -> Figure:
        return Figure(self._size, name, round(ms, 1), "ms", round(ms / self._floor, 3))


def _json(figures: list[Figure]) -> str:
    return "[\n" + ",\n".join(json.dumps(asdict(figure)) for figure in figures) + "\n]\n"


def _table(figures: list[Figure]) -> str:
    """Return a row per command, two columns per size: the measurement, and floors."""
    sizes = sorted({figure.size for figure in figures})
    names = list(dict.fromkeys(figure.name for figure in figures))
    found = {(figure.size, figure.name): figure for figure in figures}
    lines = [f"{'nodes':<36}" + "".join(f"{size:>21,}" for size in sizes)]
    for name in names:
        cells = "".join(_cell(found.get((size, name))) for size in sizes)
        lines.append(f"{name:<36}{cells}".rstrip())
    return "\n".join(lines) + "\n"


def _cell(figure: Figure | None) -> str:
    if figure is None or figure.measured is None:
        return f"{'–':>21}"
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}x"
    return f"{figure.measured:>11,.1f} {figure.unit:<3}{ratio:>6}"


def _say(what: str) -> None:
    sys.stderr.write(f"bench: {what} …\n")


if __name__ == "__main__":
    sys.exit(main())
