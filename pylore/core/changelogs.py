"""Read the version in a heading of a changelog."""

from __future__ import annotations

_NUMBER = frozenset("0123456789.-")
_COMING = ("unreleased", "next release", "next version")
_MOST = 1_000_000_000


def version_of(heading: str) -> tuple[int, ...]:
    """Return the version or date that a heading names, to be compared; nothing where it names none.

    >>> version_of("Version 2.10.0"), version_of("[1.0a3] - 2026-01-31"), version_of("Fixes")
    ((2, 10, 0), (1, 0), ())
    >>> version_of("## Unreleased") > version_of("2026-01-31") > version_of("v3.1")
    True
    """
    for chunk in heading.split():
        number = chunk.lstrip("vV[(`*")
        end = 0
        while end < len(number) and number[end] in _NUMBER:
            end += 1
        parts = number[:end].replace("-", ".").strip(".").split(".")
        if len(parts) > 1 and all(part.isdigit() and len(part) < 10 for part in parts):
            return tuple(map(int, parts))
    return (_MOST,) if any(word in heading.lower() for word in _COMING) else ()
