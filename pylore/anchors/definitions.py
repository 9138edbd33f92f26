"""Find the definition of a name in one file by the look of its lines.

For languages that `lore index` does not know, and for files that it has not read.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    FindSymbol = Callable[[str, str, str], list["Definition"]]
    """(path, its text, a name) → the definitions of that name, first one first."""

    Outline = Callable[[Mapping[str, bytes]], dict[str, list["Definition"]]]
    """Texts, by keys that end as names of files do → everything that each defines."""

STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_STRINGS = re.compile(STRING)
_LONGEST = 1000
"""Maximum characters of a line that may define something or be part of an attribute."""
_MOST_ATTRIBUTES = 50
"""Lines above a definition that are searched for its attributes."""
_COMMENTS = (b"//", b"/*", b"*", b"--", b"#")
_ATTRIBUTE = re.compile(
    r"(?:@(?!(?:end|interface|implementation|protocol)\b)[\w.:$]|#?\[)[\w.:$()\[\]]*"
)


class Definition(NamedTuple):
    """A name's definitions in one scope. Lines count from 1, the last one included.

    ``qualified`` has the containers, in dots; ``others`` the first and last line of each further
    definition of the name; ``kind`` is function, class, …
    """

    qualified: str
    line_start: int
    line_end: int
    others: tuple[tuple[int, int], ...] = ()
    kind: str = ""

    def lines(self, file: list[bytes]) -> list[bytes]:
        """Return the lines of all its definitions with their attributes, the body's first."""
        spans = ((self.line_start, self.line_end), *self.others)
        return [
            line
            for first, last in spans
            for line in (*attributes_before(file, first), *file[first - 1 : last])
        ]


def attributes_before(file: Sequence[bytes], first: int) -> list[bytes]:
    """Return the lines of the attributes, annotations or decorators above line ``first``.

    Comments and empty lines among them are left out.

    >>> attributes_before([b"x = 1", b"@cache(", b"  size=3)", b"@final", b"def f():"], 5)
    [b'@cache(', b'  size=3)', b'@final']
    """
    found: list[bytes] = []
    part: list[bytes] = []
    depth, text = 0, ""
    for line in reversed(file[max(0, first - 1 - _MOST_ATTRIBUTES) : first - 1]):
        code = line.strip()
        comment = code.startswith(_COMMENTS) and not code.startswith(b"#[")
        if not part and (not code or comment):
            continue
        if len(code) > _LONGEST:
            break
        code_text = _STRINGS.sub("", code.decode("utf-8", "replace"))
        depth += sum(map(code_text.count, ")]}")) - sum(map(code_text.count, "([{"))
        part, text = [line, *part], f"{code_text}\n{text}"
        if depth < 0 or (depth == 0 and not _is_attribute(text)):
            break
        if depth == 0:
            found, part, text = [*part, *found], [], ""
    return found


def _is_attribute(text: str) -> bool:
    """Return True if a text without strings consists of attributes, and perhaps a comment."""
    outside, depth = [], 0
    for letter in text:
        depth -= letter in ")]}"
        if depth == 0:
            outside.append(letter)
        depth += letter in "([{"
    words = re.split(r"\s+(?=[#/@\[])", "".join(outside).strip())
    comment = next((at for at, word in enumerate(words) if word[:2] in ("# ", "//")), len(words))
    return comment > 0 and all(map(_ATTRIBUTE.fullmatch, words[:comment]))


_WORDS = (
    "class|def|function|func|fun|fn|struct|enum|union|interface|trait|type|module|namespace|impl"
    "|protocol|object|record|const|let|var|static|sub|proc|macro_rules!|typedef"
)
_TYPED = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".java", ".cs", ".m", ".mm", ".dart")
_NAME = "\0"  # one pattern for all names: to make one is slower than to read a file
_START = rf"""\s*(?:
    (?:[\w@()"'-]+[ ]+){{0,6}}? (?:{_WORDS}) (?:\s*\([^)]*\))? \s*\*? \s+ {_NAME} (?!\w)
  | (?:(?:public|private|protected|static|async|get|set|\*)[ ]*)* {_NAME}
        \s* (?:<[^>]*>)? \( [^;]* \{{ \s* $
  | {_NAME} \s* (?:\(\)\s*\{{ | (?::[^=]*)?=(?!=))
  {{typed}}
)"""
_TYPED_START = rf"| (?:[\w<>\[\],.:?]+[ *&]+){{1,6}}? {_NAME} \s* \( [^;]* $"
_STARTS = [re.compile(_START.replace("{typed}", one), re.VERBOSE) for one in ("", _TYPED_START)]


def find_definitions(path: str, text: str, name: str) -> list[Definition]:
    """Return the definitions of ``name`` (``check`` or ``Login.check``) in a file's text."""
    parts = name.replace("::", ".").replace("#", ".").split(".")
    if not all(part and part in text for part in parts):
        return []
    lines, starts = text.split("\n"), _STARTS[path.endswith(_TYPED)]
    spans = [(0, len(lines))]
    for part in parts:
        whole = re.compile(rf"(?<!\w){re.escape(part)}(?!\w)")
        spans = [
            (index, _end(lines, index, last))
            for first, last in spans
            for index in range(first, last)
            if part in lines[index]
            and len(lines[index]) < _LONGEST
            and _NAME in (line := whole.sub(_NAME, lines[index]))
            and starts.match(line)
        ]
    return [Definition(name, first + 1, last) for first, last in spans]


def _end(lines: Sequence[str], start: int, last: int) -> int:
    """Return the index after the last line of the definition that begins at ``start``."""
    indent, end = _indent(lines[start]), start + 1
    for index in range(start + 1, last):
        text = lines[index].strip()
        if not text:
            continue
        closes = text[0] == "}" or text == "end"
        deeper = _indent(lines[index]) - indent
        if deeper < 0 or (deeper == 0 and not closes and text[0] not in "{)]"):
            break
        end = index + 1
        if deeper == 0 and closes:
            break
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
