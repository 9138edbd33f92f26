"""Real code for a context: read from the work tree, cut at statements, marked when stale."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.text import one_line, printable
from ..system.file_stamps import stamp_of
from ..system.project_files import MISSING, Listed, read_plain
from . import tuning
from .excerpts import CUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..store import Store
    from .budget import Tokens


class Snippet:
    """Some lines of a file. ``reason`` says why there are none, ``changed`` that they may be off.

    ``first`` counts from 1.
    """

    __slots__ = ("changed", "first", "lines", "path", "reason")

    def __init__(self, path: str, reason: str = "") -> None:
        self.path = path
        self.reason = reason
        self.changed = False
        self.first = 1
        self.lines: list[str] = []

    @property
    def last(self) -> int:
        """The last line, counted from 1."""
        return self.first + len(self.lines) - 1

    def within(self, other: Snippet) -> bool:
        """Whether its lines come with another one that is short enough to come whole."""
        return (
            self.path == other.path
            and other.first <= self.first
            and self.last <= other.last
            and len(other.lines) <= tuning.SHORT
        )


class WorkTree:
    """Files below one folder, as far as ``lore index`` would list them: no others are shown."""

    def __init__(self, root: str, store: Store, paths: Iterable[str]) -> None:
        self._root = os.path.realpath(root)
        self._store = store
        self._listed = Listed(root, paths)
        self._texts: dict[str, list[str] | str] = {}
        self.refused: dict[str, str] = {}
        """Files that were wanted and must not be shown, and why."""

    def snippet(self, path: str, first: int | None, last: int | None, name: str) -> Snippet:
        """The lines ``first`` to ``last`` of a file, or its head; ``name`` stands in the first."""
        found = Snippet(path)
        text = self._read(path)
        if isinstance(text, str):
            found.reason = text
            return found
        found.changed = self._has_changed(path, text)
        if first is None:
            first, last = head_of(text)
        found.first = first
        found.lines = [printable(line.rstrip("\r")) for line in text[first - 1 : last]]
        if not found.lines:
            found.reason = f"{path} has fewer lines now: run 'lore index'"
        elif found.changed and name and name not in "\n".join(found.lines[: tuning.NEAR]):
            found.reason = f"{path} has changed and {name} is elsewhere now: run 'lore index'"
            found.lines = []
        return found

    def _read(self, path: str) -> list[str] | str:
        if path not in self._texts:
            self._texts[path] = self._read_file(path)
        return self._texts[path]

    def _read_file(self, path: str) -> list[str] | str:
        """The lines of a file, or why there are none."""
        why = self._listed.why_not(path)
        if why:
            if why != MISSING:
                self.refused[path] = why
            return f"{path} {why}"
        try:
            content = read_plain(os.path.join(self._root, path), tuning.LARGEST)
            if len(content) > tuning.LARGEST:
                return f"{path} is too large"
            return content.decode().split("\n")
        except (OSError, LoreError, UnicodeDecodeError):
            return f"{path} cannot be read as text"

    def _has_changed(self, path: str, lines: list[str]) -> bool:
        """Whether a file is another one than was indexed; False where it never was."""
        known = self._store.code.as_read(path)
        if known is None:
            return False
        stamp, hash = known
        if stamp_of(os.path.join(self._root, path)) == stamp:
            return False
        from hashlib import sha256

        return sha256("\n".join(lines).encode()).hexdigest() != hash


_IMPORTS = (
    "import ", "from ", "#include", "use ", "using ", "package ", "require", "extern crate",
    "source ", "const {", "export *",
)  # fmt: skip
_LICENSE = ("copyright", "license", "licence", "spdx")


def head_of(lines: list[str]) -> tuple[int, int]:
    """The first and last line of what a file says first: before its imports, or after them.

    What stands before them is its own description, unless it is a licence.

    >>> head_of(["// What it does.", "", "import os", "", "x = 1"])
    (1, 1)
    >>> head_of(["import os", "", "x = 1"])
    (2, 61)
    """
    imports = [
        at for at, line in enumerate(lines[: tuning.IMPORTS_WITHIN]) if line.startswith(_IMPORTS)
    ]
    if not imports:
        return 1, tuning.HEAD
    before = "\n".join(lines[: imports[0]]).lower()
    if before.lstrip("#! \n/*") and not any(word in before for word in _LICENSE):
        last = min(imports[0], tuning.HEAD)
        while not lines[last - 1].strip():
            last -= 1
        return 1, last
    after = imports[-1] + 1
    while after < len(lines) and lines[after].strip() and after < imports[-1] + tuning.HEAD:
        after += 1  # an import may go on over lines
    return after + 1, after + tuning.HEAD


def cut_at_statement(lines: list[str], room: int, sizes: list[int]) -> tuple[list[str], bool]:
    """As many of the first ``lines`` (of ``sizes`` tokens) as have room; whether those are all.

    The cut is made before a line that is not deeper than the body's first statement,
    if there is one after the first ``CUT_FROM`` of what has room. ``room`` has room for the mark.
    """
    if sum(sizes) <= room:
        return lines, True
    count = 0
    while count < len(lines) and sizes[count] <= room:
        room -= sizes[count]
        count += 1
    depth = min((_indent(line) for line in lines[1:count] if line.strip()), default=0)
    for at in range(count, int(tuning.CUT_FROM * count), -1):
        if lines[at : at + 1] and lines[at].strip() and _indent(lines[at]) <= depth:
            return [*lines[:at], f"{' ' * depth}{CUT}"], False
    return ([*lines[:count], f"{' ' * depth}{CUT}"] if count else []), False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


_FENCE = "```"


def fenced(lines: list[str], path: str) -> str:
    """Lines as a block of Markdown whose fence is longer than any in them."""
    fence = _FENCE
    while any(fence in line for line in lines):
        fence += "`"
    ending = os.path.splitext(path)[1][1:]
    kind = ending if ending.isalnum() else ""
    return f"{fence}{kind}\n" + "".join(line + "\n" for line in lines) + f"{fence}\n"


class CodeText:
    """A snippet as Markdown: its file and lines, what to mind, and the code."""

    def __init__(self, snippet: Snippet, verdict: str, tokens: Tokens) -> None:
        self._snippet = snippet
        self._tokens = tokens
        self._marks = ", changed since it was indexed" * snippet.changed
        self._marks += f", {verdict}" * bool(verdict)
        # cut lines may come with a new last one: whatever it is, it is no longer a number
        self._frame = tokens.lines(self._written([], snippet.last) + f"        {CUT}\n")
        self._sizes: list[int] = []

    def fit(self, room: int) -> tuple[str, bool]:
        """As many statements as ``room`` tokens hold."""
        if not self._sizes:
            self._sizes = [self._tokens.lines(line + "\n") for line in self._snippet.lines]
        lines, whole = cut_at_statement(self._snippet.lines, room - self._frame, self._sizes)
        if not lines or (not whole and len(lines) < tuning.LEAST_LINES):
            return "", False
        last = self._snippet.first + len(lines) - (1 if whole else 2)
        text = self._written(lines, last)
        return (text, whole) if self._tokens.lines(text) <= room else ("", False)

    def _written(self, lines: list[str], last: int) -> str:
        snippet = self._snippet
        head = f"### {one_line(snippet.path)}:{snippet.first}-{last}{self._marks}\n"
        return head + fenced(lines, snippet.path)
