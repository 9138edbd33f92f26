"""How exactly symbols are found: against Python's own ``ast``, and against ctags.

A symbol counts as found where file, qualified name, kind and first line agree with
``ast``; with universal-ctags, which names kinds and scopes its own way, where file,
name and line do. Of several definitions of a name in one scope, one counts: ours, if that is
among them. Files that the index leaves out are in neither set.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from places import CACHE, LORE, BenchmarkError, environment
from report import Row, at_least

from pylore.store.packing import unpacked

TARGET = 0.95
CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*")


class Defined(NamedTuple):
    """A symbol as the index has it."""

    path: str
    name: str
    qualified: str
    kind: str
    first: int
    last: int
    signature: str


Found = set[tuple[str, str, str, int]]

# ctags' kinds that are definitions in lore's sense, by its name of the language, and
# lore's kinds that ctags has too. Constants are left out where ctags counts local ones
# among them (TypeScript), or in some versions none (Rust) or only fields (Java).
KINDS = {
    "C": ("function struct union enum typedef macro", "function class type constant"),
    "C++": ("function struct union enum typedef macro class namespace",
            "function method class type constant module"),
    "Go": ("func type struct interface const var talias",
           "function method class interface type constant"),
    "Java": ("class interface enum method annotation", "class interface method"),
    "Ruby": ("class module method singletonMethod constant alias",
             "class module function method constant"),
    "Rust": ("function method struct enum interface module typedef macro",
             "function method class interface module type"),
    "Sh": ("function", "function"),
    "TypeScript": ("function class interface enum method alias namespace generator",
                   "function method class interface type module"),
}  # fmt: skip
# What ctags calls a definition and lore does not: macros without a value, modules that
# are files of their own, associated types of an implementation, Go's blank names.
NOT_DEFINED = {
    "C": re.compile(r"#\s*define\s+\w+\s*(?:/[/*].*)?$"),
    "C++": re.compile(r"#\s*define\s+\w+\s*(?:/[/*].*)?$"),
    "TypeScript": re.compile(r"(?!\s*(?:export\s+|declare\s+)*type\s+\w+\s*(?:[<=]|$)).*\btype\b"),
    "Rust": re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+;|\s+type\s"),
}
# What lore calls a definition and ctags does not: functions that are values, and the
# methods of what is not a class but an object or an anonymous class.
VALUES = {"TypeScript": re.compile(r"^(?!.*\bfunction\b)")}
# ctags loses its way in some files (5.9: from a template or a modifier on): what it lacks
# there counts as right if the line itself declares that name.
DECLARED = {
    "TypeScript": r"\b(?:function\*?|class|interface|type|enum|namespace)\s+{0}\b"
    r"|^\s*(?:(?:public|private|protected|static|readonly|async|abstract|override|get|set)\s+)*"
    r"{0}\s*[(<?]"
}
CLASSES = ("class", "interface")
WITHIN_CLASSES = ("TypeScript", "Java")
MOST_LINES = 25
"""Lines from the first line of a definition (its annotation, its type) to its name."""


def symbol_rows() -> Iterator[Row]:
    """The standard library of this interpreter; ``LORE_BENCH_CODE``'s folders by ctags."""
    library = Path(ast.__file__).parent
    known = [one for one in indexed(library) if one.path.endswith(".py")]
    ours = {(one.path, one.qualified, one.kind, one.first) for one in known}
    truth = _once(by_ast(library, {one.path for one in known}), ours)
    yield from _rows("symbols, ast: standard library", ours, truth)
    for folder in filter(None, os.environ.get("LORE_BENCH_CODE", "").split(":")):
        yield from _by_ctags(Path(folder))


def _by_ctags(folder: Path) -> Iterator[Row]:
    known = indexed(folder)
    for language, (tags, files) in sorted(by_ctags(folder, {one.path for one in known}).items()):
        classes = {(one.path, one.qualified) for one in known if one.kind in CLASSES}
        ours = [
            one for one in known
            if one.path in files and _has(language, one)
            and (language not in WITHIN_CLASSES or one.kind != "method"
                 or (one.path, one.qualified.rpartition(".")[0]) in classes)
        ]  # fmt: skip
        if len(tags) > 300:
            found, expected = _match(ours, tags)
            declared = {one for one in found - expected if _declared(folder, language, one)}
            name = f"symbols, ctags: {folder.name}, {language}"
            if declared:
                yield Row(f"{name}, declared but not in ctags", len(declared), "")
            yield from _rows(name, found, expected | declared)


def _has(language: str, one: Defined) -> bool:
    kinds = KINDS[language][1].split()
    value = VALUES.get(language)
    is_value = value is not None and one.kind == "function" and value.search(one.signature)
    return one.kind in kinds and not is_value


def _declared(folder: Path, language: str, one: tuple[str, str, str, int]) -> bool:
    path, name, _, line = one
    pattern = DECLARED.get(language)
    return pattern is not None and bool(
        re.search(pattern.format(re.escape(name)), _lines(folder / path)[-line - 1])
    )


def _once(truth: Found, ours: Found) -> Found:
    """One definition of each qualified name: ours, where that is one of them."""
    once: dict[tuple[str, str], tuple[str, str, str, int]] = {}
    for one in sorted(truth):
        if one in ours or one[:2] not in once:
            once[one[:2]] = one
    return {*once.values()}


