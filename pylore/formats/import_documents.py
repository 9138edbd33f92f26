"""Markdown files into the store: a file becomes a node, its links become edges.

The files that are new or have changed are written first, and then the edges of all whose
links may lead elsewhere than before, so that a link may lead to a file that comes later.
Texts are held one batch at a time. Where nothing has changed, nothing is read or written.
"""

from __future__ import annotations

import json
from copy import copy
from hashlib import sha256

from ..core.errors import LoreError, StoreError, UsageError, nearest
from ..core.ids import check_scope, check_type, own
from ..core.text import counted
from ..core.times import now
from ..core.vocabulary import SYMBOL_IDS
from ..embed.prefetch import Ahead
from ..records.fields import Naming, is_page, is_pruned, mark_pruned, state_of
from ..records.merge import Conflict
from ..records.undo import forgotten_at
from ..store.anchors import DocumentFile
from ..system.files import settled
from ..system.listing import FolderNames
from ..system.project_files import leads_down
from .document import parse_document, read_text
from .document_files import Places
from .import_plan import READING, FileScan, KnownFiles, own_documents, text_hash
from .jsonl import Imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..core.model import Node
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from ..system.listing import Seen
    from .document import Document
    from .import_plan import FoundFile

_MEND = "mend it, or leave such files out with --skip-bad"
_NOTES = 10  # of one kind; the rest is counted
_KINDS = 5
"""Kinds of files that are named of those that an import leaves out."""
_NONE = "[]"
_FOLDERS = "document_folders"
"""The key of ``meta`` with the folders among whose names links were looked up, as JSON."""


def import_documents(
    store: Store, settings: Settings, embedder: Embedder | None, paths: Iterable[str], root: str,
    **options: Any,
) -> Imported:  # fmt: skip
    """Import Markdown files and folders, in one transaction; unchanged files change nothing.

    ``options`` are those of ``DocumentImport``.

    Raises:
        LoreError: a file is wrong (it and the line are named) and ``skip_bad`` is
            not set; nothing is imported then.
    """
    ahead = Ahead(store, lambda: embedder)
    part = DocumentImport(store, settings, ahead, paths, root, **options)
    part.prepare()
    return part.unchanged() or ahead.settled(part.write, "import")


