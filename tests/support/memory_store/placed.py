"""Edges that say where in the text of their node they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from json import loads

from pylore.core.model import Edge
from pylore.core.vocabulary import TEXTS

from .state import Key, Part

_CODE = ("file", "symbol", "commit", "run")


class Placed(Part):
    def any(self) -> bool:
        return any(self._placed())

    def touching(self, ids: Sequence[str]) -> set[Key]:
        return {
            edge.key for edge, _ in self._placed()
            if edge.from_id in ids or edge.to_id in ids
        }  # fmt: skip

    def within(self, passages: Sequence[int]) -> list[tuple[int, str, str, float]]:
        return [
            (key, edge.relation, edge.to_id, edge.weight)
            for edge, places in self._placed() if self._node_is_live(edge.to_id)
            for key, start, end in self._passages(edge.from_id)
            if key in passages and any(start <= place < end for place in places)
        ]  # fmt: skip

    def _placed(self) -> Iterator[tuple[Edge, list[int]]]:
        for _, edge in sorted(self._state.edges.items()):
            places = loads(edge.metadata).get("at")
            node = self._state.nodes.get(edge.from_id)
            if edge.invalidated_at or not isinstance(places, list) or node is None:
                continue
            if node.type not in _CODE and len(self._passages(edge.from_id)) > 1:
                yield edge, [place for place in places if isinstance(place, int)]

    def _passages(self, id: str) -> list[tuple[int, int, int]]:
        found, start = [], 0
        for key, (owner, collection) in sorted(self._state.passages.items()):
            if owner == id and collection == TEXTS:
                length = len(self._state.rows[TEXTS].get(key, ("", ""))[1])
                found.append((key, start, start + length))
                start += length
        return found
