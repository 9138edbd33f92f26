"""The edges of a document: what its links lead to, and bringing the store in line with that."""

from __future__ import annotations

import json
import os

from ..core.model import Edge, Node, Record
from ..records.records import split_location
from .links import NAME, PATH, RELATIVE, Link
from .mdfile import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..store import Store
    from .jsonl import Imported
    from .mdtargets import Target, Targets

    Wanted = dict[tuple[str, str, str], "Stated"]
    """edge to what its document says of it"""

TAKEN_BACK = "retracted"
"""The status of an edge that its document no longer states. One that a person took away has
another, and so does not come back with the next import."""


_MOST_PLACES = 50
"""Of more links from one document to one node, the first are kept."""


class Stated(Record):
    """An edge as a document states it: the ranges of lines that it names there, and where in the
    body of the document its links stand, in characters."""

    __slots__ = ("at", "ranges")

    def __init__(self) -> None:
        self.ranges: list[str] = []
        self.at: list[int] = []

    def metadata(self, path: str) -> str:
        """The metadata of such an edge, as JSON."""
        said: dict[str, object] = {"document": path}
        if self.ranges:
            said["lines"] = self.ranges
        if self.at:
            said["at"] = self.at[:_MOST_PLACES]
        return json.dumps(said, ensure_ascii=False)


def links_text(document: Document) -> str:
    """The links of a document as JSON, to be kept."""
    seen = set()
    rows: list[list[object]] = [[*relation] for relation in document.relations]
    for link in document.links:
        key = (link.target, link.lines)
        if link.kind in (PATH, NAME):
            if key in seen:
                continue  # a word that is named again says nothing more
            seen.add(key)
        rows.append([link.kind, link.target, link.line, link.lines, link.at])
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def linking(id: str, path: str, links: str) -> Document:
    """A document with its links as they were kept, and nothing else."""
    document = Document(path)
    document.id = id
    for row in json.loads(links or "[]"):
        shape = [type(value) for value in row] if isinstance(row, list) else []
        if shape == [str, str, int]:
            document.relations.append((row[0], row[1], row[2]))
        elif shape in ([str, str, int, str], [str, str, int, str, list]) and row[1]:
            document.links.append(Link(*row))
    return document


class PageEdges:
    """Writes the edges of the documents of one import; the caller holds a transaction.

    ``weights`` are those of relations that the settings name, and the store may not know.
    """

    def __init__(
        self,
        store: Store,
        targets: Targets,
        result: Imported,
        put_node: Callable[[Node], None],
        weights: Mapping[str, float],
        now: str,
    ) -> None:
        self._store = store
        self._targets = targets
        self._result = result
        self._put_node = put_node
        self._weights = weights
        self._declared = set(store.relations.all())
        self._now = now
        self._unresolved: list[str] = []

    def write(self, document: Document, former: set[str]) -> tuple[int, list[str]]:
        """How many edges the document states, and its links that lead to nothing.

        ``former`` are paths under which it has written edges before.
        """
        self._unresolved = []
        wanted = self._wanted(document)
        self._write(document.id, document.path, {document.path, *former}, wanted)
        return len(wanted), self._unresolved

    def _wanted(self, document: Document) -> Wanted:
        """The edges that a document states."""
        folder = os.path.dirname(document.path)
        wanted: Wanted = {}
        for relation, text, line in document.relations:
            if relation not in self._declared and relation not in self._weights:
                continue  # kept by another program
            path = split_location(text)[0]
            target = self._targets.of_text(text, folder) or self._targets.of_text(path, folder)
            lines = text[len(path) + 1 :]
            self._declare(relation)
            where = f"line {line}: '{text}'"
            self._want(wanted, document, target, relation, lines, [], where)
        for link in document.links:
            target = self._targets.of_link(link, folder)
            if target is None and (
                link.kind in (PATH, NAME)
                or (link.kind == RELATIVE and self._targets.is_folder(link, folder))
            ):
                continue
            relation = "anchored_to" if target and target.file else "links_to"
            where = f"line {link.line}: '{link.target}'"
            self._want(wanted, document, target, relation, link.lines, link.at, where)
        return wanted

    def _declare(self, relation: str) -> None:
        """Makes a relation known that has its weight from the settings alone."""
        if relation not in self._declared:
            weight = self._weights[relation]
            self._store.relations.declare(relation, weight, weight, "declared")
            self._declared.add(relation)

    def _want(
        self, wanted: Wanted, document: Document, target: Target | None, relation: str,
        lines: str, at: list[int], where: str,
    ) -> None:  # fmt: skip
        if target is None:
            self._unresolved.append(where)
        elif target.id != document.id:
            if target.file and self._store.nodes.get(target.id) is None:
                file = Node(target.id, "file", title=target.file, file=target.file, source="file")
                self._put_node(file)
            stated = wanted.setdefault((document.id, target.id, relation), Stated())
            if lines and target.file and lines not in stated.ranges:
                stated.ranges.append(lines)
            stated.at += at

    def _write(self, id: str, path: str, paths: set[str], wanted: Wanted) -> None:
        """Brings the edges of one document in line with what it states."""
        old = {e.key: e for e in self._store.edges.of(id, forgotten=True) if e.from_id == id}
        for key, stated in wanted.items():
            metadata = stated.metadata(path)
            edge = old.get(key)
            if edge is None:
                edge = Edge(*key, source="file", metadata=metadata, created_at=self._now)
            elif _may_restate(edge, paths):
                edge.source, edge.metadata, edge.invalidated_at = "file", metadata, None
                edge.status = "confirmed" if edge.status == TAKEN_BACK else edge.status
            self._result.edges += 1
            self._result.count_edge(edge.key, self._store.edges.put(edge))
        for key, edge in old.items():
            if key not in wanted and edge.invalidated_at is None and _document_of(edge) in paths:
                self._store.edges.invalidate(key, self._now, TAKEN_BACK)
                self._result.invalidated += 1


def _may_restate(edge: Edge, paths: set[str]) -> bool:
    """Whether a document may write an edge that is there already.

    A live edge that someone made by hand stays as it is, and an edge of the document
    that someone took away stays away.
    """
    live = edge.invalidated_at is None
    mine = _document_of(edge) in paths
    return (live or edge.status == TAKEN_BACK) if mine else not live


def _document_of(edge: Edge) -> str | None:
    document = json.loads(edge.metadata).get("document")
    return document if isinstance(document, str) else None
