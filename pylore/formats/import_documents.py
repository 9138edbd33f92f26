"""Import documents: a file becomes a node, its links become edges.

The first pass reads each file with a new stamp or text, and writes a node. The second resolves the
links of all files, so that a link may lead to a later file, or to a node that changed elsewhere.
"""

from __future__ import annotations

import os
from copy import copy
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import LoreError, StoreError, UsageError, nearest
from ..core.ids import check_scope, check_type, own, plain, whose
from ..core.text import counted
from ..core.times import now
from ..core.vocabulary import SYMBOL_IDS
from ..indexing.indexer import Index
from ..records.fields import is_page, is_pruned, mark_pruned, state_of
from ..records.merge import Conflict
from ..store.anchors import DocumentFile
from ..system.files import lstamp_of, settled
from ..system.project_files import is_below, leads_down
from .document import DocumentReader, read_text
from .jsonl import Imported
from .links import PageEdges, Targets, links_of, links_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..core.model import Node
    from ..core.settings import Settings
    from ..store import Store
    from .document import Document

READING = 6
"""Version of the readers: files read with a former version are read again."""
_MEND = "mend it, or leave such files out with --skip-bad"
_NOTES = 10
"""Maximum notes of a kind; more are counted."""


class Options(NamedTuple):
    """How to import.

    ``type`` is the default type. ``prune`` forgets documents below the folders that have lost their
    files; they come back with the files. Where both the file and the node have changed, the file's
    text is stored; the former text is in the history. ``progress`` is called after each file.
    """

    type: str = "doc"
    skip_bad: bool = False
    new_types: bool = False
    prune: bool = False
    progress: Callable[[int], None] = lambda files: None


class KnownDocuments:
    """The documents of a root, as last read from files, and the current states of their nodes."""

    def __init__(self, store: Store, root: str) -> None:
        here = os.path.realpath(store.project)
        self.root = "" if here == os.path.realpath(root) else os.path.realpath(root)
        self.by_id: dict[str, DocumentFile] = {}
        self.by_path: dict[str, DocumentFile] = {}  # without pruned documents
        self.pruned: dict[str, list[str]] = {}  # path to ids
        self.by_hash: dict[str, list[DocumentFile]] = {}
        self.states: dict[str, str] = {}  # of live nodes
        for row in store.documents.all(self.root):
            node = store.nodes.get(row.node_id) if whose(row.node_id) == store.scope else None
            if node is None:
                continue
            self.by_id[node.id] = row
            self.by_hash.setdefault(row.hash, []).append(row)
            if is_pruned(node):
                self.pruned.setdefault(row.path, []).append(node.id)
            else:
                self.by_path[row.path] = row
            if node.invalidated_at is None:
                self.states[node.id] = state_of(node)


