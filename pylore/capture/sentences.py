"""Sentences of a text, and the marks that they begin with."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def phrases(text: str, before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
    """Return a pattern of any of the phrases: regular expressions between bars, upper case as
    lower.

    Ends of lines and what indents the next one do not count.

    >>> bool(phrases("so that|because").search("Because of it"))
    True
    """
    listed = "".join(line.strip() for line in text.splitlines())
    return re.compile(f"{before}(?:{listed}){after}", re.IGNORECASE)


_LEAD = r"[\s>*_#\-•\d.()`]*(?:[^\w\s]{1,2}\s+)?[*_`]*"
"""What stands before a mark: a bullet, a number, emphasis, one emoji."""

_MARKS = (
    ("root-cause", "failure", r"(?:the )?(?:real |actual |likely )?(?:root cause|cause)"),
    ("lesson", "lesson", r"(?:key )?(?:lessons?(?: learned)?|takeaways?|rule of thumb)"),
    ("decision", "decision", r"(?:design |key )?(?:decision|decided|rationale|convention)"),
    ("til", "lesson", r"til|today i learned"),
    ("gotcha", "lesson", r"gotchas?|pitfalls?|caveats?|watch out|beware"),
    ("note", "observation", r"(?:important(?: note)?|key (?:insight|finding)|insight|note)"),
)
"""Name of the mark, type of what it marks, how it is written."""

_MARKED = tuple(
    (name, type, re.compile(
        rf"{_LEAD}(?:{words})(?P<where> (?:of|for|in|with|is|was)\b[^:\n]{{0,60}})?"
        rf"[*_`]*\s*(?::|—|–| - )[*_`]*\s*(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL))
    for name, type, words in _MARKS
)  # fmt: skip
_TIL = re.compile(rf"{_LEAD}(?:TIL\b|[Tt]oday [Ii] learned)[:,]?\s+(?P<rest>\S.*)", re.DOTALL)
_ANY = re.compile("|".join(words for _, _, words in _MARKS), re.IGNORECASE)
_RULE = phrases(
    r"""
    always|never(?! mind| actually| called)
    """,
)

CONSTRAINT = phrases(
    r"""
    must(?: not)?|never|always|cannot|can't|can not|not allowed|not supported|doesn't support
    |does not support|doesn't respect|doesn't work|does not work|requires?|required|only (?:when
    |if|for|in|on|from|by|works?|the|one|after)|is only|are only|do not|don't|unless|even (?:if
    |when)|not thread-safe|forbid\w*|guarantee\w*|undefined order|no effect|ignores?
    """,
)
REASON = phrases(
    r"""
    because|since (?!the (?:last|start|beginning))|so that|otherwise|to (?:avoid|prevent|ensure
    |keep|match|preserve|allow)|this (?:enables|avoids|prevents|allows|ensures|keeps)
    |which (?:means|makes|would|causes|breaks)|in order to|due to|that's why|the reason|as (?:it
    |they|the)|so (?:it|they|the|tests?|we|you|that|users?|any)|, so\b|would (?:break|fail|cause
    |lose|corrupt)
    """,
)
_CODE = re.compile(r"`[^`\n]+`|\w\.\w+\b|\w_\w|\w\(\)")

Mark = tuple[str, str, str]
"""Its name, the type of record that it marks, and what stands after it."""


def mark_of(paragraph: str) -> Mark | None:
    """Return the mark that a paragraph begins with, if there is one.

    >>> mark_of("**Root cause:** the lock was held")
    ('root-cause', 'failure', 'the lock was held')
    >>> mark_of("The decision is yours.") is None
    True
    """
    if not _ANY.search(paragraph[:80]):
        return None
    if found := _TIL.match(paragraph):
        return "til", "lesson", found["rest"].strip()
    for name, type, pattern in _MARKED:
        if found := pattern.match(paragraph):
            return name, type, found["rest"].strip()
    return None


def marked_sentences(line: str) -> Iterator[tuple[Mark | None, str]]:
    """Yield the sentences of a line, each with the mark that it begins with, without that.

    >>> [one for _, one in marked_sentences("Root cause: a stale clock. Lesson: compare in UTC.")]
    ['a stale clock.', 'compare in UTC.']
    """
    for sentence in sentences(line):
        mark = mark_of(sentence)
        yield mark, mark[2] if mark else sentence


def has_rule(text: str) -> bool:
    """Return whether a text says that something is to be done always or never."""
    return _RULE.search(text) is not None


def is_marked(paragraph: str) -> bool:
    """Return whether a paragraph of an answer is worth an event of its own: it is marked, or says
    why.

    >>> is_marked("**Root cause:** the cache"), is_marked("- never push to main")
    (True, True)
    >>> is_marked("`save` is called twice, because `load` may fail"), is_marked("The tests pass.")
    (True, False)
    """
    lines = paragraph.splitlines()
    if any(mark for line in lines for mark, _ in marked_sentences(line)) or has_rule(paragraph):
        return True
    return bool(REASON.search(paragraph) and _CODE.search(paragraph))


LONGEST_EVENT = 500
"""Characters of a text in an event: what is longer was cut."""

_TRAILER = re.compile(
    r"[A-Z][\w-]+(?:-[Bb]y|[Cc]heckpoint|[\w]*-Id): |🤖|Co-[Aa]uthored|Signed-off|Generated with"
)
_BULLET = re.compile(r"^(?:[-*•>❯⏺]|\d{1,2}[.)]|\([a-z\d]\))\s+")
_FENCES = ("```", "~~~")
_NOT_PROSE = ("|", "<", "--- ", "+++ ", "@@")
_SENTENCES_CODE = ("+ ", "    ", "\t", "$ ", "//", "#!")
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
    """Yield the lines that are prose, without bullets and emphasis: no code, tables or headings."""
    fenced = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(_FENCES):
            fenced = not fenced
        elif not fenced and stripped and _is_prose(line):
            yield plain(stripped)


def _is_prose(line: str) -> bool:
    begins = line.lstrip()
    if line.startswith(_SENTENCES_CODE) or begins.startswith(_NOT_PROSE):
        return False
    return not _HEADING.match(begins)


def whole(text: str) -> str:
    """Return a text without its last sentence, where it was cut there."""
    if len(text) < LONGEST_EVENT or text.endswith((".", "!", "?", ")", "`")):
        return text
    ends = [text.rfind("\n"), *(found.end() for found in _END.finditer(text))]
    return text[: max(ends)].rstrip() if max(ends) > 0 else ""


def paragraphs_of(text: str) -> list[str]:
    """Return the paragraphs of a message of a commit: each on one line, or one line a point."""
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
    """Return the points of a list, each on one line; none if it is no list."""
    points: list[list[str]] = []
    for line in paragraph.splitlines():
        if _BULLET.match(line.strip()):
            points.append([plain(line.strip())])
        elif points:
            points[-1].append(line.strip())
    return [" ".join(lines) for lines in points]


def plain(line: str) -> str:
    """Return a line without its bullet and its emphasis.

    >>> plain("- **Root cause:** the *lock*")
    'Root cause: the *lock*'
    """
    while found := _BULLET.match(line):
        line = line[found.end() :]
    return _CHECKS.sub("", _BOLD.sub("", line)).strip()


def sentences(line: str) -> list[str]:
    """Return the sentences of a line.

    >>> sentences("It uses `a.go`. Tests do not.")
    ['It uses `a.go`.', 'Tests do not.']
    """
    return [one.strip() for one in _END.split(line) if one.strip()]


def durable(sentence: str) -> str:
    """Return a sentence without the numbers of lines, which are others tomorrow.

    >>> durable("`save` (lines 3-7) in a.go:12 locks localhost:80")
    '`save` in a.go locks localhost:80'
    """
    return " ".join(_LINE_OF_FILE.sub(r"\1", _LINES.sub("", sentence)).split())
