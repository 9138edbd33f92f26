"""JavaScript and TypeScript: relative files, ``paths`` of tsconfig, packages of a workspace."""

from __future__ import annotations

from collections.abc import Mapping

from ...imports.found import (
    BY_CONVENTION,
    CERTAIN,
    DECLARED,
    EXTERNAL,
    RESOLVED,
    UNRESOLVED,
    Bound,
    Found,
)
from ...imports.packages import Packages
from ...imports.tree import SourceTree, above, folder_of, step
from ...parse.facts import FileFacts, Import
from .npm import NodePackages
from .tsconfig import Configs

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
_ASSETS = (
    ".css", ".scss", ".sass", ".less", ".json", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp",
    ".woff2", ".woff", ".ttf", ".html", ".md", ".mdx", ".txt", ".graphql", ".wasm", ".node",
)  # fmt: skip


class JavaScriptImports:
    def __init__(
        self, tree: SourceTree, files: Mapping[str, FileFacts], packages: Packages
    ) -> None:
        self._tree = tree
        folders = {folder_of(path) for path in tree.paths if path.endswith(SUFFIXES)}
        self._packages = NodePackages(tree, folders, self._file)
        self._configs = Configs(tree, folders)
        self._known: dict[tuple[str, str], tuple[str, float] | str] = {}

    def find(self, facts: FileFacts, item: Import) -> Found:
        if not item.module:
            return self._own_export(facts.path, item)
        written = item.module.strip("'\"`")
        key = (folder_of(facts.path), written)
        place = self._known.get(key)
        if place is None:
            place = self._known[key] = self._place(*key)
        local = self._local(item)
        if isinstance(place, str):
            return Found(place, (), (Bound(local, ""),) if local not in ("", "*") else ())
        path, sure = place
        name = "" if item.name == "*" and item.alias else item.name
        return Found(RESOLVED, (path,), (Bound(local, path, name),) if local else (), sure)

    def _own_export(self, path: str, item: Import) -> Found:
        """``export {a as b}``, ``export default a``: another name for what is here."""
        if not item.alias or item.alias == item.name:
            return Found(DECLARED)
        return Found(DECLARED, (), (Bound(item.alias, path, item.name),))

    def _local(self, item: Import) -> str:
        """What the file calls it; ``*`` where an ``export *`` passes everything on."""
        return item.alias or ("" if item.name == "default" else item.name)

    def _place(self, folder: str, written: str) -> tuple[str, float] | str:
        """The file and how sure that is, else the outcome."""
        spec = written.partition("?")[0]
        if spec.startswith(".") or spec.startswith("/"):
            start = "" if spec.startswith("/") else folder
            place = step(start, spec.lstrip("/") or ".")
            found = self._file(place) if place is not None else None
            if found:
                return found, CERTAIN
            return EXTERNAL if spec.endswith(_ASSETS) else UNRESOLVED
        for target in self._configs.targets(folder, spec):
            found = self._file(target)
            if found:
                return found, CERTAIN
        found = self._packages.find(folder, spec)
        if found:
            return found, CERTAIN
        return self._conventional(folder, spec)

    def _conventional(self, folder: str, spec: str) -> tuple[str, float] | str:
        """``@/x`` and ``~/x`` mean the sources of the package, in what bundlers set up."""
        if spec[:2] not in ("@/", "~/"):
            return UNRESOLVED if self._packages.names(spec) else EXTERNAL
        for outer in above(folder):
            for start in (f"{outer}/src" if outer else "src", outer):
                place = step(start, spec[2:] or ".")
                found = self._file(place) if place is not None else None
                if found:
                    return found, BY_CONVENTION
        return EXTERNAL if spec.endswith(_ASSETS) else UNRESOLVED

    def _file(self, base: str) -> str | None:
        """The file that ``base`` means: itself, with a suffix, or the index of a folder."""
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
