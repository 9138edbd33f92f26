"""The graph, its history, and counts over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from pylore.core.errors import (
    GraphUnavailable,
)
from pylore.core.model import EDGE_HISTORY, Edge
from pylore.core.states import clock
from pylore.core.times import now
from pylore.store import ALL

from .state import Key, Part, limited, move_on

if TYPE_CHECKING:
    from . import MemoryStore

STATE = ("weight", "source", "status", "metadata", "invalidated_at")


class Edges(Part):
    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.stated: set[str] = set()

    def _readable(self) -> dict[Key, Edge]:
        if "graph" in self._state.lost:
            raise GraphUnavailable("the graph cannot be read (lost): run 'lore doctor'")
        return self._state.edges

    def _live(self) -> Iterator[Edge]:
        for _, edge in sorted(self._readable().items()):
            if edge.invalidated_at is None:
                yield edge

    def _write(self, edge: Edge, *, created: bool = True) -> None:
        """Puts an edge in place of the one that is there; that one's state is history."""
        state = self._changing
        self.stated.add(edge.from_id)
        old = state.edges.get(edge.key)
        if old is None:
            if state.command is not None:
                state.additions.append((state.command, *edge.key))
        else:
            edge.created_at, edge.changed_at = old.created_at, old.changed_at
            edge.accessed_at, edge.access_count = old.accessed_at, old.access_count
            if any(getattr(old, name) != getattr(edge, name) for name in STATE):
                if edge.source != "system":
                    move_on(old, edge)
                after = now() if edge.source == "system" else clock(edge)
                self._keep(old, _change(old, edge), after)
        state.edges[edge.key] = edge

    def _keep(self, old: Edge, change: str, after: str) -> None:
        left = {name: getattr(old, name) for name in EDGE_HISTORY[:8]}
        state = self._changing
        state.edge_history.append({**left, "change": change, "changed_at": after,
                                   "made_at": clock(old), "command": state.command})  # fmt: skip

    def _update(self, edge: Edge, **fields: object) -> None:
        changed = copy(edge)
        for name, value in fields.items():
            setattr(changed, name, value)
        self._write(changed)

    def neighbours(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[tuple[str, str, str, float, bool]]:
        return [
            (node, other, relation, weight, outgoing)
            for node, outgoing, names, others, weights in self.bundles(frontier, relations, limit)
            for relation, other, weight in zip(names, others, weights, strict=True)
        ]

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[tuple[str, bool, list[str], list[str], list[float]]]:
        found: dict[tuple[str, bool, str], list[tuple[float, str]]] = {}
        for edge in self._live():
            if edge.relation in relations:
                for node, other, out in (
                    (edge.from_id, edge.to_id, True), (edge.to_id, edge.from_id, False),
                ):  # fmt: skip
                    if node in frontier:
                        ends = found.setdefault((node, out, edge.relation), [])
                        ends.append((-edge.weight, other))
        bundles = []
        for (node, out, relation), ends in found.items():
            kept = limited(sorted(ends), limit)
            if kept:
                bundles.append((node, out, [relation] * len(kept), [other for _, other in kept],
                                [-weight for weight, _ in kept]))  # fmt: skip
        return bundles

    def into_files(self, paths: Sequence[str], relation: str) -> list[tuple[str, str, float]]:
        return [
            (edge.from_id, path, edge.weight)
            for edge in self._live() if edge.relation == relation
            for path in paths
            if edge.to_id == f"file-{path}" or edge.to_id.startswith(f"symbol-{path}::")
        ]  # fmt: skip

    def get(self, from_id: str, to_id: str, relation: str) -> Edge | None:
        return copy(self._readable().get((from_id, to_id, relation)))

    def put(self, edge: Edge) -> str:
        old = self.get(*edge.key)
        if old is not None and all(getattr(old, name) == getattr(edge, name) for name in STATE):
            return "unchanged"
        self.put_many([edge])
        return "added" if old is None else "updated"

    def replace_all(self, edges: Iterable[Edge]) -> None:
        for edge in self._changing.edges.values():
            self._keep(edge, "purged", now())
        self._changing.edges.clear()
        self.put_many(edges)

    def put_many(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self._write(copy(edge))

    def with_relation(self, relation: str) -> Iterator[Edge]:
        return (edge for edge in self.all() if edge.relation == relation)

    def of(self, id: str, *, forgotten: bool = False) -> list[Edge]:
        found = [edge for edge in self.all(live_only=not forgotten) if id in edge.key[:2]]
        return sorted(found, key=lambda edge: (edge.relation, *edge.key))

    def between(self, from_id: str, to_id: str) -> list[Edge]:
        return [copy(edge) for edge in self._live() if edge.key[:2] == (from_id, to_id)]

    def facts_of(self, id: str, limit: int) -> list[Edge]:
        found = [
            copy(edge) for _, edge in sorted(self._readable().items())
            if edge.from_id == id and edge.to_id.startswith(("entity-", "concept-"))
            and (edge.invalidated_at is None or edge.status == "superseded")
        ]  # fmt: skip

        def order(edge: Edge) -> tuple[object, ...]:
            left = edge.invalidated_at is not None or edge.status == "superseded"
            return (left, -edge.weight, edge.relation, edge.to_id)

        return limited(sorted(found, key=order), limit)

    def leading(self, from_id: str, relation: str) -> list[Edge]:
        return [
            copy(edge) for edge in self._live()
            if edge.from_id == from_id and edge.relation == relation
        ]  # fmt: skip

    def all(self, *, live_only: bool = False) -> Iterator[Edge]:
        for _, edge in sorted(self._readable().items()):
            if not live_only or edge.invalidated_at is None:
                yield copy(edge)

    def outlines(self, relations: Sequence[str]) -> Iterator[tuple[str, str, str, float, str]]:
        for edge in self._live():
            if edge.relation in relations:
                yield (*edge.key, edge.weight, edge.status)

    def invalidate(self, key: Key, at: str | None, status: str = "") -> None:
        edge = self.get(*key)
        if edge is not None:
            self._update(edge, invalidated_at=at, status=status or edge.status)

    def invalidate_node(self, id: str, at: str) -> int:
        edges = self.of(id)
        for edge in edges:
            self._update(edge, invalidated_at=at)
        return len(edges)

    def restore_node(self, id: str, at: str) -> int:
        edges = [edge for edge in self.of(id, forgotten=True) if edge.invalidated_at == at]
        for edge in edges:
            other = self._state.nodes.get(edge.to_id if edge.from_id == id else edge.from_id)
            self._update(edge, invalidated_at=other.invalidated_at if other else None)
        return len(edges)

    def delete_node(self, id: str) -> int:
        state = self._changing
        gone = [key for key in state.edges if id in key[:2]]
        for key in gone:
            del state.edges[key]
            self.stated.add(key[0])
        state.edge_history = [
            one for one in state.edge_history if id not in (one["from_id"], one["to_id"])
        ]
        return len(gone)

    def history(self, key: Key | None = None) -> Iterator[dict[str, object]]:
        left = sorted(
            self._state.edge_history,
            key=lambda one: [str(one[name]) for name in (*EDGE_HISTORY[:3], "changed_at")],
        )
        for one in left:
            if key is None or tuple(one[name] for name in EDGE_HISTORY[:3]) == key:
                yield {name: one[name] for name in EDGE_HISTORY}

    def add_history(self, state: dict[str, object], copies: int = 1) -> bool:
        line = {"command": None, **{name: state.get(name, "") for name in EDGE_HISTORY}}
        kept = self._changing.edge_history
        if kept.count(line) >= copies:
            return False
        kept.append(line)
        return True

    def ended_with_nodes(self) -> list[Edge]:
        times = {
            (past.node.id, clock(past.node)) for past in self._state.node_history
            if past.node.invalidated_at is not None
        } | {
            (id, name.partition(" ")[0]) for id, name in self._state.ancestors
        }  # fmt: skip
        return [
            copy(edge) for _, edge in sorted(self._readable().items())
            if edge.source != "system" and edge.invalidated_at is not None
            and any((id, edge.invalidated_at) in times for id in edge.key[:2])
        ]  # fmt: skip

    def dangling(self, limit: int = -1) -> list[Key]:
        ends = (edge.key for edge in self._live())
        return limited((key for key in ends if not all(map(self._node_is_live, key[:2]))), limit)

    def type_pairs(self, relations: Sequence[str]) -> dict[tuple[str, str, str], int]:
        pairs = (pair for pair, _ in self._joined() if pair[0] in relations)
        return dict(Counter(pairs))

    def first_between(self, relation: str, from_type: str, to_type: str) -> tuple[str, str]:
        wanted = (relation, from_type, to_type)
        return min(ends for pair, ends in self._joined() if pair == wanted)

    def _joined(self) -> Iterator[tuple[tuple[str, str, str], tuple[str, str]]]:
        nodes = self._state.nodes
        for edge in self._live():
            ends = (edge.from_id, edge.to_id)
            if all(id in nodes for id in ends) and '"forced"' not in edge.metadata:
                yield (edge.relation, nodes[ends[0]].type, nodes[ends[1]].type), ends

    def dangling_among(self, keys: Iterable[Key]) -> list[Key]:
        wanted = set(keys)
        return sorted(key for key in self.dangling() if key in wanted)


def _change(old: Edge, new: Edge) -> str:
    if (old.invalidated_at is None) == (new.invalidated_at is None):
        return "updated"
    return "invalidated" if old.invalidated_at is None else "restored"


class Statistics(Part):
    def stats(self) -> dict[str, Any]:
        types, edges = dict(self.nodes()), list(self.edges())
        whole = [edge for edge in edges if edge[0] in types and edge[1] in types]
        hubs = self.hubs(ALL)
        most = [id for id, _, _, out, into in hubs if out + into == sum(hubs[0][3:])]
        forgotten = sum(node.invalidated_at is not None for node in self._state.nodes.values())
        return {
            "nodes": len(types),
            "nodes_by_type": dict(sorted(Counter(types.values()).items())),
            "edges": len(edges),
            "edges_by_relation": dict(sorted(self.count_by_relation().items())),
            "mean_degree": round(sum(sum(hub[3:]) for hub in hubs) / max(1, len(types)), 3),
            "max_degree": sum(hubs[0][3:]) if hubs else 0,
            "max_degree_id": min(most, default=None),
            "orphans": len(self.orphans([], ALL)),
            "components": _components([*types], whole),
            "dangling_edges": len(edges) - len(whole),
            "forgotten_nodes": forgotten,
        }

    def nodes(self) -> Iterator[tuple[str, str]]:
        return ((node.id, node.type) for node in self._store.nodes.all(live_only=True))

    def edges(self) -> Iterator[Key]:
        return (edge.key for edge in self._store.edges.all(live_only=True))

    def count_by_relation(self) -> dict[str, int]:
        return dict(Counter(relation for _, _, relation in self.edges()))

    def hubs(self, limit: int) -> list[tuple[str, str, str, int, int]]:
        out = Counter(edge[0] for edge in self.edges())
        into = Counter(edge[1] for edge in self.edges())
        found = [
            (node.id, node.type, node.title, out[node.id], into[node.id])
            for node in self._store.nodes.all(live_only=True) if out[node.id] + into[node.id]
        ]  # fmt: skip
        return limited(sorted(found, key=lambda row: (-row[3] - row[4], row[0])), limit)

    def orphans(self, types: Sequence[str], limit: int) -> list[tuple[str, str, str]]:
        ends = {end for edge in self.edges() for end in edge[:2]}
        found = (
            (node.id, node.type, node.title) for node in self._store.nodes.all(live_only=True)
            if node.id not in ends and (not types or node.type in types)
        )  # fmt: skip
        return limited(found, limit)


def _components(nodes: list[str], edges: list[Key]) -> int:
    part_of = {id: {id} for id in nodes}
    for from_id, to_id, _ in edges:
        part = part_of[from_id]
        if to_id not in part:
            part |= part_of[to_id]
            part_of.update(dict.fromkeys(part_of[to_id], part))
    return len({id(part) for part in part_of.values()})
