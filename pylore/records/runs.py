"""Runs and feedback: the records that a run was shown, and their ratings.

A run is a node. The table ``shown`` has the impressions of an open run; ``finish`` makes each an
edge ``used_in_run`` from the record to the run: weight 1 and rating ``helpful``, weight 0 and
``unhelpful``, or weight 0 and a rating of null. The metadata also have ``helpful`` (true, false or
null), ``position``, ``query`` and ``rated_at``.
"""

from __future__ import annotations

import os
import time

from ..core.errors import LoreError, UsageError
from ..core.ids import own
from ..core.json import dumps, loads
from ..core.model import Edge, Node, Record
from ..core.scoring import feedback
from ..core.times import ago, now
from ..core.vocabulary import RUN_IDS
from ..indexing.indexer import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..store import Store
    from ..store.curation import Impression

RELATION = "used_in_run"
TASK_RELATION = "part_of"
HOOK_RUN_DAYS = 1
"""Age in days from which a session's run counts as over."""

MOST_FINISHED = 3
"""Maximum runs that a hook finishes: bounds the time."""

WEIGHTS = {"helpful": 1.0, "unhelpful": 0.0, None: 0.0}
"""Weight of a rating's edge: the walk follows helpful edges only."""


class RunOutcome(Record):
    """Result of a finished run: counts, and notes for people."""

    __slots__ = ("helpful", "id", "notes", "unhelpful", "unrated", "used")

    def __init__(self, id: str) -> None:
        self.id = id
        self.used = self.helpful = self.unhelpful = self.unrated = 0
        self.notes: list[str] = []


