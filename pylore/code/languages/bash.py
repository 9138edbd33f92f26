"""Bash: the file that ``source`` reads, where its path is known but for its first folder."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..facts import FileFacts, Import
from ..imports import (
    AMBIGUOUS,
    BY_SUFFIX,
    CERTAIN,
    RESOLVED,
    UNRESOLVED,
    Bound,
    Found,
    Packages,
    SourceTree,
    folder_of,
    nearest,
    outside,
    step,
)
from .spec import LanguageSpec

_COMPUTED = re.compile(r"^(?:(?:\$\{[^}]*\}|\$\w+|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`)+/)+")
"""A beginning that only the shell knows: ``$here/``, ``${1%/*}/``, ``$(dirname "$0")/``."""


class BashImports:
    def __init__(
        self, tree: SourceTree, files: Mapping[str, FileFacts], packages: Packages
    ) -> None:
        self._tree = tree

    def find(self, facts: FileFacts, item: Import) -> Found:
        written = item.module.strip().replace('"', "").replace("'", "")
        plain = _COMPUTED.sub("", written)
        if not plain or "$" in plain or "`" in plain:
            return Found(UNRESOLVED)
        if plain.startswith(("/", "~")):
            return outside()
        for folder in (folder_of(facts.path), ""):
            place = step(folder, plain)
            if place is not None and place in self._tree.paths and place != facts.path:
                sure = CERTAIN if plain == written or not folder else BY_SUFFIX
                return self._file(place, sure)
        tail = plain.removeprefix("./")
        while tail.startswith("../"):
            tail = tail[3:]
        ending = [one for one in self._tree.ending(tail) if one != facts.path]
        if not ending:
            return Found(UNRESOLVED)
        best = nearest(ending, facts.path)
        return Found(AMBIGUOUS) if best is None else self._file(best, BY_SUFFIX)

    def _file(self, path: str, sure: float) -> Found:
        return Found(RESOLVED, (path,), (Bound("*", path),), sure)


SPEC = LanguageSpec("bash", "bash", letters="-", functions_global=True, importer=BashImports)
