"""Vectors, each compared with each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from struct import unpack

from pylore.store.filter import Scope

from .state import Part, limited


class Vectors(Part):
    def create(self, dimension: int) -> None:
        self.drop()

    def drop(self) -> None:
        self._changing.vectors.clear()

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self._changing.vectors.update(rows)

    def remove(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._changing.vectors.pop(key, None)

    def arrange(self) -> None:
        return

    def search(self, vector: bytes, scope: Scope, limit: int) -> list[tuple[int, str, float]]:
        found = [
            (key, self._state.passages[key][0], _cosine(vector, other))
            for key, other in self._state.vectors.items()
            if key in self._state.passages
            and self._store.fulltext.is_within(scope, self._state.passages[key][0])
        ]
        return limited(sorted(found, key=lambda row: (-row[2], row[0])), limit)

    def alike(
        self, vector: bytes, scope: Scope, least: float, limit: int
    ) -> list[tuple[int, str, float]]:
        return [row for row in self.search(vector, scope, limit) if row[2] >= least]

    def of_nodes(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for id in ids:
            for key, (node, _) in sorted(self._state.passages.items()):
                if node == id and key in self._state.vectors.keys() - self._state.facts.keys():
                    yield id, self._state.vectors[key]

    def signs(self, keys: Sequence[int]) -> dict[int, bytes]:
        held = self._state.vectors
        return {key: _sign(held[key]) for key in keys if key in held}

    def cosines(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        held = self._state.vectors
        return [_cosine(held[one], held[other]) for one, other in pairs]


def _floats(vector: bytes) -> tuple[float, ...]:
    return unpack(f"<{len(vector) // 4}f", vector)


def _cosine(one: bytes, other: bytes) -> float:
    a, b = _floats(one), _floats(other)
    lengths = sqrt(sum(x * x for x in a)) * sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def _sign(vector: bytes) -> bytes:
    bits = [value > 0 for value in _floats(vector)]
    return bytes(
        sum(bit << place for place, bit in enumerate(bits[start : start + 8]))
        for start in range(0, len(bits), 8)
    )


class StagedVectors(Part):
    @property
    def embedder(self) -> str | None:
        return self._state.meta.get("embedder_next")

    @property
    def dimension(self) -> int:
        return int(self._state.meta.get("embedder_next_dimension", 0))

    def begin(self, embedder: str, dimension: int) -> None:
        self.drop()
        self._changing.meta |= {
            "embedder_next": embedder, "embedder_next_dimension": str(dimension),
        }  # fmt: skip

    def drop(self) -> None:
        state = self._changing
        state.next_vectors.clear()
        for key in ("embedder_next", "embedder_next_dimension"):
            state.meta.pop(key, None)

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self._changing.next_vectors.update(rows)

    def remove(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._changing.next_vectors.pop(key, None)

    def take_over(self) -> None:
        state, dimension = self._changing, str(self.dimension)
        state.vectors = dict(state.next_vectors)
        state.meta |= {"embedder": self.embedder or "", "embedder_dimension": dimension}
        self.drop()

    def _text(self, key: int) -> str:
        return " ".join(self._store.fulltext.columns(key)[:2])

    def lacking(self, after: int, limit: int, *, aside: bool) -> list[tuple[int, str]]:
        held = self._state.next_vectors if aside else self._state.vectors
        keys = (key for key in sorted(self._state.passages) if key > after and key not in held)
        return [(key, self._text(key)) for key in limited(keys, limit)]

    def count_lacking(self, *, aside: bool) -> int:
        return len(self.lacking(0, -1, aside=aside))

    def count_passages(self) -> int:
        return len(self._state.passages)

    def sample(self, count: int) -> list[str]:
        return [self._text(key) for key in sorted(self._state.passages)[:count]]

    def unchanged(self, passages: Sequence[tuple[int, str]]) -> set[int]:
        there = self._state.passages
        return {key for key, text in passages if key in there and self._text(key) == text}
