"""Find the symbols of files and texts, for anchors."""

from __future__ import annotations

import os

from ..anchors.definitions import Definition, Outlined, find_definitions
from ..system.atomic_write import temporary_folder
from .extract import KINDS, extract
from .rules import Match, Rules, load_rules, scan
from .source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..anchors.definitions import FindSymbol


_DEFINING = frozenset((*KINDS, "scope"))
"""Kinds of rules that say what is defined."""

_LARGEST = 1_000_000
"""Bytes of a file that is parsed."""


def find_by_grammar(root: str, paths: Sequence[str]) -> FindSymbol:
    """Return what finds symbols in these files; ast-grep reads all of them at once.

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
            Definition(symbol.qualified, symbol.line_start, symbol.line_end, symbol.others)
            for symbol in exact or [symbol for symbol in symbols if symbol.name == wanted]
        ]

    return find


def find_best(root: str, path: str) -> FindSymbol:
    """Return what finds symbols in one file: by its grammar, or else by the look of its lines."""
    by_grammar = find_by_grammar(root, [path])
    return lambda path, text, name: (
        by_grammar(path, text, name) or find_definitions(path, text, name)
    )


def outline(texts: Mapping[str, bytes]) -> dict[str, list[Outlined]]:
    """Return everything that each of these texts defines, by keys that end as names of files do.

    One run of ast-grep reads all of them. A text that is no known language's, is too large,
    or does not parse defines nothing.

    Raises:
        LoreError: ast-grep is not installed.
    """
    rules = load_rules()
    languages = {
        key: rules.language_of(key) for key, text in texts.items() if len(text) <= _LARGEST
    }
    found: dict[str, list[Outlined]] = {key: [] for key in texts}
    with temporary_folder() as folder:
        files: dict[str, str] = {}
        for key, language in languages.items():
            if language:
                files[f"{len(files)}{key[key.rindex('.') :]}"] = key
        if not files:
            return found
        for name, key in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(texts[key])
        os.mkdir(os.path.join(folder, "_"))
        config = rules.write(os.path.join(folder, "_"), rules.languages_of(files), {}, _DEFINING)
        matches = scan(folder, config, sorted(files)).matches
    for name, key in files.items():
        text = texts[key].decode("utf-8", "replace")
        try:
            source = Source(text, rules.languages[languages[key]])
            symbols = extract(key, languages[key], source, matches.get(name, ())).symbols
        except RecursionError:
            continue
        found[key] = [
            Outlined(one.qualified, one.line_start, one.line_end, one.others, one.kind)
            for one in symbols
        ]
    return found


def _matches(rules: Rules, root: str, paths: Sequence[str]) -> dict[str, Sequence[Match]]:
    if not paths:
        return {}
    with temporary_folder() as folder:
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
