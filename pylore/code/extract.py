"""Extract symbols, signatures and imports from one file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from ..core.text import composed, one_line
from ..core.vocabulary import file_id, symbol_id
from .expressions import NAME, UNKNOWN, Parts, parts_of, split
from .facts import MODULE, TYPING, Call, FileFacts, Import, Symbol
from .languages.registry import language as language_of
from .languages.spec import LanguageSpec
from .rules import Match

SIGNATURE_LENGTH = 300
DOC_LENGTH = 1500
_HEAD_LINES = 25
_HEAD_LENGTH = 4000
"""Characters of a definition that are examined for its head."""
_MOST_ATTRIBUTES = 50
"""Lines of attributes between a definition and its comment."""
_MARKS = re.compile(r"[()\[\]{};:\n]|=>|=|\"|'")
_DOCSTRING = re.compile(r"\s*[rRuUbB]{0,2}(\"\"\"|'''|\"|')(.*?)(?<!\\)\1", re.DOTALL)
_ATTRIBUTES = ("@", "#[")  # decorators, annotations, attributes
_LICENSE = re.compile(r"copyright|licen[sc]e|spdx-|all rights reserved", re.IGNORECASE)


class Source:
    """One file's text, by lines."""

    def __init__(self, text: str, language: LanguageSpec) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._language = language

    def signature(self, first: int, last: int, kind: str) -> str:
        """Return the head of the definition on these lines: up to its body, in one line."""
        first = self._after_attributes(first, last)
        lines = self.lines[first - 1 : min(last, first + _HEAD_LINES)]
        if kind == "constant" or not lines:
            return one_line(lines[0][:_HEAD_LENGTH])[:SIGNATURE_LENGTH] if lines else ""
        text = "\n".join(lines)[:_HEAD_LENGTH]
        return one_line(text[: self._head_end(text)])[:SIGNATURE_LENGTH].rstrip(" =")

    def doc(self, first: int, last: int, kind: str) -> str:
        """Return the docstring of a definition, or else the comment right before it."""
        if self._language.docstrings and kind in ("class", "function", "method"):
            doc = self._docstring(first, last)
            if doc:
                return doc
        return self._comment_before(first)

    def leading(self) -> str:
        """Return what the file says of itself: its docstring, or else its first comment but a
        licence."""
        if self._language.docstrings:
            start = 0
            while start < len(self.lines) and _is_blank(self.lines[start], "#"):
                start += 1
            match = _DOCSTRING.match("\n".join(self.lines[start : start + 100]))
            if match:
                return _trimmed(match[2])
        for block in self._first_comments():
            if not _LICENSE.search(block):
                return block[:DOC_LENGTH]
        return ""

    def excerpt(self, first: int, last: int, length: int) -> str:
        """Return the text of these lines, its beginning if it is longer."""
        # a line is a character at the least
        return "\n".join(self.lines[first - 1 : min(last, first + length)])[:length]

    # --- steps

    def _after_attributes(self, first: int, last: int) -> int:
        while first < last and self.lines[first - 1].lstrip()[:1] == "@":
            line = self.lines[first - 1].strip()
            if "(" not in line and " " in line:
                break  # the definition stands on the same line
            depth = line.count("(") - line.count(")")
            if not depth and " " in line.rpartition(")")[2].strip():
                break
            while depth > 0 and first < last:
                first += 1
                depth += self.lines[first - 1].count("(") - self.lines[first - 1].count(")")
            first += 1
        return first

    def _head_end(self, text: str) -> int:
        """Return where the head ends in a definition: at its body, a semicolon, or a line's end."""
        block = self._language.block
        depth = position = 0
        while True:
            match = _MARKS.search(text, position)
            if match is None:
                return len(text)
            mark, position = match[0], match.end()
            if mark in "([":
                depth += 1
            elif mark in ")]":
                depth -= 1
            elif mark in "\"'":
                end = text.find(mark, position)
                position = end + 1 if end >= 0 else position
            elif depth > 0:
                continue
            elif (
                (mark in "{;" and block == "{")
                or mark == "=>"
                or (mark == ":" and block == ":")
                or (mark == "\n" and block != "{")
            ):
                return match.start()

    def _docstring(self, first: int, last: int) -> str:
        lines = self.lines[first - 1 : min(last, first + _HEAD_LINES + 39)]
        end = self._head_end("\n".join(lines[:_HEAD_LINES])[:_HEAD_LENGTH])
        text = "\n".join(lines)
        colon = text.find(":", end)
        rest = text[colon + 1 :] if colon >= 0 else ""
        if "#" in rest[: rest.find("\n")]:  # a comment after the colon
            rest = rest[rest.find("\n") :]
        match = _DOCSTRING.match(rest)
        return _trimmed(match[2]) if match else ""

    def _comment_before(self, first: int) -> str:
        at = first - 2
        last = max(0, at - _MOST_ATTRIBUTES)
        while at >= last and self.lines[at].lstrip().startswith(_ATTRIBUTES):
            at -= 1
        begin = self._comment_begin(at)
        if begin > at:
            return ""
        return self._comment_text(begin, at + 1)

    def _comment_begin(self, at: int) -> int:
        """Return the first line of the comment that ends with line ``at``; one after it if none
        does."""
        begin = at + 1
        line = self.lines[at].strip() if at >= 0 else ""
        if line.endswith("*/") and "/*" in self._language.comments:
            while begin > 0 and at - begin < 200:
                begin -= 1
                if "/*" in self.lines[begin]:
                    return begin if self.lines[begin].lstrip().startswith("/*") else at + 1
            return at + 1
        marks = tuple(mark for mark in self._language.comments if mark not in ("/*", "*"))
        while begin > 0 and marks and self.lines[begin - 1].lstrip().startswith(marks):
            if self.lines[begin - 1].startswith("#!"):
                break
            begin -= 1
        return begin

    def _comment_text(self, begin: int, end: int) -> str:
        marks = "".join({letter for mark in self._language.comments for letter in mark})
        cleaned = (line.strip().strip(marks + "!").strip() for line in self.lines[begin:end])
        return "\n".join(line for line in cleaned if line)[:DOC_LENGTH]

    def _first_comments(self) -> list[str]:
        """Return the comments at the beginning of the file, before any code."""
        found: list[str] = []
        at, marks = 0, self._language.comments
        inside = False
        begin = -1
        while at < min(len(self.lines), 200) and len(found) < 3:
            line = self.lines[at].strip()
            comment = inside or (bool(marks) and line.startswith(marks) and line[:2] != "#!")
            if comment and "/*" in marks:
                inside = ("/*" in line or inside) and "*/" not in line
            if comment and begin < 0:
                begin = at
            elif not comment and begin >= 0:
                found.append(self._comment_text(begin, at))
                begin = -1
            if not comment and line and line[:2] != "#!":
                break
            at += 1
        if begin >= 0:
            found.append(self._comment_text(begin, at))
        return [block for block in found if block]


