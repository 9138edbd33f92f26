"""Cut texts into passages, and make their rows for full text."""

from __future__ import annotations

from ..core.json import dumps, loads
from ..core.text import BLOCKS, identifier_parts, is_spaceless, words
from ..core.vocabulary import COLLECTIONS, TEXTS, is_changelog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..core.model import Node

    Row = tuple[str, str, str, str, str, str]
    """Title, body, tags, file and parts of names, the columns of the full-text tables; the heading
    that the title ends with. The bodies of a node's rows are the node's text."""

PASSAGE_WORDS = 200
"""Words of a passage: long texts are ranked by their best passages (docs/decisions/0006)."""
LEAST_PASSAGE = 50
"""Words from which a heading ends a passage."""
LONGEST_STRETCH = 100
"""Characters after which text without white space is cut: two in scripts without spaces."""
MOST_HEADING = 120
"""Characters of a line that may be a heading."""
_REPEATED = 1000
"""Characters of the title, tags and path that later passages repeat."""
_SPACELESS = "".join(f"{chr(first)}-{chr(last)}" for first, last in BLOCKS)
_STRETCH = rf"[{_SPACELESS}]{{1,2}}|[^\s{_SPACELESS}]{{1,{LONGEST_STRETCH}}}"
_BLOCK = r"(?m)^(?=(?:[-*+•]|\d{1,9}[.)])[ \t])|(?<=\n\n)(?=\S)"
"""Where an entry of a changelog may be cut: at items and paragraphs."""


def rows_of(node: Node) -> list[Row]:
    """Return a row for each passage of a node; the indexed text is the body and why."""
    text = f"{node.body}\n{node.why}" if node.why else node.body
    prose = COLLECTIONS.get(node.type, TEXTS) == TEXTS
    rows = passage_rows(node.title, text, " ".join(node.tags), node.file or "", prose=prose)
    if rows and '"alias' in node.data:
        named = dumps([loads(node.data).get(key, "") for key in ("aliases", "alias")])
        names = " ".join(words(named, paired=False))[:_REPEATED]
        rows[0] = f"{rows[0][0]} {names}", *rows[0][1:5], f"{rows[0][5]} {names}".strip()
    return rows


def passage_rows(title: str, body: str, tags: str, file: str, *, prose: bool = False) -> list[Row]:
    """Return a row for each passage of a text; empty if all arguments are empty.

    ``prose``: cut at headings.
    """
    if not (title or body or tags or file):
        return []
    rows = []
    found = prose_passages(body, file) if prose else [("", text) for text in passages(body)]
    for heading, text in found:
        name = f"{title} {heading}" if heading else title
        parts = identifier_parts(f"{name} {text} {file}")
        rows.append((name, text, tags, file, parts, heading))
        title, tags, file = title[:_REPEATED], tags[:_REPEATED], file[:_REPEATED]
    return rows


def passages(body: str) -> list[str]:
    """Cut a text into stretches of about ``PASSAGE_WORDS`` words, at white space."""
    return [body] if _is_short(body) else _cut(body, [])


def prose_passages(body: str, file: str = "") -> list[tuple[str, str]]:
    """Cut a document at headings; return ``(heading, stretch)``: the version in a changelog, by the
    name of ``file``; in a different long document the headings above and inside the stretch."""
    log = is_changelog(file)
    if not log and _is_short(body):
        return [("", body)]
    import re
    from bisect import bisect_left, bisect_right

    headings, found = [*_headings(body)], list[tuple[str, str]]()
    entries = _entries(headings) if log else []
    if not entries:
        places, end = [at for at, _, _ in headings], 0
        for text in _cut(body, places, LEAST_PASSAGE):
            first, end = bisect_right(places, end), end + len(text)
            names = [name for _, _, name in headings[max(0, first - 1) : bisect_left(places, end)]]
            found.append((" ".join(names), text))
        return found
    if entries[0][0]:
        entries.insert(0, (0, ""))
    ends = [*(at for at, _ in entries[1:]), len(body)]
    for (at, heading), end in zip(entries, ends, strict=True):
        entry = body[at:end]
        blocks = [match.start() for match in re.finditer(_BLOCK, entry)] if heading else []
        found += [(heading, text) for text in _cut(entry, blocks)]
    return found


def _is_short(body: str) -> bool:
    """Return True if a text has no more stretches than a passage: to count these takes longer."""
    if len(body) < 2 * PASSAGE_WORDS or any(map(is_spaceless, {*body})):
        return len(body) < 2 * PASSAGE_WORDS
    return len(body.split()) + len(body) // LONGEST_STRETCH <= PASSAGE_WORDS


def _cut(text: str, borders: Iterable[int], least: int = 1) -> list[str]:
    """Cut a text at borders, as late as possible, and else between words.

    Fewer than ``least`` words before a border join the next passage.
    """
    import re  # only long texts need re
    from bisect import bisect_left

    starts, room = [match.start() for match in re.finditer(_STRETCH, text)], PASSAGE_WORDS
    places = [bisect_left(starts, at) for at in borders if at] + [len(starts)]
    cuts, begun = [0], 0
    for place, after in zip(places, [*places[1:], len(starts)], strict=True):
        while place - begun > room:
            begun += room
            cuts.append(starts[begun])
        if after - begun > room and place - begun >= least:
            begun = place
            cuts.append(starts[begun])
    return [text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _entries(headings: list[tuple[int, str, str]]) -> list[tuple[int, str]]:
    """Return the headings with a version, of levels where most have a version."""
    from collections import Counter

    from ..core.query import version_of

    versions = [one for one in headings if version_of(one[2])]
    every, some = (Counter(level for _, level, _ in of) for of in (headings, versions))
    return [(at, text) for at, level, text in versions if 2 * some[level] >= every[level]]


# --- headings of Markdown, AsciiDoc and reStructuredText

_HEADING = r"""(?mx)
  ^[ ]{0,3}(?P<fence>`{3,}|~{3,}(?=[ \t]*\w)).*(?:\n(?![ \t]*(?P=fence)).*)*(?:\n.*)?
  | ^(?P<level>\#{1,6}|={1,6})[ \t]+(?P<hashed>\S.*)
  | ^(?:(?P<over>[=\-~^"'`+*:._\#]{3,})[ \t]*\n|(?<![^\n]\n)(?=\S))
    (?P<title>(?!(?:[-*+>][ ]|\|))[ \t]*(?P<bare>[^\s].*))\n
    (?P<under>(?P<mark>[=\-~^"'`+*:._\#])(?P=mark){2,})[ \t]*$
"""
_LEVELS = {"#": "=", "##": "-"}
"""Headings with a # or two, as they are underlined in Markdown."""


def _headings(body: str) -> Iterator[tuple[int, str, str]]:
    """Yield ``(offset, level, text)`` of each line that looks like a heading; fences are skipped
    because tildes alone are an underline."""
    import re

    for found in re.finditer(_HEADING, body):
        under, over = found["under"] or "", (found["over"] or "")[:1]
        text = (found["bare"] or (found["hashed"] or "").rstrip(" \t#=")).rstrip()
        if not text or len(text) > MOST_HEADING or not any(map(str.isalnum, text)):
            continue
        if level := found["level"]:
            yield found.start(), _LEVELS.get(level, level), text
        elif over == under[0] if over else len(under) >= len(text) or under[0] in "=-":
            yield found.start(), over + under[0], text
