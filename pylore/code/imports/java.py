"""Java: a class is a file of its name in the folder of its package."""

from __future__ import annotations

from ..facts import FileFacts, Import
from .found import (
    AMBIGUOUS,
    BY_NEARNESS,
    CERTAIN,
    RESOLVED,
    UNRESOLVED,
    Bound,
    Found,
    outside,
)
from .tree import Tree, above, folder_of, nearest

_SUFFIX = ".java"


class JavaImports:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._packages: dict[str, list[str]] = {}
        """``com/example/app`` → the folders that end so; every end of every folder."""
        folders = {folder_of(path) for path in tree.paths if path.endswith(_SUFFIX)}
        for folder in sorted(folders):
            parts = folder.split("/")
            for position in range(len(parts)):
                self._packages.setdefault("/".join(parts[position:]), []).append(folder)

    def find(self, facts: FileFacts, item: Import) -> Found:
        if item.kind == "package":
            return Found(RESOLVED)
        written = item.module.replace(".", "/").strip("/")
        if item.name and item.name != "*":
            written = f"{written}/{item.name}"
        if item.name == "*" or written.endswith("/*"):
            return self._everything(facts.path, written.removesuffix("/*"))
        local = item.alias or written.rpartition("/")[2]
        # A nested class or a static member stands in the file of the outer class.
        for place in above(written):
            if "/" not in place:
                break
            found = self._class(place, facts.path)
            if found is not None:
                return self._bound(found, local, place, written)
        return Found(UNRESOLVED) if self._is_ours(written) else outside(local)

    def _bound(self, found: tuple[str, float] | str, local: str, place: str, written: str) -> Found:
        if isinstance(found, str):
            return Found(found)
        path, sure = found
        dotted = written[len(place.rpartition("/")[0]) + 1 :].replace("/", ".")
        return Found(RESOLVED, (path,), (Bound(local, path, dotted),), sure)

    def _class(self, place: str, near: str) -> tuple[str, float] | str | None:
        found = self._tree.ending(place + _SUFFIX)
        if len(found) < 2:
            return (found[0], CERTAIN) if found else None
        best = nearest(found, near)
        return AMBIGUOUS if best is None else (best, BY_NEARNESS)

    def _everything(self, path: str, package: str) -> Found:
        """All of a package, or (``import static a.B.*``) all members of a class."""
        folders = self._packages.get(package, [])
        if folders:
            return Found(RESOLVED, tuple(folders), tuple(Bound("*", one) for one in folders))
        found = self._class(package, path) if "/" in package else None
        if isinstance(found, tuple):
            name = package.rpartition("/")[2]
            return Found(RESOLVED, (found[0],), (Bound("*", found[0], name),), found[1])
        if found == AMBIGUOUS:
            return Found(AMBIGUOUS)
        return Found(UNRESOLVED) if self._is_ours(package) else outside()

    def _is_ours(self, written: str) -> bool:
        """Whether the package, at least, stands in the tree."""
        folder = written.rpartition("/")[0]
        return folder.count("/") > 0 and folder in self._packages


