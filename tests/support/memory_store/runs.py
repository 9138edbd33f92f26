"""Runs and ratings, accesses, and what is staged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from json import loads
from typing import Any

from pylore.core.errors import (
    GraphUnavailable,
    LoreError,
)
from pylore.core.model import Edge, Node
from pylore.core.scopes import COMMON, is_own
from pylore.core.vocabulary import (
    THING_IDS,
)
from pylore.store.candidate import BY_RULE_AT, KeptCandidate

from .state import Key, Part, days_since, limited


class Ratings(Part):
    def of(self, ids: Sequence[str]) -> dict[str, tuple[float, int]]:
        found: dict[str, tuple[float, int]] = {}
        if "graph" in self._state.lost:
            raise GraphUnavailable("the graph cannot be read (lost): run 'lore doctor'")
        for edge in self._state.edges.values():
            if edge.from_id in ids and _is_rated(edge):
                helpful, rated = found.get(edge.from_id, (0.0, 0))
                found[edge.from_id] = (helpful + edge.weight, rated + 1)
        return found

    def recount(self) -> None:
        return None

    def wrong(self) -> int:
        return 0


def _is_use(edge: Edge) -> bool:
    return edge.relation == "used_in_run" and edge.invalidated_at is None


def _is_rated(edge: Edge) -> bool:
    return _is_use(edge) and loads(edge.metadata).get("rating", "") is not None


class Impressions(Part):
    def show(self, run: str, ids: Iterable[str], query: str, at: str) -> None:
        shown = self._changing.shown.setdefault(run, {})
        for position, id in enumerate(ids, start=1):
            if id not in shown or position < shown[id][0]:
                shown[id] = (position, query, shown[id][2] if id in shown else at)

    def shown(self, run: str) -> dict[str, tuple[int, str]]:
        rows = self._state.shown.get(run, {})
        ordered = sorted(rows.items(), key=lambda item: (item[1][0], item[1][2], item[0]))
        return {id: row[:2] for id, row in ordered}

    def clear(self, run: str) -> None:
        self._changing.shown.pop(run, None)

    def _uses(self) -> list[tuple[Any, ...]]:
        found = []
        for edge in self._store.edges.all():
            if _is_use(edge):
                data = loads(edge.metadata)
                rating = "helpful" if edge.weight >= 0.5 else "unhelpful"
                node = self._state.nodes.get(edge.from_id)
                found.append((edge.from_id, edge.to_id, rating if _is_rated(edge) else None,
                              data.get("position"), data.get("query"),
                              data.get("rated_at") or edge.created_at,
                              node.title if node else ""))  # fmt: skip
        return found

    def uses(self, run: str) -> list[Any]:
        found = [use for use in self._uses() if use[1] == run]
        return sorted(found, key=lambda use: (use[3] is None, use[3] or 0, use[0]))

    def rated(self, run: str, ids: Iterable[str], limit: int) -> list[Any]:
        wanted = set(ids)
        found = [
            use for use in self._uses()
            if use[2] and run in ("", use[1]) and (not wanted or use[0] in wanted)
        ]  # fmt: skip
        found.sort(key=lambda use: (use[1], use[0]))
        return limited(sorted(found, key=lambda use: use[5], reverse=True), limit)

    def summaries(self, run: str | None, limit: int) -> list[Any]:
        found = []
        for node in self._store.nodes.all(live_only=True):
            if node.type == "run" and run in (None, node.id):
                uses = self.uses(node.id)
                used = {use[0] for use in uses}
                shown = sum(id not in used for id in self.shown(node.id))
                ratings = Counter(use[2] for use in uses)
                found.append((node.id, node.data, node.created_at, shown, len(uses),
                              float(ratings["helpful"]), float(ratings["unhelpful"])))  # fmt: skip
        return limited(sorted(found, key=lambda row: (row[2], row[0]), reverse=True), limit)

    def tops(self, runs: Sequence[str], most: int) -> list[tuple[str, str, str]]:
        found = set()
        for run in runs:
            shown = self.shown(run).items()
            found |= {(run, query, id) for id, (position, query) in shown if position <= most}
            found |= {(run, use[4] or "", use[0]) for use in self.uses(run)
                      if use[3] is not None and use[3] <= most}  # fmt: skip
        return sorted(found)

    def state(self, run: str) -> str:
        node = self._state.nodes.get(run)
        if node is None or node.type != "run":
            return ""
        if node.invalidated_at is not None:
            return "forgotten"
        return "finished" if loads(node.data).get("finished_at") is not None else "open"


class Candidates(Part):
    def get_many(self, ids: Iterable[str]) -> dict[str, KeptCandidate]:
        held = self._state.candidates
        return {id: copy(held[id]) for id in ids if id in held}

    def all(self, statuses: Sequence[str] = ()) -> list[KeptCandidate]:
        found = [copy(one) for one in self._state.candidates.values()
                 if not statuses or one.status in statuses]  # fmt: skip
        return sorted(found, key=lambda one: (-one.score, one.first_at, one.id))

    def decided_by(self, command: int) -> list[KeptCandidate]:
        found = [one for one in self.all() if one.command == command]
        return sorted(found, key=lambda one: one.id)

    def let_in_since(self, moment: str) -> int:
        moments = (loads(one.data).get(BY_RULE_AT) for one in self._state.candidates.values())
        return sum(bool(one) and one >= moment for one in moments)

    def put(self, candidates: Iterable[KeptCandidate]) -> None:
        for one in candidates:
            if self._store.scope and not is_own(one.id, self._store.scope):
                raise LoreError(COMMON)
            self._changing.candidates[one.id] = copy(one)

    def remove(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._changing.candidates.pop(id, None)


class Review(Part):
    def _facts(self, ids: Sequence[str]) -> list[Edge]:
        return [
            edge for _, edge in sorted(self._state.edges.items())
            if edge.invalidated_at is None and {*ids} & {*edge.key[:2]}
            and edge.from_id.startswith(THING_IDS) and edge.to_id.startswith(THING_IDS)
        ]  # fmt: skip

    def count_access(self, ids: Sequence[str], at: str) -> None:
        nodes = self._changing.nodes
        live: list[Node | Edge] = [nodes[id] for id in ids if self._node_is_live(id)]
        for one in [*live, *self._facts(ids)]:
            one.accessed_at, one.access_count = at, one.access_count + 1

    @property
    def is_behind(self) -> bool:
        return False

    def catch_up(self) -> None:
        return None

    def ripe_nodes(self, ids: Sequence[str], accesses: int) -> list[str]:
        return sorted(
            node.id for node in self._store.nodes.get_many(ids).values()
            if node.status == "staged" and node.invalidated_at is None
            and node.access_count >= accesses
        )  # fmt: skip

    def ripe_facts(self, ids: Sequence[str], accesses: int) -> list[Key]:
        return [
            edge.key for edge in self._facts(ids)
            if edge.status == "staged" and edge.access_count >= accesses
        ]  # fmt: skip

    def confirm_nodes(self, ids: Sequence[str]) -> None:
        for id in ids:
            node = self._store.nodes.get(id)
            if node is not None:
                node.status = "confirmed"
                self._store.nodes.put(node)

    def staged_nodes(self, source: str) -> dict[str, tuple[float, float, int]]:
        return {
            node.id: (node.confidence, days_since(node.updated_at), node.access_count)
            for node in self._store.nodes.all(live_only=True)
            if node.status == "staged" and node.source == source
        }  # fmt: skip

    def staged_edges(self, source: str) -> dict[Key, tuple[float, float, int]]:
        found = {}
        for edge in self._store.edges.all(live_only=True):
            if edge.status == "staged" and edge.source == source:
                changes = [str(one["changed_at"]) for one in self._store.edges.history(edge.key)]
                since = days_since(max([edge.created_at, *changes]))
                found[edge.key] = (edge.weight, since, edge.access_count)
        return found
