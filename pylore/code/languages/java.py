"""Java: a class is found by the declared package of a file."""

from __future__ import annotations

from collections.abc import Mapping

from ..facts import BY_NEARNESS, NOWHERE, Bound, FileFacts, Found, Import, outside
from ..tree import Importer, SourceTree, nearest
from . import LanguageSpec


class JavaImports(Importer):
    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self._packages = tree.packages
        self._classes: dict[str, list[str]] = {}  # ``a.b.C`` → the files that define it
        for path, facts in sorted(files.items()):
            if facts.language == SPEC.name:
                tree.put(_key(facts.package), path)
                for symbol in facts.symbols:
                    if "." not in symbol.qualified:
                        name = f"{facts.package}.{symbol.name}"
                        self._classes.setdefault(name, []).append(path)

    def find(self, facts: FileFacts, item: Import) -> Found:
        if item.kind == "package":
            return NOWHERE
        if item.name == "*":  # all of a package, or (``import static a.B.*``) of a class
            key = _key(item.module)
            if key in self._packages:
                return Found((key,), (Bound("*", key),))
            whole = self._class(item.module, facts.path) or NOWHERE
            name = item.module.rpartition(".")[2]
            return whole._replace(bound=tuple(Bound("*", path, name) for path in whole.files))
        written = f"{item.module}.{item.name}" if item.name else item.module
        local = item.alias or written.rpartition(".")[2]
        # A nested class or a static member is in the file of the outer class.
        outer = written
        while "." in outer:
            found = self._class(outer, facts.path)
            if found is not None:
                inner = written[len(outer.rpartition(".")[0]) + 1 :]
                bound = tuple(Bound(local, path, inner) for path in found.files)
                return found._replace(bound=bound)
            outer = outer.rpartition(".")[0]
        # A class of a package of the tree is generated, or left out.
        return NOWHERE if _key(item.module) in self._packages else outside(local)

    def _class(self, name: str, near: str) -> Found | None:
        found = self._classes.get(name, [])
        if len(found) < 2:
            return Found((found[0],)) if found else None
        best = nearest(found, near)
        return NOWHERE if best is None else Found((best,), (), BY_NEARNESS)


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
    paths=True,
    common_names=frozenset(
        "addAll charAt collect compareTo concat containsKey endsWith entrySet forEach getClass"
        " getName hasNext hashCode indexOf intValue isEmpty iterator keySet printf"
        " println readLine startsWith substring toLowerCase toString toUpperCase valueOf".split()
    ),
    members_bare=True,
    class_scope=True,
    importer=JavaImports,
)
