"""Path patterns as shells have them. Why no library: see ``docs/decisions``, ``own-globs``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence


def matches(glob: str, path: str) -> bool:
    """Return whether ``glob_pattern`` matches a path, without the cost of loading ``re``.

    All that may have been matched is followed side by side, a letter at a time.

    >>> matches("src/**/*.py", "src/a/b.py"), matches("src/*.py", "src/a/b.py")
    (True, False)
    """
    if "[" in glob:
        return glob_pattern(glob).fullmatch(path) is not None
    pieces = list(_pieces(glob))
    at = {*_from(pieces, 0)}
    for letter in path:
        reached = set()
        for place in at:
            piece = pieces[place] if place < len(pieces) else ""
            if piece == "**/":
                reached.add(place)
                if letter == "/":
                    reached.update(_from(pieces, place + 1))
            elif piece == "**" or (piece == "*" and letter != "/"):
                reached.update(_from(pieces, place))
            elif piece == letter or (piece == "?" and letter != "/"):
                reached.update(_from(pieces, place + 1))
        at = reached
    return len(pieces) in at


def _from(pieces: Sequence[str], place: int) -> Iterator[int]:
    """Yield a place in a glob, and those after it that nothing need be matched for."""
    yield place
    while place < len(pieces) and pieces[place] in _FREE:
        place += 1
        yield place


_FREE = ("**/", "**", "*")


def _pieces(glob: str) -> Iterator[str]:
    while glob:
        piece = next((free for free in _FREE if glob.startswith(free)), glob[0])
        yield piece
        glob = glob[len(piece) :]


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return a pattern of whole paths: ``*`` and ``?`` stay within a name, ``**`` spans folders.

    >>> bool(glob_pattern("src/**/*.py").fullmatch("src/a/b.py"))
    True
    >>> bool(glob_pattern("src/*.py").fullmatch("src/a/b.py"))
    False
    """
    import re

    found = []
    rest = glob
    while rest:
        piece, pattern = _next(rest)
        found.append(pattern)
        rest = rest[len(piece) :]
    return re.compile("".join(found), re.DOTALL)


def _next(rest: str) -> tuple[str, str]:
    """Return the next piece of a glob, and what it matches."""
    import re

    for piece, pattern in (("**/", "(?:.*/)?"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
        if rest.startswith(piece):
            return piece, pattern
    closed = rest.find("]", 3 if rest[1:2] in ("!", "^") else 2) if rest[0] == "[" else -1
    if closed > 0:
        inside = rest[1:closed]
        negated = inside[0] in "!^"
        letters = re.sub(r"([\\\[\]^&~|]|-(?=-)|(?<=-)-)", r"\\\1", inside[negated:])
        pattern = f"(?!/)[{'^' * negated}{letters}]"
        if _is_pattern(pattern):  # z-a is not a range
            return rest[: closed + 1], pattern
    return rest[0], re.escape(rest[0])


def _is_pattern(text: str) -> bool:
    import re

    try:
        re.compile(text)
    except re.error:
        return False
    return True
