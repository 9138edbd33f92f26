"""Lines of a terminal: what has no room in one, and what has been said already."""

from __future__ import annotations

LONGEST_TITLE = 100
"""Columns of a title; one that is a paragraph is cut at a word."""

_LONGEST_LEAD = 24
"""Characters before the name in a signature, as ``def`` or ``export async function``."""

_SAME = 24
"""Letters that two texts begin with alike, at the least, to say the same."""


def cut(text: str, width: int = LONGEST_TITLE) -> str:
    """``text`` in so many columns at most; what is too long ends behind a word.

    >>> cut("Sessions are signed tokens", 16), cut("signed", 6)
    ('Sessions are…', 'signed')
    """
    if columns(text) <= width:
        return text
    short = first_columns(text, width - 1)
    head, space, _ = short.rpartition(" ")
    return (head if space and len(head) > width // 2 else short).rstrip(" ,;:") + "…"


def columns(text: str) -> int:
    """How wide a terminal shows a text: two columns for a wide letter, none for a mark."""
    return len(text) if text.isascii() else sum(map(_column, text))


def first_columns(text: str, width: int) -> str:
    """As much of a text as has room."""
    if text.isascii():
        return text[:width]
    used = 0
    for at, letter in enumerate(text):
        used += _column(letter)
        if used > width:
            return text[:at]
    return text


def _column(letter: str) -> int:
    if letter < "\u0300":
        return 1
    from unicodedata import combining, east_asian_width

    return 0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1


def news_of(snippet: str, title: str) -> str:
    """What a snippet says that the title above it does not: without the signature.

    >>> news_of("def f(x) -> str Says it. def f(x) -> str: return x", "C.f(x) -> str")
    'Says it. return x'
    >>> news_of("Sessions are signed tokens.", "Sessions are…")
    '… signed tokens.'
    """
    said = title.rstrip("…").rstrip()
    rest = snippet[len(said) :].strip()
    if said and snippet.startswith(said) and (not rest or " " in said):
        return f"… {rest}" if rest.strip(".…") and said != title else rest
    name, bracket, parameters = title.partition("(")
    signature = name.rpartition(".")[2] + bracket + parameters
    at = snippet.find(signature) if bracket else -1
    if not 0 <= at <= _LONGEST_LEAD:
        return snippet
    whole = snippet[: at + len(signature)]
    told, again, code = snippet[len(whole) :].partition(whole)
    return (
        f"{told.strip(' :')} {_beyond(code, told.strip())}".strip() if again else told.strip(" :")
    )


def _beyond(code: str, told: str) -> str:
    """Code without the text at its beginning that was told before it."""
    text = code.lstrip(": \"'")
    same = 0
    while same < min(len(text), len(told)) and text[same] == told[same]:
        same += 1
    return (
        text[same:].lstrip(" \"'") if same >= min(_SAME, len(told) or _SAME) else code.strip(" :")
    )