def _is_blank(line: str, comment: str) -> bool:
    line = line.strip()
    return not line or line.startswith(comment)


def _trimmed(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())[:DOC_LENGTH]


_QUOTES = "'\"`"


def imports(kind: str, match: Match, own: frozenset[str]) -> Iterator[Import]:
    """Yield what one match imports: most give one, a ``use`` of Rust one for each name.

    ``own`` are the words for the module itself among the names that are taken of it.
    """
    module, name, alias = (*match.fields, "", "", "")[:3]
    if kind in ("use", "export") and not name and module[:1] not in _QUOTES and module:
        for base, taken, called in _use_tree(module, own):
            yield Import(base, taken, called, 0, match.first, kind)
        return
    if kind == "include":
        yield Import(module.strip(), "", "", 0, match.first, kind)
        return
    module = "".join(module.split()) if module[:1] not in _QUOTES else module.strip(_QUOTES)
    level = len(module) - len(module.lstrip(".")) if match.rule.startswith("import") else 0
    if level and not module.startswith(("./", "../")) and module not in (".", ".."):
        module = module[level:]
    elif level and (match.fields[0][:1] in _QUOTES or "/" in module):
        level = 0
    elif level:
        module = ""
    name, alias = name.strip(_QUOTES), alias.strip(_QUOTES)
    yield Import(module, name, "" if alias == name else alias, level, match.first, kind)


_DEEPEST = 50
"""Braces within braces of one import."""


