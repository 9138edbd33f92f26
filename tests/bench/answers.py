"""The benchmark of questions of all kinds: see answers.sh."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from answers_stores import Stores
from places import CACHE, ROOT, BenchmarkError, read_lines
from report import Row, add_forms, as_json, as_table, at_least, at_most, wants_text

from pylore.app import Engine
from pylore.app.find import context, search
from pylore.core.settings import Settings
from pylore.core.vocabulary import CODE_IDS, path_of

HERE = ROOT / "tests" / "bench" / "answers"
MEASURES = ("hit@1", "hit@3", "hit@5", "recall@5")
EVIDENCE = {2000: 50.0, 4000: 62.5}
"""Goals for the share of symbols in percent by tokens of a context: as before."""
FIRST_LINES = 40
NONSENSE_CONTEXTS = 10


def main() -> int:
    """Measure the sections and print their rows."""
    options = _options()
    rows: list[Row] = []
    bench = Bench(options)
    try:
        for name in options.only or SECTIONS:
            sys.stderr.write(f"bench: {name} …\n")
            rows += SECTIONS[name](bench)
    except BenchmarkError as error:
        sys.stderr.write(f"lore: bench: {error}\n")
        return 1
    sys.stdout.write(as_table(rows) if wants_text(options) else as_json(rows))
    return 0


class Bench:
    """The sets, the stores, and cached results of searches."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.sets: Path = options.set
        self.stores = Stores(options.clones, CACHE / "answers", Settings())
        self.misses: bool = options.misses
        self.found: dict[tuple[str, str, int], list[Any]] = {}

    def hits(self, name: str, question: str, depth: int = 0) -> list[Any]:
        """Return the results of a question in a store, best first."""
        key = (name, question, depth)
        if key not in self.found:
            engine = at_depth(self.stores.engine(name), depth)
            self.found[key] = list(search(engine, question))
        return self.found[key]

    def pages(self) -> Iterator[tuple[str, str, str]]:
        """Yield the name of a store, a question and a pattern of matching pages."""
        rows = _table(self.sets / "pages" / "questions.tsv")
        names = dict(self.stores.of_repositories("p", {row[0]: "HEAD" for row in rows}))
        yield from ((names[name], *rest) for name, *rest in rows if name in names)

    def questions(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield the name of a store and the questions about the repository."""
        paths = sorted((self.sets / "questions").glob("*.jsonl"))
        rows = {path.stem: read_lines(path) for path in paths}
        commits = {name: lines[0]["commit"] for name, lines in rows.items()}
        for repository, name in self.stores.of_repositories("q", commits):
            yield name, rows[repository][1:]

    def records(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield the name of a store and the records about the repository."""
        rows = read_lines(HERE / "records.jsonl")
        for name in dict.fromkeys(row["store"] for row in rows):
            kind, repository = name[0], name[2:]
            first = self.sets / "questions" / f"{repository}.jsonl"
            commit = read_lines(first)[0]["commit"] if kind == "q" else "HEAD"
            if dict(self.stores.of_repositories(kind, {repository: commit})):
                yield name, [row for row in rows if row["store"] == name]

    def nonsense(self) -> Iterator[tuple[str, str, str]]:
        """Yield the name of a store, the kind of a nonsense question, and the question."""
        commits = dict.fromkeys(("click", "flask", "pytest"), "HEAD")
        for _, name in self.stores.of_repositories("p", commits):
            yield from ((name, *row) for row in _table(HERE / "nonsense.tsv"))

    def miss(self, name: str, question: str, hits: Iterable[Any]) -> None:
        """Report a miss, with ``--misses``."""
        if self.misses:
            ids = " ".join(hit.id for hit in [*hits][:3])
            sys.stderr.write(f"  {name}: {question}: {ids}\n")


def pages(bench: Bench) -> Iterator[Row]:
    """Yield the share of questions with a matching page in the first results."""
    ranks = []
    for name, question, pattern in bench.pages():
        hits = bench.hits(name, question)
        matches = (re.search(pattern, f"{hit.file} {hit.id}") for hit in hits)
        ranks.append(next((rank for rank, match in enumerate(matches, 1) if match), 0))
        if not 0 < ranks[-1] <= 3:
            bench.miss(name, question, hits)
    for most, goal in ((1, None), (3, 88), (10, None)):
        share = _mean(0 < rank <= most for rank in ranks)
        yield _row(f"pages: in the first {most}", share, goal)


def questions(bench: Bench) -> Iterator[Row]:
    """Yield hit@1, 3, 5 and recall@5 of files: the mean of the repositories."""
    asked = list(bench.questions())
    for depth, goals in ((0, {"hit@1": 80, "hit@3": 91}), (1, {"hit@3": 92})):
        means = []
        for name, rows in asked:
            scores = []
            for row in rows:
                hits, answers = bench.hits(name, row["query"], depth), set(row["files"])
                found = files_of(hits)
                scores.append([float(bool(answers & {*found[:most]})) for most in (1, 3, 5)])
                scores[-1].append(_recall(found, answers))
                if not scores[-1][1]:
                    bench.miss(name, row["query"], hits)
            means.append([fmean(column) for column in zip(*scores, strict=True)])
        figures = [fmean(column) for column in zip(*means, strict=True)]
        for measure, figure in zip(MEASURES, figures, strict=True):
            yield _row(f"questions: {measure}, depth {depth}", 100 * figure, goals.get(measure))


def records(bench: Bench) -> Iterator[Row]:
    """Yield the share of records in the first two, of the records found without the rest."""
    counts = {"asked": [0, 0], "other": [0, 0]}
    for name, rows in bench.records():
        with tempfile.TemporaryDirectory() as place:
            mixed, alone = bench.stores.with_records(name, rows, Path(place))
            for row in rows:
                for form, count in counts.items():
                    plain = row["id"] in _ids(search(alone, row[form]))[:2]
                    hits = list(search(mixed, row[form]))
                    found = row["id"] in _ids(hits)[:2]
                    count[0] += found
                    count[1] += plain
                    if plain and not found:
                        bench.miss(name, row[form], hits)
    for form, words in (("asked", "in their words"), ("other", "in other words")):
        found, plain = counts[form]
        share = 100 * found / plain if plain else 0.0
        yield _row(f"records: {words}, of {plain} found alone", share, 95)


def weak(bench: Bench) -> Iterator[Row]:
    """Yield the shares of questions whose results are all weak, or that have no results."""
    flags: dict[str, list[bool]] = {}
    for name, kind, question in bench.nonsense():
        hits = bench.hits(name, question)
        flags.setdefault(kind, []).append(_all_weak(hits))
        if not flags[kind][-1]:
            bench.miss(name, question, hits)
    for kind, column in flags.items():
        yield _row(f"weak: {kind} questions", _mean(column))
    every = [flag for column in flags.values() for flag in column]
    yield _row("weak: all without an answer", _mean(every), 85)
    asked = [(name, question) for name, question, _ in bench.pages()]
    asked += [(name, row["query"]) for name, rows in bench.questions() for row in rows]
    wrong = [_all_weak(bench.hits(*pair)) for pair in asked]
    for (name, question), flagged in zip(asked, wrong, strict=True):
        if flagged:
            bench.miss(name, question, bench.hits(name, question))
    yield at_most("weak: questions with an answer", _mean(wrong), "%", 2)


def contexts(bench: Bench) -> Iterator[Row]:
    """Yield the shares of symbols and reasons in contexts, and the sizes of nonsense contexts."""
    asked = [(name, [row for row in rows if row["symbols"]]) for name, rows in bench.questions()]
    for budget, goal in EVIDENCE.items():
        shares = [
            fmean(_defined(bench.stores.engine(name), row, budget) for row in rows)
            for name, rows in asked
        ]
        yield _row(f"contexts: symbols in {budget} tokens", 100 * fmean(shares), goal)
    yield _reasons(bench)
    for name, _, question in [*bench.nonsense()][:: 60 // NONSENSE_CONTEXTS][:NONSENSE_CONTEXTS]:
        made = context(bench.stores.engine(name), question)
        lines = [line for line in made.text.split("\n")[2:] if line and not line.startswith("#")]
        first = (lines or made.notes or [""])[0 if lines else -1]
        yield at_most(f"contexts: {question[:40]}: {first[:40]}", made.tokens_used, "tokens", 200)


def _reasons(bench: Bench) -> Row:
    """Return the share of reasons that stand whole at the beginning of a context."""
    whole = []
    for name, rows in bench.records():
        with tempfile.TemporaryDirectory() as place:
            engine, _ = bench.stores.with_records(name, rows, Path(place))
            for row in (row for row in rows if "why" in row):
                text = context(engine, row["why"]).text
                first = " ".join(" ".join(text.split("\n")[:FIRST_LINES]).split())
                whole.append(row["reason"] in first)
                if not whole[-1]:
                    bench.miss(name, row["why"], ())
    return _row(f"contexts: {len(whole)} reasons in {FIRST_LINES} lines", _mean(whole), 100)


def _defined(engine: Engine, row: dict[str, Any], budget: int) -> float:
    """Return the share of expected symbols that are defined in a context."""
    under = engine.changed([("budget", str(budget))], "bench")
    text = context(under, row["query"], form="prompt").text
    names = {name for _, name in re.findall(r"^\s*(?:async )?(def|class) (\w+)", text, re.M)}
    return len(names.intersection(row["symbols"])) / len({*row["symbols"]})


def at_depth(engine: Engine, depth: int) -> Engine:
    """Return the engine at a depth; a depth of 0 is the default and stays unset."""
    return engine.changed([("graph_depth", str(depth))], "bench") if depth else engine


def files_of(hits: Iterable[Any]) -> list[str]:
    """Return the distinct files of results, in their order."""
    paths = (path_of(hit.id) if hit.id.startswith(CODE_IDS) else hit.file for hit in hits)
    return [*dict.fromkeys(filter(None, paths))]


def _ids(hits: Iterable[Any]) -> list[str]:
    return [hit.id for hit in hits]


def _recall(found: Sequence[str], answers: set[str], most: int = 5) -> float:
    return len(answers.intersection(found[:most])) / len(answers)


def _all_weak(hits: Iterable[Any]) -> bool:
    return all(hit.weak for hit in hits)


def _mean(flags: Iterable[bool]) -> float:
    """Return the share of True in percent; 0 without flags."""
    column = [*flags]
    return 100 * sum(column) / len(column) if column else 0.0


def _row(name: str, percent: float, goal: float | None = None) -> Row:
    if goal is None:
        return Row(name, round(percent, 1), "%")
    return at_least(name, round(percent, 1), "%", goal)


def _table(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines() if line]


SECTIONS: dict[str, Callable[[Bench], Iterable[Row]]] = {
    one.__name__: one for one in (pages, questions, records, weak, contexts)
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="answers.sh", add_help=False)
    parser.add_argument("clones", type=Path)
    place = os.environ.get("LORE_SETS")
    parser.add_argument("--set", type=Path, default=place, required=not place)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--misses", action="store_true")
    add_forms(parser)
    options = parser.parse_args()
    if unknown := set(options.only) - set(SECTIONS):
        parser.error(f"unknown section {', '.join(sorted(unknown))}: use {', '.join(SECTIONS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
