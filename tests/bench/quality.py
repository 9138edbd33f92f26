"""The quality benchmark's command line: see quality.sh."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from places import BenchmarkError, call
from report import add_forms, wants_text
from sets import STORES, LeftOut, sets, store_of, types_of

from pylore.evaluate.measure import points, table

MEASURE = "recall@5"
DEEP = "graph_depth=1"
COMPARED = ("graph_depth=0", DEEP, "graph_depth=2")
MOST_LOST = 0.01


def main() -> int:
    """Measure every set and print the results."""
    options = _options()
    try:
        reports = _reports(options)
    except BenchmarkError as error:
        sys.stderr.write(f"lore: bench: {error}\n")
        return 1
    found = {"sets": reports, "summary": summary(reports)}
    sys.stdout.write(markdown(found) if wants_text(options) else json.dumps(found, indent=1) + "\n")
    missed = [line for report in reports for line in shortfalls(report)]
    sys.stderr.writelines(f"bench: {line}\n" for line in missed)
    return 1 if options.check and missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.sh", add_help=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    add_forms(parser)
    return parser.parse_args()


def _reports(options: argparse.Namespace) -> list[dict[str, Any]]:
    place = os.environ.get("LORE_SETS")
    if not place:
        raise BenchmarkError("LORE_SETS names no folder of sets: see quality.sh --help")
    STORES.mkdir(parents=True, exist_ok=True)
    found = []
    for folder in sets(Path(place), options.only):
        sys.stderr.write(f"bench: {folder.name} …\n")
        try:
            store = store_of(folder)
        except LeftOut as why:
            sys.stderr.write(f"bench: {folder.name} is left out: {why}\n")
            continue
        found.append({"set": folder.name, **_report(folder, store)})
    return found


def _report(folder: Path, store: Path) -> dict[str, Any]:
    queries = folder / "queries.jsonl"
    types = types_of(queries, store)
    words = ["eval", "--queries", str(queries), "--controls"]
    words += [word for one in COMPARED for word in ("--compare", one)]
    words += ["--type", ",".join(types)] if types else []
    stats = json.loads(call(store, "graph", "stats"))
    sizes = {name: stats[name] for name in ("nodes", "edges")}
    return {"types": types, **sizes, **json.loads(call(store, *words))}


def row_of(report: dict[str, Any], id: str) -> dict[str, Any]:
    """The row of a report with this id."""
    return next(row for row in report["rows"] if row["id"] == id)


def summary(reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row per set: the gain of the graph at depth 1, and of the controls."""
    return [
        {
            "set": report["set"],
            "reference": report["reference"],
            "plain": row_of(report, report["reference"])[MEASURE],
            "deep": row_of(report, DEEP)[MEASURE],
            "gain": row_of(report, DEEP)["difference"][MEASURE],
            "shuffled": row_of(report, f"shuffled edges, {DEEP}")["difference"][MEASURE],
            "prior": row_of(report, "in-degree prior")["difference"][MEASURE],
            "against_rrf": row_of(report, DEEP)[MEASURE] / row_of(report, "rrf")[MEASURE] - 1,
        }
        for report in reports
    ]


def shortfalls(report: dict[str, Any]) -> list[str]:
    """Return the faults: a set that the graph makes worse, shuffled edges that help."""
    name = report["set"]
    found = []
    if row_of(report, DEEP)["difference"][MEASURE]["mean"] < -MOST_LOST:
        found.append(f"{name}: the graph takes more than a point of {MEASURE}")
    if row_of(report, f"shuffled edges, {DEEP}")["difference"][MEASURE]["low"] > 0:
        found.append(f"{name}: shuffled edges gain {MEASURE}")
    return found


def markdown(found: dict[str, Any]) -> str:
    """The summary and a table a set."""
    heads = ["set", "best plain", MEASURE, DEEP, "gain", "relative", "shuffled edges"]
    heads += ["in-degree prior", "against rrf"]
    rows = [
        [
            row["set"],
            row["reference"],
            f"{100 * row['plain']:.1f}",
            f"{100 * row['deep']:.1f}",
            points(row["gain"]),
            f"{100 * row['gain']['mean'] / row['plain']:+.1f} %",
            points(row["shuffled"]),
            points(row["prior"]),
            f"{100 * row['against_rrf']:+.1f} %",
        ]
        for row in found["summary"]
    ]
    parts = [_table(heads, rows)]
    if rows:
        mean = sum(row["against_rrf"] for row in found["summary"]) / len(rows)
        parts.append(f"\nAgainst rrf alone, on average: {100 * mean:+.1f} %.\n")
    for report in found["sets"]:
        asked = f", `--type {','.join(report['types'])}`" if report["types"] else ""
        parts.append(
            f"\n### {report['set']}\n\n{report['nodes']:,} nodes, {report['edges']:,} "
            f"edges, {report['queries']} queries{asked}.\n\n"
        )
        heads, *rows = table(report)
        parts.append(_table(heads, rows))
    return "".join(parts)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    marks = ["---", *["---:"] * (len(heads) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (heads, marks, *rows))


if __name__ == "__main__":
    sys.exit(main())
