"""Imports against Python's own resolution: ``python tests/bench/imports.py [FOLDER…]``.

For each package tree (without arguments, packages of the interpreter's standard
library and the largest ones installed beside it) the edges ``imports`` are compared
with what ``ast`` reads and ``importlib`` finds, file by file, inside the tree. The
truth of a statement: ``import a.b`` is the file of ``a.b``; ``from a import b`` the
file of ``a.b`` where that is a module, else that of ``a``.
"""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from codefacts import facts_of

from pylore.code.facts import FileFacts
from pylore.code.resolve.resolve import resolve

STANDARD = (
    "asyncio", "collections", "concurrent", "ctypes", "curses", "dbm", "email", "encodings", "html",
    "http", "importlib", "json", "logging", "multiprocessing", "re", "unittest", "urllib",
    "wsgiref", "xml", "xmlrpc", "zoneinfo",
)  # fmt: skip
INSTALLED = ("hypothesis", "mypy", "numpy", "pip", "pydantic", "pytest", "_pytest", "setuptools")

Pairs = set[tuple[str, str]]


def main() -> int:
    total_right = total_found = total_true = 0
    print(f"{'tree':<20}{'files':>7}{'true':>7}{'found':>7}{'precision':>11}{'recall':>8}")
    for folder in _trees(sys.argv[1:]):
        root = folder.parent
        read = facts_of(root, folder.name)
        files = {path: facts for path, facts in read.items() if path.endswith(".py")}
        found = _found(root, files)
        truth = {pair for path in files for pair in _truth(root, folder.name, path)}
        right = len(found & truth)
        total_right, total_found = total_right + right, total_found + len(found)
        total_true += len(truth)
        _row(folder.name, len(files), right, found, truth)
    print(f"{'all':<34}{total_found:>7}{total_right / total_found:>11.4f}"
          f"{total_right / total_true:>8.4f}")  # fmt: skip
    return 0 if min(total_right / total_found, total_right / total_true) >= 0.95 else 1


def _row(name: str, files: int, right: int, found: Pairs, truth: Pairs) -> None:
    precision = right / len(found) if found else 1.0
    recall = right / len(truth) if truth else 1.0
    print(f"{name:<20}{files:>7}{len(truth):>7}{len(found):>7}{precision:>11.4f}{recall:>8.4f}")
    for one, other in sorted(truth - found)[:3]:
        print(f"    missed {one} -> {other}")
    for one, other in sorted(found - truth)[:3]:
        print(f"    wrong  {one} -> {other}")


def _trees(given: list[str]) -> Iterator[Path]:
    if given:
        yield from (Path(one).resolve() for one in given)
        return
    standard, installed = (Path(sysconfig.get_path(key)) for key in ("stdlib", "purelib"))
    places = [standard / name for name in STANDARD] + [installed / name for name in INSTALLED]
    yield from (place for place in places if place.is_dir())


def _found(root: Path, files: dict[str, FileFacts]) -> Pairs:
    return {
        (one.removeprefix("file-"), other.removeprefix("file-"))
        for one, other, relation in resolve(files, str(root)).edges
        if relation == "imports"
    }


def _truth(root: Path, top: str, path: str) -> Pairs:
    """The files of the tree that the statements of one file import."""
    place = root / path
    parts = list(Path(path).with_suffix("").parts)
    is_package = parts[-1] == "__init__"
    module = ".".join(parts[:-1] if is_package else parts)
    package = module if is_package else module.rpartition(".")[0]
    names: set[str] = set()
    for node in ast.walk(ast.parse(place.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(_taken(root, package, node))
    files = {_origin(root, name) for name in names if name.partition(".")[0] == top}
    return {(path, file) for file in files if file and file != path}


def _taken(root: Path, package: str, node: ast.ImportFrom) -> Iterator[str]:
    written = "." * node.level + (node.module or "")
    try:
        base = importlib.util.resolve_name(written, package) if node.level else written
    except ImportError:
        return
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        yield inner if alias.name != "*" and _spec(root, inner) else base


@functools.cache
def _spec(root: Path, name: str) -> importlib.machinery.ModuleSpec | None:
    """What the interpreter's own finder says of sources, without importing anything."""
    sources = (importlib.machinery.SourceFileLoader, [".py"])
    folder, spec = str(root), None
    for part in name.split("."):
        spec = importlib.machinery.FileFinder(folder, sources).find_spec(part) if folder else None
        if spec is None:
            return None
        folder = (*(spec.submodule_search_locations or ()), "")[0]
    return spec


def _origin(root: Path, name: str) -> str | None:
    spec = _spec(root, name)
    if spec is None or not spec.origin:
        return None
    return Path(spec.origin).relative_to(root).as_posix()


if __name__ == "__main__":
    sys.exit(main())
