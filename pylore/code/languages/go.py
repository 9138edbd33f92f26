"""Go: an import path is a module of a ``go.mod`` and a folder in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..facts import BY_SUFFIX, CERTAIN, NOWHERE, Bound, FileFacts, Found, Import, outside
from ..tree import Importer, SourceTree, above, folder_of, join, step
from . import LanguageSpec

_MODULE = re.compile(r'^module\s+"?([^\s"]+)"?', re.MULTILINE)
_REPLACE = re.compile(r"(?m)^(?:replace\b)?[ \t]*(\S+)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\.\S*)")
_VERSION = re.compile(r"[/.]v\d+$")


class GoImports(Importer):
    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self._packages = tree.packages
        self._names: dict[str, str] = {}  # folder → the name that the files declare
        for path, facts in sorted(files.items()):
            if facts.language == SPEC.name:
                folder = folder_of(path) or "."
                is_seen = not path.endswith("_test.go")
                tests = f"{folder}/*_test.go"  # the key of all files of a package: tests see tests
                for package in (tests, folder) if is_seen else (tests,):
                    tree.put(package, path)
                if is_seen and facts.package not in ("", "main"):
                    self._names.setdefault(folder, facts.package)
        self._folders = {folder_of(path) for path in tree.paths if path.endswith(".go")}
        named: dict[str, str] = {}
        replaced: dict[str, str] = {}
        for folder, text in tree.holding("go.mod", self._folders).items():
            for written, place in _REPLACE.findall(text):
                target = step(folder, place)
                if target is not None:
                    replaced.setdefault(written, target)
            module = _MODULE.search(text)
            if module:
                named.setdefault(module[1], folder)
        self._modules = {**replaced, **named}  # path of a module → the first folder
        self._tails: dict[str, list[str]] = {}
        for folder in self._folders:
            self._tails.setdefault(folder.rpartition("/")[2], []).append(folder)

    def find(self, facts: FileFacts, item: Import) -> Found:
        if item.kind == "package":
            return NOWHERE
        written = item.module.strip('"`')
        place = self._place(folder_of(facts.path), written)
        if place is None:
            return outside(item.alias or _package_name(written))
        folder, sure = place[0] or ".", place[1]
        if folder not in self._packages:
            return NOWHERE
        local = item.alias or self._names.get(folder) or _package_name(written)
        bound = () if local == "_" else (Bound("*" if local == "." else local, folder),)
        return Found((folder,), bound, sure)

    def _place(self, folder: str, written: str) -> tuple[str, float] | None:
        """Return the folder of a package that should be in the tree; None outside the tree."""
        if written.startswith("."):
            return step(folder, written) or "", CERTAIN
        best = next((name for name in above(written) if name in self._modules), None)
        if best is not None:
            return join(self._modules[best], written[len(best) + 1 :]), CERTAIN
        for outer in above(folder):
            vendored = join(outer, "vendor/" + written)
            if vendored in self._folders:
                return vendored, CERTAIN
        if self._modules or "/" not in written:
            return None
        # Without a go.mod the tree is part of GOPATH: imports end with paths of the tree.
        ends = [
            place
            for place in self._tails.get(written.rpartition("/")[2], ())
            if "/" in place and written.endswith("/" + place)
        ]
        return (ends[0], BY_SUFFIX) if len(ends) == 1 else None


def _package_name(path: str) -> str:
    """Return the default name of a package: ``gopkg.in/yaml.v3`` → ``yaml``."""
    last = _VERSION.sub("", path).rpartition("/")[2]
    return last.removeprefix("go-").removesuffix("-go").replace("-", "_")


SPEC = LanguageSpec(
    "go",
    "go",
    self_marks=("self.", "this."),  # some name receivers so
    prefixes=("new",),
    no_class=frozenset("nil any error string int bool byte".split()),
    no_value=frozenset("nil true false int bool string any len make new".split()),
    common_names=frozenset({"len"}),
    effect_alias="_",
    importer=GoImports,
)
