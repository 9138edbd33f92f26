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
    """The lines of an open file, one pass; says how far it was read, and a digest of that.

    ``mark`` is a place at which the digest is noted in ``digest_at_mark``, as it was when
    something was read up to there before.
    """

    def __init__(self, file: IO[bytes], mark: int = 0) -> None:
        self._file = file
        self._hash = sha256()
        self._mark = mark
        self.end = 0
        """Bytes up to the end of the last whole line."""
        self.number = 0
        self.too_long = 0
        self.digest_at_mark = ""

    def __iter__(self) -> Iterator[bytes]:
        """Line by line, without the half one that a file may end with unless it is JSON."""
        while line := self._file.readline(LONGEST):
            if len(line) == LONGEST and not line.endswith(b"\n"):
                if not self._pass_over(line):
                    return
                continue
            if not line.endswith(b"\n") and not line.endswith(b"}"):
                return  # somebody is still writing it
            self._take(line)
            self.number += 1
            yield line

    def _pass_over(self, line: bytes) -> bool:
        """The rest of a line that is too long; whether it has an end."""
        self._take(line)
        while line := self._file.readline(1 << 20):
            self._take(line)
            if line.endswith(b"\n"):
                break
        self.number += 1
        self.too_long += 1
        return line != b""

    def _take(self, line: bytes) -> None:
        self._hash.update(line)
        self.end += len(line)
        if self.end == self._mark:
            self.digest_at_mark = self.digest

    @property
    def digest(self) -> str:
        """Of all that was read."""
        return self._hash.hexdigest()
