"""Draw the edges between files and symbols: by names in code, and by mentions in Markdown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from ..core.text import composed
from ..core.vocabulary import file_id, is_test, symbol_id
from .facts import TYPING, Call, FileFacts, Found, Import
from .languages import LanguageSpec
from .names import DEFINITION, MODULE, OBJECT, REASONS, SUPER, Def, File, Names, Thing
from .tree import Importer, SourceTree

UNIQUE_FUNCTION, UNIQUE_METHOD, AMBIGUOUS = 0.75, 0.45, 0.5
"""Confidence in the only function of a name, the only method, and in several methods together."""
MOST_CANDIDATES = 5  # more get no edges
UNNAMED_USE = 0.5  # confidence in the first file of a package of which no name is used

_IMPORT_TYPES = ("static", "re-export", "side effect", "dynamic", "type-only")  # the first counts
STATIC, RE_EXPORT, EFFECT, DYNAMIC, TYPES = _IMPORT_TYPES
_KINDS = {"export": RE_EXPORT, "effect": EFFECT, "dynamic": DYNAMIC, TYPING: TYPES}

_ANYWHERE = frozenset(
    "add all any append apply assign at back begin bind call clear clone close compare contains"
    " copy count create data debug decode default delete difference done each empty encode end"
    " entries equals error every execute exists exit extend fields fill filter find finish first"
    " flush format from front get group has hash head id includes index info init insert"
    " intersection invoke items iter join key keys last length listen load lock log lower main"
    " map match matches max merge message min name new next of off ok on once open parse path"
    " peek pop print push put query read reduce release remove replace reserve reset resolve"
    " resume reverse run save seek select send set show size sleep slice sort split start stop"
    " stream string strip submit sum take tell test title to translate trim try union unlock"
    " update upper use value values wait warn with write".split()
)  # methods of lists, texts, files and the like in any language
Edges = dict[tuple[str, str, str], tuple[float, str, str]]
"""From, to and relation → confidence, reason, and the type of an import."""


class Resolver:
    """The names of a tree; ``files`` need no calls."""

    def __init__(self, files: Mapping[str, FileFacts], root: str) -> None:
        files = dict(sorted(files.items()))
        self._files = {path: File(facts) for path, facts in files.items()}
        self._tree = SourceTree(files, root)
        self._importers: dict[type[Importer], Importer] = {}
        self._found: dict[str, list[tuple[Import, Found]]] = {}
        for file in self._files.values():
            self._bind(file, files)
        self._names = Names(self._files, self._tree)
        self._bases = list(self._names.inherit())
        self._edges: Edges = {}
        self._is_test = cache(is_test)
        self._candidates: dict[tuple[str, str, bool], list[Def]] = {}  # by name; true for methods
        for file in self._files.values():
            for made in file.defs.values():
                self._index(made)

    def _bind(self, file: File, files: Mapping[str, FileFacts]) -> None:
        make = file.language.importer
        if make is None:
            return
        if make not in self._importers:
            self._importers[make] = make(self._tree, files)
        file.importer = self._importers[make]
        file.mates = self._tree.mates.get(file.path, "")
        for item in file.facts.imports:
            found = file.importer.find(file.facts, item)
            file.bind(found.bound)
            if found.files:
                self._found.setdefault(file.path, []).append((item, found))

    def has_read(self, paths: Collection[str]) -> bool:
        """Return True if manifests that imports depend on are, or would be, at these paths."""
        return not self._tree.texts.keys().isdisjoint(paths)

    def dependents(self, changed: Collection[str]) -> set[str]:
        """Return the files that import these."""
        return {
            path
            for path, found in self._found.items()
            if any(not {*each.files}.isdisjoint(changed) for _, each in found)
        }

    def adopted(self, types: Collection[str]) -> set[str]:
        """Return the names of methods that are defined outside of the files of these types."""
        return {
            name.rpartition(".")[2]
            for file in self._files.values()
            for name in file.defs
            if (owner := name.rpartition(".")[0]) not in file.defs
            and owner.rpartition(".")[2] in types
        }

    def edges(self, calls: Mapping[str, Iterable[Call]]) -> Edges:
        """Return the edges from the files that ``calls`` has, and from their symbols."""
        self._edges = {}
        for path, some in sorted(calls.items()):
            file, some = self._files[path], list(some)
            self._draw_imports(file, some)
            for call in some:
                self._call(file, call)
        for made, base, sure in self._bases:
            if made.file.path in calls:
                self._add(made.id, base.id, "inherits", sure)
        return dict(sorted(self._edges.items()))

    def _add(self, one: str, other: str, relation: str, sure: float, reason: str = "") -> None:
        known = self._edges.get((one, other, relation))
        if one != other and (known is None or sure > known[0]):
            self._edges[one, other, relation] = (sure, reason or REASONS.get(sure, "resolved"), "")

    def _draw_imports(self, file: File, calls: Sequence[Call]) -> None:
        used: set[str] | None = None
        for item, found in self._found.get(file.path, ()):
            kind = _import_type(file.path, item, file.language)
            for target in found.files:
                if target in self._files:
                    self._import(file.path, target, found.confidence, "file", kind)
                    continue
                used = _used(file, calls) if used is None else used
                for path, sure in self._of_package(target, used):
                    self._import(file.path, path, min(sure, found.confidence), "package", kind)

    def _import(self, path: str, target: str, sure: float, reason: str, kind: str) -> None:
        """Add an import; of two keep the surer reason and the type that counts more."""
        ends = (file_id(path), file_id(target), "imports")
        known = self._edges.get(ends, (0.0, "", kind))
        if path != target:
            kind = min(known[2], kind, key=_IMPORT_TYPES.index)
            self._edges[ends] = (*max(known[:2], (sure, reason), key=lambda one: one[0]), kind)

    def _of_package(self, key: str, used: set[str]) -> Sequence[tuple[str, float]]:
        """Return the files of a package with used names, or the first file."""
        paths = [path for path in self._tree.packages.get(key, ()) if path in self._files]
        found = [(path, 1.0) for path in paths if not used.isdisjoint(self._files[path].top)]
        return found or [(path, UNNAMED_USE) for path in paths[:1]]

    def _call(self, file: File, call: Call) -> None:
        things = self._names.chain(file, call.caller, call.callee)
        scope = call.caller
        while scope and scope not in file.defs:
            scope = scope.rpartition(".")[0]
        caller = file.defs[scope].id if scope else file_id(file.path)
        for thing in things:
            if thing.kind != SUPER:
                self._reach(caller, thing)
            elif made := self._overridden(thing.of, file.defs[scope].name if scope else ""):
                self._add(caller, made.id, "calls", thing.sure)
        if not things:
            self._guess(file, caller, call.callee)

    def _reach(self, caller: str, thing: Thing) -> None:
        if thing.kind == DEFINITION and thing.of.kind in ("function", "method"):
            self._add(caller, thing.of.id, "calls", thing.sure)
        elif thing.kind == DEFINITION and thing.of.is_class:
            self._add(caller, thing.of.id, "instantiates", thing.sure)
            made = self._constructor(thing.of)
            if made is not None:
                self._add(caller, made.id, "calls", thing.sure)
        elif thing.kind in (OBJECT, MODULE):
            for one in self._names.called_of(thing):
                if one.kind == DEFINITION or (one.kind == OBJECT and thing.kind == MODULE):
                    self._reach(caller, one._replace(sure=thing.sure))

    def _overridden(self, cls: Def, name: str) -> Def | None:
        """Return the method of the bases that overrides of this name call by ``super(…)``."""
        bases = self._names.order(cls)[1:]  # some constructors have the names of classes
        found = (one.children.get(one.name if name == cls.name else name) for one in bases)
        return next(filter(None, found), None)

    def _constructor(self, cls: Def) -> Def | None:
        """Return the constructor of a class, or of the first base with a constructor."""
        for one in self._names.order(cls):
            for name in cls.file.language.constructors:
                made = one.children.get(name or one.name)
                if made is not None and made.kind in ("function", "method"):
                    return made
        return None

    def _index(self, made: Def) -> None:
        outer = made.outer
        while outer is not None and outer.is_class:
            outer = outer.outer
        if outer is None and (made.is_global or made.outer) and made.kind in ("function", "method"):
            key = (made.file.language.family, made.name, made.outer is not None)
            self._candidates.setdefault(key, []).append(made)

    def _guess(self, file: File, caller: str, callee: str) -> None:
        """Draw edges to the few functions or methods of a name."""
        receiver, _, name = callee.rpartition(".")
        name, stem, spec = name.rstrip("()"), name.rstrip("()?!"), file.language
        common = stem.lower() in _ANYWHERE or stem in spec.common_names
        if common and (receiver or not spec.functions_global):
            return
        found = self._candidates.get((spec.family, name, bool(receiver)), [])
        if not self._is_test(file.path):  # only tests call functions of tests
            found = [one for one in found if not self._is_test(one.file.path)]
        how = (UNIQUE_METHOD, "unique_method") if receiver else (UNIQUE_FUNCTION, "unique_function")
        if len(found) > 1:
            how = (round(AMBIGUOUS / len(found), 3), "ambiguous")
        for made in found if len(found) <= MOST_CANDIDATES else ():
            self._add(caller, made.id, "calls", *how)


def _used(file: File, calls: Iterable[Call]) -> set[str]:
    """Return every name that the calls, bases and assignments of a file have in them."""
    facts = file.facts
    chains = [call.callee for call in calls]
    chains += [base for symbol in facts.symbols for base in symbol.bases]
    chains += facts.assigned.values()
    return {part.rstrip("()") for part in " ".join(chains).replace(".", " ").split()}


def _import_type(path: str, item: Import, spec: LanguageSpec) -> str:
    """Return the type of an import, from ``_IMPORT_TYPES``."""
    if item.kind in _KINDS:
        return _KINDS[item.kind]
    if spec.effect_alias and item.alias == spec.effect_alias:
        return EFFECT
    stem = path.rpartition("/")[2].partition(".")[0]
    passes_on = spec.packages_pass_on and item.name and stem == spec.package_file
    return RE_EXPORT if passes_on else STATIC


# --- mentions

MENTION = "mention"
PATH_WEIGHT, SYMBOL_WEIGHT = 1.0, 0.8  # a symbol's name may not be unique
_SHORTEST = 4  # letters of a plain word in back-ticks that is taken for a symbol's name
_MOST_MENTIONS = 500  # maximum mentions of a file

_QUOTED = re.compile(r"`([^`\n]{2,200})`")
_LINK = re.compile(r"\]\(<?([^)\s>#]{1,300})")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_WORD = re.compile(r"[\w$.:>-]+?(?=\(|$)")


def mentioned(text: str, endings: tuple[str, ...]) -> list[Import]:
    """Return possible paths and symbols of Markdown; a word with one of ``endings`` is a file."""
    path = _paths(endings)
    found: dict[str, int] = {}
    fence = ""
    for number, line in enumerate(composed(text).split("\n"), start=1):
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            continue
        for name in _names(line, bool(fence), path):
            if len(found) < _MOST_MENTIONS:
                found.setdefault(name, number)
    return [Import(name, line=line, kind=MENTION) for name, line in found.items()]


@cache
def _paths(endings: tuple[str, ...]) -> re.Pattern[str]:
    names = rf"|[\w-]+(?:{'|'.join(map(re.escape, endings))})" if endings else ""
    return re.compile(rf"(?<![\w:/.`(@-])((?:[\w.@-]+/)+[\w.@-]+\.\w{{1,8}}{names})(?![\w/])")


def _names(line: str, fenced: bool, path: re.Pattern[str]) -> Iterator[str]:
    if not fenced:
        yield from (match[1].strip() for match in _QUOTED.finditer(line))
        yield from (match[1] for match in _LINK.finditer(line) if "://" not in match[1])
    yield from (match[1] for match in path.finditer(line))


class Mentions:
    """Names → ids of the files and symbols of a tree."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        # Some file systems decompose accents, and people may type them so.
        self._paths = {composed(path): path for path in files} | {path: path for path in files}
        self._tails: dict[str, list[str]] = {}
        self._symbols: dict[str, list[str]] = {}
        for path, facts in files.items():
            self._tails.setdefault(composed(path.rpartition("/")[2]), []).append(path)
            for qualified in {symbol.qualified for symbol in facts.symbols}:
                name = composed(qualified)
                for each in {name, name.rpartition(".")[2]}:
                    self._symbols.setdefault(each, []).append(symbol_id(path, qualified))

    def of(self, facts: FileFacts) -> dict[str, float]:
        """Return ids that this file mentions, with the weight of each."""
        found: dict[str, float] = {}
        for item in facts.imports:
            if item.kind != MENTION:
                continue
            if path := self._path(facts.path, item.module):
                found[file_id(path)] = PATH_WEIGHT
            elif id := self._symbol(item.module):
                found.setdefault(id, SYMBOL_WEIGHT)
        found.pop(file_id(facts.path), None)
        return found

    def _path(self, here: str, name: str) -> str:
        """Return the path from the root or the file's folder, or the only path with this end."""
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
        known = self._symbols.get(word, ()) if len(word) >= _SHORTEST and telling else ()
        return known[0] if len(known) == 1 else ""
