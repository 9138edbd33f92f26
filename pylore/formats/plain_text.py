"""Plain text as a document: its first line may be its title, and paths in it are links."""

from __future__ import annotations

import re

from .page import Page, code_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_TITLE = 100
_UNDERLINE = re.compile(r"[=\-~*#_]{3,}[ \t]*$")
_PATH = re.compile(r"(?<![\w/.:@-])(?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)+(?::\d+(?:-\d+)?)?(?<![.:])")


def read(lines: Sequence[str], first_line: int) -> Page:
    """Return the title and links: a short first line that stands alone is a title."""
    page = _titled(lines)
    for number, line in enumerate(lines):
        for match in _PATH.finditer(line) if "/" in line else ():
            page.add(code_link(match[0]), first_line + number, match.start())
    return page


def _titled(lines: Sequence[str]) -> Page:
    number = next((number for number, line in enumerate(lines) if line.strip()), -1)
    if number < 0:
        return Page()
    title = " ".join(lines[number].split())
    after = lines[number + 1] if number + 1 < len(lines) else ""
    if len(title) > _LONGEST_TITLE or not any(map(str.isalnum, title)):
        return Page()
    if _UNDERLINE.match(after):
        return Page(title, [number, number + 1])
    return Page(title, [number]) if not after.strip() else Page()
