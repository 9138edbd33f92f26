"""Import documents: a file becomes a node, its links become edges.

The first pass reads each file with a new stamp or text, and writes a node. The second resolves the
links of all files, so that a link may lead to a later file, or to a node that changed elsewhere.
"""

from __future__ import annotations

import os
from itertools import chain, count, starmap
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..core.ids import check_scope, own, plain, sha256, whose
from ..core.json import dumps, loads, with_fields
from ..core.model import Edge, Node
from ..core.times import now
from ..graph.relations import fold
from ..records.fields import PRUNED
from ..records.merge import Conflict
from ..records.undo import forget
from ..store.files import DocumentFile
from ..system.files import leads_down, lstamp_of, settled
from ..system.git import Git
from ..system.project_files import folder_kind, is_below
from . import is_page, is_pruned, state_of
from .document import DocumentReader, read_text
from .jsonl import Import, Imported
from .links import Targets
from .pages import WORDS, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..core.model import EdgeKey
    from ..core.settings import Settings
    from ..store import Store
    from .document import Document

READING = 18  # version of the readers: files read with a former version are read again
_NOTES = 10  # maximum notes of a kind; more are counted
_TAKEN_BACK = "retracted"
"""The status of the edge of a removed link. An edge that a person removed has a different status,
and the next import does not restore it."""
_MOST_PLACES = 50  # maximum places of links, and ranges of lines, in an edge


