"""Paragraphs that say of themselves that they are worth keeping."""

from __future__ import annotations

import re

_MARKED = re.compile(
    r"^[\s>*_#\-\d.`]*"
    r"(?:(?:root cause|lessons?(?: learned)?|decisions?|decided|til|gotchas?|note|important|caveat|"
    r"pitfall|rule|convention|rationale|why|takeaway)\b[*_`]*\s*[:\u2014]"
    r"|(?:always|never|do not ever|don't ever|make sure|remember)\b)",
    re.IGNORECASE | re.MULTILINE,
)


def is_marked(paragraph: str) -> bool:
    """Whether one of its lines begins as something to remember does.

    >>> is_marked("**Root cause:** the cache"), is_marked("- never push to main")
    (True, True)
    >>> is_marked("The tests pass.")
    False
    """
    return _MARKED.search(paragraph) is not None
