"""Lines of a terminal: what has no room in one, and what has been said already."""

from __future__ import annotations

LONGEST_TITLE = 100
"""Columns of a title; one that is a paragraph is cut at a word."""


def cut(text: str, width: int = LONGEST_TITLE) -> str:
    """Return ``text`` in so many columns at most; what is too long ends behind a word.

    >>> cut("Sessions are signed tokens", 16), cut("signed", 6)
    ('Sessions are…', 'signed')
    """
    if columns(text) <= width:
        return text
    short = first_columns(text, width - 1)
    head, space, _ = short.rpartition(" ")
    return (head if space and len(head) > width // 2 else short).rstrip(" ,;:") + "…"


def columns(text: str) -> int:
    """Return how wide a terminal shows a text: two columns for a wide letter, none for a mark."""
    return len(text) if text.isascii() else sum(map(_column, text))


def first_columns(text: str, width: int) -> str:
    """Return as much of a text as has room."""
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
    """Return what a snippet says that the title above it does not.

    >>> news_of("Sessions are signed tokens.", "Sessions are…")
    '… signed tokens.'
    """
    said = title.rstrip("…").rstrip()
    rest = snippet[len(said) :].strip()
    if said and snippet.startswith(said) and (not rest or " " in said):
        return f"… {rest}" if rest.strip(".…") and said != title else rest
    return snippet
