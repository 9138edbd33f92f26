"""reStructuredText as a document: its title, and its links with where they stand.

docutils reads it. Roles and directives that only Sphinx knows are left to it as they are, and
are read here as far as they lead anywhere: ``:doc:``, ``:ref:``, ``:download:``, ``:pep:`` and the
entries of a ``toctree``. Nothing is included, and no file of settings is read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from docutils import nodes
from docutils.core import publish_doctree

from .page import NAME, PATH, Link, Page, code_link, relative_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SETTINGS = {
    "report_level": 5, "halt_level": 5, "warning_stream": None, "file_insertion_enabled": False,
    "raw_enabled": False, "_disable_config": True, "doctitle_xform": False,
    "line_length_limit": 1_000_000, "syntax_highlight": "none",
}  # fmt: skip
_ROLE = re.compile(r":(doc|ref|download|numref|pep|any|term):`([^`<>]*?)(?:<([^`<>]+)>)?`")
_REFERENCE = re.compile(r"`[^`<>]*<([^`<>]+)>`__?")
_ANY_ROLE = re.compile(r":[\w:.+-]+:`~?([^`<>]*?)(?:\s*<[^`<>]*>)?`")
_UNREAD = re.compile(r"\.\.[ \t]+(\S+)::")
_PROSE = ("seealso", "versionadded", "versionchanged", "versionremoved", "deprecated", "rubric",
          "dropdown", "card", "grid", "grid-item-card", "tab-item", "tab-set")  # fmt: skip
"""Directives of Sphinx and its extensions that hold text."""
_ENTRY = re.compile(r"^[ \t]+(?!:)(?:[^<>\n]*<([^<>\n]+)>|(\S+))[ \t]*$", re.MULTILINE)
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")


def read(lines: Sequence[str], first_line: int) -> Page:
    """Return the title and the links of a text; the first of its lines is ``first_line``."""
    text = "\n".join(lines)
    tree = publish_doctree(text, settings_overrides=_SETTINGS)
    title = next(iter(tree.findall(nodes.title)), None)
    page = Page(*_titled(lines, title.astext() if title is not None else ""))
    page.title = _ANY_ROLE.sub(r"\1", page.title)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    after = 0
    for link, raw in _links(tree):
        at = text.find(raw, after)
        if at < 0:  # what docutils has put together of several lines
            at = text.find(raw.split("\n")[0], after)
        if at < 0:
            continue
        after = at + 1
        number = bisect_right(starts, at) - 1
        page.add(link, first_line + number, at - starts[number])
    return page


def _titled(lines: Sequence[str], title: str) -> tuple[str, list[int]]:
    """Return the title in one line, and the indexes of the lines that it takes with its
    adornments."""
    for number, line in enumerate(lines[:-1]):
        if title and line.strip() and _ADORNMENT.match(lines[number + 1]):
            if " ".join(line.split()) != " ".join(title.split()) and "`" not in line:
                continue
            over = number > 0 and bool(_ADORNMENT.match(lines[number - 1]))
            return " ".join(title.split()), [*range(number - over, number + 2)]
    return " ".join(title.split()), []


def _links(tree: nodes.document) -> Iterator[tuple[Link, str]]:
    """Yield each link, with the text that it is written as."""
    for node in tree.findall():
        if isinstance(node, nodes.reference):
            link = relative_link(node.get("refuri", ""))
            if link is not None:
                yield link, node.rawsource or node.astext()
        elif isinstance(node, nodes.problematic):
            yield from _in_text(node.rawsource or node.astext())
        elif isinstance(node, nodes.literal):
            link = code_link(node.astext())
            if link is not None:
                yield link, node.rawsource or node.astext()
        elif isinstance(node, nodes.literal_block) and isinstance(
            node.parent, nodes.system_message
        ):
            yield from _in_directive(node.astext())


def _in_directive(text: str) -> Iterator[tuple[Link, str]]:
    found = _UNREAD.match(text)
    if found and found[1] == "toctree":
        for entry in _ENTRY.finditer(text):
            target = entry[1] or entry[2]
            yield Link(PATH, target, 0), target
    elif found and found[1] in _PROSE:
        yield from _in_text(text)


def _in_text(text: str) -> Iterator[tuple[Link, str]]:
    for role in _ROLE.finditer(text):
        target = (role[3] or role[2]).strip().lstrip("~!")
        if role[1] == "pep" and target.isdigit():
            target = f"pep-{int(target):04}"
        if target:
            kind = PATH if role[1] in ("doc", "download") else NAME
            yield Link(kind, target, 0), role[0]
    for reference in _REFERENCE.finditer(text):
        link = relative_link(reference[1])
        if link is not None:
            yield link, reference[0]
