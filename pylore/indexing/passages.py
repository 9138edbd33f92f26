"""A text as passages: stretches of about 200 words, which begin at headings where there are some.

The stretches of a text join to the whole of it again. Entries of a changelog are passages of
their own, each with the heading that has its version (docs/decisions/0006).
"""

from __future__ import annotations

from ..core import tuning
from ..core.text import is_changelog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Passage = tuple[str, str]
    """The heading of the entry that it is of, or nothing; the stretch of the text."""

_STRETCH = r"\S{1,100}"  # what has no white space for long is cut too
_HASHES = r"(#{1,6})[ \t]+(\S.*)"
_ADORNMENT = r"([=\-~^\"'`+*:._#])\1{2,}[ \t]*$"
_FENCE = r" {0,3}(`{3,}|~{3,}(?=[ \t]*\w))"  # tildes alone are an underline of reStructuredText
_ITEM = r"(?:[-*+•]|\d{1,9}[.)])[ \t]"
_NO_HEADING = ("- ", "* ", "+ ", "> ", "|")
_LEVELS = {1: "=", 2: "-"}
"""Headings with a # or two, as they are underlined in Markdown."""

MOST_HEADING = 120
"""Characters of a line that may be a heading."""


def passages(body: str) -> list[str]:
    """``body`` cut into stretches of about ``PASSAGE_WORDS`` words, at white space.

    An empty body is one empty passage.
    """
    if len(body) < 2 * tuning.PASSAGE_WORDS:
        return [body]
    starts = _word_starts(body)
    return _cut(body, starts[tuning.PASSAGE_WORDS :: tuning.PASSAGE_WORDS])


def prose_passages(body: str, file: str = "") -> list[Passage]:
    """A document as passages, with headings where ``file`` is a changelog."""
    log = is_changelog(file)
    if len(body) < 2 * tuning.PASSAGE_WORDS and not log:
        return [("", body)]
    headings = list(_headings(body))
    entries = _entries(headings) if log else []
    if not entries:
        return [("", text) for text in _by_headings(body, [at for at, _, _ in headings])]
    before = body[: entries[0][0]]
    found = [("", text) for text in (_by_headings(before, []) if before else ())]
    ends = [*(at for at, _ in entries[1:]), len(body)]
    for (at, heading), end in zip(entries, ends, strict=True):
        found += [(heading, text) for text in _by_blocks(body[at:end])]
    return found


def _cut(body: str, places: Sequence[int]) -> list[str]:
    cuts = [0, *places, len(body)]
    return [body[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]


def _word_starts(body: str) -> list[int]:
    import re  # indexing long texts alone needs it

    return [match.start() for match in re.finditer(_STRETCH, body)]


def _by_headings(body: str, headings: Sequence[int]) -> list[str]:
    """Whole sections together as long as they have room, one that is longer cut between words.

    What is short does not stand alone: the next section goes on in its passage.
    """
    from bisect import bisect_left

    starts, room = _word_starts(body), tuning.PASSAGE_WORDS
    first = [bisect_left(starts, at) for at in headings if at] + [len(starts)]
    cuts, begun = [], 0
    for at, after in zip(first, [*first[1:], len(starts)], strict=True):
        while at - begun > room:
            begun += room
            cuts.append(starts[begun])
        if after - begun > room and at - begun >= tuning.LEAST_PASSAGE:
            begun = at
            cuts.append(starts[begun])
    return _cut(body, cuts)


def _by_blocks(text: str) -> list[str]:
    """Cut where an item or a paragraph begins, as late as there is room; else between words."""
    import re
    from bisect import bisect_left

    starts, room = _word_starts(text), tuning.PASSAGE_WORDS
    if len(starts) <= room:
        return [text]
    blocks = re.finditer(rf"(?m)^(?={_ITEM})|(?<=\n\n)(?=\S)", text)
    places = [bisect_left(starts, match.start()) for match in blocks] + [len(starts)]
    cuts, begun, last = [], 0, 0
    for place in places:
        if place - begun > room and last > begun:
            begun = last
            cuts.append(starts[begun])
        while place - begun > room:
            begun += room
            cuts.append(starts[begun])
        last = place
    return _cut(text, cuts)


def _entries(headings: Sequence[tuple[int, str, str]]) -> list[tuple[int, str]]:
    """The headings of entries: those with a version, of levels where most have one."""
    from ..core.changelogs import version_of

    total: dict[str, int] = {}
    with_version: dict[str, int] = {}
    for _, level, text in headings:
        total[level] = total.get(level, 0) + 1
        with_version[level] = with_version.get(level, 0) + bool(version_of(text))
    return [
        (at, text) for at, level, text in headings
        if version_of(text) and 2 * with_version[level] >= total[level]
    ]  # fmt: skip


def _headings(body: str) -> Iterator[tuple[int, str, str]]:
    """``(offset, level, text)`` of what looks like a heading of Markdown or reStructuredText."""
    import re

    hashes, adornment, fence = re.compile(_HASHES), re.compile(_ADORNMENT), re.compile(_FENCE)
    lines = body.split("\n")
    at, fenced, over = 0, "", ""
    for number, line in enumerate(lines):
        begins = at - len(lines[number - 1]) - 1 if over else at
        under = lines[number + 1] if number + 1 < len(lines) else ""
        bare = line.strip()
        before = lines[number - 1].strip() if number else ""
        mark = fence.match(line)
        if fenced:
            fenced = "" if bare.startswith(fenced) else fenced
        elif mark:
            fenced = mark[1]
        else:
            hashed = hashes.match(line) if len(line) <= MOST_HEADING else None
            text = hashed[2].rstrip(" \t#") if hashed else ""
            if hashed and text:
                level = len(hashed[1])
                yield at, _LEVELS.get(level, "#" * level), text
            elif (
                adornment.match(under)
                and not adornment.match(line)
                and (_is_title(line, under, over) and (over or not before))
            ):
                yield begins, over + under[0], bare
        is_over = adornment.match(line) and not before and under.strip()
        over = line[0] if is_over and not fenced else ""
        at += len(line) + 1


def _is_title(line: str, under: str, over: str) -> bool:
    """Whether a line can be a title that is underlined so; ``over``: as it is overlined."""
    bare = line.strip()
    if not bare or len(bare) > MOST_HEADING or line.startswith(_NO_HEADING):
        return False
    if over:
        return under[0] == over
    return not line[0].isspace() and (len(under.rstrip()) >= len(bare) or under[0] in "=-")
