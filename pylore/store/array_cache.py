"""Large reads that are kept as arrays: the same answers as without them, sooner.

Only who asks often loads this, since it imports numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from array import array
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray


_WORD = 8
"""Bytes of a number that bits are counted in."""

_SPARSE = 16
"""Passages that a key stands for at the least: with fewer, an array by key is mostly empty."""

_FEWEST = 100_000
"""Keys up to which it does not matter how empty it is."""


class SketchArrays:
    """Sketches as rows of numbers: ``keys`` (passages), ascending, ``words`` (passages, words)."""

    __slots__ = ("_keys", "_size", "_words")

    def __init__(self, keys: NDArray[Any], words: NDArray[Any], size: int) -> None:
        self._keys = keys
        self._words = words
        self._size = size

    @classmethod
    def of(cls, rows: Sequence[tuple[int, bytes]]) -> SketchArrays | None:
        """Return those of ``(key, sketch)`` by key; None where they are not of one length."""
        size = len(rows[0][1]) if rows else 0
        if not size or any(len(bits) != size for _, bits in rows):
            return None
        padding = bytes(-size % _WORD)
        words = numpy.frombuffer(b"".join([bits + padding for _, bits in rows]), numpy.uint64)
        keys = numpy.array([key for key, _ in rows], numpy.int64)
        return cls(keys, words.reshape(len(rows), -1), size)

    def nearest(self, asked: bytes, count: int) -> list[tuple[int, int]] | None:
        """Return the ``count`` least ``(distance in bits, key)``; None for a sketch of another
        length."""
        if len(asked) != self._size:
            return None
        words = numpy.frombuffer(asked + bytes(-self._size % _WORD), numpy.uint64)
        far = numpy.bitwise_count(self._words ^ words).sum(axis=1, dtype=numpy.int64)
        if count < len(far):
            most = numpy.partition(far, count - 1)[count - 1]
            places = numpy.flatnonzero(far <= most)
        else:
            places = numpy.arange(len(far))
        near = zip(far[places].tolist(), self._keys[places].tolist(), strict=True)
        return sorted(near)[:count]


def best_sums(
    parts: Sequence[tuple[array[int], array[float]]], without: Collection[int], limit: int
) -> list[tuple[int, float]] | None:
    """Return ``(key, sum)`` of the best keys, best first, added in the order of the parts.

    A part has each key once. None where keys are too far apart for an array by key.
    """
    given = [
        (numpy.frombuffer(keys, numpy.int64), numpy.frombuffer(scores, numpy.float64))
        for keys, scores in parts
        if keys
    ]
    if not given:
        return []
    last = max(int(keys.max()) for keys, _ in given)
    if last > max(_FEWEST, _SPARSE * sum(len(keys) for keys, _ in given)):
        return None
    sums = numpy.zeros(last + 1)
    found = numpy.zeros(last + 1, bool)
    for keys, scores in given:
        sums[keys] += scores
        found[keys] = True
    barred = [key for key in without if 0 <= key <= last]
    found[barred] = False
    keys = numpy.flatnonzero(found)
    scores = sums[keys]
    if len(keys) > limit:
        least = numpy.partition(scores, len(scores) - limit)[len(scores) - limit]
        enough = scores >= least
        keys, scores = keys[enough], scores[enough]
    rows = sorted(zip((-scores).tolist(), keys.tolist(), strict=True))
    return [(key, -score) for score, key in rows[:limit]]
