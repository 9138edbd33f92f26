"""Audit runs: which shown records were rated, and how diverse the first results were."""

from __future__ import annotations

from collections import Counter

from ..search.rank import SAME_CATEGORY, TOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..store import Store

MOST_RUNS = 200  # newest runs that are audited


def audit(store: Store, settings: Settings, run: str = "") -> dict[str, Any]:
    """Return ``coverage`` and ``diversity`` of the newest live runs, or of ``run``.

    ``coverage`` has the number of runs, ``finished`` runs, and records ``shown`` and ``rated``.
    ``diversity`` counts ``answers`` with enough first results in the store, with the mean ``share``
    of the most frequent category.
    """
    with store.graph_faults:
        runs = store.impressions.summaries(run or None, MOST_RUNS)
        coverage = {
            "runs": len(runs),
            "finished": sum('"finished_at"' in row[1] for row in runs),
            "shown": sum(row[3] + row[4] for row in runs),
            "rated": sum(int(row[5] + row[6]) for row in runs),
        }
        spread = _diversity(store, settings, [row[0] for row in runs])
    return {"coverage": coverage, "diversity": spread}


def _diversity(store: Store, settings: Settings, runs: Sequence[str]) -> dict[str, Any]:
    answers: dict[tuple[str, str], list[str]] = {}
    for of_run, query, id in store.impressions.tops(runs, TOP):
        answers.setdefault((of_run, query), []).append(id)
    known = [ids for ids in answers.values() if len(ids) > SAME_CATEGORY]
    every = [*{id for ids in known for id in ids}]
    categories = store.nodes.categories(every, settings.category_tags)
    found = [(Counter(filter(None, map(categories.get, ids))), len(ids)) for ids in known]
    shares = [max(counts.values(), default=0) / count for counts, count in found]
    return {"answers": len(shares), "share": round(sum(shares) / max(1, len(shares)), 3)}
