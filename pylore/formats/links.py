"""Links of documents: resolve them to targets, and write them as edges."""

from __future__ import annotations

import json
import os
import re

from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.model import Edge, Node, Record
from ..core.text import composed, one_line
from ..core.vocabulary import CODE_IDS, COMMIT_IDS, FILE_IDS, path_of
from ..graph.relations import fold
from ..records.fields import EXTENSIONS, is_page, split_location
from ..store.resolve_id import file_node_id, resolve_id
from .document import Document
from .page import NAME, PATH, RELATIVE, WIKI, Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..store import Store
    from ..store.anchors import DocumentFile
    from ..system.listing import FolderNames
    from .jsonl import Imported

    Places = dict[str, list[tuple[str, str]]]
    """folded name to (path, id) of every document that has it"""

    Wanted = dict[tuple[str, str, str], "Stated"]
    """edge to what its document says of it"""


_LOWER = re.compile(r"[a-z][a-z0-9_-]*")
_CODE = (*CODE_IDS, COMMIT_IDS)
"""Prefixes of ids of nodes that have a file and are no documents."""


class Target(Record):
    """A node's id, and the path of the file where the node stands for one."""

    __slots__ = ("file", "id")

    def __init__(self, id: str, file: str = "") -> None:
        self.id = id
        self.file = file


class Targets:
    """Look targets up among the documents of a store, then its other nodes, then on disk.

    What is found depends on the store and the files alone, not on which documents an import
    is of, so it stays the same until one of these has another name.
    """

    def __init__(self, store: Store, names: FolderNames) -> None:
        self._store = store
        self._names = names
        self._documents: dict[str, str] = {}  # path: id
        self._places: tuple[Places, ...] = ({}, {}, {}, {}, {})
        self._standing: dict[str, bool] = {}

    def read_store(self, wanted: set[str], files: Mapping[str, DocumentFile]) -> None:
        """Find the nodes that have one of the ``wanted`` names.

        ``files`` are the documents that files were read for, by their paths.
        """
        documents = dict(self._store.nodes.documents())
        self._documents = {
            composed(path): id for id, path in documents.items() if not id.startswith(_CODE)
        } | {
            composed(path): file.node_id for path, file in files.items()
            if file.node_id in documents
        }  # fmt: skip
        self._places = ({}, {}, {}, {}, {})
        for id, type, title, _, _, file in self._store.nodes.outlines():
            if type == "file":
                continue
            has_page = file is not None and is_page(file)
            names = [title]
            first = 3
            if has_page and file and self._documents.get(composed(file)) == id:
                first = 0
                names = files[file].names if file in files else names
            keys = [(first, _file_key(file) if has_page and file else "")]
            keys += [(first + 1 + (n > 0), _key(name)) for n, name in enumerate(names)]
            for place, key in keys:
                if key in wanted:
                    self._places[place].setdefault(key, []).append((file or "", id))

    def of_link(self, link: Link, folder: str) -> Target | None:
        """Return where a link of a document in ``folder`` leads."""
        if link.kind in (WIKI, NAME):
            return self.of_text(link.target, folder)
        if link.kind == PATH:
            return self._at(link.target) or self._at(os.path.join(folder, link.target))
        return self._at(link.target if link.target[0] == "/" else os.path.join(folder, link.target))

    def of_text(self, text: str, folder: str) -> Target | None:
        """Return what an id, a name, a title or a path means in a document in ``folder``.

        A part behind ``#`` counts as a part of the name first, as in ``C# notes``.
        """
        text = _unwrapped(text)
        name = text.partition("#")[0].strip()
        return self._of_name(text, folder) or (self._of_name(name, folder) if name else None)

    def _of_name(self, text: str, folder: str) -> Target | None:
        id = resolve_id(self._store, text)
        if self._stands(id):
            return Target(id)
        for places in self._places:
            for key in dict.fromkeys((_key(text), _file_key(text))):
                id = _nearest(places.get(key, []), "" if key == _key(text) else text, folder)
                if id:
                    return Target(id)
        # A file's node may be made by another document's link: it is there either way.
        path = path_of(text) if text.startswith(FILE_IDS) else ""
        return (
            self._at(os.path.join(folder, text)) or self._at(text)
            or (self._file_at(path) if path and path == os.path.normpath(path) else None)
        )  # fmt: skip

    def is_folder(self, link: Link, folder: str) -> bool:
        """Return whether a relative link leads to a folder, which is not a node."""
        path = link.target if link.target[0] == "/" else os.path.join(folder, link.target)
        path = os.path.normpath(path.lstrip("/") or ".")
        if path == ".." or path.startswith("../"):
            return os.path.isdir(os.path.join(self._names.root, path))
        return self._names.kind(path) == "folder"

    def _stands(self, id: str) -> bool:
        if id not in self._standing:
            node = self._store.nodes.get(id)
            self._standing[id] = node is not None and node.invalidated_at is None
        return self._standing[id]

    def _at(self, path: str) -> Target | None:
        """Return the document at a path from the root, or the file there."""
        path = os.path.normpath(path.lstrip("/"))
        for candidate in (path, *(path + extension for extension in EXTENSIONS)):
            if composed(candidate) in self._documents:
                return Target(self._documents[composed(candidate)])
        return self._file_at(path)

    def _file_at(self, path: str) -> Target | None:
        if path.startswith("../") or self._names.kind(path) != "file":
            return None
        try:
            id = check_id(file_node_id(self._store, path))
        except LoreError:
            return None
        node = self._store.nodes.get(id)
        return None if node is not None and node.invalidated_at else Target(id, path)


