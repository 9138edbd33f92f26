"""From what ast-grep matched in a file to what the file says: ``FileFacts``.

The rules say what there is and on which lines; here it is put together: names get
their containers, calls their callers. Containment goes by lines, which tells
everything apart but definitions that share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..languages.registry import language as language_of
from .ast_grep import Match
from .expressions import UNKNOWN
from .facts import MODULE, TYPING, Call, FileFacts, Import, Symbol
from .imported import imports
from .parts import NAME, Parts, parts_of
from .signatures import Source

KINDS = ("class", "interface", "module", "type", "function", "method", "constant")
CONTAINERS = frozenset({"class", "interface", "module", "scope", "type"})
_TYPES = CONTAINERS - {"module"}
_CALLERS = frozenset({"class", "interface", "module", "function", "method", "type"})
_ORDER = {kind: place for place, kind in enumerate(("scope", *KINDS))}
_MOST_VALUES = 8
_MOST_BASES = 100
_DEEPEST = 100
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
    """Definitions stand within more others than anybody writes."""


def extract(path: str, language: str, source: Source, matches: Sequence[Match]) -> FileFacts:
    """Everything that these matches say of one file.

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
    """An import as it is where it stands among those, or is one of those, for types alone."""
    for match in marked:
        named = match.fields[0] if match.fields else ""
        if match.first <= imported.line <= match.last and named in ("", imported.name):
            return imported._replace(kind=TYPING)
    return imported


def _nested(found: Iterable[DefinitionMatch]) -> list[DefinitionMatch]:
    """The definitions in the order of the file, each with its container and full name.

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
            if len(stack) > _DEEPEST:
                raise TooDeepError(f"its definitions nest over {_DEEPEST} deep")
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
    """Adds bases that stand in the body of a type, as Go's do."""
    at = _Scopes([each for each in definitions if each.kind in CONTAINERS]).at
    for match in sorted(matches, key=_place):
        owner = at(match.first, match.last)
        if owner is not None:
            owner.bases = (*owner.bases, *parts.bases(match.fields[0]))[:_MOST_BASES]


def _symbols(definitions: list[DefinitionMatch], source: Source, parts: Parts) -> list[Symbol]:
    bases: dict[str, tuple[str, ...]] = {}
    for each in definitions:
        if each.bases:
            known = bases.get(each.qualified, ())
            bases[each.qualified] = tuple(dict.fromkeys((*known, *each.bases)))[:_MOST_BASES]
    return [
        Symbol(
            each.name, each.qualified, each.kind, each.first, each.last,
            source.signature(each.first, each.last, each.kind),
            source.doc(each.first, each.last, each.kind),
            bases.get(each.qualified, ()) if each.kind in CONTAINERS else (),
            parts.params(each.params) if each.params else (),
        )
        for each in definitions if each.kind != "scope"
    ]  # fmt: skip


class _Scopes:
    """Which definition the lines belong to, asked in the order of the file."""

    def __init__(self, scopes: Sequence[DefinitionMatch]) -> None:
        self._scopes = scopes
        self._next = 0
        self._stack: list[DefinitionMatch] = []

    def at(self, first: int, last: int) -> DefinitionMatch | None:
        """The innermost definition that holds these lines."""
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
    """Each call once a caller, at its first line."""
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
    """What ``assigned`` calls a variable; nothing for what is not a plain name."""
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