def _use_tree(
    text: str, own: frozenset[str], prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, str, str]]:
    """Turn ``a::{b, c as d}`` into ``("a", "b", "")``, ``("a", "c", "d")``.

    Raises:
        RecursionError: the braces nest too deep.
    """
    if depth > _DEEPEST:
        raise RecursionError
    text = text.strip()
    path, brace, rest = text.partition("{")
    if brace:
        base = _joined(prefix, path.strip().removesuffix("::"))
        for part in split(rest.rstrip().removesuffix("}")):
            yield from _use_tree(part, own, base, depth + 1)
        return
    path, _, alias = text.partition(" as ")
    path, alias = "".join(path.split()), alias.strip()
    if path in own and prefix:
        yield prefix, "", alias
        return
    base, colons, name = path.rpartition("::")
    base = _joined(prefix, base)
    if base or colons:
        yield base, name, alias
    else:
        yield name, "", alias


def _joined(prefix: str, path: str) -> str:
    path = path.removeprefix("::")
    return f"{prefix}::{path}" if prefix and path else prefix or path


KINDS = ("class", "interface", "module", "type", "function", "method", "constant")
CONTAINERS = frozenset({"class", "interface", "module", "scope", "type"})
_TYPES = CONTAINERS - {"module"}
_CALLERS = frozenset({"class", "interface", "module", "function", "method", "type"})
_ORDER = {kind: place for place, kind in enumerate(("scope", *KINDS))}
_MOST_VALUES = 8
_MOST_BASES = 100
_STUBS = ("...", ";")
"""How a definition ends that has no body."""
_EXTRACT_DEEPEST = 100
"""Definitions within definitions: each name has those of all around it."""


class DefinitionMatch:
    """A match that defines something, on its way to a ``Symbol``."""

    __slots__ = ("bases", "first", "kind", "last", "member", "name", "outer", "params", "qualified")

    def __init__(self, match: Match, kind: str, parts: Parts) -> None:
        fields = match.fields
        self.first = match.first
        self.last = match.last
        if match.rule.endswith(".line"):  # the match includes the line's end
            self.last = max(match.first, match.last - 1)
        self.kind = kind
        owner = parts.owner(fields[2]) if len(fields) > 2 and fields[2] else ""
        own = parts.name(fields[0]) if kind != "scope" else parts.instance(fields[0])
        self.qualified = f"{owner}.{own}" if owner else own
        self.name = own if kind == "module" or "." not in own else parts.last(own)
        extra = fields[1] if len(fields) > 1 else ""
        self.member = match.rule.endswith(".member")
        self.bases = parts.bases(extra) if kind in CONTAINERS else ()
        self.params = extra if kind in ("function", "method") else ""
        self.outer: DefinitionMatch | None = None
        if kind == "function" and "." in self.qualified:
            self.kind = "method"


class TooDeepError(RecursionError):
    """Definitions are within more others than anybody writes."""


def extract(path: str, language: str, source: Source, matches: Sequence[Match]) -> FileFacts:
    """Return everything that these matches say of one file.

    Raises:
        TooDeepError: its definitions nest too deep.
    """
    facts = FileFacts(path, language)
    spec = language_of(language)
    parts = parts_of(spec)
    grouped: dict[str, list[Match]] = {}
    for match in matches:
        grouped.setdefault(match.rule.partition(".")[0], []).append(match)
    definitions = _nested(
        DefinitionMatch(match, kind, parts)
        for kind in (*KINDS, "scope")
        for match in grouped.pop(kind, ())
    )
    _embed(grouped.pop("base", []), definitions, parts)
    facts.symbols = _symbols(definitions, source, parts)
    scopes = [d for d in definitions if d.kind in _CALLERS or d.kind == "scope"]
    facts.calls = _calls(grouped.pop("call", []), scopes, parts)
    facts.assigned = _assigned(grouped.pop("assign", []), grouped.pop("return", []), scopes, parts)
    typing = grouped.pop(TYPING, [])
    facts.imports = sorted(
        (_as_typing(imported, typing) for kind, found in grouped.items() for match in found
         for imported in imports(kind, match, spec.self_names)),
        key=lambda imported: (imported.line, imported),
    )  # fmt: skip
    return facts


def _as_typing(imported: Import, marked: Sequence[Match]) -> Import:
    """Return an import as it is where it stands among those, or is one of those, for types
    alone."""
    for match in marked:
        named = match.fields[0] if match.fields else ""
        if match.first <= imported.line <= match.last and named in ("", imported.name):
            return imported._replace(kind=TYPING)
    return imported


