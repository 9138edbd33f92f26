"""Python: absolute and relative modules, packages, namespace packages, ``src/`` layouts."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping

from ..facts import BY_CONVENTION, BY_SUFFIX, CERTAIN, NOWHERE, Bound, FileFacts, Found, Import
from ..tree import Importer, SourceTree, above, folder_of, join, nearest
from . import LanguageSpec

_LAYOUTS = ("src", "lib", "python")
_SUFFIXES = (".py", ".pyi")
_INIT = "__init__.py"


class PythonImports(Importer):
    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self._paths = tree.paths
        self._folders: set[str] = set()  # with Python somewhere below them
        self._tops: dict[str, set[str]] = {}  # top-level module → folders with it
        self._roots: dict[str, str] = {}
        self._known: dict[tuple[str, str], tuple[str, float] | None] = {}
        for path in tree.paths:
            if path.endswith(_SUFFIXES):
                root = self._root_of(folder_of(path))
                top = path[len(root) :].lstrip("/").partition("/")[0].partition(".")[0]
                self._tops.setdefault(top, set()).add(root)
                self._folders.update(above(folder_of(path)))

    def _root_of(self, folder: str) -> str:
        """Return the folder that holds the outermost package around ``folder``."""
        if folder not in self._roots:
            inside = folder and f"{folder}/{_INIT}" in self._paths
            self._roots[folder] = self._root_of(folder_of(folder)) if inside else folder
        return self._roots[folder]

    def find(self, facts: FileFacts, item: Import) -> Found:
        folder = folder_of(facts.path)
        if item.level:
            for _ in range(item.level - 1):
                if not folder:
                    return NOWHERE
                folder = folder_of(folder)
            module = self._module(join(folder, item.module.replace(".", "/")))
            return self._taken(item, module, CERTAIN) if module is not None else NOWHERE
        # A script with the name of the import does not import itself.
        itself = facts.path == join(folder, item.module.partition(".")[0] + ".py")
        key = (facts.path if itself else folder, item.module)
        if key not in self._known:
            self._known[key] = self._search(facts.path, item.module, itself)
        place = self._known[key]
        if place is None:
            local = item.alias or item.name or item.module.partition(".")[0]
            return Found((), (Bound(local, ""),))
        return self._taken(item, *place) if place[0] else NOWHERE

    def _module(self, base: str) -> str | None:
        """Return the file of the module at ``base``; the folder of a namespace package."""
        for path in (join(base, _INIT), base + ".py", base + ".pyi"):
            if path in self._paths:
                return path
        return base if base in self._folders else None

    def _search(self, path: str, name: str, itself: bool) -> tuple[str, float] | None:
        """Return the absolute module, or "", and how sure that is; None outside of the tree."""
        inner = name.replace(".", "/")
        top = inner.partition("/")[0]
        own = self._root_of(folder_of(path))
        standard = top in sys.stdlib_module_names
        missed = False
        for root in (*above(own), *_LAYOUTS):
            if root not in (own, "") and (standard or join(root, _INIT) in self._paths):
                continue
            if standard and self._module(join(root, top)) == join(root, top):
                continue
            module = self._module(join(root, inner))
            if module is not None and not (itself and module == path):
                return module, CERTAIN if root in (own, "") else BY_CONVENTION
            missed = missed or self._module(join(root, top)) not in (None, path, join(root, top))
        if standard:
            return None
        modules = [self._module(join(root, inner)) for root in self._tops.get(top, ())]
        others = [module for module in modules if module is not None]
        if not others:
            return ("", 0.0) if missed or top in self._tops else None
        return nearest(others, path) or "", BY_SUFFIX

    def _taken(self, item: Import, module: str, sure: float) -> Found:
        """Return the names that the statement imports from a module in the tree."""
        if not item.name:
            return self._whole(item, module, sure)
        is_file = module in self._paths
        if item.name == "*":
            return Found((module,) if is_file else (), (Bound("*", module),), sure)
        local = item.alias or item.name
        inner = None
        if not is_file or module.endswith(_INIT):
            inner = self._module(join(folder_of(module) if is_file else module, item.name))
        if inner is None and not is_file:
            return NOWHERE
        bound = Bound(local, module, item.name) if is_file else Bound(local, inner or "")
        files = (module,) if inner is None else (inner,) if inner in self._paths else ()
        return Found(files, (bound,), sure)

    def _whole(self, item: Import, module: str, sure: float) -> Found:
        """Bind ``a`` for ``import a.b.c``; with an alias, the module itself."""
        files = (module,) if module in self._paths else ()
        up = 0 if item.alias else item.module.count(".")
        local = item.alias or item.module.partition(".")[0]
        folder = module[: -len(_INIT) - 1] if module.endswith(_INIT) else module
        for _ in range(up):
            folder = folder_of(folder)
        return Found(files, (Bound(local, self._module(folder) or module),), sure)


_TYPES = (str, bytes, list, dict, set, int, float, object)

SPEC = LanguageSpec(
    "python",
    "python",
    prefixes=("await", "yield"),
    wrappers=("Optional[", "Type[", "type[", "Final[", "Iterator[", "AsyncIterator[", "Generator["),
    no_class=frozenset("None Any Union object int str bool float bytes self".split()),
    no_value=frozenset(
        "None True False int str bool float bytes Any any len dict list object set tuple TypeVar"
        " ClassVar Final Union".split()
    ),
    self_names=frozenset({"self"}),
    super_names=frozenset({"super"}),
    class_names=frozenset({"cls", "Self"}),
    constructors=("__init__", "__new__"),
    called="__call__",
    common_names=frozenset(name for kind in _TYPES for name in dir(kind)) | {"recv"},
    builtin=frozenset(dir(builtins)),
    modules=_SUFFIXES,
    packages_pass_on=True,
    package_file="__init__",
    importer=PythonImports,
)
