"""AsciiDoc: title and links of a page, found by one expression.

Delimited blocks of code, comments and lines that begin with ``//`` have no links.
"""

from __future__ import annotations

import re

from .page import PATH, Link, Page, code_link, relative_link

_TOKEN = re.compile(
    r"""
    ^(?:
        (?P<block>(?P<mark>-{4,}|\.{4,}|\+{4,}|/{4,})[ \t]*$[\s\S]*?(?:^(?P=mark)[ \t]*$|\Z))
      | (?P<fence>(?P<ticks>`{3,}).*[\s\S]*?(?:^(?P=ticks)[ \t]*$|\Z))
      | (?P<comment>//.*)
      | (?P<heading>[=\#](?=[ \t]+(?P<title>\S.*)))
    )
    | (?=[lxi<`]) (?:
        (?P<link>(?P<macro>link|xref|include|image):{1,2}(?P<target>[^\s\[\]]{1,500})
          \[[^\]\n]{0,500}\])
      | (?P<cross><<(?P<place>[^<>,\n]{1,500})(?:,[^<>\n]{0,500})?>>)
      | (?P<span>(?<![\w`])`(?P<code>[^`\n]{1,500})`(?![\w`]))
    )
    """,
    re.VERBOSE | re.MULTILINE,
)


def read(text: str) -> Page:
    """Return the title and links of a text."""
    page = Page()
    for token in _TOKEN.finditer(text):
        kind, at = token.lastgroup, token.start()
        if kind == "span":
            page.add(code_link(token["code"]), at)
        elif kind == "link":
            page.add(_link(token["target"], is_file=token["macro"] in ("include", "image")), at)
        elif kind == "cross" and "." in token["place"].partition("#")[0]:  # else: in this page
            page.add(_link(token["place"], is_file=False), at)
        elif kind == "heading" and not page.title and not page.links:
            page.title = " ".join(token["title"].split())
            page.title_span = at, token.end("title")
    return page


def _link(target: str, *, is_file: bool) -> Link | None:
    """Return a link; None where an attribute, as in ``{base}/x``, is a part of it."""
    if "{" in target:
        return None
    return Link(PATH, target.partition("#")[0]) if is_file else relative_link(target)
