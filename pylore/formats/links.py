"""Links of documents: resolve them to targets, and write them as edges."""

from __future__ import annotations

import json
import os

from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.model import Edge, Node
from ..core.text import composed, one_line
from ..core.vocabulary import CODE_IDS, COMMIT_IDS
from ..graph.relations import fold
from ..records.fields import EXTENSIONS, is_page, split_location
from ..system.project_files import is_below
from .page import FIELD, NAME, PATH, RELATIVE, WIKI, Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..store import Store
    from ..store.anchors import DocumentFile
    from .jsonl import Imported

    Target = tuple[str, str]
    """The id of a node, and the path if it is a file."""

TAKEN_BACK = "retracted"
"""The status of the edge of a removed link. An edge that a person removed has another status, and
the next import does not restore it."""

_CODE = (*CODE_IDS, COMMIT_IDS)
"""Prefixes of ids of nodes that have a file and are not documents."""
_MOST_PLACES = 50
"""Maximum places of links in an edge."""


def links_text(links: Iterable[Link]) -> str:
    """Return links as JSON; of words named twice, the first."""
    rows: dict[object, Link] = {}
    for number, link in enumerate(links):
        is_word = link.kind in (PATH, NAME)
        rows.setdefault((link.kind, link.target, link.lines, 0 if is_word else number), link)
    return json.dumps([*rows.values()], ensure_ascii=False, separators=(",", ":"))


def links_of(text: str) -> list[Link]:
    """Return the links in JSON of ``links_text``."""
    return [Link(*row) for row in json.loads(text or "[]")]


class Targets:
    """Resolve links: to documents of a store, then its other nodes, then files on disk.

    ``root`` is a path without symlinks, ``files`` are documents by path, ``links`` the links
    to resolve. The result depends only on the store and the files, not on the imported documents.
    """

    def __init__(
        self,
        store: Store,
        root: str,
        files: Mapping[str, DocumentFile],
        links: Iterable[Link],
    ) -> None:
        self._store = store
        self._root = root
        self._files: dict[str, bool] = {}
        paths = {path: id for id, path in store.nodes.documents() if not id.startswith(_CODE)}
        live = {*paths.values()}
        paths |= {path: file.node_id for path, file in files.items() if file.node_id in live}
        self._documents = {composed(path): id for path, id in paths.items()}
        self._places: dict[str, list[tuple[int, str, str]]] = {}
        if any(link.kind in (WIKI, NAME, FIELD) for link in links):
            self._find_names(paths, files)

    def _find_names(self, paths: Mapping[str, str], files: Mapping[str, DocumentFile]) -> None:
        """Note the names of all nodes: documents first, by file, title, alias."""
        for id, type, title, _, _, path in self._store.nodes.outlines():
            if type == "file":
                continue
            file = path or ""
            is_own = paths.get(file) == id and is_page(file)
            names = files[file].names if is_own and file in files else [title]
            keys = [_file_key(file) if is_page(file) else "", *map(_key, names)]
            for number, key in enumerate(keys):
                place = min(number, 2) + (0 if is_own else 3)
                self._places.setdefault(key, []).append((place, file, id))

    def of(self, link: Link, folder: str) -> Target | None:
        """Return the target of a link of a document in ``folder``."""
        if link.kind in (WIKI, NAME, FIELD):
            found = (self._of_text(text, folder) for text in _readings(link.target))
            return next(filter(None, found), None)
        near = link.target if link.target[0] == "/" else os.path.join(folder, link.target)
        return (self._at(link.target) if link.kind == PATH else None) or self._at(near)

    def _of_text(self, text: str, folder: str) -> Target | None:
        """Return the target that an id, a name, a title or a path means."""
        id = self._store.resolve_id(text)
        node = self._store.nodes.get(id)
        is_live = node is not None and node.invalidated_at is None
        if named := id if is_live else self._named(text, folder):
            return named, ""
        return self._at(os.path.join(folder, text)) or self._at(text)

    def _named(self, text: str, folder: str) -> str:
        """Return the best node with a name: in the same folder, else nearest to the root.

        A path matches nodes with the same end of the path.
        """
        end = _key(_stem(text).lstrip("./"))
        found = [
            (place, by_file, os.path.dirname(file) != folder, file.count("/"), file, id)
            for by_file, key in enumerate(dict.fromkeys((_key(text), _file_key(text))))
            for place, file, id in self._places.get(key, ())
            if not by_file or "/" not in end or f"/{_key(_stem(file))}".endswith(f"/{end}")
        ]
        return min(found)[-1] if found else ""

    def is_folder(self, link: Link, folder: str) -> bool:
        """Return True for a relative link to a folder, which is not a node."""
        near = link.target.lstrip("/") if link.target[0] == "/" else f"{folder}/{link.target}"
        return link.kind == RELATIVE and os.path.isdir(f"{self._root}/{near}")

    def _at(self, path: str) -> Target | None:
        """Return the document at a path from the root, or the file there."""
        path = os.path.normpath(path.lstrip("/"))
        for ending in ("", *EXTENSIONS):
            if id := self._documents.get(composed(path) + ending):
                return id, ""
        return self._file_at(path)

    def _file_at(self, path: str) -> Target | None:
        whole = os.path.join(self._root, path)
        if path not in self._files:
            self._files[path] = os.path.isfile(whole) and is_below(
                self._root, os.path.realpath(whole)
            )
        if not self._files[path] or path.startswith("../"):
            return None
        try:
            id = check_id(self._store.file_node_id(path))
        except LoreError:
            return None
        node = self._store.nodes.get(id)
        return None if node is not None and node.invalidated_at else (id, path)


