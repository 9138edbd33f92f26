"""Imports of JavaScript and TypeScript: packages, paths and configs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...facts import FileFacts, Import
from ...imports import BY_CONVENTION, CERTAIN, NOWHERE, Bound, Found, Importer, Packages, outside
from ...tree import SourceTree, above, folder_of, join, step

# A string is matched whole, so that what looks like a comment or a comma in it stays.
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)


def loads(text: str) -> Any:
    """Return the value of a text, or None where it has none.

    >>> loads('{"a": [1, 2,], // one' + chr(10) + '"b": "//"}')
    {'a': [1, 2], 'b': '//'}
    """
    try:
        return json.loads(text)
    except ValueError:
        pass
    except RecursionError:
        return None
    bare = _COMMA.sub(_strings, _COMMENT.sub(_strings, text))
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        return None


def _strings(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else " "


def table(value: Any) -> dict[str, Any]:
    """Return ``value`` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def words(value: Any) -> list[str]:
    """Return the strings of a list, a string alone, or nothing."""
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


_ENTRIES = ("source", "types", "typings", "module", "main")
_CONDITIONS = ("source", "development", "types", "import", "module", "default", "require", "node")
_DEEPEST = 8
_BUILT = ("dist", "lib", "build", "out", "es", "esm", "cjs")


class NodePackages:
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
        """Return the file that a bare ``spec`` means, if its package is in the tree."""
        if spec.startswith("#"):
            return self._private(folder, spec)
        name, inner = self._split(spec)
        home = self._by_name.get(name)
        if home is None:
            return None
        exports = self._data[home].get("exports")
        key = "./" + inner if inner else "."
        for target in _exported(exports, key):
            found = self._built(home, target)
            if found:
                return found
        if not inner:
            return self.main(home)
        return self._file(join(home, inner)) or self._file(join(home, "src/" + inner))

    def _split(self, spec: str) -> tuple[str, str]:
        parts = spec.split("/")
        count = 2 if spec.startswith("@") else 1
        return "/".join(parts[:count]), "/".join(parts[count:])

    def _private(self, folder: str, spec: str) -> str | None:
        for outer in above(folder):
            if outer in self._data:
                for target in _exported(self._data[outer].get("imports"), spec):
                    found = self._built(outer, target)
                    if found:
                        return found
                return None
        return None

    def main(self, folder: str) -> str | None:
        """Return the entry of the package at ``folder``: its fields, then the usual places."""
        if folder in self._entering:
            return None
        self._entering.add(folder)
        try:
            data = self._data.get(folder)
            if data is None:
                return None
            written = [data[key] for key in _ENTRIES if isinstance(data.get(key), str)]
            for target in (*_exported(data.get("exports"), "."), *written):
                found = self._built(folder, target)
                if found:
                    return found
            return self._file(join(folder, "src/index")) or self._file(join(folder, "index"))
        finally:
            self._entering.discard(folder)

    def _built(self, folder: str, target: str) -> str | None:
        """Return the file of a target, or the source that it is built from: ``dist/x`` →
        ``src/x``."""
        place = step(folder, target)
        if place is None:
            return None
        found = self._file(place)
        if found:
            return found
        inner = place[len(folder) :].lstrip("/")
        first, _, rest = inner.partition("/")
        if first not in _BUILT or not rest:
            return None
        stem = rest.partition(".")[0]
        return self._file(join(folder, "src/" + stem)) or self._file(join(folder, stem))


def _exported(exports: Any, key: str) -> Iterator[str]:
    """Yield the targets of ``key`` in the ``exports`` or ``imports`` of a package, best first."""
    if isinstance(exports, (str, list)):
        if key == ".":
            yield from _targets(exports)
        return
    entries = table(exports)
    if key == "." and entries and not any(name.startswith(".") for name in entries):
        yield from _targets(entries)
    elif key in entries:
        yield from _targets(entries[key])
    else:
        for pattern, value in entries.items():
            before, star, after = pattern.partition("*")
            if star and key.startswith(before) and key.endswith(after):
                middle = key[len(before) : len(key) - len(after)]
                yield from (target.replace("*", middle) for target in _targets(value))


