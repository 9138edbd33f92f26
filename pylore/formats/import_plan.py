"""Plan an import: find which documents are new, changed, renamed or unchanged.

A file whose stamp is the one that it was read with is not opened. What its reading and its
links depend on beside it is kept too, so that it is read, or its links looked up, again
when that has changed.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import NamedTuple

from ..core.errors import LoreError, StoreError
from ..core.ids import own, plain, whose
from ..records.fields import is_page, is_pruned, state_of
from ..store.filter import Scope
from ..system.files import settled
from .document_files import Places, document_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..store import Store
    from ..store.anchors import DocumentFile
    from .document import Document


READING = 4
"""Another number where the same file would be read as something else than before."""

_NAMED = 3
"""Number of links to name where a folder has nothing else."""


class FoundFile(NamedTuple):
    """A file of an import: where it is, the document that it is, how it was read before.

    ``known`` is None where it has to be read. ``stamp`` is empty where the file could yet
    change and keep it.
    """

    file: str
    path: str
    id: str
    stamp: str
    known: DocumentFile | None


class KnownFiles:
    """The documents of a store, by id and by path, as their files were last read."""

    def __init__(self, store: Store, root: str) -> None:
        here = os.path.realpath(store.project)
        self.root = "" if here == os.path.realpath(root) else os.path.realpath(root)
        self._store = store
        self.by_id: dict[str, DocumentFile] = {}
        self.by_path: dict[str, DocumentFile] = {}
        self.gone: dict[str, list[str]] = {}  # path to ids
        self._forgotten: set[str] = set()
        self.read()

    def read(self) -> None:
        """Ask the store again."""
        known = [
            one for one in self._store.documents.all(self.root)
            if whose(one.node_id) == self._store.scope
        ]  # fmt: skip
        back = self._follow_nodes(known)
        self.by_id = {one.node_id: one for one in known}
        stood = [one for one in known if one.gone_at is None and one.node_id not in back]
        self.by_path = {one.path: one for one in (*back.values(), *stood)}
        self.gone = {}
        for one in known:
            if one.gone_at is not None:
                self.gone.setdefault(one.path, []).append(one.node_id)

    def _follow_nodes(self, known: list[DocumentFile]) -> dict[str, DocumentFile]:
        """Return those that were gone and are not: their nodes may have been pruned or restored
        since.

        What has its stamp is as it was when it was read.
        """
        asked = {one.node_id: one for one in known if one.gone_at is not None or not one.stamp}
        away = asked.keys() - self._store.nodes.match(Scope(), [*asked])
        nodes = self._store.nodes.get_many([*away])
        back = {}
        for id, one in asked.items():
            node = nodes.get(id)
            before, one.gone_at = one.gone_at, None
            if node is not None and is_pruned(node):
                one.gone_at = node.invalidated_at
            elif before is not None:
                back[id] = one
        self._forgotten = {*away}
        return back

    def is_forgotten(self, id: str) -> bool:
        """Return whether the node of a document was forgotten, or is no more."""
        return id in self._forgotten


class FileScan:
    """Go through the files of an import. ``forgotten`` and ``skipped`` say what it left out,
    ``local`` are documents that say something else than their files, which are as they were,
    ``others`` counts the files of the folders that are no documents, by the ends of their names.
    """

    def __init__(
        self,
        store: Store,
        known: KnownFiles,
        places: Places,
        read_as: str,
        fault: Callable[[str, LoreError, str], None],
        read: Callable[[str], str],
        parse: Callable[[str, str, list[str]], Document],
        changed: Callable[[Document], None],
    ) -> None:
        self.files: dict[str, FoundFile] = {}  # by path in the store
        self.paths: dict[str, str] = {}  # id to path, those of forgotten documents too
        self.folders: list[str] = []
        self.forgotten: list[tuple[str, str]] = []  # file and id
        self.skipped: list[tuple[str, str]] = []
        self.local: set[str] = set()
        self.others: dict[str, int] = {}
        self._store = store
        self._known = known
        self._places = places
        self._read_as = read_as
        self._fault = fault
        self._read = read
        self._parse = parse
        self._changed = changed
        self._seen: set[str] = set()
        self._by_hash: dict[str, list[DocumentFile]] = {}

    def find(self, path: str, *, may_be_empty: bool) -> None:
        """Take every file of one path; a folder may be empty where files may be gone."""
        found, before = False, len(self.skipped)
        for file in document_files(path, self._unreadable, self._link, self._other):
            found = True
            try:
                self._find_file(file)
            except StoreError:
                raise
            except LoreError as error:
                self._fault(file, error, "")
        if os.path.isdir(path):
            folder = self._places.folder(path)
            self.folders.append(folder)
            if not found and not (may_be_empty and any(self.lost())):
                links = [f"{file}, which {why}" for file, why in self.skipped[before:]]
                but = f" but {', '.join(links[:_NAMED])}" if links else ""
                self._fault(path, LoreError(f"there are no documents in this folder{but}"),
                            "name one that has some, or files of JSON lines")  # fmt: skip

    def lost(self) -> Iterable[DocumentFile]:
        """Return the documents below the folders of this import whose files it has not found."""
        return (
            one for path, one in self._known.by_path.items()
            if path not in self._seen and is_page(path) and self.is_below(path)
            and not self._known.is_forgotten(one.node_id)
        )  # fmt: skip

    def is_below(self, path: str) -> bool:
        """Return whether a path lies in one of the folders of this import."""
        return any(folder == "." or path.startswith(folder + "/") for folder in self.folders)

    def _unreadable(self, error: OSError) -> None:
        self._fault(error.filename, LoreError(f"cannot be read ({error.strerror})"), "")

    def _other(self, name: str) -> None:
        ending = os.path.splitext(name)[1].lower()
        self.others[ending] = self.others.get(ending, 0) + 1

    def _link(self, file: str, why: str) -> None:
        self.skipped.append((file, why))

    def _find_file(self, file: str) -> None:
        path, stamp = self._places.of(file)
        if path in self._seen:
            return
        self._seen.add(path)
        known = self._known.by_path.get(path)
        if known is not None and known.read_as != self._read_as:
            known = None
        if known is not None and stamp and stamp == known.stamp:
            self._take(FoundFile(file, path, known.node_id, stamp, known))
            return
        text = self._read(file)
        hash = text_hash(text)
        kept = settled(stamp) if stamp else ""
        if known is not None and known.hash == hash:
            is_local = self._is_local(known)
            found = FoundFile(file, path, known.node_id, "" if is_local else kept, known)
        else:
            document = self._parse(text, path, self._ids(path, text, hash))
            if document.placed:
                document.id = self._free_id(document.id, path)
            found = FoundFile(file, path, document.id, kept, None)
        if self._take(found) and found.known is None:
            self._changed(document)

    def _is_local(self, known: DocumentFile) -> bool:
        """Return whether a text of the store alone stands. Where one is written, the stamp is
        lost."""
        node = self._store.nodes.get(known.node_id) if known.state and not known.stamp else None
        if node is None or node.invalidated_at is not None or state_of(node) == known.state:
            return False
        self.local.add(known.node_id)
        return True

    def _take(self, found: FoundFile) -> bool:
        """Return whether the file is to be imported."""
        other = self.paths.get(found.id)
        if other:
            raise LoreError(f"its id {found.id} is that of {other}: give one of them another")
        self.paths[found.id] = found.path
        if found.known is None or found.stamp != found.known.stamp or not found.stamp:
            node = self._store.nodes.get(found.id)
            if node is not None and node.invalidated_at is not None and not is_pruned(node):
                self.forgotten.append((found.file, found.id))
                return False
        self.files[found.path] = found
        return True

    def _ids(self, path: str, text: str, hash: str) -> list[str]:
        """Return the ids that a file may have had, the likeliest first."""
        known = self._known.by_path.get(path)
        if known is not None:
            return [known.node_id, *self._gone_from(path)]
        same = self._renamed(path, hash) if text.strip() else []
        same.sort(key=lambda one: one.path != path)
        unread = [
            id for id, _ in own_documents(self._store, path) if id not in self._known.by_id
        ]  # fmt: skip
        return [*(one.node_id for one in same), *self._gone_from(path), *unread]

    def _gone_from(self, path: str) -> list[str]:
        return [id for id in self._known.gone.get(path, []) if id not in self.paths]

    def _renamed(self, path: str, hash: str) -> list[DocumentFile]:
        """Return the documents that had this text, and whose file is no more, or is back."""
        if not self._by_hash:
            for one in self._known.by_id.values():
                self._by_hash.setdefault(one.hash, []).append(one)
        return [
            one for one in self._by_hash.get(hash, [])
            if one.node_id not in self.paths
            and (one.path == path or not self._places.has(one.path))
        ]  # fmt: skip

    def _free_id(self, id: str, path: str) -> str:
        """Return an id made from a path, with a number where a document that has moved has it
        still."""
        number, free = 2, id
        while self._is_taken(free, path):
            number, free = number + 1, own(f"{plain(id)}-{number}", whose(id))
        return free

    def _is_taken(self, id: str, path: str) -> bool:
        known = self._known.by_id.get(id)
        moved = known is not None and known.gone_at is None and known.path != path
        return id in self.paths or (moved and known is not None and self._places.has(known.path))


def own_documents(store: Store, file: str | None = None) -> list[tuple[str, str]]:
    """Return ``nodes.documents``, those that an import may write: the store's scope's, or
    common."""
    return [one for one in store.nodes.documents(file) if whose(one[0]) == store.scope]


def text_hash(text: str) -> str:
    """Return a name for the text of a file."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
