"""A corpus of real text that any machine has: the standard library's own source.

Modules are ``file`` nodes, documented classes and functions ``symbol`` nodes,
blocks of comments ``note`` nodes. Every text is a docstring or a comment as it
stands in the source, none is made up. Edges are what the source says: what
defines, contains, imports, inherits, calls or names what.
"""

from __future__ import annotations

import ast
import json
import random
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

NODES = 10_000
EDGES = 20_000
QUERIES = 60
_SEED = 20_000
_SKIPPED = {"site-packages", "dist-packages", "__pycache__", "pydoc_data"}
_TESTS = {"test", "tests", "idle_test"}
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Item:
    """One documented thing of a module: its place in the source, its text, what it names."""

    id: str
    type: str
    title: str
    body: str
    file: str
    first: int
    last: int
    parent: str = ""
    bases: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def node(self) -> dict[str, object]:
        """The fields of its line in nodes.jsonl."""
        return {
            "id": self.id, "type": self.type, "title": self.title, "body": self.body,
            "file": self.file, "line_start": self.first, "line_end": self.last,
        }  # fmt: skip


@dataclass
class Module:
    """One source file: its documented things, and the modules that it imports."""

    name: str
    file: Item
    symbols: list[Item]
    notes: list[Item]
    imports: list[str]

    def __len__(self) -> int:
        return 1 + len(self.symbols) + len(self.notes)


def write_corpus(folder: Path) -> None:
    """Writes nodes.jsonl, edges.jsonl and queries.txt; the same interpreter, the same files."""
    library = Path(sysconfig.get_path("stdlib"))
    modules = list(read_modules(library, tests=False))
    if sum(map(len, modules)) < NODES:  # a distribution may leave these out
        modules += read_modules(library, tests=True)
    items = _choose(modules)
    kept = {item.id for item in items}
    edges = dict.fromkeys(edge for edge in _edges(modules) if kept.issuperset(edge[:2]))
    folder.mkdir(parents=True, exist_ok=True)
    _write_lines(folder / "nodes.jsonl", (item.node() for item in items))
    _write_lines(
        folder / "edges.jsonl",
        (
            {"from_id": start, "to_id": end, "relation": relation, "weight": 1.0}
            for start, end, relation in list(edges)[:EDGES]
        ),
    )
    _write_lines(folder / "queries.jsonl", choose_queries(items))


def read_modules(library: Path, *, tests: bool) -> Iterator[Module]:
    """The modules of a source tree, or its tests alone; what does not parse is left out."""
    for path in sorted(library.rglob("*.py")):
        place = path.relative_to(library)
        if not _SKIPPED.isdisjoint(place.parts) or _TESTS.isdisjoint(place.parts) == tests:
            continue
        try:
            source = path.read_text(encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        yield _module(place, source, tree)


def choose_queries(items: Iterable[Item]) -> list[dict[str, object]]:
    """``QUERIES`` first sentences of docstrings of 5 to 15 words, each with the id it is from."""
    sentences = {first_sentence(item.body): item.id for item in items if item.type == "symbol"}
    fit = sorted(text for text in sentences if 5 <= len(text.split()) <= 15 and text.isascii())
    chosen = random.Random(_SEED).sample(fit, QUERIES)
    return [{"query": text, "id": sentences[text]} for text in chosen]


def first_sentence(text: str) -> str:
    """The text up to its first full stop or blank line, on one line."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".")


# --- reading one module


def _module(place: Path, source: str, tree: ast.Module) -> Module:
    parts = list(place.with_suffix("").parts)
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    path = place.as_posix()
    lines = source.splitlines()
    text = ast.get_docstring(tree) or ""
    file = Item(f"file-{path}", "file", name, text, path, 1, max(1, len(lines)))
    symbols = list(_symbols(tree, path, "", file.id))
    return Module(name, file, symbols, list(_notes(lines, path)), list(_imports(tree, name)))


def _symbols(node: ast.AST, path: str, prefix: str, parent: str) -> Iterator[Item]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _DEFINITIONS):
            continue
        name = f"{prefix}{child.name}"
        id = f"symbol-{path}::{name}"
        text = ast.get_docstring(child)
        if text and text.strip():
            item = Item(id, "symbol", name, text, path, child.lineno,
                        child.end_lineno or child.lineno, parent)  # fmt: skip
            if isinstance(child, ast.ClassDef):
                item.bases = [base.id for base in child.bases if isinstance(base, ast.Name)]
            else:
                item.calls = sorted(_called(child))
            yield item
        if isinstance(child, ast.ClassDef):
            yield from _symbols(child, path, f"{name}.", id if text else parent)


def _called(function: ast.AST) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def _imports(tree: ast.Module, name: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def _notes(lines: list[str], path: str) -> Iterator[Item]:
    """Blocks of at least three lines of comment with at least twelve words."""
    block: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        text = line.strip()
        if text.startswith("#"):
            block.append(text.lstrip("#!").strip())
            continue
        body = "\n".join(block).strip()
        if len(block) >= 3 and sum(word.isalpha() for word in body.split()) >= 12:
            first = number - len(block)
            title = first_sentence(body)[:80]
            yield Item(f"note-{path}-{first}", "note", title, body, path, first, number - 1)
        block = []


# --- choosing and connecting


def _choose(modules: list[Module]) -> list[Item]:
    """``NODES`` items: modules and symbols first, then comments."""
    files = [module.file for module in modules]
    symbols = [item for module in modules for item in module.symbols]
    notes = [item for module in modules for item in module.notes]
    chosen = {item.id: item for item in [*files, *symbols, *notes]}
    return list(chosen.values())[:NODES]


def _edges(modules: list[Module]) -> Iterator[tuple[str, str, str]]:
    """``(from, to, relation)``: what holds a module together first, then what joins them."""
    by_name = {module.name: module for module in modules}
    for module in modules:
        yield from _inside(module)
    for module in modules:
        yield from _between(module, by_name)
    for module in modules:
        yield from _mentions(module, by_name)


def _inside(module: Module) -> Iterator[tuple[str, str, str]]:
    local = {item.title: item.id for item in module.symbols}
    for item in module.symbols:
        if item.parent == module.file.id:
            yield module.file.id, item.id, "defines"
        else:
            yield item.id, item.parent, "part_of"
        for relation, names in (("inherits", item.bases), ("calls", item.calls)):
            for name in names:
                if name in local and local[name] != item.id:
                    yield item.id, local[name], relation
    for note in module.notes:
        around = [item for item in module.symbols if item.first <= note.first <= item.last]
        yield note.id, around[-1].id if around else module.file.id, "part_of"


def _between(module: Module, by_name: dict[str, Module]) -> Iterator[tuple[str, str, str]]:
    for name in module.imports:
        other = by_name.get(name)
        if other is not None and other is not module:
            yield module.file.id, other.file.id, "imports"


def _mentions(module: Module, by_name: dict[str, Module]) -> Iterator[tuple[str, str, str]]:
    """Texts that name another module: ``os.path``, ``asyncio``; not words like ``code``."""
    for item in [module.file, *module.symbols, *module.notes]:
        for word in sorted({word.strip(".,;:()'\"`*") for word in item.body.split()}):
            other = by_name.get(word)
            telling = "." in word or word in sys.stdlib_module_names
            if other is not None and other is not module and telling:
                yield item.id, other.file.id, "mentions"


def _write_lines(path: Path, rows: Iterable[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
