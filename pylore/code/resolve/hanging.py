"""What hangs on a change: who has looked at what is another one now, directly or not."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from .kept import AWAITS, MENTIONS, Reads, unpacked
from .lazy import WholeError

_NO_ROW = array("I")


class Hanging:
    """Rows of what was looked up, and what of it hangs on the marks that were given."""

    def __init__(self, rows: Sequence[tuple[str, bytes]], most: int) -> None:
        self._rows = {owner: array("I", row) for owner, row in rows}
        self._most = most
        self._read: Reads = {}
        self.marks: set[int] = set()
        self.roots: dict[int, set[str]] = {root: set() for root in range(1, MENTIONS + 1)}
        """What of a file hangs on them: ``kept.CALLS`` and so on."""

    def add(self, marks: Iterable[int]) -> None:
        """Follows further marks.

        Raises:
            WholeError: too many files hang on them.
        """
        new = set(marks) - self.marks
        while new:
            self.marks |= new
            found: set[int] = set()
            for owner, row in self._rows.items():
                if not new.isdisjoint(row):
                    found |= self._hit(owner, row, new)
            if any(len(files) > self._most for files in self.roots.values()):
                raise WholeError
            new = found - self.marks

    def _hit(self, owner: str, row: array[int], new: set[int]) -> set[int]:
        entries = self._read.get(owner)
        if entries is None:
            entries = self._read[owner] = unpacked(row)
        found = set()
        for mark, looked in entries.items():
            if mark == AWAITS or new.isdisjoint(array("I", looked)):
                continue
            if mark <= MENTIONS:
                self.roots[mark].add(owner)
            else:
                found.add(mark)
        return found

    def awaiting(self, marks: set[int]) -> set[str]:
        """The files of which calls hang on parameters."""
        found = set()
        for owner, row in self._rows.items():
            if not marks.isdisjoint(row):
                looked = unpacked(row).get(AWAITS)
                if looked is not None and not marks.isdisjoint(array("I", looked)):
                    found.add(owner)
        return found

    def entries(self, owner: str) -> dict[int, bytes]:
        """All that was looked up for an owner."""
        found = self._read.get(owner)
        if found is None:
            found = unpacked(self._rows.get(owner, _NO_ROW))
        return dict(found)
