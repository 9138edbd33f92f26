"""Rust: ``mod`` files, paths from ``crate``, ``self`` and ``super``, members of a workspace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from ..facts import NOWHERE, Bound, FileFacts, Found, Import, outside
from ..tree import Importer, SourceTree, above, folder_of, join, step
from . import LanguageSpec

_SECTION = re.compile(r"^\s*\[+([^\]]+)\]+\s*(?:#.*)?$")
_STRING = re.compile(r'^\s*(name|path)\s*=\s*"([^"]*)"')
_ROOTS = ("src/lib.rs", "src/main.rs", "build.rs")
_LOOSE = ("src/bin", "tests", "examples", "benches")  # each file there is a crate


class RustImports(Importer):
    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self._paths = tree.paths
        folders = {folder_of(path) for path in tree.paths if path.endswith(".rs")}
        self._packages: dict[str, set[str]] = {}  # folder of a package → its declared crate roots
        self._libraries: dict[str, str] = {}  # name in a path → the root file of that crate
        for folder, text in tree.holding("Cargo.toml", folders).items():
            self._read(folder, text)
        self._root_of = cache(self._find_root)

    def _read(self, folder: str, text: str) -> None:
        written = _manifest(text)
        library = join(folder, written.get("lib.path", "src/lib.rs"))
        roots = {step(folder, one) for key, one in written.items() if key.endswith(".path")}
        self._packages[folder] = {root for root in roots if root and root in self._paths}
        name = written.get("lib.name") or written.get("package.name", "")
        if name and library in self._paths:
            self._libraries.setdefault(name.replace("-", "_"), library)

    def find(self, facts: FileFacts, item: Import) -> Found:
        path = facts.path
        if item.kind == "mod":
            name = item.module.rpartition("::")[2] or item.name
            child = step(folder_of(path), item.alias) if item.alias else self._child(path, name)
            child = child or self._nested(facts, name, item.line)
            if child not in self._paths:
                return NOWHERE
            return Found((child,), (Bound(name, child),))
        parts = [one for one in item.module.replace(".", "::").split("::") if one]
        if item.name and item.name not in ("*", "self"):
            parts.append(item.name)
        if not parts:
            return NOWHERE
        local = "*" if item.name == "*" else item.alias or parts[-1]
        start = self._start(path, parts)
        if start is None:
            return outside(local)
        here, rest = start
        while rest and (child := self._child(here, rest[0])) is not None:
            here, rest = child, rest[1:]
        return Found((here,), (Bound(local, here, ".".join(rest)),))

    def _nested(self, facts: FileFacts, name: str, line: int) -> str | None:
        """Return the file of ``mod name;`` in ``mod outer { … }``: in a folder of that name."""
        folder = self._home(facts.path)
        for symbol in facts.symbols:
            spans = ((symbol.line_start, symbol.line_end), *symbol.others)
            if symbol.kind == "module" and any(first <= line <= last for first, last in spans):
                inner = join(folder, symbol.qualified.replace(".", "/"))
                found = self._first((f"{inner}/{name}.rs", f"{inner}/{name}/mod.rs"))
                if found is not None:
                    return found
        return None

    def _first(self, candidates: Iterable[str], but: str = "") -> str | None:
        return next((one for one in candidates if one in self._paths and one != but), None)

    def _start(self, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
        """Return the file at the start of a path, and the rest; None for an external crate."""
        head, rest = parts[0], parts[1:]
        if head in ("crate", "$crate"):
            root = self._root_of(path)
            return (root, rest) if root else None
        if head in ("self", "super"):
            here: str | None = path
            for position, part in enumerate(parts):
                if part == "super":
                    here = self._parent(here) if here else None
                elif part != "self":
                    return (here or path, parts[position:])
            return (here or path, [])
        if self._child(path, head):
            return path, parts
        return (self._libraries[head], rest) if head in self._libraries else None

    def _is_root(self, path: str, package: str) -> bool:
        inner = path[len(package) :].lstrip("/")
        if inner in _ROOTS or path in self._packages.get(package, ()):
            return True
        folder = folder_of(inner)
        return folder in _LOOSE or (inner.endswith("/main.rs") and folder_of(folder) in _LOOSE)

    def _package_of(self, path: str) -> str:
        known = (one for one in above(folder_of(path)) if one in self._packages)
        return next(known, path.partition("/src/")[0] if "/src/" in path else "")

    def _find_root(self, path: str) -> str | None:
        """Return the root file of the crate that ``path`` is in."""
        package = self._package_of(path)
        if self._is_root(path, package):
            return path
        for folder in above(folder_of(path)):
            for name in ("lib.rs", "main.rs", "mod.rs"):
                candidate = join(folder, name)
                is_other = candidate != path and candidate in self._paths
                if is_other and (name != "mod.rs" or self._is_root(candidate, package)):
                    return candidate
            if folder == package:
                break
        return None

    def _home(self, path: str) -> str:
        """Return the folder of the child modules of a file."""
        folder, _, name = path.rpartition("/")
        if name == "mod.rs" or self._is_root(path, self._package_of(path)):
            return folder
        return path[: -len(".rs")]

    def _child(self, path: str, name: str) -> str | None:
        home = self._home(path)
        return self._first((join(home, name + ".rs"), join(home, name + "/mod.rs")), path)

    def _parent(self, path: str) -> str | None:
        path = path.removesuffix("/mod.rs")
        folder = folder_of(path)
        inner = (join(folder, name) for name in ("mod.rs", "lib.rs", "main.rs"))
        return self._first((f"{folder}.rs", *inner), path)


def _manifest(text: str) -> dict[str, str]:
    """Return names and paths by section: ``package.name``, ``lib.path``, ``bin.2.path``."""
    found: dict[str, str] = {}
    section = ""
    for number, line in enumerate(text.splitlines()):
        if header := _SECTION.match(line):
            section = header[1].strip()
            continue
        pair = _STRING.match(line)
        if pair and section in ("package", "lib", "bin", "test", "example", "bench"):
            key = f"{section}.{pair[1]}"
            found[f"{section}.{number}.{pair[1]}" if key in found else key] = pair[2]
    return found


SPEC = LanguageSpec(
    "rust",
    "rust",
    prefixes=("r#", "self::", "const", "struct", "enum", "mut", "dyn", "impl", "static"),
    wrappers=("Option<", "Result<", "Box<", "Arc<", "Rc<", "Mutex<", "RwLock<", "RefCell<"),
    no_class=frozenset("bool str String char usize u8 u32 u64 i32 i64 self let".split()),
    no_value=frozenset("None true false self bool str usize".split()),
    base_words=("where", "for", "dyn"),
    self_names=frozenset({"self"}),
    class_names=frozenset({"Self"}),
    paths=True,
    common_names=frozenset(
        "as_mut as_ref as_str borrow chars cloned collect concat deref drop ends_with expect fmt"
        " into into_iter is_empty is_none is_some len or_else pop_back push_back push_str"
        " eprintln panic println starts_with to_owned to_string unwrap unwrap_or writeln".split()
    ),
    importer=RustImports,
)
