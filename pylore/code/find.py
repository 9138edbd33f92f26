"""Finding symbols in a few files by their grammar, for anchors."""

from __future__ import annotations

import os

from ..anchors.definitions import Definition, find_definitions
from ..system.temporary import TemporaryFolder
from .parse.ast_grep import Match, scan
from .parse.extract import extract
from .parse.rules import Rules, load_rules
from .parse.signatures import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..anchors.definitions import FindSymbol

_LARGEST = 1_000_000
"""Bytes of a file that is parsed."""


def find_by_grammar(root: str, paths: Sequence[str]) -> FindSymbol:
    """What finds symbols in these files; ast-grep reads all of them at once.

    It finds nothing in files of other languages, and in ones that do not parse.

    Raises:
        LoreError: ast-grep is not installed.
    """
    rules = load_rules()
    matches = _matches(rules, root, [path for path in paths if _is_code(rules, root, path)])

    def find(path: str, text: str, name: str) -> list[Definition]:
        if path not in matches:
            return []
        language = rules.language_of(path)
        try:
            source = Source(text, rules.languages[language])
            symbols = extract(path, language, source, matches[path]).symbols
        except RecursionError:
            return []
        wanted = name.replace("::", ".").replace("#", ".")
        exact = [symbol for symbol in symbols if symbol.qualified == wanted]
        return [
            Definition(symbol.qualified, symbol.line_start, symbol.line_end)
            for symbol in exact or [symbol for symbol in symbols if symbol.name == wanted]
        ]

    return find


def find_best(root: str, path: str) -> FindSymbol:
    """What finds symbols in one file: by its grammar, or else by the look of its lines."""
    by_grammar = find_by_grammar(root, [path])
    return lambda path, text, name: (
        by_grammar(path, text, name) or find_definitions(path, text, name)
    )


def _matches(rules: Rules, root: str, paths: Sequence[str]) -> dict[str, Sequence[Match]]:
    if not paths:
        return {}
    with TemporaryFolder() as folder:
        config = rules.write(folder, rules.languages_of(paths), {})
        found = scan(root, config, paths)
    return {path: found.matches.get(path, ()) for path in paths if path not in found.failed}


def _is_code(rules: Rules, root: str, path: str) -> bool:
    full = os.path.join(root, path)
    return (
        rules.language_of(path) != ""
        and os.path.isfile(full)
        and not os.path.islink(full)
        and os.path.getsize(full) <= _LARGEST
    )