def names_asked(document: Document) -> set[str]:
    """Return the names by which the links of a document may ask for a node."""
    names = [link.target for link in document.links if link.kind in (WIKI, NAME)]
    names += [target for _, target, _ in document.relations]
    texts = [_unwrapped(name) for name in names]
    texts += [split_location(text)[0] for text in texts]
    texts += [text.partition("#")[0] for text in texts if "#" in text]
    return {key for text in texts for key in (_key(text), _file_key(text))}


def _nearest(places: list[tuple[str, str]], text: str, folder: str) -> str:
    """Return, of documents with one name, the one in the same folder, else the least deep; of a
    path those alone that end in it."""
    end = _key(_without_extension(text).lstrip("./"))
    if "/" in end:
        places = [
            place for place in places
            if ("/" + _key(_without_extension(place[0]))).endswith("/" + end)
        ]  # fmt: skip
    best = min(
        places,
        key=lambda place: (os.path.dirname(place[0]) != folder, place[0].count("/"), place),
        default=("", ""),
    )
    return best[1]


def _key(text: str) -> str:
    return one_line(composed(text)).casefold()


def _file_key(path: str) -> str:
    return _key(_without_extension(os.path.basename(path)))


def _without_extension(path: str) -> str:
    return os.path.splitext(path)[0] if is_page(path) else path


def _unwrapped(text: str) -> str:
    """Turn ``[[name|label]]`` as a value of the front matter into ``name``."""
    text = text.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0].strip()
    return text


TAKEN_BACK = "retracted"
"""The status of an edge that its document no longer states. One that a person took away has
another, and so does not come back with the next import."""


_MOST_PLACES = 50
"""Of more links from one document to one node, the first are kept."""


class Stated(Record):
    """An edge as a document states it: the ranges of lines that it names there, where in the body
    of the document its links stand, in characters, and what it says that is no relation."""

    __slots__ = ("at", "ranges", "says")

    def __init__(self) -> None:
        self.says = ""
        self.ranges: list[str] = []
        self.at: list[int] = []

    def metadata(self, path: str) -> str:
        """Return the metadata of such an edge, as JSON."""
        said: dict[str, object] = {"document": path}
        if self.ranges:
            said["lines"] = self.ranges
        if self.says:
            said["says"] = self.says
        if self.at:
            said["at"] = self.at[:_MOST_PLACES]
        return json.dumps(said, ensure_ascii=False)


def links_text(document: Document) -> str:
    """Return the links of a document as JSON, to be kept."""
    seen = set()
    rows: list[list[object]] = [[*relation] for relation in document.relations]
    for link in document.links:
        key = (link.target, link.lines)
        if link.kind in (PATH, NAME):
            if key in seen:
                continue  # a word that is named again says nothing more
            seen.add(key)
        rows.append([link.kind, link.target, link.line, link.lines, link.at, link.says])
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


_LINK = [str, str, int, str, list, str]
"""The fields of a link that was kept; earlier versions kept the first of them."""