class DocumentImport(Import):
    """An import of documents below ``root``, where paths in the store start.

    Where both the file and the node have changed, the file's text is stored; the former text is in
    the history.
    """

    def __init__(
        self, store: Store, settings: Settings, paths: Iterable[str], root: str, **given: Any
    ) -> None:
        super().__init__(store, settings, **given)
        self._paths = [*paths]
        self._root = os.path.realpath(root)
        # the documents of the root, as last read from files
        self._base = "" if os.path.realpath(store.project) == self._root else self._root
        self._by_id: dict[str, DocumentFile] = {}
        self._by_path: dict[str, DocumentFile] = {}  # without pruned documents
        self._by_hash: dict[str, list[DocumentFile]] = {}
        self._pruned: dict[str, list[str]] = {}  # path to ids
        self._states: dict[str, str] = {}  # of live nodes, now
        # the documents of this import
        self._rows: dict[str, DocumentFile] = {}  # by path
        self._claimed: dict[str, str] = {}  # id to path, with forgotten documents
        self._seen: set[str] = set()  # paths
        self._folders = [_place_of(self._root, one) for one in self._paths if os.path.isdir(one)]
        self._local: list[str] = []  # notes on texts only in this store

    def write(self) -> Imported:
        """Write nodes, then lost documents, then edges. Unless ``skip_bad`` is set, raise LoreError
        for a wrong file that was named; the message has the line."""
        self._read_known()
        store, settings, options = self._store, self._settings, self._options
        self._reader = DocumentReader(store, settings, options.type, options.new_types)
        of_options = (READING, options.type, options.new_types, settings.max_text)
        read_as = (*of_options, *store.types.all(), "", *sorted(self._reader.relations))
        self._read_as = sha256("\n".join(map(str, read_as)).encode()).hexdigest()[:16]
        for path in self._paths:
            self._find(path)
        lost = [self._lose(id, path) for id, path in [*self._lost()]]
        unresolved = self._link()
        self._index.flush()
        self.result.unresolved = len(unresolved)
        for notes in (unresolved, self._reader.faults, self._local, lost):
            more = [f"and {len(notes) - _NOTES} more"] if len(notes) > _NOTES else []
            self.result.notes += notes[:_NOTES] + more
        return self.result

    def _read_known(self) -> None:
        for row in self._store.documents.all(self._base):
            node = self._store.nodes.get(row.node_id)
            if node is None or whose(node.id) != self._store.scope:
                continue
            self._by_id[node.id] = row
            self._by_hash.setdefault(row.hash, []).append(row)
            if is_pruned(node):
                self._pruned.setdefault(row.path, []).append(node.id)
            else:
                self._by_path[row.path] = row
            if node.invalidated_at is None:
                self._states[node.id] = state_of(node)

    # --- files

    def _find(self, path: str) -> None:
        """Import the files of a path; with ``prune`` a folder may be empty."""
        is_folder, options = os.path.isdir(path), self._options
        files = [*_files_below(path, self.result.skipped)] if is_folder else [path]
        skip_bad = options.skip_bad or is_folder
        for file in files:
            try:
                self._import_file(file, skip_bad)
            except LoreError as error:
                self._fault(file, error, skip_bad)
            options.progress(1)
        if not (files or (options.prune and any(self._lost()))):
            self._fault(path, LoreError("there are no documents in this folder"), options.skip_bad)

    def _import_file(self, file: str, skip_bad: bool) -> None:
        path, stamp = _place_of(self._root, file), lstamp_of(file)
        if path in self._seen:
            return
        self._seen.add(path)
        known = self._by_path.get(path)
        known = known if known and known.read_as == self._read_as else None
        if known and stamp == known.stamp:
            self._keep(file, known, stamp)
            return
        text = read_text(file, self._settings.max_text)
        hash = sha256(text.encode()).hexdigest()[:32]
        stamp = settled(stamp) if "-" in stamp else ""
        if known and known.hash == hash:
            self._keep(file, known, stamp)
            return
        ids = self._ids(path, text, hash)
        try:
            document = self._reader.read(text, path, ids, skip_bad=skip_bad)
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise LoreError(f"cannot be read ({type(error).__name__}: {error})") from None
        id = own(document.node.id, self._store.scope)
        if "id" in document.stated:
            check_scope(document.node.id, self._store.scope)
        elif document.node.id not in ids:
            id = self._free_id(id, path)
        document.node.id = id
        if self._claim(file, id, path):
            names = "\n".join((document.node.title, *document.aliases))
            self._put(document, DocumentFile(id, path, self._read_as, stamp, hash, names))

    def _claim(self, file: str, id: str, path: str) -> bool:
        """Return True if the document of a file is to be imported, and not forgotten; raise
        LoreError if a second file has the id."""
        if (other := self._claimed.setdefault(id, path)) != path:
            raise LoreError(f"the id {id} belongs to {other}: change an id")
        node = None if id in self._states else self._store.nodes.get(id)
        if node and node.invalidated_at and not is_pruned(node):
            note = f"{file}: {id} is forgotten and stays so: 'lore undo {id}' brings it back"
            self.result.notes.append(note)
            return False
        other = (node.file or "") if node and not node.invalidated_at else path
        if other != path and (not other or self._is_there(other)):
            raise LoreError(f"the id {id} belongs to a record: change the id")
        return True

    # --- ids of files

    def _ids(self, path: str, text: str, hash: str) -> list[str]:
        """Return possible former ids of a file, the likeliest first."""
        pruned = [id for id in self._pruned.get(path, []) if id not in self._claimed]
        if known := self._by_path.get(path):
            return [known.node_id, *pruned]
        renamed = [
            row
            for row in (self._by_hash.get(hash, []) if text.strip() else [])
            if row.node_id not in self._claimed
            and (row.path == path or not self._is_there(row.path))
        ]
        renamed.sort(key=lambda row: row.path != path)
        unread = [id for id, _ in self._own_documents(path) if id not in self._by_id]
        return [*(row.node_id for row in renamed), *pruned, *unread]

    def _free_id(self, id: str, path: str) -> str:
        """Return an id from a path, numbered if a different file has it."""

        def is_taken(id: str) -> bool:
            places = {*self._store.documents.places(id)} - {(self._base, path)}
            files = (os.path.join(root or self._store.project, file) for root, file in places)
            return id in self._claimed or any(map(os.path.lexists, files))

        numbered = (own(f"{plain(id)}-{number}", whose(id)) for number in count(2))
        return next(free for free in chain([id], numbered) if not is_taken(free))

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self._root, path))

    def _own_documents(self, file: str | None = None) -> list[tuple[str, str]]:
        """Return ``nodes.documents`` of the root and the store's scope; of a file, also pruned."""
        found = self._store.nodes.documents(file, self._base, pruned=file is not None)
        return [(id, path) for id, path in found if whose(id) == self._store.scope]

    # --- nodes

    def _keep(self, file: str, row: DocumentFile, stamp: str) -> None:
        """Count a document with an unchanged file."""
        if not self._claim(file, row.node_id, row.path):
            return
        self._rows[row.path] = row
        if self._states[row.node_id] != row.state:
            self._note_local(row)
        if stamp != row.stamp:
            row.stamp = stamp
            self._store.documents.restamp(self._base, row)
        self.result.nodes += 1
        self.result.unchanged += 1

    def _note_local(self, row: DocumentFile) -> None:
        what = f"{row.node_id} ({row.path}): changed here, not in the file, and left so"
        self._local.append(f"{what}: 'lore show {row.node_id} --history' has both texts")

    def _put(self, document: Document, row: DocumentFile) -> None:
        id, path = row.node_id, row.path
        known, old = self._by_id.get(id), self._store.nodes.get(id)
        if known and known.path != path and "id" not in document.stated:
            self.result.notes.append(f"{known.path} is {path} now: {id} keeps its id and its links")
        node, state = document.onto(old.copy() if old else None), ""
        row.state = state_of(node)
        if old and known and state_of(old) not in (known.state, row.state):
            if known.hash == row.hash:
                node, state = old.copy(), "kept"
                node.file = path
                node.data = with_fields(node.data, {PRUNED: None})
                self._note_local(row)
            else:
                self.result.conflicts += 1
                self.result.conflicting.append(Conflict(id, "theirs", file=path))
        node.invalidated_at = None
        self._put_node(node, state)
        self._rows[path] = row
        self._store.documents.put(self._base, row, dumps(document.links))

    # --- documents without a file, or with a file of a new document

    def _lost(self) -> Iterator[tuple[str, str]]:
        """Yield id and path of each document below the folders that no file is any more."""
        for id, path in self._own_documents():
            if id in self._claimed or not is_page(path):
                continue
            is_below = any(one == "." or path.startswith(one + "/") for one in self._folders)
            if path in self._rows or (is_below and leads_down(path) and not self._is_there(path)):
                yield id, path

    def _lose(self, id: str, path: str) -> str:
        """Forget a lost document, or leave it; return a note."""
        other = self._rows.get(path)
        why = f"is {other.node_id} now" if other else "is gone"
        if not self._options.prune:
            self._store.documents.remove(self._base, [id] if other else [])
            return f"{path} {why}, {id} stays: 'lore forget {id}' takes it away"
        forget(self._store, self._store.nodes.require(id), pruned=True)
        self.result.pruned += 1
        return f"{path} {why}: {id} was taken away, 'lore undo {id}' brings it back"

    # --- edges

    def _link(self) -> list[str]:
        """Bring the edges of the documents in line with their links; note links without target."""
        files = {
            row.path: row for row in self._by_path.values() if row.node_id not in self._claimed
        }
        targets = Targets(self._store, self._root, self._base, files | self._rows)
        notes = []
        for path, row in self._rows.items():
            id, folder = row.node_id, os.path.dirname(path)
            wanted: dict[EdgeKey, dict[str, Any]] = {}
            for link in starmap(Link, loads(self._store.documents.links(self._base, id))):
                target = targets.of(link, folder)
                if target is None and link.kind not in WORDS:
                    why = f"line {link.line}: '{link.target}' leads to nothing that is known"
                    notes.append(f"{path}: {why}")
                to_id, file = target or ("", "")
                if to_id in ("", id):
                    continue
                if file and self._store.nodes.get(to_id) is None:
                    self._put_node(Node(to_id, "file", title=file, file=file, source="file"))
                relation = fold(link.says)
                if relation not in self._reader.relations:
                    relation = "anchored_to" if file else "links_to"
                stated = wanted.setdefault((id, to_id, relation), {"document": path})
                lines = [link.lines] if link.lines and file else ()
                for name, some in (("lines", lines), ("at", link.at)):
                    if some:
                        places = dict.fromkeys((*stated.get(name, ()), *some))
                        stated[name] = [*places][:_MOST_PLACES]
            self._write_edges(id, wanted)
        return notes

    def _write_edges(self, id: str, wanted: dict[EdgeKey, dict[str, Any]]) -> None:
        """Write the edges that a document states, and end the edges that it no longer states."""
        edges = self._store.edges
        old = {edge.key: edge for edge in edges.of(id, forgotten=True) if edge.from_id == id}
        for key, stated in wanted.items():
            metadata = dumps(stated)
            edge = old.get(key) or Edge(*key, source="file", metadata=metadata, created_at=now())
            is_removed, is_stated = edge.status == _TAKEN_BACK, "document" in loads(edge.metadata)
            # live edges by hand and removed links do not change
            if (edge.ended_at is None) == is_stated or (is_removed and is_stated):
                edge.source, edge.metadata, edge.ended_at = "file", metadata, None
                edge.status = "confirmed" if is_removed else edge.status
            self.result.edges += 1
            self.result.count(edges.put(edge), key)
        for key, edge in old.items():
            if key not in wanted and not edge.invalidated_at and "document" in loads(edge.metadata):
                edges.invalidate(key, now(), _TAKEN_BACK)
                self.result.invalidated += 1


