"""One transcript, read to its end: what is new in it."""

from __future__ import annotations

from .recorder import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from . import Reader


class TranscriptPass:
    """One pass over a transcript, which may begin with what was read before.

    That is its first ``mark`` bytes, if they have the ``digest``.
    """

    def __init__(self, reader: Reader, mark: int = 0, digest: str = "") -> None:
        self.reader = reader
        self.is_same = False
        """Whether it does."""
        self.end = 0
        """Bytes that were read."""
        self.digest = ""
        """Of them."""
        self.skipped: dict[str, int] = {}
        """Lines without events, by type; ``broken`` and ``too long`` could not be read."""
        self.is_transcript = True
        """Whether it is empty, or any line of it has a form that the reader knows."""
        self._mark, self._digest = mark, digest

    def read(self, file: IO[bytes], *, drops_known: bool) -> None:
        """Lets the reader have all lines; it keeps the events of those that are new, or of all.

        Raises:
            OSError: the file cannot be read.
        """
        lines = Lines(file, self._mark)
        is_past, broken = False, 0
        for line in lines:
            if not is_past and lines.end >= self._mark:
                is_past = True
                self._pass(lines, drops_known)
            try:
                if b"\0" in line:  # json would take it for UTF-16
                    raise ValueError
                self.reader.read(line, lines.number)
            except (ValueError, RecursionError):
                if line.endswith(b"\n"):
                    broken += 1
                else:
                    lines.leave()
        if not is_past and lines.end >= self._mark:
            self._pass(lines, drops_known)
        self.end, self.digest = lines.end, lines.digest
        self.is_transcript = not lines.number or self.reader.known > 0
        self.skipped = {**self.reader.skipped, "broken": broken, "too long": lines.too_long}

    def _pass(self, lines: Lines, drops_known: bool) -> None:
        """All that stands before the mark has been read."""
        self.is_same = lines.digest_at_mark == self._digest
        if self.is_same and drops_known:
            self.reader.taken()
