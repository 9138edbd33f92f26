"""Measures of one ranked list against the nodes that are relevant, each in 0..1.

Relevance is binary. ``ranked`` holds ids, best first, each once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2


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
