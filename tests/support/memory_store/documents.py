"""The files that documents were made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

from pylore.core.model import Node
from pylore.store.document import DocumentFile

from .state import Part, State


class Documents(Part):
    def all(self, root: str) -> list[DocumentFile]:
        found = [copy(one) for (of, _), (one, _) in self._state.documents.items() if of == root]
        return sorted(found, key=lambda one: (one.path, one.node_id))

    def has(self, node_id: str) -> bool:
        return any(id == node_id for _, id in self._state.documents)

    def paths(self, node_ids: Sequence[str]) -> dict[str, str]:
        return {
            id: one.path for (root, id), (one, _) in self._state.documents.items()
            if not root and id in node_ids
        }  # fmt: skip

    def lines(self, passages: Sequence[int]) -> dict[int, int]:
        found, state = {}, self._state
        before: dict[str, str] = {}
        for key, (id, collection) in sorted(state.passages.items()):
            node = state.nodes.get(id)
            text = state.rows[collection].get(key, ("", ""))[1]
            read = before.get(id, "")
            if node is None or not node.body.startswith(read + text):
                continue
            before[id] = read + text
            if key in passages and node.line_start is not None and self.has(id):
                found[key] = node.line_start + read.count("\n")
        return found

    def links(self, root: str, node_id: str) -> str:
        found = self._state.documents.get((root, node_id))
        return found[1] if found else ""

    def put(self, root: str, document: DocumentFile, links: str) -> None:
        self._changing.documents[root, document.node_id] = (copy(document), links)

    def change(self, root: str, documents: Iterable[DocumentFile]) -> None:
        for one in documents:
            if (root, one.node_id) in self._state.documents:
                self.put(root, one, self.links(root, one.node_id))

    def remove(self, root: str, node_ids: Iterable[str]) -> None:
        for id in node_ids:
            self._changing.documents.pop((root, id), None)

    def names(self) -> str:
        state = self._state
        named = [
            (id, node.title, node.source, node.file, node.invalidated_at)
            for id, node in sorted(state.nodes.items())
        ]
        return str(hash(tuple(named))) if state.documents else ""


_LOOKED_AT = (
    "title", "body", "status", "source", "confidence", "category", "tags", "data",
    "invalidated_at",
)  # fmt: skip


def look_again(state: State, old: Node | None, new: Node) -> None:
    """Takes the stamps of a document away where its node says something else than before."""
    if old is None or all(getattr(old, name) == getattr(new, name) for name in _LOOKED_AT):
        return
    for key, (one, links) in state.documents.items():
        if key[1] == new.id:
            one = copy(one)
            one.stamp = ""
            state.documents[key] = (one, links)
