"""``tsconfig.json`` and ``jsconfig.json``: ``baseUrl`` and ``paths``, with ``extends``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...imports.tree import SourceTree, above, folder_of, join, step
from .jsonc import loads, table, words

_NAMES = ("tsconfig.json", "jsconfig.json", "tsconfig.base.json")
_DEEPEST = 10


class Config(NamedTuple):
    base: str | None
    """The folder of ``baseUrl``; None where bare names are not looked up in one."""
    paths: dict[str, list[str]]
    """Pattern → targets, each from the root of the tree, ``*`` in both."""


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
        """Where ``spec`` may stand, as the nearest config says."""
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
        if text is None or depth > _DEEPEST:
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
        """A config without files of its own stands for the ones that it refers to."""
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
    """Exact patterns first, then the one with the longest beginning, as the compiler does."""
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
