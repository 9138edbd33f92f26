"""Forms of files; the names of documents, and the fields that their files state."""

from __future__ import annotations

import os

from ..core.ids import plain, sha256
from ..core.json import canonical, loads
from ..records.fields import PRUNED, stated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.model import Node
    from ..store.files import DocumentFile

MARKDOWN = (".md", ".markdown")
EXTENSIONS = (*MARKDOWN, ".rst", ".adoc", ".asciidoc", ".txt")
"""Suffixes of documents."""

_NO_DOCUMENTS = ("requirements", "constraints", "cmakelists", "robots", "sources", "top_level")
"""Prefixes of text files that programs read."""
STATED_FIELDS = ("status", "tags", "source", "confidence", "category")
"""The fields of a node that a file may state."""


def is_page(path: str) -> bool:
    """Return True for the name of a document: see ``EXTENSIONS``."""
    name = os.path.basename(path).lower()
    is_data = name.endswith(".txt") and name.startswith(_NO_DOCUMENTS)
    return name.endswith(EXTENSIONS) and not (is_data or name.endswith("requirements.txt"))


def is_pruned(node: Node) -> bool:
    """Return True for a document that is forgotten only because the file is lost."""
    return node.invalidated_at is not None and loads(node.data).get(PRUNED) is True


def state_of(node: Node) -> str:
    """Return a hash of the fields that a document's file states."""
    known = loads(node.data) | {name: getattr(node, name) for name in STATED_FIELDS}
    said = {name: known.get(name) for name in stated(node)}
    said |= {"title": node.title, "body": node.body}
    return sha256(canonical(said).encode()).hexdigest()[:32]


def is_as_read(node: Node, file: DocumentFile) -> bool:
    """Return True if an import of a document's file gives this live node, with the id."""
    by_path = f"{node.type}-{os.path.splitext(file.path)[0]}"
    has_id = "id" in stated(node) or plain(node.id) == by_path
    return has_id and node.invalidated_at is None and state_of(node) == file.state
