"""The definitions of files, by the grammars of their languages or by their looks."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..core.vocabulary import is_source
from ..system.files import size_in
from .project import Project, Unreadable, last_name, lines_of, stretch_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Outline = Callable[[Project, Mapping[str, bytes]], dict[str, list["Definition"]]]
    """Project, and texts by keys that end as names of files do → everything that each defines."""

LARGEST = 1_000_000  # bytes of a file that is parsed
_MOST_ATTRIBUTES = 50  # lines of attributes above a name
_LONGEST, _DEEPEST = 1000, 20  # characters of a line, and definitions around another
_COMMENTS = ("#", "//", "--", "*", "/*")
STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\\."
_NO_CODE = re.compile(rf"{STRING}|\s//.*|\s#\s.*")
_ATTRIBUTE = re.compile(
    r"@(?!(?:end|interface|implementation|protocol)\b)[\w.:$]+(?: *[@(\[].*)?(?<=[\w)\]])$"
    r"|#?\[(?!.*\] *=).*\]$|(?:template ?<|requires \w).*>$|sig ?\{.*\}$"
)
_WORDS = {
    "function": "def|defmacro|defp|fn|fun|func|function|proc|rpc|sub|FUNCTION|PROCEDURE|TRIGGER",
    "class": "actor|class|contract|defmodule|enum|extension|given|interface|message|module"
    "|namespace|object|protocol|record|service|struct|trait|type|typealias|union|TABLE|TYPE|VIEW",
    "constant": "const|let|local|my|our|val|var",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split("|")}
_BY_WORD = re.compile(
    rf"\s*(?:@?[\w-]+(?:\([^()]*\))? +){{0,6}}(?:(?P<word>{'|'.join(_KINDS)}) +(?:<[^>]*> *)?"
    r"(?:(?:rec|inline|mutable|IF NOT EXISTS|(?<=const )[\w<>?.]+(?= +\w+ *=)) +)?[$&\"]?"
    r"|(?<=\s)(?=(?:init|deinit|subscript)\b[?!]? *[<({]))"
    r"(?P<name>\w+(?:-\w+)*(?:(?:<[^()>]*>)?\??[.:\\]+\w+)*)"
)
_BY_VALUE = re.compile(r"\$?(?P<name>\w+(?:[.:]\w+)*) *(?::[^=]*)?(?:=(?![=>~])|<-)")
_BY_TYPE = re.compile(
    r"\s*(?!(?:await|else|extends|global|implements|new|return|throw|use|using|with)\b)"
    r"(?:[\w<>\[\],.?|\\]+ +){1,6}\$?(?P<name>\w[\w.]*) *(?:<[^>]*> *)?(?P<next>\(|\{|=|;|$)"
)
_TYPED = (".cs", ".dart", ".php")  # files with definitions by type and name; PHP in classes
_BLOCK = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")


class Definition(NamedTuple):
    """A name with containers, first and last line from 1, and the same of ``others`` of that name;
    ``kind`` is function, class, …"""

    qualified: str
    line_start: int
    line_end: int
    others: tuple[tuple[int, int], ...] = ()
    kind: str = ""

    def lines(self, file: list[bytes]) -> list[bytes]:
        """Return the lines of all definitions with their attributes, the first definition first."""
        spans = ((self.line_start, self.line_end), *self.others)
        return [
            line
            for first, last in spans
            for line in (*attributes_before(file, first), *file[first - 1 : last])
        ]


def attributes_before(file: Sequence[bytes], first: int) -> list[bytes]:
    """Return the lines of attributes and decorators above line ``first``, without comments.

    >>> attributes_before([b"x = 1", b"@cache(", b"  size=3)", b"@final", b"def f():"], 5)
    [b'@cache(', b'  size=3)', b'@final']
    """
    found: list[bytes] = []
    part: list[bytes] = []
    depth, text = 0, ""
    for line in reversed(file[max(0, first - 1 - _MOST_ATTRIBUTES) : first - 1]):
        code = _NO_CODE.sub("", line[:_LONGEST].decode("utf-8", "replace")).strip()
        comment = code.startswith(_COMMENTS) and not code.startswith("#[")
        if not part and (not code or comment):
            continue
        if not part:  # parameters of a template end with an angle
            opening, closing = ("([{<", ")]}>") if code.endswith(">") else ("([{", ")]}")
        depth += sum(map(code.count, closing)) - sum(map(code.count, opening))
        part, text = [line, *part], code + text
        if depth < 0 or (depth == 0 and not _ATTRIBUTE.match(text)):
            break
        if depth == 0:
            found, part, text = [*part, *found], [], ""
    return found


_ALIKE = {"function": "callable", "method": "callable", "class": "type", "interface": "type"}


def _dotted(name: str) -> str:
    return "." + name.replace("::", ".").replace("#", ".")


class Defined:
    """A definition in a version of a file."""

    __slots__ = ("bag", "dotted", "kind", "line_start", "lines", "name", "path", "qualified")

    def __init__(self, path: str, file: list[bytes], found: Definition) -> None:
        self.path, self.qualified = path, found.qualified
        self.name, self.dotted = last_name(found.qualified), _dotted(found.qualified)
        self.kind = _ALIKE.get(found.kind, found.kind)
        self.line_start, self.lines = found.line_start, found.lines(file)
        self.bag: frozenset[int] = frozenset()

    @property
    def hash(self) -> str:
        """Return the fingerprint, which a new name does not change."""
        name = re.escape(self.name.encode())
        own = re.compile(rb"(?<![\w\x80-\xff])" + name + rb"(?![\w\x80-\xff])")
        return stretch_hash([own.sub(b"\0", line) for line in self.lines])


class Definitions:
    """The definitions in the files of a project, each version parsed once."""

    def __init__(self, project: Project, outline: Outline) -> None:
        self._project = project
        self._outline = outline
        self.known: dict[tuple[str, str], list[Defined]] = {}  # by revision and path
        self._named: dict[str, list[Defined]] = {}  # by last name, in the work tree

    def find(self, revision: str, path: str, name: str) -> list[Defined]:
        """Return the definitions of a name, as ``check`` or ``Login.check``, in a file."""
        wanted, known = _dotted(name), self.read(revision, [path])
        exact = [one for one in known if one.dotted == wanted]
        return exact or [one for one in known if one.dotted.endswith(wanted)]

    def elsewhere(self, path: str, name: str) -> list[Defined]:
        """Return the definitions of a name in the other files of the work tree that were read."""
        wanted, named = _dotted(name), self._named.get(last_name(name), [])
        found = [one for one in named if one.path != path and one.dotted.endswith(wanted)]
        return sorted(found, key=lambda one: one.path)  # files are read in any order

    def read(self, revision: str, paths: Sequence[str]) -> list[Defined]:
        """Return all definitions in files of a revision, "" for the work tree, parsed at once."""
        unread = [path for path in paths if (revision, path) not in self.known]
        texts = self._project.git.contents(revision, unread, LARGEST) if revision else {}
        for path in () if revision else unread:
            try:
                if size_in(self._project.stamp(path)) <= LARGEST:
                    texts[path] = self._project.read(path)
            except Unreadable:
                continue
        found = self._outline(self._project, texts) if texts else {}
        for path in unread:
            lines = lines_of(texts.get(path, b""))
            defined = found.get(path) or []
            known = {one.qualified for one in defined}  # by the grammar, without some variables
            text = texts.get(path, b"").decode("utf-8", "replace") if is_source(path) else ""
            defined += [
                one
                for one in looks(path, text)
                if not known or (one.kind == "constant" and one.qualified not in known)
            ]
            self.known[revision, path] = [Defined(path, lines, one) for one in defined]
            for one in () if revision else self.known[revision, path]:
                self._named.setdefault(one.name, []).append(one)
        return [one for path in paths for one in self.known[revision, path]]


def looks(path: str, text: str) -> Iterator[Definition]:
    """Yield each name that a text defines by the looks of its lines, functions' own names aside.

    A definition ends with a closing brace or ``end``, or before a line with as little indentation.

    >>> [one[:3] for one in looks("a.kt", "class A {\\n  fun b() {\\n    c()\\n  }\\n}\\n")]
    [('A', 1, 5), ('A.b', 2, 4)]
    """
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for first, last, name, kind in sorted(_spans(path, text)):
        found.setdefault((name, kind), []).append((first, last))
    for (name, kind), (one, *others) in found.items():
        yield Definition(name, *one, tuple(others), kind)


def _spans(path: str, text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield first and last line, name and kind."""
    opened: list[tuple[int, int, int, str, str]] = []  # indentation, braces around, first line, …
    braces = end = 0
    is_quoted, is_ended = False, not path.endswith(".sql")  # a text in dollars, a statement
    for number, line in enumerate(text.split("\n"), 1):
        code = line.strip()
        indent = len(line) - len(line.lstrip())
        if not code or code.startswith(_COMMENTS):
            continue
        while opened and indent <= opened[-1][0]:
            around, before, first, name, kind = opened[-1]
            closes = indent == around and (code[0] == "}" or code.rstrip("; /$").lower() == "end")
            is_inner = is_quoted or not (is_ended or code.upper().startswith(("CREATE", "GO")))
            is_inner |= braces > before or (indent == around and code[0] in "{)]")
            if is_inner and not closes:
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
            rest = _NO_CODE.sub("", line).partition("{")[2] if found[1] == "class" else ""
            for part in _BLOCK.sub(";", rest).split(";"):
                if member := _defined(path, part, "class"):
                    yield number, number, f"{name}.{member[0]}", member[1]
        if inside != "function" or indent <= opened[-1][0]:
            code = _NO_CODE.sub("", code)
            braces += code.count("{") - code.count("}")
        if path.endswith(".sql"):
            if len(re.findall(r"\$\w*\$", code)) % 2:
                is_quoted = not is_quoted
            is_ended = code.partition("--")[0].rstrip().endswith(";")
    yield from ((first, end, name, kind) for _, _, first, name, kind in opened)


def _defined(path: str, line: str, inside: str) -> tuple[str, str] | None:
    """Return name and kind of the definition in a line ``inside`` a kind of definition, or ""."""
    if len(line) > _LONGEST:
        return None
    match, kind = _BY_WORD.match(line), "constant"
    if match:  # init, deinit and subscript stand without a word
        kind = _KINDS.get(match["word"], "function")
    elif inside in ("", "class"):
        match = _BY_VALUE.match(line.lstrip() if inside else line)
    if not match and path.endswith(_TYPED if inside == "class" else _TYPED[:2]):
        match = _BY_TYPE.match(line)
        kind = "function" if match and match["next"] == "(" else "constant"
    if not match or kind == inside == "constant":
        return None
    return re.sub(r"(?:<[^()>]*>)?\??[.:\\]+", ".", match["name"]), kind
