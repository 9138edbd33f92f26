"""JavaScript and TypeScript: packages, paths and configs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from ..facts import BY_CONVENTION, CERTAIN, NOWHERE, Bound, FileFacts, Found, Import, outside
from ..tree import Importer, SourceTree, above, folder_of, join, step
from . import LanguageSpec

# Strings match whole, so that comments and commas within stay; an open string ends with the line.
_STRING = r'"(?:[^"\\\n]|\\.)*"?'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)
_ENTRIES = ("source", "types", "typings", "module", "main")
_CONDITIONS = ("source", "development", "types", "import", "module", "default", "require", "node")
_BUILT = ("dist", "lib", "build", "out", "es", "esm", "cjs")
_NAMES = ("tsconfig.json", "jsconfig.json", "tsconfig.base.json")
_DEEPEST = 10  # conditions within conditions, and configs that extend each other

SUFFIXES = tuple(".ts .tsx .d.ts .js .jsx .mjs .cjs .mts .cts .vue .svelte".split())
_SOURCES = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts",),
    ".cjs": (".cts",),
}  # TypeScript imports by the names of compiled files


def loads(text: str) -> Any:
    """Return the value of a JSON text with comments; None if it is invalid."""
    for read in (str, lambda text: _COMMA.sub(_strings, _COMMENT.sub(_strings, text))):
        try:
            return json.loads(read(text))
        except ValueError:
            continue
        except RecursionError:
            break
    return None


def _strings(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else " "


def table(value: Any) -> dict[str, Any]:
    """Return ``value`` if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def _words(value: Any) -> list[str]:
    """Return the strings of a list, or a string as a list; [] for other values."""
    some = value if isinstance(value, list) else [value]
    return [one for one in some if isinstance(one, str)]


class NodePackages:
    """The packages of a tree, by their ``package.json``."""

    def __init__(
        self, tree: SourceTree, folders: Iterable[str], file: Callable[[str], str | None]
    ) -> None:
        self._file = file
        texts = tree.holding("package.json", folders)
        self._data = {folder: table(loads(text)) for folder, text in texts.items()}
        self._by_name: dict[str, str] = {}
        for folder, data in self._data.items():
            if isinstance(data.get("name"), str):
                self._by_name.setdefault(data["name"], folder)
        self._entering: set[str] = set()

    def find(self, folder: str, spec: str) -> str | None:
        """Return the file of a bare ``spec``, if the package is in the tree."""
        if spec.startswith("#"):
            home = next((outer for outer in above(folder) if outer in self._data), None)
            imported = () if home is None else _exported(self._data[home].get("imports"), spec)
            return self._first(home or "", imported)
        parts = spec.split("/")
        count = 2 if spec.startswith("@") else 1
        inner = "/".join(parts[count:])
        home = self._by_name.get("/".join(parts[:count]))
        if home is None:
            return None
        key = "./" + inner if inner else "."
        found = self._first(home, _exported(self._data[home].get("exports"), key))
        if found or not inner:
            return found or self.main(home)
        return self._file(join(home, inner)) or self._file(join(home, "src/" + inner))

    def main(self, folder: str) -> str | None:
        """Return the entry of the package at ``folder``: by fields, then by the usual places."""
        data = self._data.get(folder)
        if data is None or folder in self._entering:
            return None
        self._entering.add(folder)
        written = [data[key] for key in _ENTRIES if isinstance(data.get(key), str)]
        found = self._first(folder, (*_exported(data.get("exports"), "."), *written))
        found = found or self._file(join(folder, "src/index")) or self._file(join(folder, "index"))
        self._entering.discard(folder)
        return found

    def _first(self, folder: str, targets: Iterable[str]) -> str | None:
        return next((found for one in targets if (found := self._built(folder, one))), None)

    def _built(self, folder: str, target: str) -> str | None:
        """Return the file of a target, or the source: for ``dist/x`` that is ``src/x``."""
        place = step(folder, target)
        found = self._file(place) if place is not None else None
        if place is None or found:
            return found
        first, _, rest = place[len(folder) :].lstrip("/").partition("/")
        if first not in _BUILT or not rest:
            return None
        stem = rest.partition(".")[0]
        return self._file(join(folder, "src/" + stem)) or self._file(join(folder, stem))