def _nested(found: Iterable[DefinitionMatch]) -> list[DefinitionMatch]:
    """Return the definitions in the order of the file, each with its container and full name.

    What is local to a function and no function or class is left out, and so is what
    several rules found alike: the one that says more of it stays.
    """
    kept: list[DefinitionMatch] = []
    stack: list[DefinitionMatch] = []
    seen = set()
    for each in sorted(found, key=_outermost):
        while stack and not _holds(stack[-1], each):
            stack.pop()
        outer = stack[-1] if stack else None
        within = ("module", "scope", "class", "interface") if each.member else ("module", "scope")
        if each.kind == "constant" and any(d.kind not in within for d in stack):
            continue
        if outer is not None:
            if len(stack) > _EXTRACT_DEEPEST:
                raise TooDeepError(f"its definitions nest over {_EXTRACT_DEEPEST} deep")
            each.qualified = f"{outer.qualified}.{each.qualified}"
            if each.kind == "function" and outer.kind in _TYPES:
                each.kind = "method"
        each.outer = outer
        key = (each.qualified, each.first, each.last)
        if key in seen or not each.name:
            continue
        seen.add(key)
        stack.append(each)
        kept.append(each)
    return kept


def _outermost(each: DefinitionMatch) -> tuple[object, ...]:
    # To the last field: the matches come in another order each time.
    return (
        each.first, -each.last, _ORDER[each.kind], each.qualified, each.member,
        -len(each.bases), each.bases, -len(each.params), each.params,
    )  # fmt: skip


def _holds(outer: DefinitionMatch, inner: DefinitionMatch) -> bool:
    if outer.last < inner.last:
        return False
    if outer.first == inner.first and outer.last == inner.last:
        return outer.kind in CONTAINERS and inner.kind not in CONTAINERS
    return inner.first > outer.first or outer.first == inner.first


def _embed(matches: Sequence[Match], definitions: list[DefinitionMatch], parts: Parts) -> None:
    """Add bases that are in the body of a type, as Go's do."""
    at = _Scopes([each for each in definitions if each.kind in CONTAINERS]).at
    for match in sorted(matches, key=_place):
        owner = at(match.first, match.last)
        if owner is not None:
            owner.bases = (*owner.bases, *parts.bases(match.fields[0]))[:_MOST_BASES]


def _symbols(definitions: list[DefinitionMatch], source: Source, parts: Parts) -> list[Symbol]:
    """Return a symbol for each name: overloads, getter and setter, and twins are one."""
    named: dict[str, list[DefinitionMatch]] = {}
    bases: dict[str, tuple[str, ...]] = {}
    for each in definitions:
        if each.kind != "scope":
            named.setdefault(each.qualified, []).append(each)
        if each.bases:
            known = bases.get(each.qualified, ())
            bases[each.qualified] = tuple(dict.fromkeys((*known, *each.bases)))[:_MOST_BASES]
    found = []
    for alike in named.values():
        each = alike[0] if len(alike) == 1 else max(alike, key=lambda one: _says(one, source))
        found.append(Symbol(
            each.name, each.qualified, each.kind, each.first, each.last,
            source.signature(each.first, each.last, each.kind),
            source.doc(each.first, each.last, each.kind),
            bases.get(each.qualified, ()) if each.kind in CONTAINERS else (),
            parts.params(each.params) if each.params else (),
            tuple([(one.first, one.last) for one in alike if one is not each]),
        ))  # fmt: skip
    return sorted(found, key=lambda symbol: symbol.line_start)


def _says(each: DefinitionMatch, source: Source) -> tuple[bool, bool, bool, int]:
    """Return what puts a definition before others of its name: a body, documentation, length."""
    is_stub = source.lines[each.last - 1].rstrip().endswith(_STUBS)
    return (
        each.kind != "constant", not is_stub,
        bool(source.doc(each.first, each.last, each.kind)), each.last - each.first,
    )  # fmt: skip


class _Scopes:
    """Find the definition of lines, asked in the order of the file."""

    def __init__(self, scopes: Sequence[DefinitionMatch]) -> None:
        self._scopes = scopes
        self._next = 0
        self._stack: list[DefinitionMatch] = []

    def at(self, first: int, last: int) -> DefinitionMatch | None:
        """Return the innermost definition that holds these lines."""
        while self._next < len(self._scopes) and self._scopes[self._next].first <= first:
            begun = self._scopes[self._next]
            while self._stack and self._stack[-1].last < begun.last:
                self._stack.pop()
            self._stack.append(begun)
            self._next += 1
        while self._stack and self._stack[-1].last < first:
            self._stack.pop()
        for scope in reversed(self._stack):
            if scope.last >= last:
                return scope
        return None


