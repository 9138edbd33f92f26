"""Limits of the length of input; the settings ``max_text`` and ``index_max_file`` are others.

What is longer gets one line that names the limit, and a batch treats it as any bad line:
all is refused, or it is left out with ``--skip-bad``. What is read of a file of code is in
``code/parse/worker.py``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

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
    """Return bytes of a JSON line with a record: JSON may spell a byte of its text with six."""
    return 6 * max_text + 4_000_000


def lines_of(stream: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield the lines of a stream as they come; of a longer one ``longest`` bytes and one more."""
    while line := stream.readline(longest + 1):
        yield line
        while len(line) > longest and not line.endswith(b"\n"):  # what it has more is passed over
            line = stream.readline(longest + 1)