def _exported(exports: Any, key: str) -> Iterator[str]:
    """Yield the targets of ``key`` in the ``exports`` or ``imports`` of a package, best first."""
    entries = table(exports)
    if not entries or not any(name[:1] in (".", "#") for name in entries):
        if key == ".":
            yield from _targets(exports)
    elif key in entries:
        yield from _targets(entries[key])
    else:
        for pattern, value in entries.items():
            middle = _middle(pattern, key)
            if middle is not None:
                yield from (target.replace("*", middle) for target in _targets(value))


def _middle(pattern: str, text: str) -> str | None:
    """Return the part of a text at the star of a pattern; None without a match."""
    before, star, after = pattern.partition("*")
    fits = star and text.startswith(before) and text.endswith(after)
    is_room = len(text) >= len(before) + len(after)
    return text[len(before) : len(text) - len(after)] if fits and is_room else None


def _targets(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    if depth < _DEEPEST:
        known = table(value)
        inner = value if isinstance(value, list) else [known[c] for c in _CONDITIONS if c in known]
        for one in inner:
            yield from _targets(one, depth + 1)


class Config(NamedTuple):
    base: str | None  # the folder of ``baseUrl``; None without a ``baseUrl``
    paths: dict[str, list[str]]  # pattern → targets, each from the root of the tree, ``*`` in both


class Configs:
    """The configs of a tree, as ``tsconfig.json``."""

    def __init__(self, tree: SourceTree, folders: Iterable[str]) -> None:
        self._tree = tree
        self._of: dict[str, Config | None] = {}
        self._read = cache(self._find)  # the configs of a workspace refer to each other
        wanted = set(folders)
        for name in reversed(_NAMES):
            for folder in tree.holding(name, wanted):
                self._of[folder] = self._read(join(folder, name), 0) or self._of.get(folder)

    def targets(self, folder: str, spec: str) -> Iterator[str]:
        """Yield the places of ``spec`` by the nearest config: exact patterns, then the pattern with
        the longest beginning."""
        config = next((found for outer in above(folder) if (found := self._of.get(outer))), None)
        if config is None:
            return
        yield from config.paths.get(spec, ())
        matching = [
            (len(pattern.partition("*")[0]), middle, targets)
            for pattern, targets in config.paths.items()
            if (middle := _middle(pattern, spec)) is not None
        ]
        if matching:
            _, middle, targets = max(matching, key=lambda match: match[0])
            yield from (target.replace("*", middle) for target in targets)
        place = step(config.base, spec) if config.base is not None else None
        if place is not None:
            yield place

    def _find(self, path: str, depth: int) -> Config | None:
        text = self._tree.read(path)
        if text is None or depth > _DEEPEST:
            return None
        data = table(loads(text))
        folder = folder_of(path)
        options = table(data.get("compilerOptions"))
        parents = _words(data.get("extends"))
        if "paths" not in options and (data.get("files") == [] or "compilerOptions" not in data):
            references = data.get("references")  # a config without files is made of others
            parents += [
                one
                for each in (references if isinstance(references, list) else ())
                for one in _words(table(each).get("path"))
            ]
        base: str | None = None
        paths: dict[str, list[str]] = {}
        for parent in parents:
            place = step(folder, parent) if parent.startswith(".") else None
            names = () if place is None else (place, place + ".json", join(place, "tsconfig.json"))
            inherited = next(filter(None, (self._read(name, depth + 1) for name in names)), None)
            if inherited is not None:
                base = base if inherited.base is None else inherited.base
                paths = inherited.paths or paths
        if isinstance(options.get("baseUrl"), str):
            base = step(folder, options["baseUrl"])
        if isinstance(options.get("paths"), dict):
            start = base if base is not None else folder
            paths = {
                pattern: [
                    place for one in _words(targets) if (place := step(start, one)) is not None
                ]
                for pattern, targets in options["paths"].items()
            }
        return Config(base, paths)


class JavaScriptImports(Importer):
    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self._tree = tree
        folders = {folder_of(path) for path in tree.paths if path.endswith(SUFFIXES)}
        self._packages = NodePackages(tree, folders, self._file)
        self._configs = Configs(tree, folders)
        self._known: dict[tuple[str, str], tuple[str, float] | None] = {}

    def find(self, facts: FileFacts, item: Import) -> Found:
        if not item.module:  # ``export {a as b}`` and ``export default a`` rename
            is_other = item.alias and item.alias != item.name
            return Found((), (Bound(item.alias, facts.path, item.name),)) if is_other else NOWHERE
        key = (folder_of(facts.path), item.module.strip("'\"`"))
        if key not in self._known:
            self._known[key] = self._place(*key)
        # A star is that of an ``export *``, which passes everything on.
        is_taken = item.name == "default" and item.kind != "export"
        place, local = self._known[key], item.alias or ("" if is_taken else item.name)
        if place is None:
            return outside(local if local != "*" else "")
        path, sure = place
        name = "" if item.name == "*" else item.name
        if item.kind == "export" and not item.name:  # ``module.exports = require(…)``
            return Found((path,), (Bound("*", path), Bound(local, path, local)), sure)
        return Found((path,), (Bound(local, path, name),) if local else (), sure)

    def _place(self, folder: str, written: str) -> tuple[str, float] | None:
        """Return the file and how sure that is."""
        spec = written.partition("?")[0]
        if spec.startswith((".", "/")):
            place = step("" if spec.startswith("/") else folder, spec.lstrip("/") or ".")
            found = self._file(place) if place is not None else None
            return (found, CERTAIN) if found else None
        configured = map(self._file, self._configs.targets(folder, spec))
        found = next(filter(None, configured), None) or self._packages.find(folder, spec)
        if found:
            return found, CERTAIN
        if spec[:2] in ("@/", "~/"):  # the package's sources, as bundlers set them up
            for outer in above(folder):
                for start in (f"{outer}/src" if outer else "src", outer):
                    place = step(start, spec[2:] or ".")
                    found = self._file(place) if place is not None else None
                    if found:
                        return found, BY_CONVENTION
        return None

    def _file(self, base: str) -> str | None:
        """Return the file that ``base`` means: itself, with a suffix, or the index of a folder."""
        paths = self._tree.paths
        stem, dot, suffix = base.rpartition(".")
        names = [base, *(stem + other for other in _SOURCES.get(dot + suffix, ()))]
        names += [base + end for end in SUFFIXES]
        if base in self._tree.folders:
            names += [join(base, "index" + end) for end in SUFFIXES]
        found = next((name for name in names if name in paths), None)
        if found is None and base in self._tree.folders:
            return self._packages.main(base)
        return found


SPEC = LanguageSpec(
    "javascript",
    "javascript",
    self_marks=("self.",),  # a common name of ``this`` for functions within
    prefixes=("await", "new", "yield", "typeof", "delete", "void"),
    wrappers=("Promise<", "Readonly<"),
    no_class=frozenset(
        "null undefined void any unknown never object string number boolean String Object this"
        " self let const var".split()
    ),
    no_value=frozenset("null undefined true false self string number boolean void any".split()),
    no_owner=frozenset({"exports", "module.exports", "this", "self", "window", "global"}),
    owner_end=".prototype",
    modifiers=("private", "public", "protected", "readonly", "override"),
    base_words=("extends", "implements"),
    self_names=frozenset({"this"}),
    super_names=frozenset({"super"}),
    constructors=("constructor",),
    common_names=frozenset(
        "catch charAt concat endsWith finally findIndex forEach hasOwnProperty indexOf setTimeout"
        " shift splice startsWith substr substring then toLowerCase toString toUpperCase unshift"
        " valueOf".split()
    ),
    functions_have_members=True,
    importer=JavaScriptImports,
)
