"""Match paths with globs: ``*``, ``?`` and ``[a-z]`` stay within a name, ``**`` spans folders."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def matches(glob: str, path: str) -> bool:
    """Return True if ``glob`` matches the whole path.

    >>> matches("src/**/*.py", "src/a/b.py"), matches("src/*.py", "src/a/b.py")
    (True, False)
    """
    return parse_glob(glob).matches(path)


class Glob:
    """A glob as an automaton: bit ``i`` of its state is set if the first ``i`` parts match.

    Each character of a path takes a few operations on integers, so that no glob is slow.
    """

    __slots__ = ("_accepting", "_classes", "_end", "_folders", "_head", "_letters", "_loops",
                 "_names", "_start", "_tail")  # fmt: skip

    def __init__(self, glob: str) -> None:
        self._letters: dict[str, int] = {}
        self._classes: list[tuple[int, str]] = []
        """Bit of each class, with the text between its brackets."""
        self._names = self._loops = self._folders = 0
        """Bits of ``*``, of ``**``, and of ``**/``."""
        self._accepting: dict[str, int] = {}
        bit = 1
        for part in _parts(glob):
            if part == "**/":
                self._folders |= bit
            elif part == "**":
                self._loops |= bit
            elif part == "*":
                self._names |= bit
            elif len(part) > 1 or part == "?":
                self._classes.append((bit, part[1:-1]))
            else:
                self._letters[part] = self._letters.get(part, 0) | bit
            bit <<= 1
        self._end = bit
        self._start = self._closed(1)
        wild = [at for at, letter in enumerate(glob) if letter in "*?[]"]
        self._head = glob[: min(wild, default=len(glob))]
        self._tail = glob[max(wild, default=-1) + 1 :]

    def matches(self, path: str) -> bool:
        """Return True if the glob matches the whole path."""
        if not (path.startswith(self._head) and path.endswith(self._tail)):
            return False
        state = self._start
        for letter in path:
            moved = state & self._accepts(letter)
            stays = self._loops
            if letter == "/":
                moved |= state & self._folders
            else:
                stays |= self._names
            state = self._closed(moved << 1 | state & stays) | state & self._folders
            if not state:
                return False
        return bool(state & self._end)

    def _accepts(self, letter: str) -> int:
        """Return the bits of the parts that match this one letter."""
        if letter not in self._accepting:
            found = self._letters.get(letter, 0)
            for bit, inside in self._classes:
                if letter != "/" and _has(inside, letter):
                    found |= bit
            self._accepting[letter] = found
        return self._accepting[letter]

    def _closed(self, state: int) -> int:
        """Return the state with the parts after each star that need not match anything."""
        free = self._folders | self._loops | self._names
        while (more := state | (state & free) << 1) != state:
            state = more
        return state


_PARSED: dict[str, Glob] = {}
_MOST_PARSED = 128


def parse_glob(glob: str) -> Glob:
    """Return the parsed glob, from a cache."""
    if glob not in _PARSED:
        if len(_PARSED) >= _MOST_PARSED:
            _PARSED.clear()
        _PARSED[glob] = Glob(glob)
    return _PARSED[glob]


def _parts(glob: str) -> Iterator[str]:
    """Yield single characters, classes, and stars; of adjacent stars, the widest.

    A bracket that does not close, or has a range from ``z`` to ``a``, is a plain character.
    """
    at, stars = 0, ""
    while at < len(glob):
        part = next((star for star in ("**/", "**", "*") if glob.startswith(star, at)), "")
        part = part or _class_at(glob, at) or glob[at]
        at += len(part)
        if part[0] != "*":
            yield from stars and (stars,)
            yield part
            stars = ""
        elif stars == "**/" and part == "*":
            yield stars
            stars = part
        else:
            stars = part if not stars or stars == part else "**"
    yield from stars and (stars,)


def _class_at(glob: str, at: int) -> str:
    if glob[at] != "[":
        return ""
    end = glob.find("]", at + (3 if glob[at + 1 : at + 2] in ("!", "^") else 2))
    inside = glob[at + 1 : end]
    backwards = any(first > last for first, last in _ranges(inside))
    return "" if end < 0 or backwards else glob[at : end + 1]


def _has(inside: str, letter: str) -> bool:
    """Return True if a class matches a letter; the empty one, of ``?``, matches all."""
    found = any(first <= letter <= last for first, last in _ranges(inside))
    return found != (inside[:1] in ("", "!", "^"))


def _ranges(inside: str) -> Iterator[tuple[str, str]]:
    at = 1 if inside[:1] in ("!", "^") else 0
    while at < len(inside):
        wide = inside[at + 1 : at + 2] == "-" and at + 2 < len(inside)
        yield inside[at], inside[at + 2 if wide else at]
        at += 3 if wide else 1
