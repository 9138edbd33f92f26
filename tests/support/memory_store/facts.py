"""Facts as passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from json import loads

from pylore.core.model import Edge

from .state import Key, Part, days_since

THINGS = ("entity", "concept")


class Facts(Part):
    def of(self, ids: Sequence[str]) -> list[tuple[Key, str, str, str]]:
        return [
            (edge.key, self._state.nodes[edge.from_id].title, _predicate(edge),
             self._state.nodes[edge.to_id].title)
            for id in ids for _, edge in sorted(self._state.edges.items())
            if edge.from_id == id and self._is_fact(edge)
        ]  # fmt: skip

    def subjects(self) -> list[str]:
        return sorted({edge.from_id for edge in self._state.edges.values() if self._is_fact(edge)})

    def leading_to(self, ids: Sequence[str]) -> list[str]:
        return sorted({
            edge.from_id for edge in self._state.edges.values()
            if edge.to_id in ids and self._is_thing(edge.from_id)
        })  # fmt: skip

    def passages(self, ids: Sequence[str]) -> dict[Key, tuple[int, str]]:
        return {
            edge: (key, sentence) for key, (edge, sentence) in self._state.facts.items()
            if edge[0] in ids
        }  # fmt: skip

    def add(self, rows: Iterable[tuple[int, Key, str]]) -> None:
        self._changing.facts.update((key, (edge, sentence)) for key, edge, sentence in rows)

    def remove(self, passages: Iterable[int]) -> None:
        for key in passages:
            self._changing.facts.pop(key, None)

    def remove_all(self) -> None:
        self._changing.facts.clear()

    def shown(self, passages: Sequence[int]) -> dict[int, tuple[str, float, str, str, int, float]]:
        found = {}
        for key in passages:
            stated, sentence = self._state.facts.get(key, (("", "", ""), ""))
            edge = self._state.edges.get(stated)
            if edge is not None and "graph" not in self._state.lost:
                last = max(edge.created_at, edge.changed_at or "", edge.accessed_at or "")
                found[key] = (sentence, edge.weight, edge.source, edge.status, edge.access_count,
                              days_since(last))  # fmt: skip
        return found

    def _is_thing(self, id: str) -> bool:
        node = self._state.nodes.get(id)
        return node is not None and node.invalidated_at is None and node.type in THINGS

    def _is_fact(self, edge: Edge) -> bool:
        stands = edge.invalidated_at is None and edge.status in ("confirmed", "staged")
        return stands and edge.source != "system" and all(map(self._is_thing, edge.key[:2]))


def _predicate(edge: Edge) -> str:
    said = loads(edge.metadata).get("predicate")
    return said if isinstance(said, str) and said.strip() else edge.relation
