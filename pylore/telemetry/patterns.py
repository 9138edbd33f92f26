"""Lists of phrases as one pattern."""

from __future__ import annotations

import re


def phrases(text: str, before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
    """A pattern of any of the phrases: regular expressions between bars, upper case as lower.

    Ends of lines and what indents the next one do not count.

    >>> bool(phrases("so that|because").search("Because of it"))
    True
    """
    listed = "".join(line.strip() for line in text.splitlines())
    return re.compile(f"{before}(?:{listed}){after}", re.IGNORECASE)