def _calls(matches: list[Match], scopes: Sequence[DefinitionMatch], parts: Parts) -> list[Call]:
    """Return each call once a caller, at its first line."""
    at = _Scopes(scopes).at
    found: dict[tuple[str, str, tuple[str, ...]], Call] = {}
    for match in sorted(matches, key=_place):
        callee = parts.chain(match.fields[0])
        if callee == UNKNOWN:
            continue
        scope = at(match.first, match.last)
        if scope is not None and match.rule == "call.decorator" and scope.first == match.first:
            scope = scope.outer
        caller = scope.qualified if scope is not None else MODULE
        args = parts.args(match.fields[1]) if len(match.fields) > 1 and match.fields[1] else ()
        key = (caller, callee, args)
        if key not in found:
            found[key] = Call(caller, callee, match.first, args)
    return list(found.values())


def _assigned(
    matches: list[Match], returns: list[Match], scopes: Sequence[DefinitionMatch], parts: Parts
) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for is_return, some in ((False, matches), (True, returns)):
        at = _Scopes(scopes).at
        for match in sorted(some, key=_place):
            scope = at(match.first, match.last)
            if is_return:
                name, values = "return", match.fields[:1]
                if scope is None:
                    continue
            else:
                name, values = match.fields[0], match.fields[1:2]
            key = _key(name, scope, parts)
            value = parts.value(values[0]) if values else ""
            if key and value and key != value:
                held = found.setdefault(key, {})
                if len(held) < _MOST_VALUES:
                    held[value] = None
    return {key: " ".join(values) for key, values in found.items()}


def _place(match: Match) -> tuple[int, int, list[str], str]:
    # ast-grep's order is another one each time.
    return match.first, match.last, match.fields, match.rule


def _key(name: str, scope: DefinitionMatch | None, parts: Parts) -> str:
    """Return what ``assigned`` calls a variable; nothing for what is not a plain name."""
    for mark in parts.self_marks:
        if name.startswith(mark):
            name = name[len(mark) :]
            while scope is not None and scope.kind not in CONTAINERS:
                if scope.kind == "method" and scope.outer is None and "." in scope.qualified:
                    owner = scope.qualified.rpartition(".")[0]
                    return f"{owner}.{name}" if NAME.fullmatch(name) else ""
                scope = scope.outer
            if scope is None:
                return ""
    if not NAME.fullmatch(name):
        return ""
    return f"{scope.qualified}.{name}" if scope is not None else name


FILE_LENGTH = 2000
"""Characters of a file's body."""
WHOLE_LENGTH = 200_000
"""Characters of a file that full text over whole files sees."""
SYMBOL_LENGTH = 700
"""Characters of a symbol's body: doc and source are cut to fit one passage."""
TITLE_LENGTH = 160


def file_body(source: Source, symbols: Sequence[Symbol], is_code: bool) -> str:
    """Return the description and the names of code, or the beginning of other text."""
    if not is_code:
        return source.text[:FILE_LENGTH].strip()
    names = dict.fromkeys(symbol.qualified for symbol in symbols)
    return f"{source.leading()}\n{' '.join(names)}".strip()[:FILE_LENGTH]


def symbol_title(symbol: Symbol) -> str:
    """Return the qualified name, with the parameters and result that its head has.

    ``Login.check(self, user: str) -> bool``
    """
    _, opening, rest = symbol.signature.partition(f"{symbol.name}(")
    title = f"{symbol.qualified}({rest}" if opening else symbol.qualified
    return title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1] + "…"


def symbol_body(symbol: Symbol, source: Source) -> str:
    """Return signature, documentation, and the beginning of the source after the head."""
    parts = [symbol.signature]
    if symbol.doc:
        parts.append(symbol.doc)
    room = SYMBOL_LENGTH - sum(map(len, parts))
    if room > 80 and symbol.line_end > symbol.line_start:
        parts.append(one_line(source.excerpt(symbol.line_start, symbol.line_end, 2 * room))[:room])
    return "\n".join(parts)[: 2 * SYMBOL_LENGTH]


KIND = "mention"
PATH_WEIGHT = 1.0
SYMBOL_WEIGHT = 0.8
"""A symbol is told by its name alone: another thing may have the same one."""
_SHORTEST = 4
"""Letters of a plain word in back-ticks that is taken for a symbol's name."""
_MOST = 500
"""Mentions of one file that are kept."""

