"""Match paths with globs: ``*``, ``?``, ``[a-z]`` in a name, ``**`` over folders, ``{a,b}``."""

from __future__ import annotations

from ..core.vocabulary import alternatives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_END = "end"  # the part after each alternative, which matches no character


class Glob:
    """A glob as an automaton: bit ``i`` of the state is set if the parts before ``i`` match.
    Each character of a path takes a few operations on integers, so that no glob is slow.

    >>> Glob("src/**/*.py").matches("src/a/b.py"), Glob("src/*.py").matches("src/a/b.py")
    (True, False)
    >>> Glob("src/{a,b}/*.py").matches("src/b/c.py")
    True
    """

    def __init__(self, glob: str) -> None:
        self._parts = [part for one in alternatives(glob) for part in (*_parts(one), _END)]
        self._names, self._spans, self._folders = (self._bits(star) for star in ("*", "**", "**/"))
        self._free = self._names | self._spans | self._folders
        self._ends = self._bits(_END)
        self._accepted: dict[str, int] = {}  # character to the bits of the parts that match it
        wild = [at for at, letter in enumerate(glob) if letter in "*?[]{}"]
        self.head = glob[: min(wild, default=len(glob))]  # the beginning of all matches
        self._tail = glob[max(wild, default=-1) + 1 :].removeprefix("/")

    def matches(self, path: str) -> bool:
        """Return True if the glob matches the whole path."""
        if not (path.startswith(self.head) and path.endswith(self._tail)):
            return False
        state = self._closed(1 | self._ends << 1)
        for letter in path:
            if letter not in self._accepted:
                self._accepted[letter] = self._bits("", letter)
            stays = self._spans if letter == "/" else self._spans | self._names
            moved = (state & self._accepted[letter]) << 1
            state = self._closed(moved | state & stays) | state & self._folders
        return bool(state & self._ends)

    def _bits(self, star: str, letter: str = "") -> int:
        """Return the bits of the parts that are a star, or that match a letter."""
        found = (part == star if star else _accepts(part, letter) for part in self._parts)
        return sum(1 << at for at, is_one in enumerate(found) if is_one)

    def _closed(self, state: int) -> int:
        """Return the state with the parts after stars, by the carry through adjacent stars."""
        return state | ((state & self._free) + self._free) ^ self._free


def _parts(glob: str) -> Iterator[str]:
    """Yield stars, classes and single characters, as brackets without an end or with ``z-a``."""
    at = 0
    while at < len(glob):
        part = next((star for star in ("**/", "**", "*") if glob.startswith(star, at)), glob[at])
        if part == "[":
            end = glob.find("]", at + (3 if glob[at + 1 : at + 2] in ("!", "^") else 2))
            inside = glob[at + 1 : end]
            if end > 0 and all(first <= last for first, last in _ranges(inside)):
                part = glob[at : end + 1]
        at += len(part)
        yield part


def _accepts(part: str, letter: str) -> bool:
    if len(part) > 1 and part[0] == "[":
        found = any(first <= letter <= last for first, last in _ranges(part[1:-1]))
        return letter != "/" and found != (part[1] in "!^")
    if letter == "/":
        return part in ("/", "**/")
    return part in (letter, "?") and part != "*"


def _ranges(inside: str) -> Iterator[tuple[str, str]]:
    at = 1 if inside[:1] in ("!", "^") else 0
    while at < len(inside):
        wide = inside[at + 1 : at + 2] == "-" and at + 2 < len(inside)
        yield inside[at], inside[at + 2 if wide else at]
        at += 3 if wide else 1
