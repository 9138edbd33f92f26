"""Documents: records that were made from a file, which states some of their fields."""

from __future__ import annotations

import os

from ..core.digests import sha256
from ..core.errors import LoreError
from ..core.json_plain import dumps, loads
from ..core.vocabulary import CODE_TYPES
from ..system.project_files import place_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.model import Node
    from ..store import Store

MARKDOWN = (".md", ".markdown")
EXTENSIONS = (*MARKDOWN, ".rst", ".adoc", ".asciidoc", ".txt")
"""Suffixes of documents."""

_NO_DOCUMENTS = ("requirements", "constraints", "cmakelists", "robots", "sources", "top_level")
"""Prefixes of text files that programs read."""
STATED = "_stated"
"""The key of ``data`` that lists what the front matter sets: the rest is kept as it is edited."""

PRUNED = "_pruned"
"""The key of ``data`` of a document that was forgotten since its file was gone: it goes where
the node goes, and an import that finds the file takes the document back."""

OWN_KEYS = (STATED, PRUNED)

STATED_FIELDS = ("status", "tags", "source", "confidence", "category")
"""The fields of a node that a file may state, or leave to others."""

_ALWAYS = ("text", "title", "file")
"""Fields that every file states, as an edit names them."""

_NO_TEXTS = ("id", "type", "title", "created_at")


def is_markdown(path: str) -> bool:
    """Return whether the name of a file says that it is Markdown."""
    return path.lower().endswith(MARKDOWN)


def is_page(path: str) -> bool:
    """Return whether the name of a file says that it is a document: see ``EXTENSIONS``."""
    name = os.path.basename(path).lower()
    return name.endswith(EXTENSIONS) and not (
        name.endswith(".txt") and name.startswith(_NO_DOCUMENTS)
    )


def is_document(store: Store, node: Node) -> bool:
    """Return whether a node was made from a file, here or elsewhere."""
    if node.type in CODE_TYPES or not node.file or not is_page(node.file):
        return False
    return node.source == "file" or bool(_stated(node)) or store.documents.has(node.id)


def source_of(store: Store, node: Node, root: str) -> str:
    """Return the path in the store of the file that a node was made from; nothing where it is not
    there.

    ``root`` is where paths start from.
    """
    if not root or not is_document(store, node):
        return ""
    file = node.file or ""
    try:
        return file if os.path.isfile(place_within(root, file)) else ""
    except LoreError:
        return ""


def is_pruned(node: Node) -> bool:
    """Return whether a document is forgotten for no other reason than its lost file."""
    if node.invalidated_at is None or PRUNED not in node.data:
        return False
    return loads(node.data).get(PRUNED) is True


def mark_pruned(node: Node, *, pruned: bool = True) -> None:
    """Put the mark of a lost file on a document, or take it away."""
    if not pruned and PRUNED not in node.data:
        return
    data = loads(node.data)
    if pruned:
        data[PRUNED] = True
    elif data.pop(PRUNED, None) is None:
        return
    node.data = dumps(data)


def stated_by_file(node: Node) -> set[str]:
    """Return the fields of a document, as ``Records.edit`` calls them, that its file states."""
    own = (*STATED_FIELDS, "why")
    return {*_ALWAYS, *(name for name in _stated(node) if name in own)}


def state_of(node: Node) -> str:
    """Return a hash of what the file of a document states, as it is in the node."""
    data = loads(node.data)
    said: dict[str, Any] = {"title": node.title, "body": node.body}
    for name in _stated(node):
        if name not in _NO_TEXTS:
            said[name] = getattr(node, name) if name in STATED_FIELDS else data.get(name)
    import json

    text = json.dumps(said, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:32]


def _stated(node: Node) -> list[str]:
    found = loads(node.data).get(STATED, []) if STATED in node.data else []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
