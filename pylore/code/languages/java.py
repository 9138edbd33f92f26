"""Java: a class is found by the package that its file declares."""

from __future__ import annotations

from collections.abc import Mapping

from ..facts import FileFacts, Import
from ..imports import (
    AMBIGUOUS,
    BY_NEARNESS,
    CERTAIN,
    DECLARED,
    RESOLVED,
    UNRESOLVED,
    Bound,
    Found,
    Packages,
    SourceTree,
    nearest,
    outside,
)
from .spec import LanguageSpec


class JavaImports:
    ASKS_FILES = True  # for their packages and classes, not for their paths alone
    PATHS_BY_NAME = True  # A new path changes no import that names nothing of it

    def __init__(
        self, tree: SourceTree, files: Mapping[str, FileFacts], packages: Packages
    ) -> None:
        self._packages = packages.files
        self._classes: dict[str, list[str]] = {}  # ``a.b.C`` → the files that define it
        for path, facts in sorted(files.items()):
            if facts.language == SPEC.name:
                self._note(path, facts, packages)

    def _note(self, path: str, facts: FileFacts, packages: Packages) -> None:
        package = facts.package
        packages.put(_key(package), path)
        for symbol in facts.symbols:
            if "." not in symbol.qualified:
                self._classes.setdefault(f"{package}.{symbol.name}", []).append(path)

    def find(self, facts: FileFacts, item: Import) -> Found:
        if item.kind == "package":
            return Found(DECLARED)
        if item.name == "*":
            return self._everything(facts.path, item.module)
        written = f"{item.module}.{item.name}" if item.name else item.module
        local = item.alias or written.rpartition(".")[2]
        # A nested class or a static member stands in the file of the outer class.
        outer = written
        while "." in outer:
            found = self._class(outer, facts.path)
            if isinstance(found, str):
                return Found(found)
            if found is not None:
                inner = written[len(outer.rpartition(".")[0]) + 1 :]
                return Found(RESOLVED, (found[0],), (Bound(local, found[0], inner),), found[1])
            outer = outer.rpartition(".")[0]
        return self._missing(item.module) or outside(local)

    def _class(self, name: str, near: str) -> tuple[str, float] | str | None:
        found = self._classes.get(name, [])
        if len(found) < 2:
            return (found[0], CERTAIN) if found else None
        best = nearest(found, near)
        return AMBIGUOUS if best is None else (best, BY_NEARNESS)

    def _everything(self, path: str, name: str) -> Found:
        """Return all of a package, or (``import static a.B.*``) all members of a class."""
        key = _key(name)
        if key in self._packages:
            return Found(RESOLVED, (key,), (Bound("*", key),))
        found = self._class(name, path)
        if isinstance(found, tuple):
            bound = Bound("*", found[0], name.rpartition(".")[2])
            return Found(RESOLVED, (found[0],), (bound,), found[1])
        if found is not None:
            return Found(found)
        return self._missing(name.rpartition(".")[0]) or outside()

    def _missing(self, package: str) -> Found | None:
        """Return UNRESOLVED for a package of the tree: the class is generated, or left out."""
        return Found(UNRESOLVED) if _key(package) in self._packages else None


def _key(package: str) -> str:
    return f"java:{package}"


SPEC = LanguageSpec(
    "java",
    "java",
    prefixes=("new", "final", "static", "volatile", "void"),
    no_class=frozenset(
        "null void int boolean byte char double float long short String Object this var".split()
    ),
    no_value=frozenset("null true false this int boolean float void".split()),
    base_words=("extends", "implements", "permits"),
    self_names=frozenset({"this"}),
    super_names=frozenset({"super"}),
    constructors=("",),
    common_names=frozenset(
        "addAll charAt collect compareTo concat containsKey endsWith entrySet forEach getClass"
        " getName hasNext hashCode indexOf intValue isEmpty iterator keySet printf"
        " println readLine startsWith substring toLowerCase toString toUpperCase valueOf".split()
    ),
    members_bare=True,
    class_scope=True,
    tests=r"Tests?\.java$",
    importer=JavaImports,
)
