"""The ``package.json`` files of a tree: names, entry points, ``exports`` and ``imports``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...imports.tree import SourceTree, above, join, step
from .jsonc import loads, table

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

    def names(self, spec: str) -> bool:
        """Whether ``spec`` asks for a package of this tree."""
        return self._split(spec)[0] in self._by_name

    def find(self, folder: str, spec: str) -> str | None:
        """The file that a bare ``spec`` means, if its package is in the tree."""
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
        """The entry of the package at ``folder``: its fields, then the usual places."""
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
        """The file of a target, or the source that it is built from: ``dist/x`` → ``src/x``."""
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
    """The targets of ``key`` in the ``exports`` or ``imports`` of a package, best first."""
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
