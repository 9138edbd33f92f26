"""reStructuredText: title and links of a page, found by a single expression, without docutils.

Links are references to files, ``literals``, the roles that lead to a document, and the entries of
a ``toctree``. Nothing is included, substituted or executed.
"""

from __future__ import annotations

import re

from .page import NAME, PATH, Link, Page, code_link, relative_link

_TOKEN = re.compile(
    r"""
    ^(?P<margin>[ \t]*)\.\.(?:
        [ \t]+_(?P<label>`[^`\n]+`|(?:\\.|[^:\\\n`]){1,999}):[ \t]+(?P<defined>\S.*)
      | (?P<target>[ \t]+(?:_|\[))
      | [ \t]+(?:\|[^|\n]+\|[ \t]+)?(?:[\w.+-]+:)?(?P<directive>[\w.+-]+)::
      | (?P<comment>[ \t]+\S|[ \t]*\n(?=[ \t]+\S))
    )
    | (?P<literal>::[ \t]*\n(?=[ \t]*\n))
    | (?=[`:\w]) (?:
        (?<!`)``(?P<code>(?:(?!\n[ \t]*\n)[\s\S]){1,2000}?)``(?!`)
      | :(?:[\w+.-]{1,32}:)?(?P<role>[\w+.-]{1,32}):`(?P<said>[^`<>]*)(?:<(?P<meant>[^`<>]+)>)?`
      | (?<!`)`(?P<phrase>[^`<>]*)(?:<(?P<reference>[^`<>]+)>)?`__?
      | (?<![\w`.+-])(?P<word>\w[\w.+-]{0,99})_(?![\w`])
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
_ROLES = {
    "doc": PATH,
    "download": PATH,
    "ref": NAME,
    "numref": NAME,
    "any": NAME,
    "term": NAME,
    "pep": NAME,
}
_PROSE = (
    "note",
    "warning",
    "tip",
    "hint",
    "important",
    "attention",
    "caution",
    "danger",
    "error",
    "admonition",
    "seealso",
    "versionadded",
    "versionchanged",
    "deprecated",
    "topic",
    "sidebar",
    "container",
    "rubric",
    "image",
    "figure",
    "table",
    "list-table",
)
"""Directives with prose."""
_ENTRY = re.compile(r"^[ \t]+(?!:)(?:[^<>\n]*<([^<>\n]+)>|(\S+))[ \t]*$", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_TITLE = re.compile(
    r"^(?:(?P<over>[!-/:-@\[-`{-~]+)[ \t]*\n[ \t]*)?(?P<title>\S.*)\n"
    r"(?P<under>(?P<mark>[!-/:-@\[-`{-~])(?P=mark)*)[ \t]*$",
    re.MULTILINE,
)
_MARKUP = re.compile(r":[\w:.+-]{1,64}:(?=`)|`_{0,2}|\*")


def read(text: str) -> Page:
    """Return the title and links of a text."""
    page, at = _titled(text), 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        directive = (token["directive"] or "").lower()
        if token["literal"]:
            line = _INDENT.match(text, text.rfind("\n", 0, token.start()) + 1)
            at = _block_end(text, at, len(line[0]) if line else 0)
        elif (directive and directive not in _PROSE) or token["comment"] is not None:
            end = _block_end(text, at, len(token["margin"]))
            for entry in _ENTRY.finditer(text, at, end) if directive == "toctree" else ():
                part = 1 if entry[1] else 2
                page.add(Link(PATH, entry[part]), entry.start(part))
            at = end
        else:
            _add(page, token)
    page.place_definitions()
    return page


def _titled(text: str) -> Page:
    for found in _TITLE.finditer(text):
        title, over, under = found["title"].rstrip(), found["over"], found["under"]
        is_long = len(under) >= min(len(title), 4) and over in (None, under)
        if is_long and any(map(str.isalnum, title)):
            return Page(" ".join(_MARKUP.sub("", title).split()), found.span())
    return Page()


def _block_end(text: str, at: int, margin: int) -> int:
    """Return the offset of the next line that is indented by at most ``margin``."""
    lines = (line.start() for line in _INDENT.finditer(text, at) if len(line[0]) <= margin)
    return next(lines, len(text))


def _add(page: Page, token: re.Match[str]) -> None:
    at = token.start()
    if token["label"]:
        page.define(token["label"].strip("`"), relative_link(token["defined"]), at)
    elif token["code"]:
        page.add(code_link(token["code"]), at)
    elif token["role"]:
        page.add(_role(token["role"], token["meant"] or token["said"]), at)
    elif token["reference"]:
        page.add(relative_link(token["reference"]), at)
    elif token["phrase"] or token["word"]:
        page.use(token["phrase"] or token["word"], at)


def _role(role: str, text: str) -> Link | None:
    target = " ".join(text.split()).lstrip("~!")
    if role in ("code", "literal", "file"):
        return code_link(text)
    if role == "pep" and target.isdecimal():
        target = f"pep-{target:0>4}"
    return Link(_ROLES[role], target) if role in _ROLES and target else None
