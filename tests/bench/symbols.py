"""How exactly Python symbols are found: against the interpreter's own ``ast``.

A symbol counts as found where file, qualified name, kind and first line agree. Of several
definitions of a name in one scope, one counts: the indexed one, if ``ast`` has it. Files that the
index leaves out are in neither set. ``LORE_BENCH_SHOW=1`` prints the differences.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import sqlite3
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from places import CACHE, BenchmarkError, call
from report import Row, add_forms, as_json, as_table, at_least, wants_text

from pylore.store.whole_text import unpacked

TARGET = 0.95
CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*")

Found = set[tuple[str, str, str, int]]


def main() -> int:
    """Print the rows; return 1 for a missed target, with ``--check``."""
    parser = argparse.ArgumentParser(prog="run.sh", add_help=False)
    parser.add_argument("--check", action="store_true")
    add_forms(parser)
    options = parser.parse_args()
    try:
        rows = [*symbol_rows()]
    except BenchmarkError as error:
        sys.stderr.write(f"lore: bench: {error}\n")
        return 1
    sys.stdout.write(as_table(rows) if wants_text(options) else as_json(rows))
    return 1 if options.check and any(row.ok is False for row in rows) else 0


def symbol_rows() -> Iterator[Row]:
    """Measure precision and recall on the standard library of this interpreter."""
    library = Path(ast.__file__).parent
    ours = indexed(library)
    truth = _once(by_ast(library, {path for path, *_ in ours}), ours)
    both = len(ours & truth)
    if os.environ.get("LORE_BENCH_SHOW"):
        _show("missing", truth - ours)
        _show("extra", ours - truth)
    yield at_least(f"symbols: precision of {len(ours)}", both / max(1, len(ours)), "", TARGET)
    yield at_least(f"symbols: recall of {len(truth)}", both / max(1, len(truth)), "", TARGET)


def _once(truth: Found, ours: Found) -> Found:
    """Return a definition per qualified name: the indexed definition if ``ast`` has it."""
    once: dict[tuple[str, str], tuple[str, str, str, int]] = {}
    for one in sorted(truth):
        if one in ours or one[:2] not in once:
            once[one[:2]] = one
    return {*once.values()}


def _show(what: str, found: Found) -> None:
    sys.stderr.write(f"{what}: {len(found)} {Counter(kind for _, _, kind, _ in found)}\n")
    for item in sorted(found)[:: max(1, len(found) // 25)]:
        sys.stderr.write(f"   {item}\n")


def indexed(folder: Path) -> Found:
    """Return every Python symbol that ``lore index`` finds below a folder."""
    store = CACHE / "symbols"
    shutil.rmtree(store, ignore_errors=True)
    for word in ("init", "index"):
        call(store, word, folder=folder, LORE_EMBEDDER="none")
    rows = sqlite3.connect(store / "search.db").execute(
        "SELECT path, facts FROM code_files WHERE path LIKE '%.py' AND language NOT IN ('', 'text')"
    )
    return {
        (path, qualified, kind, first)
        for path, facts in rows
        for _, qualified, kind, first, *_ in json.loads(unpacked(facts).partition("\n")[0])[
            "symbols"
        ]
    }


def by_ast(folder: Path, paths: set[str]) -> Found:
    """Return the definitions of these files by the interpreter's parser."""
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


if __name__ == "__main__":
    sys.exit(main())
