"""Marks: how a line says by itself that it is worth keeping (``Root cause: …``, ``TIL …``)."""

from __future__ import annotations

import re

from .patterns import phrases

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
    always|never
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
    """The mark that a paragraph begins with, if there is one.

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


def has_rule(text: str) -> bool:
    """Whether a text says that something is to be done always or never."""
    return _RULE.search(text) is not None


def is_marked(paragraph: str) -> bool:
    """Whether a paragraph of an answer is worth an event of its own: it is marked, or says why.

    >>> is_marked("**Root cause:** the cache"), is_marked("- never push to main")
    (True, True)
    >>> is_marked("`save` is called twice, because `load` may fail"), is_marked("The tests pass.")
    (True, False)
    """
    if any(mark_of(line) for line in paragraph.splitlines()) or has_rule(paragraph):
        return True
    return bool(REASON.search(paragraph) and _CODE.search(paragraph))
