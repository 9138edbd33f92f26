"""AsciiDoc as a document: titles, links and paragraphs. No library that is kept reads it."""

from __future__ import annotations

import re

from .page import PATH, Link, Page, code_link, relative_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TITLE = re.compile(r"[=#][ \t]+(\S.*?)[ \t]*$")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})")
_LINK = re.compile(
    r"(?:link|xref|include|image):{1,2}(?P<macro>[^\s\[\]]+)\[[^\]\n]*\]"
    r"|<<(?P<cross>[^<>,\n]+)(?:,[^<>\n]*)?>>"
    r"|(?<![\w`])`(?P<code>[^`\n]+)`(?![\w`])"
)


def read(lines: Sequence[str], first_line: int) -> Page:
    """Return the title and links; what is between delimiters of code or comments has none."""
    page = Page()
    for number, line in _prose(lines):
        title = _TITLE.match(line)
        if title and not page.title and not page.links:
            page.title, page.title_lines = " ".join(title[1].split()), [number]
        for match in _LINK.finditer(line):
            page.add(_link(match), first_line + number, match.start())
    return page


def _prose(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    within = ""
    for number, line in enumerate(lines):
        mark = _DELIMITER.match(line)
        if within:
            if line.rstrip() == within:
                within = ""
        elif mark:
            within = mark[1] if mark[1][0] == "`" else line.rstrip()
        elif not line.startswith("//"):
            yield number, line


def _link(match: re.Match[str]) -> Link | None:
    if match["code"]:
        return code_link(match["code"])
    target = (match["macro"] or match["cross"]).partition("#")[0]
    if match["cross"] and "." not in target:
        return None  # a place in this document
    if match[0].startswith(("include", "image")):
        return Link(PATH, target, 0) if "{" not in target else None
    return relative_link(target) if target and "{" not in target else None
