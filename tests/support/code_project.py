"""Files in a folder, extracted or indexed, for the tests of code."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pylore.code.extract import extract, scan_exactly
from pylore.code.facts import FileFacts
from pylore.code.index import index
from pylore.code.rules import load_rules
from pylore.code.source import Source
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.store import Store


def facts_of_all(texts: dict[str, str]) -> dict[str, FileFacts]:
    """Return the facts of files, path to text, extracted by ast-grep and the rules."""
    rules, found = load_rules(), {}
    with tempfile.TemporaryDirectory() as folder:
        config = rules.write(folder, frozenset(rules.languages), {})
        seen = scan_exactly(config, texts)
    assert not seen.failed
    for path, text in texts.items():
        language = rules.language_of(path, text.partition("\n")[0])
        if language:
            source = Source(text, rules.languages[language])
            found[path] = extract(path, language, source, seen.matches.get(path, []))
    return found


def facts_of(path: str, text: str) -> FileFacts:
    """Return the facts of a file."""
    return facts_of_all({path: text})[path]


class Folder:
    """A folder of files with a store."""

    def __init__(self, root: Path, store: Store) -> None:
        self.root = root
        self.store = store

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def node(self, id: str) -> Node:
        node = self.store.nodes.get(id)
        assert node is not None, f"{id} is not in the store"
        return node


class Project(Folder):
    """A folder of code that is indexed."""

    def index(self, index_max_file: int = 1_000_000, **options: Any) -> dict[str, Any]:
        settings = Settings().changed([("index_max_file", str(index_max_file))], "test")
        return index(self.store, settings, lambda: None, str(self.root), **options)

    def live(self, type: str) -> set[str]:
        """The ids of the live nodes of a type."""
        return {row[0] for row in self.store.nodes.outlines([type])}

    def edges(self, *relations: str) -> set[tuple[str, str, str]]:
        return {row[:3] for row in self.store.edges.outlines(relations)}
