"""Texts of sessions as plain sentences: without the signs of Markdown, code and tables left out."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_EVENT = 500
"""Characters of a text in an event: what is longer was cut."""

_TRAILER = re.compile(
    r"[A-Z][\w-]+(?:-[Bb]y|[Cc]heckpoint|[\w]*-Id): |🤖|Co-[Aa]uthored|Signed-off|Generated with"
)
_BULLET = re.compile(r"^(?:[-*•>❯⏺]|\d{1,2}[.)]|\([a-z\d]\))\s+")
_FENCES = ("```", "~~~")
_NOT_PROSE = ("|", "<", "--- ", "+++ ", "@@")
_CODE = ("+ ", "    ", "\t", "$ ", "//", "#!")
"""How a whole line of code begins; before its indent is taken away."""

_HEADING = re.compile(r"^#{1,6}\s")
_END = re.compile(r"(?<=[a-z\d)`'\"*\]][.!?])[*_]{0,2}\s+(?=[A-Z`*\"'(])")
_BOLD = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
_LINES = re.compile(
    r"\s*[(\[](?:at |see )?(?:lines?|L) ?~?\d+(?:\s*[-–,]\s*\d+)*[)\]]"
    r"| (?:at|on|in) lines? ~?\d+(?:[-–]\d+)?",
    re.IGNORECASE,
)
_LINE_OF_FILE = re.compile(r"(\.[a-zA-Z]{1,4}):~?\d+(?:[-–:]\d+)?(?!\w)")
_CHECKS = re.compile(r"[✅❌☑✓✔✗⚠️🔴🟡🟢🟠]+\s*")


def lines_of(text: str) -> Iterator[str]:
    """The lines that are prose, without bullets and emphasis: no code, tables or headings."""
    fenced = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(_FENCES):
            fenced = not fenced
        elif not fenced and stripped and _is_prose(line):
            yield plain(stripped)


def _is_prose(line: str) -> bool:
    begins = line.lstrip()
    if line.startswith(_CODE) or begins.startswith(_NOT_PROSE):
        return False
    return not _HEADING.match(begins)


def whole(text: str) -> str:
    """A text without its last sentence, where it was cut there."""
    if len(text) < LONGEST_EVENT or text.endswith((".", "!", "?", ")", "`")):
        return text
    ends = [text.rfind("\n"), *(found.end() for found in _END.finditer(text))]
    return text[: max(ends)].rstrip() if max(ends) > 0 else ""


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a message of a commit: each on one line, or one line a point."""
    found = []
    for block in text.split("\n\n"):
        lines = [line for line in block.strip().splitlines() if not _TRAILER.match(line.strip())]
        if lines:
            found.append("\n".join(lines))
    return [
        one if _BULLET.match(one.lstrip()) or "\n- " in one else plain(" ".join(one.split()))
        for one in found
    ]


def points_of(paragraph: str) -> list[str]:
    """The points of a list, each on one line; none if it is no list."""
    points: list[list[str]] = []
    for line in paragraph.splitlines():
        if _BULLET.match(line.strip()):
            points.append([plain(line.strip())])
        elif points:
            points[-1].append(line.strip())
    return [" ".join(lines) for lines in points]


def plain(line: str) -> str:
    """A line without its bullet and its emphasis.

    >>> plain("- **Root cause:** the *lock*")
    'Root cause: the *lock*'
    """
    while found := _BULLET.match(line):
        line = line[found.end() :]
    return _CHECKS.sub("", _BOLD.sub("", line)).strip()


def sentences(line: str) -> list[str]:
    """The sentences of a line.

    >>> sentences("It uses `a.go`. Tests do not.")
    ['It uses `a.go`.', 'Tests do not.']
    """
    return [one.strip() for one in _END.split(line) if one.strip()]


def durable(sentence: str) -> str:
    """A sentence without the numbers of lines, which are others tomorrow.

    >>> durable("`save` (lines 3-7) in a.go:12 locks localhost:80")
    '`save` in a.go locks localhost:80'
    """
    return " ".join(_LINE_OF_FILE.sub(r"\1", _LINES.sub("", sentence)).split())
