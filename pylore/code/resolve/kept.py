"""What is kept of a resolution, file by file, so that the next one looks at what has changed."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..imports import Bound

IMPORTS, BASES, ADOPTED, CALLS, AWAITS, MENTIONS = range(1, 7)
"""What a file itself asks, beside the marks of what it was asked for.

``AWAITS`` has the marks of the parameters that its calls hang on, through whatever answers.
"""

Written = tuple[str, str, str]
"""A value as every process can read it: its class, its path or key, its qualified name."""

Passes = dict[Written, dict[Written, int]]
"""Parameter (the function's path, its qualified name, the parameter's) → values → round."""

Reads = dict[str, dict[int, bytes]]
"""File, package or folder → the mark of what was looked for there, or what the file itself asks
→ the marks of what was looked at for it, 32 bits each."""


class FileAnswers(NamedTuple):
    """What one file's own names came to."""

    bound: tuple[Bound, ...] = ()
    mates: str = ""
    bases: Mapping[str, list[tuple[str, str, float]]] = {}
    """Qualified name of a class → path, qualified name and confidence of each base."""
    open: tuple[str, ...] = ()
    """Classes with a base outside the tree."""
    adopted: Mapping[str, tuple[str, str]] = {}
    """Qualified name of what is defined apart from its class → path and name of the class."""
    passes: Mapping[Written, Mapping[Written, int]] = {}
    counts: Mapping[str, Mapping[str, int]] = {}


def put(reads: Reads, owner: str, mark: int, looked: Iterable[int]) -> None:
    """Adds to what was looked at for something."""
    held = reads.setdefault(owner, {})
    known = held.get(mark)
    found = set(looked)
    if known is not None:
        found.update(array("I", known))
    held[mark] = array("I", sorted(found)).tobytes()


def join(reads: Reads, more: Reads) -> None:
    """Adds what another process has looked at."""
    for owner, entries in more.items():
        held = reads.setdefault(owner, {})
        for mark, looked in entries.items():
            if held.setdefault(mark, looked) != looked:
                put(reads, owner, mark, array("I", looked))


def packed(entries: Mapping[int, bytes]) -> bytes:
    """All of one owner's: the mark, how many it looked at, these; 32 bits each."""
    found = array("I")
    for mark, looked in entries.items():
        found.append(mark)
        found.append(len(looked) // 4)
        found.frombytes(looked)
    return found.tobytes()


def unpacked(row: array[int]) -> dict[int, bytes]:
    """What ``packed`` packed."""
    found: dict[int, bytes] = {}
    place, end = 0, len(row)
    while place < end:
        last = place + 2 + row[place + 1]
        found[row[place]] = row[place + 2 : last].tobytes()
        place = last
    return found
