"""Ruby: ``require_relative``, and ``require`` from the ``lib`` folders of the tree."""

from __future__ import annotations

from collections.abc import Mapping

from ..facts import FileFacts, Import
from ..imports import (
    AMBIGUOUS,
    BY_CONVENTION,
    BY_SUFFIX,
    CERTAIN,
    RESOLVED,
    UNRESOLVED,
    Bound,
    Found,
    Packages,
    SourceTree,
    above,
    folder_of,
    join,
    nearest,
    outside,
    step,
)
from .spec import LanguageSpec

_LAYOUTS = ("lib", "", "spec", "test", "app", "ext")


class RubyImports:
    def __init__(
        self, tree: SourceTree, files: Mapping[str, FileFacts], packages: Packages
    ) -> None:
        self._tree = tree

    def find(self, facts: FileFacts, item: Import) -> Found:
        name = item.module.strip("'\"")
        if not name or "#{" in name:
            return Found(UNRESOLVED)
        tail = name if name.endswith(".rb") else name + ".rb"
        if item.kind == "require_relative" or name.startswith("."):
            place = step(folder_of(facts.path), tail)
            if place is None or place not in self._tree.paths:
                return Found(UNRESOLVED)
            return self._file(place, CERTAIN)
        for folder in above(folder_of(facts.path)):
            for layout in _LAYOUTS:
                place = step(join(folder, layout), tail)
                if place is not None and place in self._tree.paths and place != facts.path:
                    return self._file(place, CERTAIN if layout == "lib" else BY_CONVENTION)
        return self._elsewhere(facts.path, tail)

    def _elsewhere(self, path: str, tail: str) -> Found:
        """Return the nearest file below a ``lib``: a tree with several gems has one each."""
        ending = self._tree.ending("lib/" + tail) or ("/" in tail and self._tree.ending(tail)) or []
        if not ending:
            return outside()
        best = nearest(ending, path)
        return Found(AMBIGUOUS) if best is None else self._file(best, BY_SUFFIX)

    def _file(self, path: str, sure: float) -> Found:
        return Found(RESOLVED, (path,), (Bound("*", path),), sure)


SPEC = LanguageSpec(
    "ruby",
    "ruby",
    self_marks=("@",),
    no_class=frozenset("nil self String Object".split()),
    no_value=frozenset("nil true false self".split()),
    self_names=frozenset({"self"}),
    super_names=frozenset({"super"}),
    constructors=("initialize",),
    common_names=frozenset(
        "catch chars collect concat drop printf shift throw to_s unshift".split()
    ),
    maker="new",
    members_bare=True,
    class_scope=True,
    functions_global=True,
    namespaces=True,
    classes_reopen=True,
    importer=RubyImports,
)