class DocumentImport:
    """One import of Markdown, in two steps: the store is locked for the second one alone.

    ``root`` is where the paths in the store start from, ``type`` what a file is that
    does not say so itself. ``prune`` forgets the documents below the folders whose files are
    gone; they come back when the files do, in whatever store knows of it. Where both the
    file and the node have changed since they last agreed, the file's text is stored, or with
    ``ours`` the node's kept; the other one is in the history. ``progress`` hears of each file
    that is done.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        ahead: Ahead,
        paths: Iterable[str],
        root: str,
        *,
        type: str = "doc",
        skip_bad: bool = False,
        new_types: bool = False,
        new_relations: bool = False,
        prune: bool = False,
        ours: bool = False,
        progress: Callable[[int], None] = lambda files: None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._ahead = ahead
        self._paths = paths
        self._places = Places(root)
        self._type = type
        self._skip_bad = skip_bad
        self._new_types = new_types
        self._new_relations = new_relations
        self._prune = prune
        self._ours = ours
        self._progress = progress
        self._types: dict[str, str] = {}
        self._relations: set[str] = set()
        self._read_as = ""
        self._skipped: list[tuple[str, str]] = []
        self._odd: list[str] = []  # values of front matter that are kept as data

    def prepare(self) -> None:
        """Find all documents, and embed what is new in them."""
        self._set_vocabulary()
        self._known = KnownFiles(self._store, self._places.root)
        self._scan = FileScan(
            self._store, self._known, self._places, self._read_as, self._fault,
            lambda file: self._text(file), self._parse, self._expect,
        )  # fmt: skip
        for path in self._paths:
            self._scan.find(path, may_be_empty=self._prune)

    @property
    def declare(self) -> Callable[[str], object] | None:
        """Return what declares a relation that a document states, where that is wanted: common
        ones alone."""
        if not self._new_relations or self._store.scope:
            return None
        return Naming(self._store, self._settings).declare

    def unchanged(self) -> Imported | None:
        """Return what there is to say where the store is as the files are already; else None."""
        scan = self._scan
        if any(one.known is None for one in scan.files.values()) or any(scan.lost()):
            return None
        linked = _Linked(self._store, self._known.root, self._places.root).mark
        for one in scan.files.values():
            if one.known is None or one.known.linked != linked or one.stamp not in (
                "", one.known.stamp
            ):  # fmt: skip
                return None
        result = self._begun()
        writer = _Writer(self, result)
        for one in scan.files.values():
            if one.known is not None:
                writer.count_node(one.known)
                writer.count_edges(one.known)
                self._progress(1)
        writer.say([])
        return result

    def write(self) -> Imported:
        """Write what was found; the caller holds a transaction."""
        result = self._begun()
        for type in sorted(self._types.keys() - self._store.types.all().keys()):
            self._store.types.declare(type, "")
        self._known.read()
        _Writer(self, result).write()
        return result

    def _begun(self) -> Imported:
        result = Imported()
        result.skipped = [*self._scan.skipped, *self._skipped]
        result.notes += self._odd[:_NOTES]
        if len(self._odd) > _NOTES:
            result.notes.append(f"{len(self._odd) - _NOTES} more values are kept as data")
        for file, id in self._scan.forgotten:
            _stays_forgotten(result, file, id)
        return result

    def _set_vocabulary(self) -> None:
        """Set the type of files that state none, and read the store's vocabulary."""
        type = self._type
        self._types = self._store.types.all()
        if type not in self._types:
            if not self._new_types:
                raise UsageError(f"unknown type '{type}'{nearest(type, list(self._types))}: "
                                 "declare it as a new type")  # fmt: skip
            self._types[check_type(type)] = ""
        self._relations = set(self._store.relations.all())
        words = [*sorted(self._types), "", *sorted(self._relations), str(self._settings.max_text)]
        vocabulary = sha256("\n".join(words).encode()).hexdigest()[:16]
        self._read_as = f"{READING} {type} {vocabulary}{' new types' if self._new_types else ''}"

    # --- reading

    def _text(self, file: str) -> str:
        return read_text(file, self._settings.max_text)

    def _parse(self, text: str, path: str, ids: list[str]) -> Document:
        bad: list[str] | None = [] if self._skip_bad else None
        document = parse_document(
            text, path, type=self._type, types=self._types, relations=self._relations, ids=ids,
            bad=bad, new_types=self._new_types,
        )  # fmt: skip
        self._odd += [f"{path}: {what}" for what in bad or ()]
        if "id" in document.keys:
            check_scope(document.id, self._store.scope)
        document.id = own(document.id, self._store.scope)
        return document

    def _expect(self, document: Document) -> None:
        from ..indexing.indexer import texts_of

        node = document.node(self._store.nodes.get(document.id))
        node.invalidated_at = None
        if not self._store.nodes.holds(node):
            self._ahead.prepare(texts_of(node))

    def _fault(self, file: str, error: LoreError, mend: str) -> None:
        if isinstance(error, StoreError):
            raise error
        if not self._skip_bad:
            raise LoreError(f"{file}: {error}: nothing was imported; {mend or _MEND}") from None
        self._skipped.append((file, str(error)))