_QUOTED = re.compile(r"`([^`\n]{2,200})`")
_LINK = re.compile(r"\]\(<?([^)\s>#]{1,300})")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_WORD = re.compile(r"[\w$.:>-]+?(?=\(|$)")


def mentioned(text: str, endings: tuple[str, ...]) -> list[Import]:
    """Return the names in a Markdown text that may be of paths or symbols, each once.

    A plain word is the name of a file if it ends in one of ``endings``.
    """
    path = _path(endings)
    found: dict[str, int] = {}
    fenced = False
    for number, line in enumerate(composed(text).split("\n"), start=1):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        for name in _names(line, fenced, path):
            if len(found) < _MOST:
                found.setdefault(name, number)
    return [Import(name, line=line, kind=KIND) for name, line in found.items()]


@cache
def _path(endings: tuple[str, ...]) -> re.Pattern[str]:
    names = rf"|[\w-]+(?:{'|'.join(map(re.escape, endings))})" if endings else ""
    return re.compile(rf"(?<![\w:/.`(@-])((?:[\w.@-]+/)+[\w.@-]+\.\w{{1,8}}{names})(?![\w/])")


def _names(line: str, fenced: bool, path: re.Pattern[str]) -> Iterator[str]:
    if not fenced:
        for match in _QUOTED.finditer(line):
            yield match[1].strip()
        for match in _LINK.finditer(line):
            if "://" not in match[1]:
                yield match[1]
    for match in path.finditer(line):
        yield match[1]


class Mentions:
    """Names → ids of the files and symbols of a tree."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._note_paths(files)
        self._symbols: dict[str, list[str]] = {}
        for path, facts in files.items():
            for name in {symbol.qualified for symbol in facts.symbols}:
                id = symbol_id(path, name)
                name = composed(name)
                self._symbols.setdefault(name, []).append(id)
                last = name.rpartition(".")[2]
                if last != name:
                    self._symbols.setdefault(last, []).append(id)

    def _note_paths(self, paths: Iterable[str]) -> None:
        # Some file systems keep accents apart from their letters, and people type them so too.
        self._paths = {composed(path): path for path in paths} | {path: path for path in paths}
        self._tails: dict[str, list[str]] = {}
        for path in paths:
            self._tails.setdefault(composed(path.rpartition("/")[2]), []).append(path)

    def of(self, facts: FileFacts) -> dict[str, float]:
        """Return ids that this file mentions, with the weight of each."""
        found: dict[str, float] = {}
        for item in facts.imports:
            if item.kind != KIND:
                continue
            path = self._path(facts.path, item.module)
            if path:
                if path != facts.path:
                    found[file_id(path)] = PATH_WEIGHT
                continue
            id = self._symbol(item.module)
            if id:
                found.setdefault(id, SYMBOL_WEIGHT)
        return found

    def _path(self, here: str, name: str) -> str:
        """Return the path from the root or the file's folder, or the only one that ends so."""
        name = name.split(":", 1)[0].rstrip("/")
        if not name or name.startswith("-") or " " in name:
            return ""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(here), name))
        for path in (posixpath.normpath(name.lstrip("/")), composed(beside)):
            if path in self._paths:
                return self._paths[path]
        ending = "/" + name.lstrip("./")
        tails = self._tails.get(name.rpartition("/")[2], ())
        likely = [path for path in tails if composed(path).endswith(ending)]
        return likely[0] if len(likely) == 1 else ""

    def _symbol(self, name: str) -> str:
        match = _WORD.match(name)
        if match is None:
            return ""
        word = match[0].replace("::", ".").replace("->", ".").replace("#", ".")
        telling = "." in word or "_" in word or word != match.string or not word.islower()
        if len(word) < _SHORTEST or not telling:
            return ""
        known = self._named(word)
        return known[0] if len(known) == 1 else ""

    def _named(self, word: str) -> Sequence[str]:
        """Return the ids of the symbols of a name, qualified or not."""
        return self._symbols.get(word, ())


def asked_by(facts: FileFacts) -> Iterator[str]:
    """Yield what mentions depend on: the last parts of names, and of paths with a slash."""
    for item in facts.imports:
        if item.kind == KIND:
            path = item.module.split(":", 1)[0].rstrip("/")
            yield "/" + composed(path.rpartition("/")[2])
            match = _WORD.match(item.module)
            if match is not None:
                word = match[0].replace("::", ".").replace("->", ".").replace("#", ".")
                yield composed(word.rpartition(".")[2])
