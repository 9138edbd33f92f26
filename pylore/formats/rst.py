"""reStructuredText: title and links of a page, found by one expression, without Sphinx or docutils.

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
_ROLES = {"doc": PATH, "download": PATH, "ref": NAME, "numref": NAME, "any": NAME, "term": NAME,
          "pep": NAME}  # fmt: skip
_NOT_PROSE = (
    "code", "code-block", "sourcecode", "literalinclude", "include", "parsed-literal", "raw",
    "math", "highlight", "role", "default-role", "doctest", "testcode", "testsetup", "testcleanup",
    "testoutput", "prompt", "ipython", "productionlist", "graphviz", "digraph", "mermaid",
    "plantuml", "uml",
)  # fmt: skip
"""Directives whose content is not read."""
_ENTRY = re.compile(r"^[ \t]+(?!:)(?:[^<>\n]*<([^<>\n]+)>|(\S+))[ \t]*$", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•]|\#|\w{1,9}[.)])[ \t]+)*")
_TITLE = re.compile(
    r"^(?:(?P<over>[!-/:-@\[-`{-~]+)[ \t]*\n[ \t]*)?(?P<title>\S.*)\n"
    r"(?P<under>(?P<mark>[!-/:-@\[-`{-~])(?P=mark)*)[ \t]*$",
    re.MULTILINE,
)
_MARKUP = re.compile(
    r"(?::[\w:.+-]{1,64}:)?(`{1,2})~?([^`<]{1,300}?)[ \t]{0,9}(?:<[^`<>]*>)?\1_{0,2}"
    r"|(?<!\w)(\*{1,2})([^*\s](?:[^*]*[^*\s])?)\3(?!\w)"
)


def read(text: str) -> Page:
    """Return the title and links of a text."""
    page, at = _titled(text), 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        if token["directive"]:
            at = _directive(page, text, token)
        elif token["comment"] is not None:
            at = _block_end(text, at, len(token["margin"]))
        elif token["literal"]:
            line = text.rfind("\n", 0, token.start()) + 1
            item = _ITEM.match(text, line, at)
            at = _block_end(text, at, item.end() - line if item else 0)
        else:
            _add(page, token)
    page.place_definitions()
    return page


def _titled(text: str) -> Page:
    for found in _TITLE.finditer(text):
        title, over, under = found["title"].rstrip(), found["over"], found["under"]
        if len(under) >= min(len(title), 4) and over in (None, under) and _has_words(title):
            plain = _MARKUP.sub(lambda part: part[2] or part[4], title)
            return Page(" ".join(plain.split()), found.span())
    return Page()


def _has_words(title: str) -> bool:
    return any(map(str.isalnum, title))


def _directive(page: Page, text: str, token: re.Match[str]) -> int:
    """Return where to go on after the head of a directive; add the entries of a ``toctree``."""
    name = token["directive"].lower()
    if name != "toctree" and name not in _NOT_PROSE:
        return token.end()
    end = _block_end(text, token.end(), len(token["margin"]))
    for entry in _ENTRY.finditer(text, token.end(), end) if name == "toctree" else ():
        part = 1 if entry[1] else 2
        page.add(Link(PATH, entry[part]), entry.start(part))
    return end


def _block_end(text: str, at: int, margin: int) -> int:
    """Return the offset of the next line that is indented by at most ``margin``."""
    for line in _INDENT.finditer(text, at):
        if len(line[0]) <= margin:
            return line.start()
    return len(text)


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
