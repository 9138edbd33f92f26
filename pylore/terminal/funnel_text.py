"""The funnel as a table for a person."""

from __future__ import annotations

from .text import bold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def funnel_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line a week, the newest first, below the names of its columns."""
    if not rows:
        return "nothing was captured yet: see 'lore capture'\n"
    names = [*rows[0]]
    widths = [max(len(name), *(len(str(row[name])) for row in rows)) for name in names]
    lines = [bold(_line(names, widths))]
    lines += [_line([str(row[name]) for name in names], widths) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _line(words: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(word.rjust(width) for word, width in zip(words, widths, strict=True))