class DocumentImport:
    """An import of documents below ``root``, where paths in the store start; see ``Options``."""

    def __init__(
        self, store: Store, settings: Settings, paths: Iterable[str], root: str, **options: Any
    ) -> None:
        self._store = store
        self._settings = settings
        self._paths = [*paths]
        self._root = os.path.realpath(root)
        self._options = Options(**options)
        self._result = Imported()
        self._index = Index(store)
        self._now = now()
        self._rows: dict[str, DocumentFile] = {}  # path to row after this import
        self._claimed: dict[str, str] = {}  # id to path, with forgotten documents
        self._seen: set[str] = set()  # paths
        self._folders: list[str] = []
        self._local: list[tuple[str, str]] = []  # id and path of texts only in this store

    def write(self) -> Imported:
        """Write nodes, then lost documents, then edges; the caller holds a transaction.

        Raises:
            LoreError: wrong file (it and the line are named), and ``skip_bad`` is not set.
        """
        self._known = KnownDocuments(self._store, self._root)
        self._set_vocabulary()
        for path in self._paths:
            self._find(path)
        lost = [self._lose(id, path) for id, path in [*self._lost()]]
        self._link()
        self._index.flush()
        self._note(self._reader.faults)
        what = counted(
            len(self._local), "document differs from its file", "documents differ from their files"
        )
        self._note(
            [
                f"{what}, and the text of this store stays, as {id} ({path}): 'lore show {id} "
                "--history' has both"
                for id, path in self._local[:1]
            ]
        )
        self._note(lost)
        return self._result

    def _note(self, notes: list[str]) -> None:
        self._result.notes += notes[:_NOTES]
        if len(notes) > _NOTES:
            self._result.notes.append(f"and {len(notes) - _NOTES} more")

    def _set_vocabulary(self) -> None:
        """Read the types and relations of the store, on which the reading of a file depends."""
        type, options = self._options.type, self._options
        types = self._store.types.all()
        relations = self._store.relations.all()
        self._declared = {*types}
        if type not in types:
            if not options.new_types:
                raise UsageError(
                    f"unknown type '{type}'{nearest(type, list(types))}: declare it as a new type"
                )
            types[check_type(type)] = ""
        self._reader = DocumentReader(
            type, types, relations, new_types=options.new_types, skip_bad=options.skip_bad
        )
        words = [*sorted(types), "", *sorted(relations), str(self._settings.max_text)]
        vocabulary = sha256("\n".join(words).encode()).hexdigest()[:16]
        self._read_as = f"{READING} {type} {vocabulary} {options.new_types}"

    # --- files

    def _find(self, path: str) -> None:
        """Import the files of a path; with ``prune`` a folder may be empty."""
        found = False
        for file in _files_below(path, self._skip):
            found = True
            try:
                self._import_file(file)
            except LoreError as error:
                self._fault(file, error)
            self._options.progress(1)
        if os.path.isdir(path):
            self._folders.append(_place_of(self._root, path))
            if not found and not (self._options.prune and any(self._lost())):
                self._fault(path, LoreError("there are no documents in this folder"))

    def _skip(self, file: str, why: str) -> None:
        self._result.skipped.append((file, why))

    def _fault(self, file: str, error: LoreError) -> None:
        if isinstance(error, StoreError):
            raise error
        if not self._options.skip_bad:
            raise LoreError(f"{file}: {error}: nothing was imported; {_MEND}") from None
        self._skip(file, str(error))

    def _import_file(self, file: str) -> None:
        path, stamp = _place_of(self._root, file), lstamp_of(file)
        stamp = stamp if "-" in stamp else ""
        if path in self._seen:
            return
        self._seen.add(path)
        known = self._known.by_path.get(path)
        if known is not None and known.read_as != self._read_as:
            known = None
        if known is not None and stamp and stamp == known.stamp:
            self._keep(file, known, stamp)
            return
        text = read_text(file, self._settings.max_text)
        hash = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        stamp = settled(stamp) if stamp else ""
        if known is not None and known.hash == hash:
            self._keep(file, known, stamp)
            return
        try:
            document = self._reader.read(text, path, self._ids(path, text, hash))
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            self._skip(file, f"cannot be read ({type(error).__name__}: {error})")
            return
        if "id" in document.stated:
            check_scope(document.node.id, self._store.scope)
        id = own(document.node.id, self._store.scope)
        document.node.id = id = self._free_id(id, path) if document.placed else id
        if self._claim(file, id, path):
            names = "\n".join((document.node.title, *document.aliases))
            self._put(document, DocumentFile(id, path, self._read_as, stamp, hash, names))

    def _claim(self, file: str, id: str, path: str) -> bool:
        """Return True if the document of a file is to be imported, and not forgotten.

        Raises:
            LoreError: a second file has the id.
        """
        other = self._claimed.get(id)
        if other:
            raise LoreError(f"the id {id} belongs to {other}: change an id")
        self._claimed[id] = path
        node = None if id in self._known.states else self._store.nodes.get(id)
        if node is not None and node.invalidated_at is not None and not is_pruned(node):
            self._result.notes.append(
                f"{file}: {id} is forgotten and stays so: 'lore undo {id}' brings it back"
            )
            return False
        return True

    # --- ids of files

    def _ids(self, path: str, text: str, hash: str) -> list[str]:
        """Return possible former ids of a file, the likeliest first."""
        pruned = [id for id in self._known.pruned.get(path, []) if id not in self._claimed]
        known = self._known.by_path.get(path)
        if known is not None:
            return [known.node_id, *pruned]
        renamed = [
            row
            for row in (self._known.by_hash.get(hash, []) if text.strip() else [])
            if row.node_id not in self._claimed
            and (row.path == path or not self._is_there(row.path))
        ]
        renamed.sort(key=lambda row: row.path != path)
        unread = [id for id, _ in self._own_documents(path) if id not in self._known.by_id]
        return [*(row.node_id for row in renamed), *pruned, *unread]

    def _free_id(self, id: str, path: str) -> str:
        """Return an id from a path, numbered if a moved document has it."""
        number, free, rows = 2, id, self._known.by_id
        while free in self._claimed or (
            free in rows
            and rows[free].path != path
            and self._is_there(rows[free].path)
            and self._known.by_path.get(rows[free].path) is rows[free]
        ):
            number, free = number + 1, own(f"{plain(id)}-{number}", whose(id))
        return free

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self._root, path))

    def _own_documents(self, file: str | None = None) -> list[tuple[str, str]]:
        """Return ``nodes.documents`` of the store's scope, or the common ones."""
        return [
            one for one in self._store.nodes.documents(file) if whose(one[0]) == self._store.scope
        ]

    # --- nodes

    def _keep(self, file: str, row: DocumentFile, stamp: str) -> None:
        """Count a document with an unchanged file."""
        if not self._claim(file, row.node_id, row.path):
            return
        self._rows[row.path] = row
        if self._known.states[row.node_id] != row.state:
            self._local.append((row.node_id, row.path))
        if stamp != row.stamp:
            row.stamp = stamp
            self._store.documents.restamp(self._known.root, row)
        self._result.nodes += 1
        self._result.unchanged += 1

    def _put(self, document: Document, row: DocumentFile) -> None:
        if document.node.type not in self._declared:
            self._store.types.declare(document.node.type, "")
            self._declared.add(document.node.type)
        id, path = row.node_id, row.path
        known, old = self._known.by_id.get(id), self._store.nodes.get(id)
        if known and known.path != path and "id" not in document.stated:
            note = f"{known.path} is {path} now: {id} keeps its id and its links"
            self._result.notes.append(note)
        node = document.onto(copy(old) if old else None)
        row.state = state_of(node)
        gone, node.invalidated_at = node.invalidated_at, None
        edited = old if known and known.state else None  # in this store only
        if edited is not None and known and state_of(edited) in (known.state, row.state):
            edited = None
        if edited is not None and known and known.hash != row.hash:
            self._result.conflicts += 1
            self._result.conflicting.append(Conflict(id, "theirs", file=path))
            edited = None
        if edited is not None:
            self._local.append((id, path))
            node = copy(edited)
            node.file, node.invalidated_at = path, None
            mark_pruned(node, pruned=False)
        self._put_node(node, is_kept=edited is not None)
        if gone is not None:
            self._store.edges.note_ends(id)
        self._rows[path] = row
        self._store.documents.put(self._known.root, row, links_text(document.links))

    def _put_node(self, node: Node, *, is_kept: bool = False) -> None:
        """Write a node and count it; ``is_kept``: with the text of the store."""
        node.created_at = node.created_at or self._now
        node.updated_at = self._now
        state = self._store.nodes.put(node)
        self._result.nodes += 1
        self._result.count("kept" if is_kept else state)
        if state != "unchanged":
            self._index.add(node)

    # --- documents without a file, or with a file of a new document

    def _lost(self) -> Iterator[tuple[str, str]]:
        """Yield id and path of each document below the folders that no file is any more."""
        for id, path in self._own_documents():
            if id in self._claimed or id.startswith(SYMBOL_IDS) or not is_page(path):
                continue
            is_below = any(one == "." or path.startswith(one + "/") for one in self._folders)
            is_gone = is_below and leads_down(path) and not self._is_there(path)
            if path in self._rows or is_gone:
                yield id, path

    def _lose(self, id: str, path: str) -> str:
        """Forget a lost document, or leave it; return a note."""
        other, documents = self._rows.get(path), self._store.documents
        why = f"is {other.node_id} now" if other else "is gone"
        if not self._options.prune:
            if other is not None:
                documents.remove(self._known.root, [id])
            return f"{path} {why}, {id} stays: 'lore forget {id}' takes it away"
        node = self._store.nodes.require(id)
        node.invalidated_at = now()
        mark_pruned(node)
        self._store.nodes.put(node)
        self._store.edges.note_ends(id)
        self._index.add(node)
        if id not in self._known.by_id:
            documents.put(self._known.root, DocumentFile(id, path), "[]")
        self._result.pruned += 1
        return f"{path} {why}: {id} was taken away, 'lore undo {id}' brings it back"

    # --- edges

    def _link(self) -> None:
        """Bring the edges of all documents of the import in line with their links."""
        links = {
            row.node_id: links_of(self._store.documents.links(self._known.root, row.node_id))
            for row in self._rows.values()
        }
        files = {
            path: row
            for path, row in self._known.by_path.items()
            if row.node_id not in self._claimed
        }
        every = (link for some in links.values() for link in some)
        targets = Targets(self._store, self._root, {**files, **self._rows}, every)
        edges = PageEdges(self._store, targets, self._result, self._put_node, self._now)
        nowhere = [
            f"{path}: line {link.line}: '{link.target}' leads to nothing that is known"
            for path, row in self._rows.items()
            for link in edges.write(row.node_id, path, links[row.node_id])
        ]
        self._result.unresolved = len(nowhere)
        self._note(nowhere)


