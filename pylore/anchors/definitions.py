"""Find the definition of a name in one file, by the look of its lines.

For languages that `lore index` does not know, and for files that it has not read.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    FindSymbol = Callable[[str, str, str], list["Definition"]]
    """(path, its text, a name) → the definitions of that name, first one first."""

    Outline = Callable[[Mapping[str, bytes]], dict[str, list["Outlined"]]]
    """Texts, by keys that end as names of files do → everything that each defines."""


@dataclass(frozen=True)
class Definition:
    """A name's definitions in one scope. Lines count from 1, the last one included."""

    qualified: str
    """With its containers, in dots."""
    line_start: int
    line_end: int
    others: tuple[tuple[int, int], ...] = ()
    """First and last line of each further definition of the name."""

    def lines(self, file: list[bytes]) -> list[bytes]:
        """Return the lines of all its definitions with their attributes, the body's first."""
        spans = ((self.line_start, self.line_end), *self.others)
        return [
            line
            for first, last in spans
            for line in (*attributes_before(file, first), *file[first - 1 : last])
        ]


@dataclass(frozen=True)
class Outlined(Definition):
    """A definition with its kind: function, class, …"""

    kind: str = ""


_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_STRINGS = re.compile(_STRING)
_LONGEST = 1000
"""Characters of a line that may define something or be part of an attribute."""
_MOST_ATTRIBUTES = 50
"""Lines above a definition that are searched for its attributes."""
_COMMENTS = (b"//", b"/*", b"*", b"--", b"#")
_OPENING, _CLOSING = "([{", ")]}"
_ATTRIBUTE = re.compile(
    r"(?:@(?!(?:end|interface|implementation|protocol)\b)[\w.:$]|#?\[)[\w.:$()\[\]]*"
)


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
        depth += sum(map(code_text.count, _CLOSING)) - sum(map(code_text.count, _OPENING))
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
        depth -= letter in _CLOSING
        if depth == 0:
            outside.append(letter)
        depth += letter in _OPENING
    words = re.split(r"\s+(?=[#/@\[])", "".join(outside).strip())
    comment = next((at for at, word in enumerate(words) if word[:2] in ("# ", "//")), len(words))
    return comment > 0 and all(map(_ATTRIBUTE.fullmatch, words[:comment]))


_WORDS = (
    "class|def|function|func|fun|fn|struct|enum|union|interface|trait|type|module|namespace|impl"
    "|protocol|object|record|const|let|var|static|sub|proc|macro_rules!|typedef"
)
_TYPED = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".java", ".cs", ".m", ".mm", ".dart")
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


_HASHES = (".py", ".pyi", ".rb", ".sh", ".bash")
"""Endings of files whose comments begin with ``#``."""

_TOKEN = rf"(?P<string>{_STRING})|(?P<word>\w+)|(?P<mark>[^\w\s])"
_LEFT_OUT_BY_HASH = r"\#.*|[rRuU]?\"\"\"(?s:.*?)\"\"\"|[rRuU]?'''(?s:.*?)'''"
_LEFT_OUT_BY_SLASH = r"//.*|/\*(?s:.*?)\*/"
_BY_HASH = re.compile(rf"(?P<left_out>{_LEFT_OUT_BY_HASH})|{_TOKEN}")
_BY_SLASH = re.compile(rf"(?P<left_out>{_LEFT_OUT_BY_SLASH})|{_TOKEN}")

_WORD = re.compile(r"[^\W\d]\w{2,}")

Bag = frozenset[int]
"""Tokens and pairs of neighbours, each with its number among those that are the same, as hashes."""


def bag_of(path: str, text: str, name: str) -> Bag:
    """Return the tokens of a definition in a file of this name; ``name`` is the definition's
    own."""
    found = _tokens(path, text, name)
    seen: Counter[object] = Counter()
    bag = set()
    for one in (*found, *zip(found, found[1:], strict=False)):
        seen[one] += 1
        bag.add(hash((one, seen[one])))
    return frozenset(bag)


def words_of(path: str, text: str, name: str) -> frozenset[str]:
    """Return the names and words in a definition, but for its own and the shortest."""
    return frozenset(one for one in _tokens(path, text, name) if _WORD.fullmatch(one))


def words_in(text: str) -> frozenset[str]:
    """Return all such words of a file, whatever they are in."""
    return frozenset(_WORD.findall(text))


def renamed(path: str, text: str, old: str, new: str) -> list[str]:
    """Return a definition under another name, wherever it names itself, but for strings.

    First with comments and documentation as they were, then with the name changed there too.

    >>> renamed("a.py", "def f(): f('f')  # f", "f", "g")
    ["def g(): g('f')  # f", "def g(): g('f')  # g"]
    """
    before, after = old.rpartition(".")[2], new.rpartition(".")[2]
    own = re.compile(rf"(?<!\w){re.escape(before)}(?!\w)")
    left_out = _LEFT_OUT_BY_HASH if path.endswith(_HASHES) else _LEFT_OUT_BY_SLASH
    parts = re.compile(rf"(?P<left_out>{left_out})|(?P<string>{_STRING})|(?P<own>{own.pattern})")

    def code(match: re.Match[str]) -> str:
        return after if match.lastgroup == "own" else match[0]

    def comments_too(match: re.Match[str]) -> str:
        return match[0] if match.lastgroup == "string" else own.sub(lambda _: after, match[0])

    return list(dict.fromkeys(parts.sub(change, text) for change in (code, comments_too)))


def similarity(one: Bag, other: Bag) -> float:
    """Return how much of both bags is in each, 0 to 1; 1 for the same, whichever comes first.

    >>> one, other = ("def f(x): return x", "f"), ("def g(x):  # it\\n  return x", "g")
    >>> similarity(bag_of("a.py", *one), bag_of("a.py", *other))
    1.0
    """
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else 1.0


def _tokens(path: str, text: str, name: str) -> list[str]:
    own = name.rpartition(".")[2]
    return [
        "\0" if match[0] == own else match[0]
        for match in (_BY_HASH if path.endswith(_HASHES) else _BY_SLASH).finditer(text)
        if match.lastgroup != "left_out"
    ]