# --- files below a folder


def _files_below(path: str, skipped: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the documents below a folder, in a fixed order.

    Files that git ignores, hidden files, folders of tools and symlinks are left out. ``skipped``
    gets folders that cannot be read, and symlinks to a target outside ``path``, with the reason.
    """
    top, ignored = os.path.realpath(path), set[str]()

    def is_plain(file: str) -> bool:
        if file in ignored:
            return False
        if os.path.islink(file) and os.path.exists(file):
            real = os.path.realpath(file)
            if real != top and not is_below(top, real):
                skipped.append((file, f"is a link out of {top}"))
            return False
        return True

    failed: list[OSError] = []
    for folder, folders, names in os.walk(path, onerror=failed.append):
        if folder == path or ".git" in (*folders, *names):
            listed = Git(folder).ask(*"ls-files -zoi --exclude-standard --directory".split()) or ""
            ignored |= {os.path.join(folder, name.rstrip("/")) for name in listed.split("\0")}
        places = ((name, os.path.join(folder, name)) for name in sorted(folders))
        folders[:] = (one for one, at in places if folder_kind(at) != "ignored" and is_plain(at))
        pages = sorted(name for name in names if is_page(name) and name[0] != ".")
        yield from filter(is_plain, (os.path.join(folder, name) for name in pages))
    skipped += [(str(one.filename), f"cannot be read ({one.strerror})") for one in failed]


def _place_of(root: str, file: str) -> str:
    """Return the store's name of a file or a folder, whatever links lead there; ``.`` is ``root``,
    a path without links. Raise LoreError for a name that cannot be printed."""
    path = os.path.relpath(os.path.realpath(file), root).replace(os.sep, "/")
    if not path.isprintable():
        raise LoreError("the name has characters that cannot be printed: rename it")
    return path