def _targets(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for one in value:
            yield from _targets(one, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        for condition in _CONDITIONS:
            if condition in value:
                yield from _targets(value[condition], depth + 1)


_NAMES = ("tsconfig.json", "jsconfig.json", "tsconfig.base.json")
_TSCONFIG_DEEPEST = 10


class Config(NamedTuple):
    base: str | None  # the folder of ``baseUrl``; None where bare names are not looked up in one
    paths: dict[str, list[str]]  # pattern → targets, each from the root of the tree, ``*`` in both


class Configs:
    def __init__(self, tree: SourceTree, folders: Iterable[str]) -> None:
        self._tree = tree
        self._of: dict[str, Config | None] = {}
        self._known: dict[tuple[str, int], Config | None] = {}
        """Path and depth → what was read: the configs of a workspace refer to each other."""
        wanted = set(folders)
        for name in reversed(_NAMES):
            for folder in tree.holding(name, wanted):
                self._of[folder] = self._read(join(folder, name), 0) or self._of.get(folder)

    def targets(self, folder: str, spec: str) -> Iterator[str]:
        """Yield where ``spec`` may stand, as the nearest config says."""
        for outer in above(folder):
            config = self._of.get(outer)
            if config is not None:
                yield from _matches(config, spec)
                return

    def _read(self, path: str, depth: int) -> Config | None:
        if (path, depth) not in self._known:
            self._known[path, depth] = self._found(path, depth)
        return self._known[path, depth]

    def _found(self, path: str, depth: int) -> Config | None:
        text = self._tree.read(path)
        if text is None or depth > _TSCONFIG_DEEPEST:
            return None
        data = table(loads(text))
        folder = folder_of(path)
        options = table(data.get("compilerOptions"))
        base: str | None = None
        paths: dict[str, list[str]] = {}
        for parent in (*words(data.get("extends")), *self._references(data, options)):
            inherited = self._extended(folder, parent, depth)
            if inherited is not None:
                base = base if inherited.base is None else inherited.base
                paths = inherited.paths or paths
        if isinstance(options.get("baseUrl"), str):
            base = step(folder, options["baseUrl"])
        if isinstance(options.get("paths"), dict):
            start = base if base is not None else folder
            paths = {
                pattern: [
                    place for one in words(targets) if (place := step(start, one)) is not None
                ]
                for pattern, targets in options["paths"].items()
            }
        return Config(base, paths)

    def _references(self, data: dict[str, object], options: dict[str, object]) -> list[str]:
        """Return the configs that one without files refers to."""
        if "paths" in options or (data.get("files") != [] and "compilerOptions" in data):
            return []
        references = data.get("references")
        if not isinstance(references, list):
            return []
        found = [table(one).get("path") for one in references]
        return [one for one in found if isinstance(one, str)]

    def _extended(self, folder: str, written: str, depth: int) -> Config | None:
        if not written.startswith("."):
            return None
        place = step(folder, written)
        if place is None:
            return None
        names = (place, place + ".json", join(place, "tsconfig.json"))
        return next((c for name in names if (c := self._read(name, depth + 1)) is not None), None)


def _matches(config: Config, spec: str) -> Iterator[str]:
    """Yield exact patterns first, then the one with the longest beginning, as the compiler does."""
    yield from config.paths.get(spec, ())
    matching = []
    for pattern, targets in config.paths.items():
        before, star, after = pattern.partition("*")
        long_enough = len(spec) >= len(before) + len(after)
        if star and long_enough and spec.startswith(before) and spec.endswith(after):
            matching.append((len(before), spec[len(before) : len(spec) - len(after)], targets))
    if matching:
        _, middle, targets = max(matching, key=lambda match: match[0])
        yield from (target.replace("*", middle) for target in targets)
    if config.base is not None:
        place = step(config.base, spec)
        if place is not None:
            yield place


SUFFIXES = (
    ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte",
)  # fmt: skip
_WRITTEN_AS = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts",),
    ".cjs": (".cts",),
}
"""TypeScript imports by the name of what the compiler will write."""


class JavaScriptImports(Importer):
    def __init__(
        self, tree: SourceTree, files: Mapping[str, FileFacts], packages: Packages
    ) -> None:
        self._tree = tree
        folders = {folder_of(path) for path in tree.paths if path.endswith(SUFFIXES)}
        self._packages = NodePackages(tree, folders, self._file)
        self._configs = Configs(tree, folders)
        self._known: dict[tuple[str, str], tuple[str, float] | None] = {}

    def find(self, facts: FileFacts, item: Import) -> Found:
        if not item.module:
            return self._own_export(facts.path, item)
        written = item.module.strip("'\"`")
        key = (folder_of(facts.path), written)
        if key not in self._known:
            self._known[key] = self._place(*key)
        place, local = self._known[key], self._local(item)
        if place is None:
            return outside(local if local != "*" else "")
        path, sure = place
        name = "" if item.name == "*" else item.name
        return Found((path,), (Bound(local, path, name),) if local else (), sure)

    def _own_export(self, path: str, item: Import) -> Found:
        """Return what ``export {a as b}`` or ``export default a`` declares: another name."""
        if not item.alias or item.alias == item.name:
            return NOWHERE
        return Found((), (Bound(item.alias, path, item.name),))

    def _local(self, item: Import) -> str:
        """Return what the file calls it; ``*`` where an ``export *`` passes everything on."""
        is_taken = item.name == "default" and item.kind != "export"
        return item.alias or ("" if is_taken else item.name)

    def _place(self, folder: str, written: str) -> tuple[str, float] | None:
        """Return the file and how sure that is."""
        spec = written.partition("?")[0]
        if spec.startswith(".") or spec.startswith("/"):
            start = "" if spec.startswith("/") else folder
            place = step(start, spec.lstrip("/") or ".")
            found = self._file(place) if place is not None else None
            return (found, CERTAIN) if found else None
        for target in self._configs.targets(folder, spec):
            found = self._file(target)
            if found:
                return found, CERTAIN
        found = self._packages.find(folder, spec)
        if found:
            return found, CERTAIN
        return self._conventional(folder, spec)

    def _conventional(self, folder: str, spec: str) -> tuple[str, float] | None:
        """Resolve ``@/x`` and ``~/x`` to the package's sources, as bundlers set them up."""
        if spec[:2] not in ("@/", "~/"):
            return None
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
        if base in paths:
            return base
        stem, dot, suffix = base.rpartition(".")
        for other in _WRITTEN_AS.get(dot + suffix, ()):
            if stem + other in paths:
                return stem + other
        for suffix in SUFFIXES:
            if base + suffix in paths:
                return base + suffix
        if base not in self._tree.folders:
            return None
        prefix = base + "/index" if base else "index"
        for suffix in SUFFIXES:
            if prefix + suffix in paths:
                return prefix + suffix
        return self._packages.main(base)
