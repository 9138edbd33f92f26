"""Code as Markdown: each line of a file once, cut at statements, in as much room as there is."""

from __future__ import annotations

import os

from ..core.text import one_line
from . import tuning
from .excerpts import CUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from .budget import Tokens
    from .snippets import Snippet


class ShownLines:
    """Which lines of which files the pieces of a context show."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[str, frozenset[int]]] = {}

    def set(self, path: str, id: str, lines: frozenset[int]) -> None:
        """``id`` shows these lines of a file, and no others."""
        self._lines.setdefault(path, {})[id] = lines

    def by_others(self, path: str, id: str) -> dict[int, str]:
        """The lines of a file that others than ``id`` show, each with who does."""
        pieces = self._lines.get(path, {}).items()
        return {line: other for other, lines in pieces if other != id for line in lines}


class CodeText:
    """A snippet as Markdown: what it is and its lines, what to mind, and the code.

    Lines that another piece shows are left out, a mark in their place.
    """

    def __init__(
        self, id: str, name: str, snippet: Snippet, verdict: str, shown: ShownLines, tokens: Tokens
    ) -> None:
        self._id = id
        self._name = one_line(name)
        self._snippet = snippet
        self._shown = shown
        self._tokens = tokens
        self._marks = ", changed since it was indexed" * snippet.changed
        self._marks += f", {verdict}" * bool(verdict)
        # cut lines may come with a new last one: whatever it is, it is no longer a number
        self._frame = tokens.lines(self._written([], snippet.last) + f"        {CUT}\n")
        self._sizes: list[int] = []
        self._fitted: frozenset[int] = frozenset()

    def stands_in(self) -> str:
        """The id of what shows so many of the lines that too few are left; nothing, else."""
        others = self._shown.by_others(self._snippet.path, self._id)
        lines = dict(enumerate(self._snippet.lines, start=self._snippet.first))
        telling = {number for number, line in lines.items() if line.strip()}
        if len(telling - others.keys()) >= tuning.LEAST_LINES or not telling & others.keys():
            return ""
        return next(others[number] for number in sorted(telling) if number in others)

    def taken(self) -> None:
        """What the last ``fit`` gave stands in the context now."""
        self._shown.set(self._snippet.path, self._id, self._fitted)

    def fit(self, room: int) -> tuple[str, bool]:
        """As many statements as ``room`` tokens hold."""
        if self.stands_in():
            return "", False
        if not self._sizes:
            self._sizes = [self._tokens.lines(line + "\n") for line in self._snippet.lines]
        numbers, lines, sizes = self._rows()
        kept, whole = cut_at_statement(lines, room - self._frame, sizes)
        if not kept or (not whole and len(kept) < tuning.LEAST_LINES):
            return "", False
        numbers = numbers[: len(kept) if whole else len(kept) - 1]
        text = self._written(kept, max(map(abs, numbers)))
        if self._tokens.lines(text) > room:
            return "", False
        self._fitted = frozenset(number for number in numbers if number > 0)
        return text, whole

    def _rows(self) -> tuple[list[int], list[str], list[int]]:
        """The lines' numbers, texts and tokens; a mark has minus the last number it stands for."""
        snippet = self._snippet
        left_out = _stretches(self._shown.by_others(snippet.path, self._id))
        numbers: list[int] = []
        lines: list[str] = []
        sizes: list[int] = []
        for number, line, size in zip(
            range(snippet.first, snippet.last + 1), snippet.lines, self._sizes, strict=True
        ):
            if number not in left_out:
                numbers.append(number)
                lines.append(line)
                sizes.append(size)
            elif numbers and numbers[-1] == 1 - number:
                numbers[-1] = -number
            else:
                mark = f"{' ' * _indent(line)}{CUT}"
                numbers.append(-number)
                lines.append(mark)
                sizes.append(self._tokens.lines(mark + "\n"))
        return numbers, lines, sizes

    def _written(self, lines: list[str], last: int) -> str:
        snippet = self._snippet
        head = f"### {self._name} (lines {snippet.first}-{last}){self._marks}\n"
        return head + fenced(lines, snippet.language or _ending(snippet.path))


def _stretches(numbers: Collection[int]) -> set[int]:
    """Those of the numbers that are among so many in a row that a mark in their place is less."""
    found: set[int] = set()
    run: list[int] = []
    for number in [*sorted(numbers), 0]:
        if run and number != run[-1] + 1:
            if len(run) >= tuning.LEAST_LINES:
                found.update(run)
            run = []
        run.append(number)
    return found


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


def fenced(lines: list[str], language: str) -> str:
    """Lines as a block of Markdown whose fence is longer than any in them."""
    fence = _FENCE
    while any(fence in line for line in lines):
        fence += "`"
    return f"{fence}{language}\n" + "".join(line + "\n" for line in lines) + f"{fence}\n"


def _ending(path: str) -> str:
    """What a file's language is called where none is known: the ending of its name."""
    ending = os.path.splitext(path)[1][1:]
    return ending if ending.isalnum() else ""