# --- files below a folder


def _files_below(path: str, on_error: Callable[[str, str], None]) -> Iterator[str]:
    """Yield the path itself, or the documents below a folder, in a fixed order.

    Hidden files and folders, ``node_modules`` and symlinks are skipped. ``on_error`` gets a folder
    that cannot be read, or a symlink to a target outside ``path``, and the reason.
    """
    if not os.path.isdir(path):
        yield path
        return
    top = os.path.realpath(path)

    def is_plain(file: str) -> bool:
        if os.path.basename(file).startswith((".", "node_modules")):
            return False
        if os.path.islink(file) and os.path.exists(file):
            real = os.path.realpath(file)
            if real != top and not is_below(top, real) and (os.path.isdir(real) or is_page(file)):
                on_error(file, f"is a link out of {top}")
            return False
        return True

    def failed(error: OSError) -> None:
        on_error(str(error.filename), f"cannot be read ({error.strerror})")

    for folder, folders, names in os.walk(path, onerror=failed):
        folders[:] = sorted(name for name in folders if is_plain(os.path.join(folder, name)))
        for name in sorted(filter(is_page, names)):
            if is_plain(os.path.join(folder, name)):
                yield os.path.join(folder, name)


def _place_of(root: str, file: str) -> str:
    """Return the store's name of a file or a folder, whatever links lead there; ``.`` is the root.

    ``root`` is a path without links.

    Raises:
        LoreError: the name has characters that cannot be printed.
    """
    path = os.path.relpath(os.path.realpath(file), root).replace(os.sep, "/")
    if not path.isprintable():
        raise LoreError("the name has characters that cannot be printed: rename it")
    return path
