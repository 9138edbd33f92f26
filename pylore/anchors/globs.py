"""Path patterns as shells and .gitignore files have them."""

from __future__ import annotations

import re


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Matches whole paths: ``*`` and ``?`` stay within a name, ``**`` spans folders.

    >>> bool(glob_pattern("src/**/*.py").fullmatch("src/a/b.py"))
    True
    >>> bool(glob_pattern("src/*.py").fullmatch("src/a/b.py"))
    False
    """
    found = []
    rest = glob
    while rest:
        piece, pattern = _next(rest)
        found.append(pattern)
        rest = rest[len(piece) :]
    return re.compile("".join(found), re.DOTALL)


def _next(rest: str) -> tuple[str, str]:
    """The next piece of a glob, and what it matches."""
    for piece, pattern in (("**/", "(?:.*/)?"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
        if rest.startswith(piece):
            return piece, pattern
    closed = rest.find("]", 3 if rest[1:2] in ("!", "^") else 2) if rest[0] == "[" else -1
    if closed > 0:
        inside = rest[1:closed]
        negated = inside[0] in "!^"
        letters = re.sub(r"([\\\[\]^&~|]|-(?=-)|(?<=-)-)", r"\\\1", inside[negated:])
        pattern = f"(?!/)[{'^' * negated}{letters}]"
        if _is_pattern(pattern):  # z-a is no range
            return rest[: closed + 1], pattern
    return rest[0], re.escape(rest[0])


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True
