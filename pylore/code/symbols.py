"""Find the symbols of files and texts, for anchors."""

from __future__ import annotations

import os
from contextlib import suppress

from ..anchors.definitions import Definition, find_definitions
from ..core.errors import LoreError
from ..system.atomic_write import temporary_folder
from ..system.project_files import read_plain
from .extract import KINDS, extract, scan_exactly
from .rules import load_rules
from .source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..anchors.definitions import FindSymbol

_DEFINING = frozenset((*KINDS, "scope"))  # kinds of rules that say what is defined
_LARGEST = 1_000_000  # bytes of a file that is parsed


def find_by_grammar(root: str, paths: Sequence[str]) -> FindSymbol:
    """Return a function that finds symbols in these files; ast-grep reads all of them at once.

    It finds nothing in files of other languages, and in ones that do not parse.

    Raises:
        LoreError: ast-grep is not installed.
    """
    texts: dict[str, bytes] = {}
    for path in paths:
        with suppress(OSError, LoreError):
            texts[path] = read_plain(os.path.join(root, path), _LARGEST)
    outlined = outline(texts)

    def find(path: str, text: str, name: str) -> list[Definition]:
        wanted = name.replace("::", ".").replace("#", ".")
        known = outlined.get(path, [])
        exact = [one for one in known if one.qualified.replace("::", ".") == wanted]
        return exact or [one for one in known if one.qualified.endswith("." + wanted)]

    return find


def find_best(root: str, path: str) -> FindSymbol:
    """Return a function that finds symbols in one file: by its grammar, or else by its looks."""
    by_grammar = find_by_grammar(root, [path])
    return lambda path, text, name: (
        by_grammar(path, text, name) or find_definitions(path, text, name)
    )


def outline(texts: Mapping[str, bytes]) -> dict[str, list[Definition]]:
    """Return everything that each of these texts defines, by keys that end as names of files do.

    One run of ast-grep reads all of them. A text of an unknown language, one that is too large,
    and one that does not parse define nothing.

    Raises:
        LoreError: ast-grep is not installed.
    """
    rules = load_rules()
    found: dict[str, list[Definition]] = {key: [] for key in texts}
    with temporary_folder() as folder:
        files: dict[str, tuple[str, str]] = {}
        for key, data in texts.items():
            if len(data) <= _LARGEST and rules.language_of(key):
                name = f"{len(files)}{key[key.rindex('.') :]}"
                files[name] = key, data.decode("utf-8", "replace")
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
        if not files:
            return found
        os.mkdir(os.path.join(folder, "_"))
        config = rules.write(os.path.join(folder, "_"), rules.languages_of(files), {}, _DEFINING)
        matches = scan_exactly(folder, config, {name: text for name, (_, text) in files.items()})
    for name, (key, text) in files.items():
        language = rules.language_of(key)
        with suppress(RecursionError):
            source = Source(text, rules.languages[language])
            symbols = extract(key, language, source, matches.matches.get(name, ())).symbols
            found[key] = [
                Definition(one.qualified, one.line_start, one.line_end, one.others, one.kind)
                for one in symbols
            ]
    return found
