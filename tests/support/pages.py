"""A folder of Markdown files, and the store that they are imported into."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from code_project import Folder

from pylore.core.settings import Settings
from pylore.formats.export import export_lines
from pylore.formats.import_documents import DocumentImport
from pylore.formats.jsonl import Imported
from pylore.indexing.embed import embed_missing
from pylore.records.records import Records
from pylore.store import Store

if TYPE_CHECKING:
    from pylore.embed import Embedder


def import_documents(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    paths: Sequence[str],
    root: str,
    **options: Any,
) -> Imported:
    """Import documents as ``lore import`` does."""
    documents = DocumentImport(store, settings, paths, root, **options)
    with store.faults:
        with store.transaction("import"):
            found = documents.write()
        embed_missing(store, embedder, found.notes, bulk=True)
    return found


class Project(Folder):
    """A folder of documents that are imported."""

    def __init__(self, root: Path, store: Store) -> None:
        super().__init__(root, store)
        self.records = Records(store, Settings(), None, str(root))

    def run(self, *paths: str, **options: Any) -> Imported:
        files = [str(self.root / path) for path in paths or ("",)]
        return import_documents(self.store, Settings(), None, files, str(self.root), **options)

    def edges(self, id: str) -> set[tuple[str, str]]:
        return {(e.relation, e.to_id) for e in self.store.edges.of(id) if e.from_id == id}

    def metadata(self, *key: str) -> dict[str, Any]:
        edge = self.store.edges.get(*key)
        assert edge is not None
        found: dict[str, Any] = json.loads(edge.metadata)
        return found

    def lines(self) -> list[str]:
        return list(export_lines(self.store))
