"""Plain text: a short first line that stands alone is the title, paths are links."""

from __future__ import annotations

import re

from .page import Page, code_link

_LONGEST_TITLE = 100
_TITLE = re.compile(r"\s*(?P<title>\S.*)(?:\n[=\-~*#_]{3,}[ \t]*$|(?=\n[ \t]*$)|\Z)", re.MULTILINE)
_SLASHED = re.compile(r"^.*/.*", re.MULTILINE)
_PATH = re.compile(r"(?<![\w/.:@-])(?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)+(?::\d+(?:-\d+)?)?(?<![.:])")


def read(text: str) -> Page:
    """Return the title and links of a text."""
    found = _TITLE.match(text)
    title = " ".join(found["title"].split()) if found else ""
    page = Page()
    if found and len(title) <= _LONGEST_TITLE and any(map(str.isalnum, title)):
        page = Page(title, (found.start("title"), found.end()))
    for line in _SLASHED.finditer(text):
        for path in _PATH.finditer(text, line.start(), line.end()):
            page.add(code_link(path[0]), path.start())
    return page