class _Linked:
    """Among which names links are looked up; ``mark`` is another one when these have changed."""

    def __init__(self, store: Store, root: str, folder: str) -> None:
        self.names = FolderNames(folder)
        self._store = store
        self._key = f"{_FOLDERS} {root}" if root else _FOLDERS
        self._before: Seen = json.loads(store.meta.get(self._key) or "{}")
        self._before = {name: (one[0], one[1]) for name, one in self._before.items()}
        self.mark = self._marked(self.names.seen(self._before))

    def keep(self, *, anew: bool) -> None:
        """Keep the folders that were looked into; ``anew``: no others count any more."""
        seen = self.names.seen({} if anew else self._before)
        self.mark = self._marked(seen)
        if seen != self._before:
            self._store.meta.set(self._key, json.dumps(seen))

    def _marked(self, seen: Seen) -> str:
        names = self._store.documents.names()
        hashes = [(folder, hash) for folder, (_, hash) in sorted(seen.items())]
        there = sha256(json.dumps(hashes).encode()).hexdigest()[:16]
        return f"{names} {there}" if names else ""


class _Writer:
    """One writing of an import. It may be taken back and done again, by another writer."""

    def __init__(self, part: DocumentImport, result: Imported) -> None:
        self._part = part
        self._store = part._store
        self._known = part._known
        self._scan = part._scan
        self._result = result
        self._former: dict[str, set[str]] = {}  # id of what was written to its former paths
        self._unsettled: set[str] = set()  # ids of documents that have taken another's place
        self._back: list[str] = []  # ids of documents that were forgotten until their file was back
        self._local: list[tuple[str, str]] = []  # id and path of what says else than its file
        self._now = now()

    def write(self) -> None:
        """Write nodes, then what is gone, then edges, then notes for a person."""
        from ..indexing.indexer import Index, Waiting

        self._waiting = Waiting(Index(self._store, self._part._ahead.given, self._result.notes))
        for found in self._scan.files.values():
            known = self._known.by_id.get(found.id)
            if found.known is None or found.known != known:
                self._put_file(found)
            else:
                self.count_node(known)
            self._part._progress(1)
        said = self._lose()
        self._known.read()
        self._link()
        self._waiting.flush()
        self.say(said)

    # --- nodes

    def _put_file(self, found: FoundFile) -> None:
        try:
            stamp = self._part._places.of(found.file)[1]
            text = self._part._text(found.file)
            document = self._part._parse(text, found.path, [found.id])
            if document.placed:  # with a number, or by its path alone
                document.id = found.id
            if document.id != found.id:
                raise LoreError("was changed while it was imported: import it again")
        except LoreError as error:
            self._part._fault(found.file, error, "")
            return
        old = self._store.nodes.get(document.id)
        if old is not None and old.invalidated_at is not None and not is_pruned(old):
            _stays_forgotten(self._result, found.file, document.id)
            return
        file = DocumentFile(
            document.id, document.path, self._part._read_as, settled(stamp) if stamp else "",
            text_hash(text), title="\n".join((document.title, *document.aliases)),
        )  # fmt: skip
        self._put(document, old, file)

    def _put(self, document: Document, old: Node | None, file: DocumentFile) -> None:
        from .links import links_text

        known = self._known.by_id.get(document.id)
        self._former[document.id] = {
            path for path in (known and known.path, old and old.file) if path
        }  # fmt: skip
        if known and known.path != file.path and "id" not in document.keys:
            self._result.notes.append(f"{known.path} is {file.path} now: {file.node_id} keeps "
                                      "its id and its links")  # fmt: skip
        node = document.node(copy(old) if old else None)
        file.state = state_of(node)
        kept = old is not None and known is not None and self._keeps(old, known, file)
        gone, node.invalidated_at = node.invalidated_at, None
        if old is not None and kept:
            node = self._kept(old, node, file)
        self.put_node(node, kept=kept)
        if gone is not None:
            self._store.edges.note_ends(node.id)
            self._back.append(node.id)
        self._store.documents.put(self._known.root, file, links_text(document))
        if known is None or known.names != file.names:
            self._store.documents.change_names()

    def _kept(self, old: Node, read: Node, file: DocumentFile) -> Node:
        """Return the local text, where the file is now; the file's goes into the history if it is
        new."""
        file.stamp = ""  # for the next import says that it stands
        if any(one.id == old.id for one in self._result.conflicting):
            read.updated_at = self._now
            self._store.nodes.put(read)
        else:
            self._local.append((old.id, file.path))
        node = copy(old)
        node.file, node.invalidated_at = file.path, None
        mark_pruned(node, pruned=False)
        return node

    def _keeps(self, old: Node, known: DocumentFile, file: DocumentFile) -> bool:
        """Return whether a local text stays. What was changed here and in the file is said."""
        if not known.state or state_of(old) in (known.state, file.state):
            return False
        id, result = old.id, self._result
        if known.hash == file.hash:
            return True
        result.conflicts += 1
        ours = self._part._ours
        result.conflicting.append(Conflict(id, "ours" if ours else "theirs", file=file.path))
        return ours

    def put_node(self, node: Node, *, kept: bool = False) -> None:
        """Write a node and count it; ``kept``: its text is not the one that was read."""
        node.created_at = node.created_at or self._now
        node.updated_at = self._now
        state = self._store.nodes.put(node)
        self._result.nodes += 1
        self._result.count("kept" if kept else state)
        if state != "unchanged":
            self._waiting.add(node)

    def count_node(self, known: DocumentFile) -> None:
        """Count a document that is as it was."""
        if known.node_id in self._scan.local:
            self._local.append((known.node_id, known.path))
        self._result.nodes += 1
        self._result.unchanged += 1

    # --- documents whose file is gone, or has become another document

    def _lose(self) -> list[str]:
        """Forget them, or else say which they are."""
        said = []
        for id, path in own_documents(self._store):
            if id in self._scan.paths or id.startswith(SYMBOL_IDS) or not is_page(path):
                continue
            other = self._scan.files.get(path)
            if other is None and not self._is_gone(path):
                self._adopt(id, path)
                continue
            why = f"is {other.id} now" if other else "is gone"
            if self._part._prune:
                self._forget(id, path)
                said.append(f"{path} {why}: {id} was taken away, 'lore undo {id}' "
                            "brings it back")  # fmt: skip
            elif other is not None:
                self._store.documents.remove(self._known.root, [id])
                self._unsettled.add(other.id)
                said.append(f"{path} {why}: 'lore forget {id}' takes {id} away")
            else:
                self._adopt(id, path)
                said.append(f"{path} is gone, {id} stays: 'lore forget {id}' takes it away")
        return said

    def _is_gone(self, path: str) -> bool:
        return (
            leads_down(path)
            and self._scan.is_below(path)
            and not self._part._places.has(path)
        )  # fmt: skip

    def _adopt(self, id: str, path: str) -> None:
        """Make a document known that came with an export, so that its lost file is missed."""
        if id not in self._known.by_id and path not in self._known.by_path:
            self._store.documents.put(self._known.root, DocumentFile(id, path), "[]")

    def _forget(self, id: str, path: str) -> None:
        at = forgotten_at(self._store, id)
        node = self._store.nodes.require(id)
        node.invalidated_at = at
        mark_pruned(node)
        self._store.nodes.put(node)
        self._store.edges.note_ends(id)
        self._waiting.add(node)
        file = copy(self._known.by_id.get(id)) or DocumentFile(id, path)
        file.path, file.gone_at = path, at
        root = self._known.root
        self._store.documents.put(root, file, self._store.documents.links(root, id) or "[]")
        self._result.pruned += 1

    # --- edges

    def _link(self) -> None:
        """Look up the links of all documents that may lead elsewhere than before."""
        from .links import PageEdges, Targets, linking, names_asked

        known, documents = self._known, self._store.documents
        linked = _Linked(self._store, known.root, self._part._places.root)
        files = [known.by_id[id] for id in self._ids() if id in known.by_id]
        todo = {
            one.node_id for one in files if one.linked != linked.mark or one.node_id in self._former
        }  # fmt: skip

        def links(one: DocumentFile) -> Document:
            return linking(one.node_id, one.path, documents.links(known.root, one.node_id))

        targets = Targets(self._store, linked.names)
        asked: set[str] = set()
        for one in files:
            if one.node_id in todo:
                asked |= names_asked(links(one))
        if todo:
            targets.read_store(asked, known.by_path)
        edges = PageEdges(self._store, targets, self._result, self.put_node, self._now,
                          self._part.declare)  # fmt: skip
        for one in files:
            if one.node_id in todo:
                former = self._former.get(one.node_id, set())
                one.edges, unresolved = edges.write(links(one), former)
                one.unresolved = json.dumps(unresolved, ensure_ascii=False)
                self._count_unresolved(one)
            else:
                self.count_edges(one)
        linked.keep(anew=len(todo) == len(known.by_path))
        self._mark(files, todo, linked.mark)

    def _ids(self) -> list[str]:
        return [found.id for found in self._scan.files.values()]

    def _mark(self, files: list[DocumentFile], todo: set[str], mark: str) -> None:
        """Keep among which names the links of these were looked up, and their stamps."""
        changed = []
        for one in files:
            found = self._scan.files[one.path]
            now_linked = "" if one.node_id in self._unsettled else mark
            stamp = found.stamp if found.known is not None and found.stamp else one.stamp
            if one.node_id in todo or (one.linked, one.stamp) != (now_linked, stamp):
                one.linked, one.stamp = now_linked, stamp
                changed.append(one)
        self._store.documents.change(self._known.root, changed)

    def count_edges(self, known: DocumentFile) -> None:
        """Count the edges of a document, and its links that lead to nothing, as they were."""
        self._result.edges += known.edges
        self._result.unchanged += known.edges
        self._count_unresolved(known)

    def _count_unresolved(self, known: DocumentFile) -> None:
        if known.unresolved == _NONE:
            return  # as with most, of which there may be many
        for where in json.loads(known.unresolved):
            self._result.unresolved += 1
            if self._result.unresolved <= _NOTES:
                note = f"{known.path}: {where} leads to nothing that is known"
                self._result.notes.append(note)

    # --- what a person should know

    def say(self, lost: list[str]) -> None:
        """Say the rest, which is of the import as a whole."""
        more = self._result.unresolved - _NOTES
        if more > 0:
            self._result.notes.append(f"{more} more links lead to nothing that is known")
        self._say_nodes()
        self._say_others()
        self._result.notes += lost[:_NOTES]
        if len(lost) > _NOTES:
            self._result.notes.append(f"{len(lost) - _NOTES} more documents have lost their file")
        self._result.dangling = len(self._store.edges.dangling_among(self._result.brought))

    def _say_others(self) -> None:
        """Count what is no document, the most of a kind first."""
        kinds = sorted(self._scan.others.items(), key=lambda item: (-item[1], item[0]))
        if not kinds:
            return
        said = [f"{count} {ending or 'without an ending'}" for ending, count in kinds[:_KINDS]]
        more = sum(count for _, count in kinds[_KINDS:])
        said += [f"{more} of {counted(len(kinds) - _KINDS, 'other kind')}"] if more else []
        self._result.notes.append(f"skipped, not documents: {', '.join(said)}")

    def _say_nodes(self) -> None:
        """Say which documents are back, and which say something else than their files."""
        if self._back:
            what = counted(len(self._back), "document is back with its file",
                           "documents are back with their files")  # fmt: skip
            self._result.notes.append(f"{what}, as {self._back[0]}")
        if self._local:
            id, path = self._local[0]
            what = counted(len(self._local), "document says something else than its file",
                           "documents say something else than their files")  # fmt: skip
            self._result.notes.append(f"{what}, and what is here stands, as {id} ({path}): "
                                      f"'lore show {id} --history' has both states")  # fmt: skip


def _stays_forgotten(result: Imported, file: str, id: str) -> None:
    result.notes.append(f"{file}: {id} is forgotten and stays so: "
                        f"'lore undo {id}' brings it back")  # fmt: skip
