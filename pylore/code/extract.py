"""Extract definitions, imports, calls and assignments from the matches of files, and outlines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from ..anchors.definitions import LARGEST, Definition
from ..anchors.project import Project
from ..system.atomic_write import temporary_folder
from .expressions import LIFETIME, NAME, UNKNOWN, Parts, parts_of
from .facts import MODULE, TYPING, Call, FileFacts, Import, Symbol
from .languages import language as language_of
from .preprocess import preprocessed
from .rules import load_rules
from .scan import Match, Scan, scan, short_name
from .source import Source

_QUOTES = "'\"`"
_USED = re.compile(r"([^{},]*)([{},]|\Z)")  # a name of a ``use``, and the mark behind it


def imports(kind: str, match: Match, own: frozenset[str]) -> Iterator[Import]:
    """Yield the imports of a match; ``own`` are the words for the module itself."""
    module, name, alias = (*match.fields, "", "", "")[:3]
    if kind in ("use", "export") and not name and module[:1] not in _QUOTES and module:
        for base, taken, called in _use_tree(module, own):
            yield Import(base, taken, called, 0, match.first, kind)
        return
    quoted = module[:1] in _QUOTES
    module = module.strip(_QUOTES) if quoted else "".join(module.split())
    dotted = match.rule.startswith("import") and not quoted
    level = len(module) - len(module.lstrip(".")) if dotted else 0
    name, alias = name.strip(_QUOTES), alias.strip(_QUOTES)
    yield Import(module[level:], name, "" if alias == name else alias, level, match.first, kind)


def _use_tree(text: str, own: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Turn ``a::{b, c as d}`` into ``("a", "b", "")``, ``("a", "c", "d")``."""
    prefixes = [""]
    for written, mark in _USED.findall(text):
        path, _, alias = written.partition(" as ")
        path, alias = "".join(path.split()), alias.strip()
        base, colons, name = (path + "::" * (mark == "{")).rpartition("::")
        base = "::".join(filter(None, (prefixes[-1], base.strip(":"))))
        if mark == "{":
            if len(prefixes) > _EXTRACT_DEEPEST:
                raise RecursionError
            prefixes.append(base)
        elif path in own and prefixes[-1]:
            yield prefixes[-1], "", alias
        elif path:
            yield (base, name, alias) if base or colons else (name, "", alias)
        if mark == "}":
            prefixes = prefixes[:-1] or prefixes


KINDS = ("class", "interface", "module", "type", "function", "method", "constant")
CONTAINERS = frozenset({"class", "interface", "module", "scope", "type"})
_TYPES = CONTAINERS - {"module"}
_ORDER = {kind: place for place, kind in enumerate(("scope", *KINDS))}
_MOST_VALUES = 8
_MOST_BASES = 100
_EXTRACT_DEEPEST = 100  # maximum depth of definitions: each name has the names of all around it


class DefinitionMatch:
    """A match of a definition, before it becomes a ``Symbol``."""

    def __init__(self, match: Match, kind: str, parts: Parts) -> None:
        name, extra, outer = (*match.fields, "", "")[:3]
        self.first = match.first
        self.last = max(match.first, match.last - match.rule.endswith(".line"))  # not the next line
        self.place = (match.first, self.last, match.offsets, kind)
        self.begin, self.end = match.offsets or (self.first, self.last)
        self.kind = kind
        owner = parts.owner(outer) if outer else ""
        own = parts.name(name) if kind != "scope" else parts.instance(name.partition("<")[0])
        if kind == "scope" and not own:  # a built-in type, or a tuple
            own = parts.name(LIFETIME.sub("", name)) or "()"
        self.qualified = f"{owner}.{own}" if owner else own
        self.name = own if kind == "module" or "." not in own else parts.last(own)
        self.member = match.rule.endswith(".member")
        self.bases = parts.bases(extra) if kind in CONTAINERS else ()
        self.params = extra if kind in ("function", "method") else ""
        self.outer: DefinitionMatch | None = None
        if kind == "function" and "." in self.qualified:
            self.kind = "method"


def scan_exactly(config: str, texts: Mapping[str, str], threads: int = 1) -> Scan:
    """Scan texts by path, with offsets where lines do not place the matches. ast-grep reads copies,
    because files may change meanwhile."""
    with temporary_folder() as folder:
        for path, text in texts.items():
            copy = os.path.join(folder, path)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(copy, "wb") as file:
                file.write(_parsed(path, text))
        found = scan(folder, config, [*texts], threads)
        again = [path for path, some in found.matches.items() if _is_crowded(some, texts[path])]
        found.matches.update(scan(folder, config, again, threads, offsets=True).matches)
    return found


