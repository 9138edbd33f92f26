"""The definitions of files, by the grammars of their languages or by their looks."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..core.paths import is_source
from ..system.files import size_in
from .fingerprint import last_name, lines_of, stretch_hash
from .looks import STRING, looks
from .project import Project, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Outline = Callable[[Mapping[str, bytes]], dict[str, list["Definition"]]]
    """Texts, by keys that end as names of files do → everything that each defines."""

LARGEST = 1_000_000  # bytes of a file that is parsed
_LONGEST, _MOST_ATTRIBUTES = 1000, 50  # bytes of a line of an attribute, and lines above a name
_COMMENTS = ("//", "/*", "*", "--", "#")
_NO_CODE = re.compile(rf"{STRING}|\s(?:#|//)\s.*")
_ATTRIBUTE = re.compile(
    r"@(?!(?:end|interface|implementation|protocol)\b)[\w.:$]+(?: *[@(\[].*)?(?<=[\w)\]])$"
    r"|#?\[(?!.*\] *=).*\]$"
)


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
        depth += sum(map(code.count, ")]}")) - sum(map(code.count, "([{"))
        part, text = [line, *part], code + text
        if depth < 0 or (depth == 0 and not _ATTRIBUTE.match(text)):
            break
        if depth == 0:
            found, part, text = [*part, *found], [], ""
    return found


_KINDS = {"function": "callable", "method": "callable", "class": "type", "interface": "type"}


def _dotted(name: str) -> str:
    return "." + name.replace("::", ".").replace("#", ".")


class Defined:
    """A definition in a version of a file."""

    __slots__ = ("bag", "dotted", "kind", "line_start", "lines", "name", "path", "qualified")

    def __init__(self, path: str, file: list[bytes], found: Definition) -> None:
        self.path, self.qualified = path, found.qualified
        self.name, self.dotted = last_name(found.qualified), _dotted(found.qualified)
        self.kind = _KINDS.get(found.kind, found.kind)
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
        return [one for one in named if one.path != path and one.dotted.endswith(wanted)]

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
        found = self._outline(texts) if texts else {}
        for path in unread:
            lines = lines_of(texts.get(path, b""))
            defined = found.get(path) or []
            defined += _by_looks(path, texts.get(path, b""), {one.qualified for one in defined})
            self.known[revision, path] = [Defined(path, lines, one) for one in defined]
            for one in () if revision else self.known[revision, path]:
                self._named.setdefault(one.name, []).append(one)
        return [one for path in paths for one in self.known[revision, path]]


def _by_looks(path: str, content: bytes, known: set[str]) -> list[Definition]:
    """Return the definitions that no grammar found, only variables in a file with ``known``."""
    text = content.decode("utf-8", "replace") if is_source(path) else ""
    return [
        one
        for one in map(Definition._make, looks(path, text))
        if not known or (one.kind == "constant" and one.qualified not in known)
    ]