class Runs:
    """The runs of a store. Every method that writes is a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self, task: str = "", by: str = "") -> str:
        """Return the id of a new run, linked to the task, if given.

        Raises:
            LoreError: no such task, or a forgotten one.
        """
        with self._store.faults, self._store.transaction("run start"):
            if task:
                task = self._store.complete_id(task)
                self._store.nodes.require_live(task)
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            id = own(f"{RUN_IDS}{stamp}-{os.urandom(3).hex()}", self._store.scope)
            self._add(id, {**({"task": task} if task else {}), **({"by": by} if by else {})})
            if task:
                self._store.edges.put(
                    Edge(id, task, TASK_RELATION, source="system", created_at=now())
                )
        return id

    def start_for_hook(self) -> str:
        """Return the id of a new run for a session, and finish runs of sessions long over."""
        for run in self._store.impressions.left_open(ago(HOOK_RUN_DAYS), MOST_FINISHED):
            self.finish(run)
        return self.start(by="hook")

    def finish(
        self, run: str, helpful: Sequence[str] = (), unhelpful: Sequence[str] = ()
    ) -> RunOutcome:
        """Make an edge of each record that the run was shown, or that is rated.

        Raises:
            LoreError: no such run, a finished run, or an unknown id.
            UsageError: an id is both helpful and unhelpful.
        """
        result = RunOutcome(run)
        with self._store.faults, self._store.transaction("run finish"):
            ids = [[*map(self._store.complete_id, some)] for some in (helpful, unhelpful)]
            if both := {*ids[0]} & {*ids[1]}:
                raise UsageError(f"'{min(both)}' is helpful and unhelpful: give a single rating")
            ratings = {**dict.fromkeys(ids[0], "helpful"), **dict.fromkeys(ids[1], "unhelpful")}
            node = self._require_run(run)
            data = loads(node.data)
            if "finished_at" in data:
                raise LoreError(
                    f"'{run}' was finished at {data['finished_at']}: "
                    f"'lore run rate --run {run}' rates its records"
                )
            shown = self._store.impressions.shown(run)
            result.notes += _not_shown([id for id in ratings if id not in shown])
            gone = shown.keys() - self._store.nodes.get_many(shown).keys() - ratings.keys()
            for id in [id for id in {**shown, **ratings} if id not in gone]:
                self._use(id, run, ratings.get(id), shown.get(id))
            self._store.impressions.clear(run)
            node.data = dumps({**data, "finished_at": now()})
            self._store.nodes.put(node)
            (counts,) = self.summaries(1, run)
            for name in ("helpful", "unhelpful", "unrated"):
                setattr(result, name, counts[name])
            result.used = counts["shown"]
        return result

    def rate(
        self, ids: Sequence[str], rating: str, run: str = ""
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Rate records ``helpful`` or ``unhelpful`` in a run, by default the run of the day.

        Return ``{id, rating, run, feedback_score}`` of each, and notes. In a run the last rating of
        a record counts.

        Raises:
            LoreError: no such run, or an unknown id.
            UsageError: invalid ``rating``.
        """
        if rating not in ("helpful", "unhelpful"):
            raise UsageError(f"the rating is '{rating}': give helpful or unhelpful")
        notes: list[str] = []
        with self._store.faults, self._store.transaction("feedback"):
            ids = [*map(self._store.complete_id, ids)]
            if run:
                self._require_run(run)
                used = {use[0] for use in self._store.impressions.uses(run)}
                shown = self._store.impressions.shown(run)
                notes += _not_shown([id for id in ids if id not in shown and id not in used])
            else:
                run, shown = self._run_of_today(), {}
            ids = [*dict.fromkeys(ids)]
            for id in ids:
                self._use(id, run, rating, shown.get(id))
            sums = self._store.ratings.of(ids)
        return [
            {
                "id": id,
                "rating": rating,
                "run": run,
                "feedback_score": round(feedback(*sums.get(id, (0.0, 0))), 6),
            }
            for id in ids
        ], notes

    def summaries(self, limit: int = -1, run: str | None = None) -> list[dict[str, Any]]:
        """Return the live runs, the newest first; only ``run``, if given.

        ``{id, state, task, started_at, finished_at, shown, helpful, unhelpful, unrated}``;
        ``shown`` counts everything that was shown or rated.
        """
        rows = []
        found = self._store.impressions.summaries(run, limit)
        for id, data, created, unused, used, *rated in found:
            fields, (helpful, unhelpful) = loads(data), map(int, rated)
            rows.append(
                {
                    "id": id,
                    "state": "finished" if "finished_at" in fields else "open",
                    "task": fields.get("task"),
                    "started_at": created,
                    "finished_at": fields.get("finished_at"),
                    "shown": unused + used,
                    "helpful": helpful,
                    "unhelpful": unhelpful,
                    "unrated": unused + used - helpful - unhelpful,
                }
            )
        return rows

    def get(self, run: str) -> dict[str, Any]:
        """Return a run as in ``summaries``, with ``records``: ``{id, title, position, query,
        rating}``.

        Raises:
            LoreError: no such run, or a forgotten one.
        """
        self._require_run(run)
        (found,) = self.summaries(1, run)
        rows: list[tuple[Any, ...]] = [
            (id, title, position, query, rating)
            for id, _, rating, position, query, _, title in self._store.impressions.uses(run)
        ]
        shown = self._store.impressions.shown(run)
        nodes, used = self._store.nodes.get_many(shown), {row[0] for row in rows}
        rows += [
            (id, nodes[id].title if id in nodes else "", position, query, None)
            for id, (position, query, _) in shown.items()
            if id not in used
        ]
        names = ("id", "title", "position", "query", "rating")
        rows.sort(key=lambda row: (row[2] or 1 << 30, row[0]))
        found["shown"] = len(rows)
        found["records"] = [dict(zip(names, row, strict=True)) for row in rows]
        return found

    # --- steps; those that write run inside a transaction of a method above

    def _add(self, id: str, data: dict[str, str]) -> None:
        # No title and no text: a search must not find a run by the word "run".
        node = Node(id, "run", source="system", data=dumps(data), created_at=now())
        node.updated_at = node.created_at
        self._store.nodes.put(node)
        Index(self._store).update([node])

    def _run_of_today(self) -> str:
        id = own(f"{RUN_IDS}feedback-{now()[:10]}", self._store.scope)
        if self._store.nodes.get(id) is None:
            self._add(id, {"finished_at": now()})
        else:
            self._require_run(id)
        return id

    def _require_run(self, id: str) -> Node:
        node = self._store.nodes.get(id)
        if node is None or node.type != "run":
            what = f"no run '{id}'" if node is None else f"'{id}' is not a run"
            raise LoreError(f"{what}: see 'lore run list'")
        return self._store.nodes.require_live(id)

    def _use(self, id: str, run: str, rating: str | None, shown: Impression | None) -> None:
        """Write an edge; without a rating, an old rating is not changed."""
        node = self._store.nodes.require(id)
        if node.type == "run":
            raise LoreError(f"'{id}' is a run: rate records")
        old = self._store.edges.get(id, run, RELATION)
        known: dict[str, Any] = {}
        if old is not None and old.invalidated_at is None:
            known = loads(old.metadata)
            # the weight of an edge by hand is the rating
            known.setdefault("rating", "helpful" if old.weight >= 0.5 else "unhelpful")
        known.setdefault("rating", None)
        if shown is not None:
            known["position"], known["query"], answers = shown
            known["answers"] = loads(answers)
        if rating is not None:
            known["rating"], known["rated_at"] = rating, now()
        rating = known["rating"]
        known["helpful"] = None if rating is None else rating == "helpful"
        self._store.edges.put(
            Edge(
                id,
                run,
                RELATION,
                WEIGHTS[rating],
                source="system" if rating is None else "user_edit",
                metadata=dumps(known),
                created_at=now(),
                # Restoring the record restores the edge.
                invalidated_at=node.invalidated_at,
            )
        )


def _not_shown(ids: Sequence[str]) -> list[str]:
    """Return a note on rated ids that the run was not shown."""
    if not ids:
        return []
    more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
    return [f"not shown in this run, and rated all the same: {', '.join(ids[:3])}{more}"]