def _parsed(path: str, text: str) -> bytes:
    """Return the text that ast-grep reads."""
    if "\r" in text and "\n" not in text:  # grammars end comments at line feeds
        text = text.replace("\r", "\n")
    is_c = language_of(load_rules().language_of(path)).family == "c"
    return preprocessed(text.encode()) if is_c else text.encode()


def _is_crowded(matches: Iterable[Match], text: str) -> bool:
    """Return True if a container or a function begins on a line with another definition, or as an
    argument or a member of an object there."""
    lines, names = text.split("\n"), dict[int, set[str]]()
    crowded = set()
    for match in matches:
        kind = match.rule.partition(".")[0]
        if kind in _ORDER:
            names.setdefault(match.first, set()).add(f"{kind} {match.fields[0]}\n{match.last}")
            if kind != "constant":
                crowded.add(match.first)
            line = "".join(lines[match.first - 1 : match.first])
            if line[: line.find(match.fields[0])].rstrip().endswith(("(", "{", ",")):
                names[match.first].add("")
    return any(len(names[line]) > 1 for line in crowded)


def extract(path: str, language: str, source: Source, matches: Sequence[Match]) -> FileFacts:
    """Return the facts of a file.

    Raises:
        RecursionError: definitions nest too deep.
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
    containers = [each for each in definitions if each.kind in CONTAINERS]
    for match, owner in _placed(grouped.pop("base", []), containers):
        if owner is not None:  # bases in the body of a type, as Go's are
            owner.bases = (*owner.bases, *parts.bases(match.fields[0]))[:_MOST_BASES]
    facts.symbols = _symbols(definitions, source, parts)
    scopes = [each for each in definitions if each.kind != "constant"]
    facts.calls = _calls(grouped.pop("call", []), scopes, parts)
    values = [*grouped.pop("assign", []), *grouped.pop("return", [])]
    facts.assigned = _assigned(values, scopes, parts)
    marks = grouped.pop(TYPING, [])
    typing = {(line, m.fields[0]) for m in marks for line in range(m.first, m.last + 1)}
    facts.imports = sorted(
        (
            imported  # of types only, if its line, or the name there, is marked so
            if typing.isdisjoint([(imported.line, ""), (imported.line, imported.name)])
            else imported._replace(kind=TYPING)
            for kind, found in grouped.items()
            for match in found
            for imported in imports(kind, match, spec.self_names)
        ),
        key=lambda imported: (imported.line, imported),
    )
    return facts


def _nested(found: Iterable[DefinitionMatch]) -> list[DefinitionMatch]:
    """Return the definitions with containers, in order; no variables of functions, and no twins."""
    kept: list[DefinitionMatch] = []
    stack: list[DefinitionMatch] = []
    seen = set()
    for each in sorted(found, key=_outermost):
        key = (each.begin, each.end, each.name)
        if key in seen or not each.name:
            continue
        while stack and not _holds(stack[-1], each):
            stack.pop()
        outer = stack[-1] if stack else None
        within = ("module", "scope", "class", "interface") if each.member else ("module", "scope")
        if each.kind == "constant" and any(d.kind not in within for d in stack):
            continue
        if outer is not None:
            if len(stack) > _EXTRACT_DEEPEST:
                raise RecursionError
            each.qualified = f"{outer.qualified}.{each.qualified}"
            if each.kind == "function" and outer.kind in _TYPES:
                each.kind = "method"
        each.outer = outer
        seen.add(key)
        stack.append(each)
        kept.append(each)
    return kept


def _outermost(each: DefinitionMatch) -> tuple[object, ...]:
    # Sort by every field: the order of matches varies.
    key = (each.begin, -each.end, _ORDER[each.kind], each.qualified, each.member)
    return (*key, -len(each.bases), each.bases, -len(each.params), each.params)


def _holds(outer: DefinitionMatch, inner: DefinitionMatch) -> bool:
    if outer.end < inner.end or (outer.kind == "type" and inner.kind in _TYPES):
        return False
    if outer.kind == inner.kind == "constant" and outer.first == inner.first:
        return False  # several names of a declaration
    if outer.begin == inner.begin and outer.end == inner.end:
        return outer.kind in CONTAINERS and inner.kind not in CONTAINERS
    return inner.begin >= outer.begin


def _symbols(definitions: list[DefinitionMatch], source: Source, parts: Parts) -> list[Symbol]:
    """Return a symbol for each name: overloads, getter and setter, and twins share a symbol."""
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
        docs = (source.doc(*one.place) for one in dict.fromkeys((each, *alike)))
        symbol = Symbol(each.name, each.qualified, each.kind, each.first, each.last)
        symbol = symbol._replace(
            signature=source.signature(*each.place),
            doc=next(filter(None, docs), ""),
            bases=bases.get(each.qualified, ()) if each.kind in CONTAINERS else (),
            params=parts.params(each.params) if each.params else (),
            others=tuple([(one.first, one.last) for one in alike if one is not each]),
        )
        found.append(symbol)
    return sorted(found, key=lambda symbol: symbol.line_start)


def _says(each: DefinitionMatch, source: Source) -> tuple[bool, bool, bool, int]:
    """Return the sort key of definitions with the same name: body, documentation, length."""
    has_body, doc = source.has_body(*each.place), source.doc(*each.place)
    return each.kind != "constant", has_body, doc != "", each.last - each.first


def _placed(
    matches: Iterable[Match], scopes: Sequence[DefinitionMatch]
) -> Iterator[tuple[Match, DefinitionMatch | None]]:
    """Yield matches in the order of the file, each with the innermost definition that holds it."""
    stack: list[DefinitionMatch] = []
    place = 0
    # The order of ast-grep varies.
    for match in sorted(matches, key=lambda one: (one.span, one.fields, one.rule)):
        begin, end = match.span
        while place < len(scopes) and scopes[place].begin <= begin:
            while stack and stack[-1].end < scopes[place].end:
                stack.pop()
            stack.append(scopes[place])
            place += 1
        while stack and stack[-1].end < begin:
            stack.pop()
        yield match, next((scope for scope in reversed(stack) if scope.end >= end), None)


def _calls(matches: Iterable[Match], scopes: Sequence[DefinitionMatch], parts: Parts) -> list[Call]:
    """Return the calls, each once a caller, at the first line."""
    found: dict[tuple[str, str], Call] = {}
    for match, scope in _placed(matches, scopes):
        callee = parts.chain(match.fields[0])
        if scope is not None and match.rule == "call.decorator" and scope.first == match.first:
            scope = scope.outer
        caller = scope.qualified if scope is not None else MODULE
        if callee != UNKNOWN:
            found.setdefault((caller, callee), Call(caller, callee, match.first))
    return list(found.values())


def _assigned(
    matches: Iterable[Match], scopes: Sequence[DefinitionMatch], parts: Parts
) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for match, scope in _placed(matches, scopes):
        if match.rule.startswith("return"):
            key = f"{scope.qualified}.return" if scope is not None else ""
        else:
            key = _key(match.fields[0], scope, parts)
        value = parts.value(match.fields[-1]) if key else ""
        if value and key != value and len(held := found.setdefault(key, {})) < _MOST_VALUES:
            held[value] = None
    return {key: " ".join(values) for key, values in found.items()}


def _key(name: str, scope: DefinitionMatch | None, parts: Parts) -> str:
    """Return the key of a variable in ``assigned``; "" for other expressions."""
    for mark in parts.self_marks:
        if name.startswith(mark):
            name = name[len(mark) :].lstrip("#")
            while scope is not None and scope.kind not in CONTAINERS:
                if scope.kind == "method" and scope.outer is None and "." in scope.qualified:
                    owner = scope.qualified.rpartition(".")[0]
                    return f"{owner}.{name}" if NAME.fullmatch(name) else ""
                scope = scope.outer
            if scope is None:
                return ""
    pieces = name.split(".", 1) if scope is None else [name]
    if not all(map(NAME.fullmatch, pieces)):
        return ""
    return f"{scope.qualified}.{name}" if scope is not None else name


def outline(project: Project, texts: Mapping[str, bytes]) -> dict[str, list[Definition]]:
    """Return the definitions of texts of a project, by keys that end as names of files do.

    ast-grep runs once. Texts of unknown languages, over the limit, or with errors have none.

    Raises:
        LoreError: ast-grep is not installed.
    """
    rules = load_rules()
    if any(key.lower().endswith(rules.shared) for key in texts):
        rules.choose_shared(project.paths())
    found: dict[str, list[Definition]] = {key: [] for key in texts}
    files = {
        short_name(number, key): (key, data.decode("utf-8", "replace"))
        for number, (key, data) in enumerate(texts.items())
        if len(data) <= LARGEST and rules.language_of(key)
    }
    if not files:
        return found
    with temporary_folder() as folder:
        config = rules.write(folder, rules.languages_of(texts), {}, frozenset(_ORDER))
        seen = scan_exactly(config, {name: text for name, (_, text) in files.items()})
    for name, (key, text) in files.items():
        language = rules.language_of(key)
        with suppress(RecursionError):
            source = Source(text, rules.languages[language])
            symbols = extract(key, language, source, seen.matches.get(name, ())).symbols
            found[key] = [
                Definition(one.qualified, one.line_start, one.line_end, one.others, one.kind)
                for one in symbols
            ]
    return found
