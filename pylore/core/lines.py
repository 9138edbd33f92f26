"""Lines of exports and of other input: the fields of a record's line, and the limits of sizes.

``formats/lines.py`` reads lines by these tables.
"""

from __future__ import annotations

from .vocabulary import SOURCES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO

TIME = (
    r"(?!9999)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?Z?)?"
)
STAMP = f"{TIME} [0-9a-f]{{10}}"
"""The stamp of a change: time and store."""
_IN_MEMORY = 8_000_000
"""Bytes of a pipe that are held in memory; more go to a file."""
LARGEST = (1 << 53) - 1
"""Largest whole number that each reader of JSON keeps."""
CHOICES = {
    "status": STATUSES,
    "source": SOURCES,
    "kind": ("file", "glob", "hash", "symbol", "lines", "rule"),
    "verdict": ("valid", "drifted", "relocated", "violated", "invalid"),
}
"""Rules that are a choice of words."""

_EVERY = {
    "status": "status",
    "source": "source",
    "access_count": "count",
    "accessed_at": "text",
    "invalidated_at": "moment",
    "stamps": "stamps",
}
NODE = {
    **_EVERY,
    "title": "text",
    "body": "text",
    "confidence": "fraction",
    "tags": "tags",
    "category": "text",
    "file": "text",
    "line_start": "line",
    "line_end": "line",
    "data": "object",
    "created_at": "moment",
    "updated_at": "moment",
}
"""The fields of a node, with their rules."""
EDGE = {**_EVERY, "weight": "fraction", "metadata": "object", "created_at": "moment"}
"""The fields of an edge; ``invalidated_at`` is when it was ended."""
ANCHOR = {
    "root": "text",
    "hash": "text",
    "commit_id": "text",
    "reason": "text",
    "verdict": "verdict",
    "created_at": "moment",
    "verified_at": "moment",
    "gone_at": "moment",
    "stamps": "stamps",
}
"""The fields of an anchor."""

STDIN = 64_000_000
"""Bytes of a question or of ids on stdin; of a text to keep: ``max_text``."""
QUESTION_LINE = 10_000_000
"""Bytes of a JSON line with a query."""
DEEPEST = 100
"""Levels of JSON in a line: Python and SQLite both give up somewhere below 1000."""
DAYS_AHEAD = 1
"""Days by which a time of other machines may be ahead of this machine's clock."""


def record_line(max_text: int) -> int:
    """Return the most bytes of a JSON line with a record: JSON may spell a byte with six."""
    return 6 * max_text + 4_000_000


def lines_of(stream: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield the lines of a stream without delay; of a longer one ``longest`` bytes and one more."""
    while line := stream.readline(longest + 1):
        yield line
        while len(line) > longest and not line.endswith(b"\n"):  # skip the rest of it
            line = stream.readline(longest + 1)


def set_aside(lines: Iterable[bytes]) -> Iterable[bytes]:
    """Read lines to their end, and return them again from an unnamed temporary file."""
    from tempfile import SpooledTemporaryFile

    kept = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
    before = b"\n"
    for line in lines:
        kept.write(line if before.endswith(b"\n") else b"\n" + line)
        before = line
    kept.seek(0)
    return kept