def _readings(text: str) -> list[str]:
    """Return the possible meanings of a target, the likeliest first: with and without lines and a
    part.

    >>> _readings("[[C# notes#Use|label]]")
    ['C# notes#Use', 'C# notes', 'C']
    """
    text = text.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0].strip()
    path = split_location(text)[0]
    names = (text, path, path.rpartition("#")[0].strip(), path.partition("#")[0].strip())
    return [*filter(None, dict.fromkeys(names))]


def _key(text: str) -> str:
    return one_line(composed(text)).casefold()


def _file_key(path: str) -> str:
    return _key(_stem(os.path.basename(path)))


def _stem(path: str) -> str:
    return os.path.splitext(path)[0] if is_page(path) else path


class PageEdges:
    """Write the edges of the documents of one import; the caller holds a transaction.

    ``put_node`` writes the missing node of a file.
    """

    def __init__(
        self,
        store: Store,
        targets: Targets,
        result: Imported,
        put_node: Callable[[Node], None],
        now: str,
    ) -> None:
        self._store = store
        self._targets = targets
        self._result = result
        self._put_node = put_node
        self._now = now
        self._known = set(store.relations.all())

    def write(self, id: str, path: str, links: Iterable[Link]) -> list[Link]:
        """Update the edges of a document from links; return unresolved links."""
        unresolved: list[Link] = []
        wanted = self._wanted(id, path, links, unresolved)
        old = {e.key: e for e in self._store.edges.of(id, forgotten=True) if e.from_id == id}
        for key, stated in wanted.items():
            metadata = json.dumps(stated, ensure_ascii=False)
            edge = old.get(key)
            if edge is None:
                edge = Edge(*key, source="file", metadata=metadata, created_at=self._now)
            # live edges by hand and removed links do not change
            elif (edge.ended_at is None) == _is_stated(edge) or (
                edge.status == TAKEN_BACK and _is_stated(edge)
            ):
                edge.source, edge.metadata, edge.ended_at = "file", metadata, None
                edge.status = "confirmed" if edge.status == TAKEN_BACK else edge.status
            self._result.edges += 1
            self._result.count_edge(key, self._store.edges.put(edge))
        for key, edge in old.items():
            if key not in wanted and edge.invalidated_at is None and _is_stated(edge):
                self._store.edges.invalidate(key, self._now, TAKEN_BACK)
                self._result.invalidated += 1
        return unresolved

    def _wanted(
        self, id: str, path: str, links: Iterable[Link], unresolved: list[Link]
    ) -> dict[tuple[str, str, str], dict[str, Any]]:
        """Return the edges that a document states with their metadata."""
        folder = os.path.dirname(path)
        wanted: dict[tuple[str, str, str], dict[str, Any]] = {}
        for link in links:
            name = fold(link.says) if link.says else ""
            relation = name if name in self._known else ""
            if link.kind == FIELD and not relation:
                continue  # data of a different program
            target = self._targets.of(link, folder)
            if target is None:
                if link.kind not in (PATH, NAME) and not self._targets.is_folder(link, folder):
                    unresolved.append(link)
                continue
            to_id, file = target
            if to_id == id:
                continue
            if file and self._store.nodes.get(to_id) is None:
                self._put_node(Node(to_id, "file", title=file, file=file, source="file"))
            relation = relation or ("anchored_to" if file else "links_to")
            stated = wanted.setdefault((id, to_id, relation), {"document": path})
            if link.lines and file and link.lines not in stated.get("lines", ()):
                stated.setdefault("lines", []).append(link.lines)
            if link.at:
                stated["at"] = [*stated.get("at", ()), *link.at][:_MOST_PLACES]
        return wanted


def _is_stated(edge: Edge) -> bool:
    """Return True if a document states or stated the edge."""
    return isinstance(json.loads(edge.metadata).get("document"), str)