def linking(id: str, path: str, links: str) -> Document:
    """Return a document with its links as they were kept, and nothing else."""
    document = Document(path)
    document.id = id
    for row in json.loads(links or "[]"):
        shape = [type(value) for value in row] if isinstance(row, list) else []
        if shape == [str, str, int]:
            document.relations.append((row[0], row[1], row[2]))
        elif shape in (_LINK[:4], _LINK[:5], _LINK) and row[1]:
            document.links.append(Link(*row))
    return document


class PageEdges:
    """Write the edges of the documents of one import; the caller holds a transaction."""

    def __init__(
        self,
        store: Store,
        targets: Targets,
        result: Imported,
        put_node: Callable[[Node], None],
        now: str,
        declare: Callable[[str], object] | None = None,
    ) -> None:
        self._store = store
        self._targets = targets
        self._result = result
        self._put_node = put_node
        self._known = set(store.relations.all())
        self._now = now
        self._declare = declare
        self._unresolved: list[str] = []

    def write(self, document: Document, former: set[str]) -> tuple[int, list[str]]:
        """Return how many edges the document states, and its links that lead to nothing.

        ``former`` are paths under which it has written edges before.
        """
        self._unresolved = []
        wanted = self._wanted(document)
        self._write(document.id, document.path, {document.path, *former}, wanted)
        return len(wanted), self._unresolved

    def _wanted(self, document: Document) -> Wanted:
        """Return the edges that a document states."""
        folder = os.path.dirname(document.path)
        wanted: Wanted = {}
        for relation, text, line in document.relations:
            if relation not in self._known:
                continue  # kept by another program
            path = split_location(text)[0]
            target = self._targets.of_text(text, folder) or self._targets.of_text(path, folder)
            lines = text[len(path) + 1 :]
            where = f"line {line}: '{text}'"
            self._want(wanted, document, target, relation, lines, [], where)
        for link in document.links:
            target = self._targets.of_link(link, folder)
            if target is None and (
                link.kind in (PATH, NAME)
                or (link.kind == RELATIVE and self._targets.is_folder(link, folder))
            ):
                continue
            relation = self._said(link.says)
            is_known = relation in self._known
            if not is_known:
                relation, says = "anchored_to" if target and target.file else "links_to", relation
            where = f"line {link.line}: '{link.target}'"
            self._want(wanted, document, target, relation, link.lines, link.at, where)
            if not is_known and target is not None and target.id != document.id:
                stated = wanted[document.id, target.id, relation]
                stated.says = stated.says or says
        return wanted

    def _said(self, says: str) -> str:
        """Return the relation that stands before a link, one that is not known if it is a word in
        lower case; where it may be, that is declared."""
        name = fold(says)
        if name in self._known or not _LOWER.fullmatch(says):
            return name if name in self._known else ""
        if self._declare is not None:
            self._declare(name)
            self._known.add(name)
        return name

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
        """Bring the edges of one document in line with what it states."""
        old = {e.key: e for e in self._store.edges.of(id, forgotten=True) if e.from_id == id}
        for key, stated in wanted.items():
            metadata = stated.metadata(path)
            edge = old.get(key)
            if edge is None:
                edge = Edge(*key, source="file", metadata=metadata, created_at=self._now)
            elif _may_restate(edge, paths):
                edge.source, edge.metadata, edge.ended_at = "file", metadata, None
                edge.status = "confirmed" if edge.status == TAKEN_BACK else edge.status
            self._result.edges += 1
            self._result.count_edge(edge.key, self._store.edges.put(edge))
        for key, edge in old.items():
            is_out = key in wanted or edge.invalidated_at is not None
            if not is_out and _document_of(edge) in paths:
                self._store.edges.invalidate(key, self._now, TAKEN_BACK)
                self._result.invalidated += 1


def _may_restate(edge: Edge, paths: set[str]) -> bool:
    """Return whether a document may write an edge that is there already.

    A live edge that someone made by hand stays as it is, and an edge of the document
    that someone took away stays away.
    """
    live = edge.ended_at is None
    mine = _document_of(edge) in paths
    return (live or edge.status == TAKEN_BACK) if mine else not live


def _document_of(edge: Edge) -> str | None:
    document = json.loads(edge.metadata).get("document")
    return document if isinstance(document, str) else None
