"""Find the definition of a name in one file, by the look of its lines.

For languages that `lore index` does not know, and for files that it has not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    FindSymbol = Callable[[str, str, str], list["Definition"]]
    """(path, its text, a name) → the definitions of that name, first one first."""

    Finder = Callable[[str, str], FindSymbol]
    """(root, path) → what finds symbols in this file."""

    Outline = Callable[[Mapping[str, bytes]], dict[str, list["Outlined"]]]
    """Texts, by keys that end as names of files do → everything that each defines."""


@dataclass(frozen=True)
class Definition:
    """A definition. Lines count from 1, the last one included."""

    qualified: str
    """With its containers, in dots."""
    line_start: int
    line_end: int


@dataclass(frozen=True)
class Outlined(Definition):
    """A definition with its kind: function, class, …"""

    kind: str


_WORDS = (
    "class|def|function|func|fn|struct|enum|union|interface|trait|type|module|namespace|impl"
    "|protocol|object|record|const|let|var|static|sub|proc|macro_rules!|typedef"
)
_TYPED = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".java", ".cs", ".m", ".mm", ".dart")
_LONGEST = 1000  # letters of a line that may define something
_INDENTED = (".py", ".pyi", ".pyx", ".coffee", ".nim", ".yml", ".yaml")
_ENDED = (".rb", ".lua", ".ex", ".exs", ".jl")


def find_definitions(path: str, text: str, name: str) -> list[Definition]:
    """Return the definitions of ``name`` (``check`` or ``Login.check``) in a file's text."""
    parts = name.replace("::", ".").replace("#", ".").split(".")
    if not all(part and part in text for part in parts):
        return []
    lines = text.split("\n")
    spans = [(0, len(lines))]
    for part in parts:
        spans = [
            found for first, last in spans for found in _within(path, lines, first, last, part)
        ]
    return [Definition(name, first + 1, last) for first, last in spans]


def _within(
    path: str, lines: Sequence[str], first: int, last: int, name: str
) -> list[tuple[int, int]]:
    """Return index of the first line and the one after the last, of each definition in a
    stretch."""
    starts = _TYPED_START if path.endswith(_TYPED) else _START
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [
        (index, _end(path, lines, index, last))
        for index in range(first, last)
        if name in lines[index]
        and len(lines[index]) < _LONGEST
        and _NAME in (line := whole.sub(_NAME, lines[index]))
        and starts.match(line)
    ]


def _starts(*, typed: bool) -> re.Pattern[str]:
    """Return what a line that defines something begins with; the name is replaced by ``_NAME``."""
    of_a_type = rf"| (?:[\w<>\[\],.:?]+[ *&]+){{1,6}}? {_NAME} \s* \( [^;]* $" if typed else ""
    return re.compile(
        rf"""\s*(?:
            (?:[\w@()"'-]+[ ]+){{0,6}}? (?:{_WORDS}) (?:\s*\([^)]*\))? \s*\*? \s+ {_NAME} (?!\w)
          | (?:(?:public|private|protected|static|async|get|set|\*)[ ]*)* {_NAME}
                \s* (?:<[^>]*>)? \( [^;]* \{{ \s* $
          | {_NAME} \s* (?:\(\)\s*\{{ | (?::[^=]*)?=(?!=))
          {of_a_type}
        )""",
        re.VERBOSE,
    )


_NAME = "\0"  # one pattern for all names: to make one is slower than to read a file
_START = _starts(typed=False)
_TYPED_START = _starts(typed=True)


def _end(path: str, lines: Sequence[str], start: int, last: int) -> int:
    """Return the index after the last line of the definition that begins at ``start``."""
    if path.endswith(_INDENTED):
        return _end_by_indent(lines, start, last, closing=(")", "]", "}"))
    if path.endswith(_ENDED):
        return _end_by_indent(lines, start, last, closing=("end",))
    depth = 0
    for index in range(start, last):
        line = lines[index]
        depth += sum(map(line.count, "{([")) - sum(map(line.count, "})]"))
        if depth <= 0 and ("}" in line or line.rstrip().endswith((";", ","))):
            return index + 1
        if depth <= 0 and index > start + 20:
            break
    return start + 1


def _end_by_indent(lines: Sequence[str], start: int, last: int, *, closing: tuple[str, ...]) -> int:
    indent = _indent(lines[start])
    end = start + 1
    for index in range(start + 1, last):
        line = lines[index]
        if not line.strip():
            continue
        closes = line.strip().startswith(closing)
        if _indent(line) < indent or (_indent(line) == indent and not closes):
            break
        end = index + 1
        if closes and closing == ("end",) and _indent(line) == indent:
            break
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