def _match(ours: list[Defined], tags: Found) -> tuple[Found, Found]:
    """Both sides with the line of ctags, where a definition has it among its first ones.

    Tags of one name in one scope are one symbol.
    """
    scoped: dict[tuple[str, str, str], list[int]] = {}
    for path, name, scope, line in sorted(tags):
        scoped.setdefault((path, _plain(name), scope), []).append(line)
    waiting: dict[tuple[str, str], list[list[int]]] = {}
    for (path, name, _), lines in scoped.items():
        waiting.setdefault((path, name), []).append(lines)
    found: Found = set()
    matched: Found = set()
    for one in sorted(ours, key=lambda one: (one.path, one.first)):
        groups = waiting.get((one.path, _plain(one.name)), [])
        last = min(one.last, one.first + MOST_LINES)
        near = [(n, lines) for lines in groups for n in lines if one.first <= n <= last]
        line = -one.first
        if near:
            line, lines = min(near)
            groups.remove(lines)
            matched.add((one.path, _plain(one.name), "", line))
        found.add((one.path, _plain(one.name), "", line))
    missing = {
        (path, name, "", lines[-1]) for (path, name), groups in waiting.items() for lines in groups
    }
    return found, matched | missing


def _plain(name: str) -> str:
    return name.replace(" ", "")


def _rows(name: str, ours: Found, truth: Found) -> Iterator[Row]:
    both = len(ours & truth)
    if os.environ.get("LORE_BENCH_SHOW"):
        _show("missing", truth - ours)
        _show("extra", ours - truth)
    yield at_least(f"{name}, precision of {len(ours)}", both / max(1, len(ours)), "", TARGET)
    yield at_least(f"{name}, recall of {len(truth)}", both / max(1, len(truth)), "", TARGET)


def _show(what: str, found: Found) -> None:
    sys.stderr.write(f"{what}: {len(found)} {Counter(kind for _, _, kind, _ in found)}\n")
    for item in sorted(found)[:: max(1, len(found) // 25)]:
        sys.stderr.write(f"   {item}\n")


def indexed(folder: Path) -> list[Defined]:
    """Every symbol that ``lore index`` finds below a folder."""
    store = CACHE / "symbols"
    shutil.rmtree(store, ignore_errors=True)
    environ = {**environment(store), "LORE_EMBEDDER": "none"}
    for word in ("init", "index"):
        done = subprocess.run([LORE, word], cwd=folder, env=environ, capture_output=True,
                              text=True, check=False)  # fmt: skip
        if done.returncode:
            raise BenchmarkError(done.stderr.strip())
    rows = sqlite3.connect(store / "search.db").execute(
        "SELECT path, facts FROM code_files WHERE language NOT IN ('', 'text')"
    )
    return [
        Defined(path, name, qualified, kind, first, last, signature)
        for path, facts in rows
        for name, qualified, kind, first, last, signature, *_ in _symbols(facts)
    ]


def _symbols(facts: bytes) -> list[list[Any]]:
    """The rows of the symbols in what the store keeps of a file."""
    names, _, _ = unpacked(facts).partition("\n")
    found: list[list[Any]] = json.loads(names)["symbols"]
    return found


def by_ast(folder: Path, paths: set[str]) -> Found:
    """The same by the interpreter's own parser, of these files."""
    found: Found = set()
    for path in sorted(paths):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse((folder / path).read_bytes())
        except (SyntaxError, ValueError):
            continue
        found.update((path, *symbol) for symbol in _definitions(tree, "", "module"))
    return found


def _definitions(node: ast.AST, outer: str, within: str) -> Iterator[tuple[str, str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{outer}.{child.name}" if outer else child.name
            is_class = isinstance(child, ast.ClassDef)
            kind = "class" if is_class else "method" if within == "class" else "function"
            yield name, kind, child.lineno
            yield from _definitions(child, name, "class" if is_class else "function")
            continue
        if within == "module":
            for name, line in _constants(child):
                yield name, "constant", line
        yield from _definitions(child, outer, within)


def _constants(node: ast.AST) -> Iterator[tuple[str, int]]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        for name in ast.walk(target):
            stored = isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            if stored and CONSTANT.fullmatch(name.id):
                yield name.id, name.lineno


def by_ctags(folder: Path, paths: set[str]) -> dict[str, tuple[Found, set[str]]]:
    """ctags' language → (its definitions, its files)."""
    ends = [path.rpartition(".")[2] for path in paths]
    headers = "C++" if ends.count("cc") + ends.count("cpp") > ends.count("c") else "C"
    options = ["--output-format=json", "--fields=+nKl", "--sort=no", "--map-C++=-.h",
               "--map-C=-.h", f"--map-{headers}=+.h", "-L", "-", "-f", "-"]  # fmt: skip
    done = subprocess.run(["ctags", *options], cwd=folder, input="\n".join(sorted(paths)),
                          capture_output=True, text=True, check=False)  # fmt: skip
    found: dict[str, tuple[Found, set[str]]] = {}
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        language = tag.get("language", "")
        if tag["_type"] != "tag" or language not in KINDS:
            continue
        expected, files = found.setdefault(language, (set(), set()))
        files.add(tag["path"])
        if tag["kind"] in KINDS[language][0].split() and _defines(folder, language, tag):
            name = tag["name"].rpartition("::")[2]
            expected.add((tag["path"], name, tag.get("scope", ""), tag["line"]))
    return found


def _defines(folder: Path, language: str, tag: dict[str, Any]) -> bool:
    if tag["name"].startswith("__anon") or tag["name"] == "_":
        return False
    without = NOT_DEFINED.get(language)
    return without is None or not without.match(_lines(folder / tag["path"])[tag["line"] - 1])


@lru_cache(maxsize=4)
def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").split("\n")
