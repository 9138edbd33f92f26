"""Runs and feedback: the records that a run was shown, and their ratings.

A run is a node. The table ``shown`` has the impressions of an open run; ``finish`` makes each an
edge ``used_in_run`` from the record to the run: weight 1 and rating ``helpful``, weight 0 and
``unhelpful``, or weight 0 and a rating of null. The metadata also have ``helpful`` (true, false or
null), ``position``, ``query`` and ``rated_at``.
"""

from __future__ import annotations

import os
import time

from ..core.errors import LoreError, UsageError, first_of
from ..core.ids import own
from ..core.json import dumps, loads
from ..core.model import Edge, Node
from ..core.scoring import feedback
from ..core.times import ago, now
from ..core.vocabulary import RUN_IDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..store import Store
    from ..store.curation import Impression

    Row = dict[str, Any]

RELATION = "used_in_run"
TASK_RELATION = "part_of"
HOOK_RUN_DAYS = 1
"""Age in days from which a session's run counts as over."""

MOST_FINISHED = 3
"""Maximum runs that a hook finishes: bounds the time."""


class Runs:
    """The runs of a store. Every method that writes is a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self, task: str = "", by: str = "") -> str:
        """Return the id of a new run, linked to the task, if given; a run by a ``hook`` finishes
        runs of sessions long over. Raise LoreError for a missing or forgotten task."""
        with self._store.transaction("run start"):
            if by == "hook":
                with self._store.whole():  # runs of any scope
                    for run in self._store.impressions.left_open(ago(HOOK_RUN_DAYS), MOST_FINISHED):
                        self.finish(run)
            task = task and self._store.nodes.require_live(self._store.complete_id(task)).id
            data = {name: text for name, text in (("task", task), ("by", by)) if text}
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            id = self._add(f"{stamp}-{os.urandom(3).hex()}", data)
            if task:
                edge = Edge(id, task, TASK_RELATION, source="system", created_at=now())
                self._store.edges.put(edge)
        return id

    def finish(
        self, run: str, helpful: Sequence[str] = (), unhelpful: Sequence[str] = ()
    ) -> tuple[Row, list[str]]:
        """Make an edge of each record that the run was shown, or that is rated; return the run as
        in ``summaries``, and notes. Raise LoreError for an unknown or finished run and an unknown
        id, UsageError for an id that is both helpful and unhelpful."""
        ratings: dict[str, str] = {}
        with self._store.transaction("run finish"):
            for rating, some in (("helpful", helpful), ("unhelpful", unhelpful)):
                for id in map(self._store.complete_id, some):
                    if ratings.setdefault(id, rating) != rating:
                        raise UsageError(f"'{id}' is helpful and unhelpful: give a single rating")
            node = self._require_run(run)
            data = loads(node.data)
            if "finished_at" in data:
                hint = f"'lore run rate --run {run}' rates its records"
                raise LoreError(f"'{run}' was finished at {data['finished_at']}: {hint}")
            shown = self._store.impressions.shown(run)
            seen = dict.fromkeys(self._store.nodes.get_many(shown))
            self._use(run, seen, shown)  # an undo leaves these
            notes = self._use(run, ratings, shown)
            self._store.impressions.clear(run)
            node.data = dumps({**data, "finished_at": now()})
            self._store.nodes.put(node)
            (row,) = self.summaries(1, run)
        return row, notes

    def rate(self, ids: Sequence[str], rating: str, run: str = "") -> tuple[list[Row], list[str]]:
        """Rate records ``helpful`` or ``unhelpful`` in a run, by default the run of the day; return
        ``{id, rating, run, feedback_score}`` of each, and notes. In a run the last rating of a
        record counts. Raise LoreError for an unknown run or id, UsageError for another rating."""
        if rating not in ("helpful", "unhelpful"):
            raise UsageError(f"the rating is '{rating}': give helpful or unhelpful")
        if not ids:
            return [], []
        with self._store.transaction("feedback"):
            rated = dict.fromkeys(map(self._store.complete_id, ids), rating)
            of = self._require_run(run).id if run else self._run_of_today()
            notes = self._use(of, rated, self._store.impressions.shown(of))
            sums = self._store.ratings.of([*rated])
        rows: list[Row] = [{"id": id, "rating": rating, "run": of} for id in rated]
        for row in rows:
            row["feedback_score"] = round(feedback(*sums.get(row["id"], (0.0, 0))), 6)
        return rows, notes if run else []

    def summaries(self, limit: int = -1, run: str | None = None) -> list[Row]:
        """Return the live runs, the newest first; only ``run``, if given.

        ``{id, state, task, started_at, finished_at, shown, helpful, unhelpful, unrated}``;
        ``shown`` counts everything that was shown or rated.
        """
        rows, found = [], self._store.impressions.summaries(run, limit)
        for id, text, created, unused, used, *rated in found:
            data, (helpful, unhelpful) = loads(text), map(int, rated)
            row: Row = {"id": id, "state": "finished" if "finished_at" in data else "open"}
            row |= {"task": data.get("task"), "started_at": created}
            row |= {"finished_at": data.get("finished_at"), "shown": unused + used}
            row |= {"helpful": helpful, "unhelpful": unhelpful}
            rows.append({**row, "unrated": unused + used - helpful - unhelpful})
        return rows

    def get(self, run: str) -> Row:
        """Return a run as in ``summaries``, with ``records``: ``{id, title, position, query,
        rating}``. Raise LoreError for an unknown or forgotten run."""
        self._require_run(run)
        (found,) = self.summaries(1, run)
        shown = self._store.impressions.shown(run)
        nodes = self._store.nodes.get_many(shown)
        rows: dict[str, tuple[Any, ...]] = {
            id: (id, nodes[id].title if id in nodes else "", position, query, None)
            for id, (position, query, _) in shown.items()
        }
        for id, _, rating, position, query, _, title in self._store.impressions.uses(run):
            rows[id] = (id, title, position, query, rating)
        order = sorted(rows.values(), key=lambda row: (row[2] or 1 << 30, row[0]))
        names = ("id", "title", "position", "query", "rating")
        records = [dict(zip(names, row, strict=True)) for row in order]
        return {**found, "records": records}

    # --- steps; those that write run inside a transaction of a method above

    def _add(self, name: str, data: dict[str, str]) -> str:
        """Add a run, without title and text: a search must not find a run by the word "run"."""
        id, at = own(RUN_IDS + name, self._store.scope), now()
        node = Node(id, "run", source="system", data=dumps(data), created_at=at, updated_at=at)
        self._store.nodes.put(node)
        return id

    def _run_of_today(self) -> str:
        name = f"feedback-{now()[:10]}"
        id = own(RUN_IDS + name, self._store.scope)
        is_live = self._store.impressions.state(id) in ("open", "finished")
        return id if is_live else self._add(name, {"finished_at": now()})

    def _require_run(self, id: str) -> Node:
        node = self._store.nodes.get(id)
        if node is None or node.type != "run":
            what = f"no run '{id}'" if node is None else f"'{id}' is not a run"
            raise LoreError(f"{what}: see 'lore run list'")
        return self._store.nodes.require_live(id)

    def _use(
        self, run: str, ratings: Mapping[str, str | None], shown: Mapping[str, Impression]
    ) -> list[str]:
        """Write edges of records to a run; without a rating, an old rating is not changed. Return a
        note on rated records that the run was not shown."""
        used = {use[0] for use in self._store.impressions.uses(run)}
        for id, rating in ratings.items():
            if self._store.nodes.require(id).type == "run":
                raise LoreError(f"'{id}' is a run: rate records")
            known: dict[str, Any] = {"rating": None}
            old = self._store.edges.get(id, run, RELATION)
            if old is not None and old.invalidated_at is None:
                # the weight of an edge by hand is the rating
                by_weight = "helpful" if old.weight >= 0.5 else "unhelpful"
                known = {"rating": by_weight, **loads(old.metadata)}
            if id in shown:
                known["position"], known["query"], answers = shown[id]
                known["answers"] = loads(answers)
            if rating is not None:
                known["rating"], known["rated_at"] = rating, now()
            rating = known["rating"]
            known["helpful"] = None if rating is None else rating == "helpful"
            edge = Edge(id, run, RELATION, float(rating == "helpful"), created_at=now())
            edge.source, edge.metadata = "system" if rating is None else "user_edit", dumps(known)
            self._store.edges.put(edge)
        ids = [id for id in ratings if ratings[id] and id not in used and id not in shown]
        return [f"not shown in this run, and rated all the same: {first_of(ids)}"] if ids else []
