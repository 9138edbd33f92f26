"""Lines of a transcript: bytes, numbers and places, in bounded memory whatever the file holds."""

from __future__ import annotations

from ...core.digests import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

LONGEST = 16 << 20
"""Bytes of a line; a longer one is passed over. Real ones have a megabyte at most."""


class Lines:
    """The lines of an open file, in one pass, and how far it was read.

    ``mark`` is a place whose digest is noted in ``digest_at_mark``: of all that stands before it.
    """

    def __init__(self, file: IO[bytes], mark: int = 0) -> None:
        self._file = file
        self._hash = sha256()
        self._mark = mark
        self._left = False
        self.end = 0
        """Bytes up to the end of the last line before the one at hand."""
        self.number = 0
        self.too_long = 0
        self.digest_at_mark = ""

    def __iter__(self) -> Iterator[bytes]:
        """Line by line; the last one may have no end."""
        while line := self._file.readline(LONGEST):
            if not line.endswith(b"\n") and len(line) == LONGEST:
                self._pass_over(line)
                continue
            self.number += 1
            yield line
            if self._left:
                return
            self._take(line)

    def leave(self) -> None:
        """The line at hand is half a line, and not to be counted as read."""
        self._left = True

    def _pass_over(self, line: bytes) -> None:
        self.number += 1
        self.too_long += 1
        while line and not line.endswith(b"\n"):
            self._take(line)
            line = self._file.readline(1 << 20)
        self._take(line)

    def _take(self, line: bytes) -> None:
        self._hash.update(line)
        self.end += len(line)
        if self.end == self._mark:
            self.digest_at_mark = self.digest

    @property
    def digest(self) -> str:
        """Of all that was read."""
        return self._hash.hexdigest()
