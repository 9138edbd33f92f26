"""Find the symbols of files and texts, for anchors."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from ..anchors.definitions import Definition
from ..system.atomic_write import temporary_folder
from .extract import KINDS, extract, scan_exactly
from .rules import load_rules
from .source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFINING = frozenset((*KINDS, "scope"))  # kinds of rules for definitions
_LARGEST = 1_000_000  # bytes of a file that is parsed


def outline(texts: Mapping[str, bytes]) -> dict[str, list[Definition]]:
    """Return the definitions of texts, by keys that end as names of files do.

    ast-grep runs once. Texts of unknown languages, over the limit, or with errors have none.

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
