"""How exactly symbols are found: against Python's own ``ast``, and against ctags.

A symbol counts as found where file, qualified name, kind and first line agree with
``ast``; with universal-ctags, which names kinds and scopes its own way, where file,
name and line do. Files that the index leaves out are in neither set.
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
from pathlib import Path

from places import CACHE, LORE, BenchmarkError
from report import Row, at_least

TARGET = 0.95
CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*")
Found = set[tuple[str, str, str, int]]

# ctags' kinds that are definitions in lore's sense, by its name of the language.
KINDS = {
    "Go": "func,type,struct,interface,const,var,talias",
    "Rust": "function,method,struct,enum,interface,module,typedef,macro,variable,constant",
    "TypeScript": "function,class,interface,enum,method,alias,namespace,generator,constant",
    "Java": "class,interface,enum,method,annotation",
    "C": "function,struct,union,enum,typedef,macro",
    "C++": "function,struct,union,enum,typedef,macro,class,namespace",
    "Ruby": "class,module,method,singletonMethod,constant,alias",
    "Sh": "function",
}


def symbol_rows() -> Iterator[Row]:
    """The standard library of this interpreter; ``LORE_BENCH_CODE``'s folders by ctags."""
    library = Path(ast.__file__).parent
    known = indexed(library, ("python",))
    yield from _rows("symbols, ast: standard library", known, by_ast(library, {k[0] for k in known}))
    for folder in filter(None, os.environ.get("LORE_BENCH_CODE", "").split(":")):
        yield from _by_ctags(Path(folder))


def _by_ctags(folder: Path) -> Iterator[Row]:
    known = indexed(folder, ())
    paths = {path for path, *_ in known}
    truth = by_ctags(folder, paths)
    for language in sorted(truth):
        expected, files, keep = truth[language]
        ours = {(p, n, "", line) for p, n, kind, line in known if p in files and keep(kind)}
        if len(expected) > 300:
            yield from _rows(f"symbols, ctags: {folder.name}, {language}", ours, expected)


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


def indexed(folder: Path, languages: tuple[str, ...]) -> Found:
    """Every symbol that ``lore index`` finds below a folder."""
    store = CACHE / "symbols"
    shutil.rmtree(store, ignore_errors=True)
    environ = {**os.environ, "LORE_DIR": str(store), "LORE_EMBEDDER": "none"}
    for words in (["init"], ["index", *(["--languages", ",".join(languages)] if languages else [])]):
        done = subprocess.run([str(LORE), *words], cwd=folder, env=environ, capture_output=True,
                              text=True, check=False)  # fmt: skip
        if done.returncode:
            raise BenchmarkError(done.stderr.strip())
    found: Found = set()
    rows = sqlite3.connect(store / "search.db").execute(
        "SELECT path, facts FROM code_files WHERE language NOT IN ('', 'text')"
    )
    for path, facts in rows:
        for name, qualified, kind, first, *_ in json.loads(facts)["symbols"]:
            found.add((path, qualified if languages else name, kind, first))
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


def by_ctags(folder: Path, paths: set[str]):  # type: ignore[no-untyped-def]
    """ctags' language → (definitions, its files, which of lore's kinds it has too)."""
    options = ["--output-format=json", "--fields=+nKl", "--sort=no", "-L", "-", "-f", "-"]
    options += ["--map-C=+.h"] if not any(p.endswith(".cc") for p in paths) else ["--map-C++=+.h"]
    done = subprocess.run(["ctags", *options], cwd=folder, input="\n".join(sorted(paths)),
                          capture_output=True, text=True, check=False)  # fmt: skip
    found: dict[str, tuple[Found, set[str], object]] = {}
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        language = tag.get("language", "")
        if tag["_type"] != "tag" or language not in KINDS:
            continue
        expected, files, _ = found.setdefault(language, (set(), set(), _kept(language)))
        files.add(tag["path"])
        if tag["kind"] in KINDS[language].split(",") and not tag["name"].startswith("__anon"):
            name = tag["name"].rpartition("::")[2]
            expected.add((tag["path"], name, "", tag["line"]))
    return found


def _kept(language: str):  # type: ignore[no-untyped-def]
    without = {"Java": {"constant"}, "Sh": {"constant"}}.get(language, set())
    return lambda kind: kind not in without
