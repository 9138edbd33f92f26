"""How far runs cover what was shown, and how alike the first results of an answer were."""

from __future__ import annotations

from ..search.diversity import SAME_CATEGORY, TOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..store import Store
    from ..store.curation import Summary


MOST_RUNS = 200
"""The newest runs, which the audit is of: what is said of today, at a bounded cost. With the 1,000
runs of a store of 100,000 nodes ``graph stats`` took three times as long."""


def audit(store: Store, settings: Settings, run: str = "") -> dict[str, Any]:
    """``coverage`` and ``diversity`` of the newest live runs, or of this one.

    ``coverage``: how many ``runs`` there are and how many are ``finished``, how many records
    were ``shown`` in them and how many of these were ``rated``. ``diversity``: of how many
    ``answers`` the first five are known well enough, the ``share`` of these that is of one
    category, on average and at ``most``, and which ``category`` that was.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    with store.graph_faults:
        runs = store.impressions.summaries(run or None, MOST_RUNS)
        return {
            "coverage": _coverage(runs),
            "diversity": _diversity(store, settings, [summary[0] for summary in runs]),
        }


def _coverage(runs: Iterable[Summary]) -> dict[str, int]:
    found = dict.fromkeys(("runs", "finished", "shown", "rated"), 0)
    for _, data, _, shown, used, helpful, unhelpful in runs:
        found["runs"] += 1
        found["finished"] += '"finished_at"' in data
        found["shown"] += shown + used
        found["rated"] += int(helpful + unhelpful)
    return found


def _diversity(store: Store, settings: Settings, runs: Sequence[str]) -> dict[str, Any]:
    answers: dict[tuple[str, str], list[str]] = {}
    for of_run, query, id in store.impressions.tops(runs, TOP):
        answers.setdefault((of_run, query), []).append(id)
    known = [ids for ids in answers.values() if len(ids) > SAME_CATEGORY]
    categories = store.nodes.categories([*{id for ids in known for id in ids}],
                                        settings.category_tags)  # fmt: skip
    shares = [_largest(ids, categories) for ids in known]
    most, category = max(shares, key=lambda share: share[0], default=(0.0, None))
    mean = sum(share for share, _ in shares) / len(shares) if shares else 0.0
    return {"answers": len(shares), "share": round(mean, 3), "most": round(most, 3),
            "category": category}  # fmt: skip


def _largest(ids: list[str], categories: Mapping[str, str]) -> tuple[float, str | None]:
    """Return the largest share of one category, and which; what has none is like nothing else."""
    counts: dict[str, int] = {}
    for id in ids:
        if id in categories:
            counts[categories[id]] = counts.get(categories[id], 0) + 1
    if not counts:
        return 0.0, None
    category = max(counts, key=lambda name: (counts[name], name))
    return counts[category] / len(ids), category
