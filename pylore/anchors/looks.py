"""Find definitions by the looks of their lines, for languages without a grammar."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_NO_CODE = re.compile(rf"{STRING}|//.*")
_COMMENTS = ("#", "//", "--", "*", "/*")
_LONGEST, _DEEPEST = 500, 20  # characters of a line that defines, and definitions around another
_WORDS = {
    "function": "def|defp|fn|fun|func|function|proc|sub",
    "class": "actor|class|enum|extension|interface|module|namespace|object|protocol|record|struct"
    "|trait|type|typealias|union",
    "constant": "const|let|local|my|our|val|var",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split("|")}
_BY_WORD = re.compile(
    rf"\s*(?:@?[\w-]+(?:\([^()]*\))? +){{0,6}}(?P<word>{'|'.join(_KINDS)}) +(?:<[^>]*> *)?"
    r"\$?(?P<name>\w+(?:[.:\\]+\w+)*)"
)
_BY_VALUE = re.compile(r"\$?(?P<name>\w+) *(?::[^=]*)?=(?![=>~])")
_BY_TYPE = re.compile(
    r"\s*(?!(?:await|else|new|return|throw|using)\b)(?:[\w<>\[\],.?]+ +){1,6}"
    r"(?P<name>\w+) *(?:<[^>]*> *)?(?P<next>\(|\{|=|;|$)"
)
_TYPED = (".cs", ".dart")  # files with definitions by type and name


def looks(path: str, text: str) -> Iterator[tuple[str, int, int, tuple[Span, ...], str]]:
    """Yield the fields of a ``Definition`` for each name that a text defines, functions' own aside.

    A definition ends with a closing brace or ``end``, or before a line with as little indentation.

    >>> [one[:3] for one in looks("a.kt", "class A {\\n  fun b() {\\n    c()\\n  }\\n}\\n")]
    [('A', 1, 5), ('A.b', 2, 4)]
    """
    found: dict[tuple[str, str], list[Span]] = {}
    for first, last, name, kind in sorted(_spans(path, text)):
        found.setdefault((name, kind), []).append((first, last))
    for (name, kind), (one, *others) in found.items():
        yield name, *one, tuple(others), kind


def _spans(path: str, text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield first and last line, name and kind."""
    opened: list[tuple[int, int, int, str, str]] = []  # indentation, braces around, first line, …
    braces = end = 0
    for number, line in enumerate(text.split("\n"), 1):
        code = line.strip()
        indent = len(line) - len(line.lstrip())
        if not code or code.startswith(_COMMENTS):
            continue
        while opened and indent <= opened[-1][0]:
            around, before, first, name, kind = opened[-1]
            closes = indent == around and (code[0] == "}" or code == "end")
            if not closes and (braces > before or (indent == around and code[0] in "{)]")):
                break
            yield first, number if closes else end, name, kind
            opened.pop()
            if closes:
                break
        end = number
        inside = opened[-1][4] if opened else ""
        found = _defined(path, line, inside) if inside != "function" else None
        if found and len(opened) < _DEEPEST:
            name = f"{opened[-1][3]}.{found[0]}" if opened else found[0]
            opened.append((indent, braces, number, name, found[1]))
        if inside != "function" or indent <= opened[-1][0]:
            code = _NO_CODE.sub("", code)
            braces += code.count("{") - code.count("}")
    yield from ((first, end, name, kind) for _, _, first, name, kind in opened)


def _defined(path: str, line: str, inside: str) -> tuple[str, str] | None:
    """Return name and kind of the definition in a line ``inside`` a kind of definition, or ""."""
    if len(line) > _LONGEST:
        return None
    match = _BY_WORD.match(line) or (None if inside else _BY_VALUE.match(line))
    kind = _KINDS[match["word"]] if match and "word" in match.re.groupindex else "constant"
    if not match and path.endswith(_TYPED):
        match = _BY_TYPE.match(line)
        kind = "function" if match and match["next"] == "(" else "constant"
    if not match or kind == inside == "constant":
        return None
    return re.sub(r"[.:\\]+", ".", match["name"]), kind
