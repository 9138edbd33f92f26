"""The grammar of the lines of an export: the fields of each kind, and what each may hold.

Two readers follow this table: ``formats/lines.py``, and every hub, in SQL that
``hub/schema.py`` makes of it.
"""

from __future__ import annotations

from .vocabulary import SOURCES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
LARGEST = (1 << 53) - 1
"""The greatest whole number that every reader of JSON keeps."""
KINDS = ("file", "glob", "hash", "symbol", "lines", "rule")
VERDICTS = ("valid", "drifted", "relocated", "violated", "invalid")
CHANGES = ("relocated", "judged", "removed")
CHOICES = {
    "status": STATUSES, "source": SOURCES, "kind": KINDS, "verdict": VERDICTS,
    "departure": CHANGES,
}  # fmt: skip
"""Rules that are a choice of words."""

_EVERY = {
    "status": "status", "source": "source", "access_count": "count", "accessed_at": "text",
    "invalidated_at": "moment", "changed_at": "moment",
}  # fmt: skip
NODE = {
    **_EVERY, "title": "text", "body": "text", "confidence": "fraction", "tags": "tags",
    "category": "text", "file": "text", "line_start": "count", "line_end": "count",
    "data": "object",
}  # fmt: skip
"""The fields of a node to their rules; those of its name and its times are read apart."""
EDGE = {**_EVERY, "weight": "fraction", "metadata": "object"}
"""The same of an edge."""
LONG = ("title", "body", "tags", "data")
"""The fields of a node that ``max_text`` limits."""

OTHERS = {
    "node": {"created_at": "text", "updated_at": "moment", "was": "seen", "stamps": "stamps"},
    "edge": {"created_at": "moment"},
    "state": {
        "created_at": "text", "updated_at": "moment", "stamp": "stamp", "without": "tags",
        "lacked": "tags", "base": "count",
    },
    "edge_state": {"made_at": "moment", "created_at": "moment"},
    "anchor": {
        "kind": "kind", "path": "string", "detail": "string", "root": "string", "hash": "string",
        "commit_id": "string", "reason": "string", "verdict": "verdict", "created_at": "moment",
        "verified_at": "moment",
    },
    "anchor_state": {
        "kind": "kind", "path": "string", "detail": "string", "verdict": "verdict",
        "reason": "string", "change": "departure", "changed_at": "moment",
    },
    "purged": {"at": "moment"},
    "type": {"description": "text", "at": "moment"},
    "relation": {
        "weight": "fraction", "backward_weight": "fraction", "description": "text", "at": "moment",
    },
}  # fmt: skip
"""The further fields of each kind of line, as exports write them."""

REQUIRED = {
    "node": ("updated_at",), "edge": ("created_at",), "state": ("stamp",),
    "edge_state": ("source", "status", "made_at"), "anchor": ("kind", "path", "created_at"),
    "anchor_state": ("kind", "path", "verdict", "change", "changed_at"), "purged": ("at",),
}  # fmt: skip
"""Required fields of a whole state of each kind."""


def fields_of(kind: str) -> dict[str, str]:
    """Return all fields of a kind of line, each with its rule."""
    both = {"node": NODE, "state": NODE, "edge": EDGE, "edge_state": EDGE}
    return {**both.get(kind, {}), **OTHERS[kind]}


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
    """Yield the lines of a stream as they come; of a longer one ``longest`` bytes and one more."""
    while line := stream.readline(longest + 1):
        yield line
        while len(line) > longest and not line.endswith(b"\n"):  # skip the rest of it
            line = stream.readline(longest + 1)


class RepeatableLines:
    """Lines that each loop reads from the first one on."""

    def __init__(self, read: Callable[[], Iterator[bytes]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[bytes]:
        return self._read()
