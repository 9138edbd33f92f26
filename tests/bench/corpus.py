"""Docstrings and comments of the standard library: real text that any machine has."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SKIPPED = {"site-packages", "dist-packages", "__pycache__", "pydoc_data"}
_TESTS = {"test", "tests", "idle_test"}
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Module:
    """The texts of a source file: docstrings of the module and definitions, long comments."""

    name: str
    docstring: str
    symbols: list[str]
    comments: list[str]


def read_modules(library: Path, *, tests: bool) -> Iterator[Module]:
    """Yield the modules of a source tree, or only the tests; skip files with syntax errors."""
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
        parts = list(place.with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        docstring = ast.get_docstring(tree) or ""
        yield Module(name, docstring, list(_symbols(tree)), list(_comments(source.splitlines())))


def first_sentence(text: str) -> str:
    """Return the text up to the first full stop or blank line, on a line."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".")


def _symbols(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _DEFINITIONS):
            continue
        text = ast.get_docstring(child)
        if text and text.strip():
            yield text
        if isinstance(child, ast.ClassDef):
            yield from _symbols(child)


def _comments(lines: list[str]) -> Iterator[str]:
    """Yield blocks of at least three lines of comment with at least twelve words."""
    block: list[str] = []
    for line in [*lines, ""]:
        text = line.strip()
        if text.startswith("#"):
            block.append(text.lstrip("#!").strip())
            continue
        body = "\n".join(block).strip()
        if len(block) >= 3 and sum(word.isalpha() for word in body.split()) >= 12:
            yield body
        block = []
