"""Stretches of texts that are secrets: found in their readings, taken out of the originals."""

from __future__ import annotations

from bisect import bisect_right

from .normal import joined, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .normal import View

    Finder = Callable[[str], Iterable[tuple[int, int, str]]]
    """What finds secrets in a text: where each begins and ends, and its kind."""

_BETWEEN = "\n\0\n"
"""Texts are looked at as one; no secret goes over it."""


def without_secrets(
    texts: Sequence[str], finders: Sequence[Finder], of_joined: Finder, counts: dict[str, int]
) -> list[str]:
    """Return texts with ``[redacted:KIND]`` in the place of what finders find.

    Args:
        texts: without a NUL.
        finders: see all readings of all texts; the first to find a secret names it.
        of_joined: sees those alone in which lines are joined.
        counts: has how many of which kind were taken out; it is added to.
    """
    read = [(at, view) for at, text in enumerate(texts) for view in views(text)]
    broken = [(at, view) for at, first in read if (view := joined(first)) is not None]
    spans: dict[int, list[tuple[int, int, int, str]]] = {}
    rank = 0
    for some, finder in [*((read, finder) for finder in finders), (broken, of_joined)]:
        begins, whole = _laid_out(some)
        for start, stop, kind in finder(whole):
            number = bisect_right(begins, start) - 1
            at, view = some[number]
            start, stop = start - begins[number], stop - begins[number]
            if some is broken and not _goes_on(view, start, stop):
                continue
            rank += 1
            spans.setdefault(at, []).append((*view.original(start, stop), rank, kind))
    clean = [*texts]
    for at, found in spans.items():
        clean[at] = _replaced(texts[at], found, counts)
    return clean


def _laid_out(read: Sequence[tuple[int, View]]) -> tuple[list[int], str]:
    begins, size = [], 0
    for _, view in read:
        begins.append(size)
        size += len(view.text) + len(_BETWEEN)
    return begins, _BETWEEN.join(view.text for _, view in read)


def _goes_on(view: View, start: int, stop: int) -> bool:
    """Return whether a secret goes over the end of a line, with more than a word behind it."""
    ends = [place for place in view.joins if start < place < stop]
    rest = view.text[ends[0] : stop] if ends else ""
    return any(letter.isdigit() for letter in rest) or not (rest.islower() or rest.istitle())


def _replaced(
    text: str, found: list[tuple[int, int, int, str]], counts: dict[str, int]
) -> str:  # fmt: skip
    """Return a text without these stretches; those that overlap are one, of the first kind."""
    merged: list[tuple[int, int, int, str]] = []
    for start, stop, rank, kind in sorted(found):
        if merged and start < merged[-1][1]:
            first, last, best, name = merged[-1]
            merged[-1] = (first, max(last, stop), *min((best, name), (rank, kind)))
        else:
            merged.append((start, stop, rank, kind))
    parts: list[str] = []
    end = 0
    for start, stop, _, kind in merged:
        parts += text[end:start], f"[redacted:{kind}]"
        counts[kind] = counts.get(kind, 0) + 1
        end = stop
    return "".join(parts) + text[end:]
