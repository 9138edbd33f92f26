"""Metrics of an evaluation, their intervals, and the table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
SEED = 1993
_BLOCK = 500


def interval(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The 95 % interval of the mean of each column: an array (2, columns), low and high.

    ``differences``: (queries, measures), each row one query's, so that whatever makes
    a query hard counts on both sides. The same rows give the same interval.
    """
    queries = len(differences)
    generator = np.random.default_rng(SEED)
    shares = np.full(queries, 1 / queries)
    means = [
        generator.multinomial(queries, shares, size=_BLOCK) @ differences / queries
        for _ in range(RESAMPLES // _BLOCK)
    ]
    bounds: npt.NDArray[np.float64] = np.percentile(np.concatenate(means), [2.5, 97.5], axis=0)
    return bounds


def recall(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant nodes that are among the first ``k``."""
    return len(set(ranked[:k]) & set(relevant)) / len(relevant)


def all_relevant(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 where every relevant node is among the first ``k``, else 0."""
    return float(set(relevant) <= set(ranked[:k]))


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain at ``k`` (Järvelin and Kekäläinen, TOIS 2002).

    The gain of the node at rank r is 1 / log2(r + 1) where it is relevant; the sum is
    divided by that of a list with the relevant nodes in front.
    """
    wanted = set(relevant)
    gain = sum(1 / log2(rank + 2) for rank, id in enumerate(ranked[:k]) if id in wanted)
    return gain / sum(1 / log2(rank + 2) for rank in range(min(k, len(wanted))))


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant node, 0 where the list has none."""
    for rank, id in enumerate(ranked, start=1):
        if id in relevant:
            return 1 / rank
    return 0.0


def measures(at: Sequence[int]) -> list[str]:
    """The names of what ``score`` gives, in its order."""
    return [*(f"recall@{k}" for k in at), "all_relevant@5", "ndcg@10", "mrr"]


def score(ranked: Sequence[str], relevant: Collection[str], at: Sequence[int]) -> list[float]:
    """Every measure of one list: recall at each of ``at``, all-relevant@5, nDCG@10, 1/rank."""
    return [
        *(recall(ranked, relevant, k) for k in at),
        all_relevant(ranked, relevant, 5),
        ndcg(ranked, relevant, 10),
        reciprocal_rank(ranked, relevant),
    ]


def percentile(values: Sequence[float], share: float) -> float:
    """The value that ``share`` (0..1) of them do not exceed (nearest rank); 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, -(-round(share * 1000) * len(ordered) // 1000) - 1)] if ordered else 0.0


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
