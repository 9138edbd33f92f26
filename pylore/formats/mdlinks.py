"""Links in Markdown text: ``[[wiki]]``, ``[x](path)``, ``[x]: path`` and back-ticked paths.

Code blocks and HTML comments hold no links, and a code span is a link only as a
path. Everything here takes time linear in the text, whatever the text is.
"""

from __future__ import annotations

import re

from ..core.text import one_line
from .links import WIKI, Link, code_link, relative_link
from .page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    _Uses = dict[str, list[tuple[int, int]]]
    """Label to where it is used: lines and columns."""

_HEADING = re.compile(r" {0,3}#(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}(?=[^`]*$)|~{3,})")
_FENCE_END = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*$")
_LIST_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_TICKS = re.compile(r"`+")
_WIKI = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_DESTINATION = r"(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)"
_BRACKET = re.compile(
    r"\\.|!?\[|\](?:\([ \t\n]{0,9}" + _DESTINATION
    + r"""(?:[ \t\n]{1,9}(?:"[^"]*"|'[^']*'))?[ \t\n]{0,9}\))?""",
    re.DOTALL,
)  # fmt: skip
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]+)\]:[ \t]*(<[^<>\n]*>|\S+)", re.MULTILINE)
_USE = re.compile(r"\[([^\[\]\n]{1,999})\](?![(:])")
_BUT_NEWLINES = re.compile(r"[^\n]")


def read(lines: Sequence[str], first_line: int) -> Page:
    """The title and links of a text; the first of its lines is ``first_line``."""
    shown = prose(lines)
    page = Page()
    for number, line in enumerate(shown):
        heading = _HEADING.match(line)
        title = one_line(heading[1] or "") if heading else ""
        if title:
            page.title, page.title_lines = title, [number]
            break
    page.links = find_links(shown, first_line)
    return page


def prose(lines: Sequence[str]) -> list[str]:
    """The same lines, those of code blocks and HTML comments made empty."""
    blocks = _Blocks()
    return ["" if blocks.hide(line) else line for line in lines]


class _Blocks:
    """Which lines belong to a code block or a comment; they are shown to it in order."""

    def __init__(self) -> None:
        self._fence = ""
        self._in_comment = False
        self._in_list = False
        self._may_be_code = True  # indented code follows a blank line or itself

    def hide(self, line: str) -> bool:
        """Whether this line is not prose."""
        if self._fence:
            end = _FENCE_END.match(line)
            if end and end[1].startswith(self._fence):
                self._fence = ""
            return True
        if self._in_comment or line.lstrip(" ").startswith("<!--"):
            self._in_comment = "-->" not in line
            return True
        start = _FENCE.match(line)
        if start:
            self._fence = start[1]
            self._may_be_code = True
            return True
        return self._is_indented_code(line)

    def _is_indented_code(self, line: str) -> bool:
        if not line.strip():
            self._may_be_code = True
            return False
        if _LIST_ITEM.match(line):
            self._in_list = True
        elif not line.startswith((" ", "\t")):
            self._in_list = False
        indented = line.startswith(("    ", "\t"))
        self._may_be_code = indented and not self._in_list and self._may_be_code
        return self._may_be_code


def find_links(lines: Sequence[str], first_line: int = 1) -> list[Link]:
    """Every link of these lines of ``prose``, in their order; the first is ``first_line``."""
    found: list[Link] = []
    uses: _Uses = {}
    block: list[str] = []
    for number, line in enumerate([*lines, ""], start=first_line):
        if line.strip():
            block.append(line)
        elif block:
            found.extend(_links_of_block("\n".join(block), number - len(block), uses))
            block = []
    for link in found:
        if isinstance(link, _Definition):
            link.places = uses.get(link.label) or link.places
    return found


class _Definition(Link):
    """``[label]: target``."""

    __slots__ = ("label",)
    label: str


def _links_of_block(text: str, first_line: int, uses: _Uses) -> Iterator[Link]:
    """The links of a block, in their order; ``uses`` gets where it has ``[label]``."""
    if "[" not in text and "`" not in text:
        return
    links: list[tuple[int, Link | None]] = []
    names: list[tuple[int, str]] = []
    text, spans = _take_code_spans(text)
    text = _blank_comments(text)
    links += [(start, code_link(span)) for start, span in spans]
    links += [(match.start(), _wiki_link(match[1])) for match in _WIKI.finditer(text)]
    text = _WIKI.sub(lambda match: " " * len(match[0]), text)
    links += [(start, relative_link(target)) for start, target in _destinations(text)]
    links += [(m.start(), _definition(m[1], m[2])) for m in _DEFINITION.finditer(text)]
    names += [(m.start(), _label(m[1])) for m in _USE.finditer(text)]
    line, counted = first_line, 0
    for start, one in sorted([*links, *names], key=lambda item: item[0]):
        line += text.count("\n", counted, start)
        counted = start
        place = line, start - (text.rfind("\n", 0, start) + 1)
        if isinstance(one, str):
            uses.setdefault(one, []).append(place)
        elif one is not None:
            one.line = line
            one.places = [place]
            yield one


def _take_code_spans(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with its code spans made blank, and where each was and what it held."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text)]
    later: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[index][1] - runs[index][0], []).append(index)
    spans: list[tuple[int, str]] = []
    parts = []
    done = index = 0
    while index < len(runs):
        start, end = runs[index]
        same = later[end - start]
        while same and same[-1] <= index:
            same.pop()
        escaped = start > 0 and text[start - 1] == "\\"
        if escaped or not same:
            index += 1
            continue
        index = same[-1]
        spans.append((start, text[end : runs[index][0]]))
        parts += [text[done:start], _blanked(text[start : runs[index][1]])]
        done = runs[index][1]
        index += 1
    return "".join(parts) + text[done:], spans


def _blank_comments(text: str) -> str:
    parts = []
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += [text[done:start], _blanked(text[start : end + 3])]
        done = end + 3
    return "".join(parts) + text[done:]


def _blanked(text: str) -> str:
    return _BUT_NEWLINES.sub(" ", text)


def _destinations(text: str) -> Iterator[tuple[int, str]]:
    """Where each inline link begins and leads; images are none."""
    opened: list[tuple[str, int]] = []
    for match in _BRACKET.finditer(text):
        token = match[0]
        if token.startswith("\\"):
            continue
        if token.endswith("["):
            opened.append((token, match.start()))
        elif opened:
            bracket, start = opened.pop()
            if bracket == "[" and match[1] is not None:
                yield start, match[1]


def _wiki_link(text: str) -> Link | None:
    target = text.partition("|")[0].rstrip("\\").partition("#")[0].strip()
    return Link(WIKI, target, 0) if target else None


def _definition(label: str, target: str) -> Link | None:
    link = relative_link(target)
    if link is None:
        return None
    definition = _Definition(link.kind, link.target, 0, link.lines)
    definition.label = _label(label)
    return definition


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()
