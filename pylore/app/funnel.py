"""The funnel by week: what happened, what was found, what was let in, what that was good for."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import TYPE_CHECKING

from ..core.json_plain import loads
from ..store.candidate import KNOWN, PROMOTED, REFUSED
from ..telemetry.projects import project_events

if TYPE_CHECKING:
    from typing import Any

    from ..core.model import Edge
    from ..store import Store
    from ..store.candidate import KeptCandidate
    from .engine import Engine

COUNTED = (
    "events", "candidates", "known", "promoted", "refused", "confirmed", "used", "runs",
    "helpful", "unhelpful",
)  # fmt: skip
"""What is counted of each week, in this order.

``candidates`` that were found in it, and those that were decided in it. Of the records that were
promoted in it: how many are ``confirmed`` and how many were ``used`` by now, in how many finished
``runs``, and how often these found them ``helpful`` or ``unhelpful``.
"""


def funnel(engine: Engine) -> list[dict[str, Any]]:
    """A row a week that has something, the newest first: ``week`` (ISO 8601), ``COUNTED``.

    Events are counted as far as the log still has them.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for event in project_events(engine.root):
        counts[_week(event["t"]), "events"] += 1
    with engine.store.faults:
        for row in engine.store.candidates.all():
            counts[_week(row.found_at), "candidates"] += 1
            for name, count in _of_candidate(engine.store, row).items():
                counts[_week(row.decided_at or row.found_at), name] += count
    weeks = sorted({week for week, _ in counts}, reverse=True)
    return [{"week": week, **{name: counts[week, name] for name in COUNTED}} for week in weeks]


def _of_candidate(store: Store, row: KeptCandidate) -> Counter[str]:
    """What became of a candidate, where that is decided."""
    counts = Counter({row.status: 1} if row.status in (KNOWN, PROMOTED, REFUSED) else {})
    return counts + _of_record(store, str(row.promoted_as)) if counts[PROMOTED] else counts


def _of_record(store: Store, id: str) -> Counter[str]:
    """What came of a record that was promoted."""
    node = store.nodes.get(id)
    if node is None or node.invalidated_at is not None:
        return Counter()
    uses = [edge for edge in store.edges.of(id) if _is_use(store, edge, id)]
    counts = Counter({
        "confirmed": int(node.status == "confirmed"), "used": int(bool(uses)), "runs": len(uses),
    })  # fmt: skip
    for edge in uses:
        rating = loads(edge.metadata).get("rating")
        if rating in ("helpful", "unhelpful"):
            counts[rating] += 1
    return counts


def _is_use(store: Store, edge: Edge, id: str) -> bool:
    """Whether it leads to a finished run that a record was shown in, and not learned in."""
    return (
        edge.relation == "used_in_run"
        and edge.from_id == id
        and not loads(edge.metadata).get("learned")
        and store.impressions.state(edge.to_id) == "finished"
    )


def _week(moment: str) -> str:
    """The week of a time, as ISO 8601 has it; where there is none, nothing.

    >>> _week("2026-01-01T12:00:00Z"), _week("?")
    ('2026-W01', '')
    """
    try:
        year, week, _ = date.fromisoformat(moment[:10]).isocalendar()
    except ValueError:
        return ""
    return f"{year}-W{week:02}"
