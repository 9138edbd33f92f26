"""The grammar of the lines of an export: the fields of each kind, and what each may hold.

Two readers follow this table: ``formats/lines.py``, and every hub, in SQL that
``hub/schema.py`` makes of it.
"""

from __future__ import annotations

from .vocabulary import SOURCES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO

TYPE = "[a-z]+"
SCOPE = "[a-z0-9][a-z0-9_-]{0,63}"
RELATION = "[a-z][a-z0-9_]{0,63}"
COMMIT = "[0-9a-fA-F]+"
TIME = (
    r"(?!9999)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?Z?)?"
)
STAMP = f"{TIME} [0-9a-f]{{10}}"
"""The stamp of a change: when it was made, and by which store."""
_IN_MEMORY = 8_000_000
"""Bytes of a pipe that are held in memory; more go to a file."""
LARGEST = (1 << 53) - 1
"""The greatest whole number that every reader of JSON keeps."""
KINDS = ("file", "glob", "hash", "symbol", "lines", "rule")
VERDICTS = ("valid", "drifted", "relocated", "violated", "invalid")
CHOICES = {"status": STATUSES, "source": SOURCES, "kind": KINDS, "verdict": VERDICTS}
"""Rules that are a choice of words."""

_EVERY = {
    "status": "status", "source": "source", "access_count": "count", "accessed_at": "text",
    "invalidated_at": "moment", "stamps": "stamps",
}  # fmt: skip
NODE = {
    **_EVERY, "title": "text", "body": "text", "confidence": "fraction", "tags": "tags",
    "category": "text", "file": "text", "line_start": "count", "line_end": "count",
    "data": "object", "created_at": "moment", "updated_at": "moment",
}  # fmt: skip
"""The fields of a node to their rules."""
EDGE = {**_EVERY, "weight": "fraction", "metadata": "object", "created_at": "moment"}
"""The same of an edge; ``invalidated_at`` says when it was ended."""
ANCHOR = {
    "root": "string", "hash": "string", "commit_id": "string", "reason": "string",
    "verdict": "verdict", "created_at": "moment", "verified_at": "moment", "gone_at": "moment",
    "stamps": "stamps",
}  # fmt: skip
"""The same of an anchor."""
LONG = ("title", "body", "tags", "data")
"""The fields of a node that ``max_text`` limits."""

_PLACE = {"kind": "kind", "path": "string", "detail": "string"}
_PAST = {"stamp": "stamp", "base": "count"}
FIELDS = {
    "node": {**NODE, "was": "seen"},
    "edge": EDGE,
    "anchor": {**ANCHOR, **_PLACE},
    "state": {**NODE, **_PAST, "without": "tags", "lacked": "tags"},
    "edge_state": {**EDGE, **_PAST},
    "anchor_state": {**ANCHOR, **_PLACE, **_PAST},
    "purged": {"at": "moment"},
    "type": {"description": "text", "at": "moment"},
    "relation": {
        "weight": "fraction", "backward_weight": "fraction", "description": "text", "at": "moment",
    },
}  # fmt: skip
"""All fields of each kind of line, each with its rule, as exports write them."""

REQUIRED = {
    "node": ("updated_at",), "edge": ("created_at",), "anchor": ("kind", "path", "created_at"),
    "state": ("stamp",), "edge_state": ("stamp",), "anchor_state": ("kind", "path", "stamp"),
    "purged": ("at",),
}  # fmt: skip
"""Required fields of a whole state of each kind."""


STDIN = 64_000_000
"""Bytes of a question or of ids on stdin; of a text to keep: ``max_text``."""
QUESTION_LINE = 10_000_000
"""Bytes of a JSON line with a query."""
MARKDOWN_LINE = 1_000_000
"""Characters of a line of Markdown."""
LINKS = 100_000
"""Links of one Markdown file."""
DEEPEST = 100
"""Levels of JSON in a line: Python and SQLite both give up somewhere below 1000."""
DAYS_AHEAD = 1
"""Days by which a time that somebody else writes may be ahead of this machine's clock."""


def record_line(max_text: int) -> int:
    """Return the most bytes of a JSON line with a record: JSON may spell a byte with six."""
    return 6 * max_text + 4_000_000


def lines_of(stream: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield the lines of a stream as they come; of a longer one the first ``longest`` bytes + 1."""
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
