"""A report as a table for people: measures in percent, differences in points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def report_text(report: dict[str, Any]) -> str:
    """The rows of a report under their headings."""
    rows = [headings(report), *(cells(row, report) for row in report["rows"])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [_line(row, widths) for row in rows]
    return "".join([*lines, f"{report['queries']} queries; differences with 95 % intervals\n"])


def headings(report: dict[str, Any]) -> list[str]:
    """What stands above the ``cells``."""
    measures = report["measures"]
    return ["", *measures, "ms", "p95", f"{measures[0]} against {report['reference']}"]


def cells(row: dict[str, Any], report: dict[str, Any]) -> list[str]:
    """One row of a report: its name, every measure, the times, the difference."""
    measures, ms, difference = report["measures"], row["ms"], row["difference"]
    name = f"{row['id']} (share {row['share']:g})" if "share" in row else row["id"]
    times = [f"{ms['median']:.1f}", f"{ms['p95']:.1f}"] if ms else ["", ""]
    against = points(difference[measures[0]]) if difference else "the reference"
    return [name, *(percent(row[measure]) for measure in measures), *times, against]


def tuning_text(report: dict[str, Any]) -> str:
    """What tuning changed and what it gains, for people."""
    measure = report["measure"]
    lines = [
        f"{measure} {percent(report['base'])} with the settings as they stand, "
        f"{report['queries']} queries, {report['evaluations']} settings tried",
        f"on the queries tuned on     {points(report['seen'])}",
        f"on queries not tuned on     {points(report['unseen'])}  ({report['folds']} folds)",
    ]
    return "\n".join(lines) + "\n" + (f"\n{report['fragment']}" if report["fragment"] else "")


def percent(share: float) -> str:
    """0.6725 → 67.2 (or 67.3: as ``format`` rounds)."""
    return f"{100 * share:.1f}"


def points(difference: dict[str, float]) -> str:
    """A difference in points with its interval: ``+8.3 [+5.1, +11.6]``."""
    mean, low, high = (100 * difference[name] for name in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    last = len(cells) - 1
    padded = (
        cell.ljust(width) if i in (0, last) else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip() + "\n"
