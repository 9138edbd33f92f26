"""What a link in a document means: the node or the file that it leads to."""

from __future__ import annotations

import os
from unicodedata import normalize

from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.model import Record
from ..core.text import one_line
from ..core.vocabulary import CODE_IDS, COMMIT_IDS, FILE_IDS, path_of
from ..records.records import split_location
from ..records.sources import EXTENSIONS, is_page
from ..store.meant import file_node_id, meant
from .links import NAME, PATH, WIKI

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..store import Store
    from ..store.document import DocumentFile
    from ..system.folder_names import FolderNames
    from .links import Link
    from .mdfile import Document

    Places = dict[str, list[tuple[str, str]]]
    """folded name to (path, id) of every document that has it"""


_CODE = (*CODE_IDS, COMMIT_IDS)
"""How the ids of nodes begin that have a file, and are no documents."""


class Target(Record):
    """A node's id, and the path of the file where the node stands for one."""

    __slots__ = ("file", "id")

    def __init__(self, id: str, file: str = "") -> None:
        self.id = id
        self.file = file


class Targets:
    """Looks targets up among the documents of a store, then its other nodes, then on disk.

    What is found depends on the store and the files alone, not on which documents an import
    is of, so it stays the same until one of these has another name.
    """

    def __init__(self, store: Store, names: FolderNames) -> None:
        self._store = store
        self._names = names
        self._documents: dict[str, str] = {}  # path: id
        self._places: tuple[Places, Places, Places, Places] = ({}, {}, {}, {})
        self._standing: dict[str, bool] = {}

    def read_store(self, wanted: set[str], files: Mapping[str, DocumentFile]) -> None:
        """Finds the nodes that have one of the ``wanted`` names.

        ``files`` are the documents that files were read for, by their paths.
        """
        documents = dict(self._store.nodes.documents())
        self._documents = {
            path: id for id, path in documents.items() if not id.startswith(_CODE)
        } | {path: file.node_id for path, file in files.items() if file.node_id in documents}
        self._places = ({}, {}, {}, {})
        for id, type, title, _, _, file in self._store.nodes.outlines():
            if type == "file":
                continue
            has_page = file is not None and is_page(file)
            first = 2
            if has_page and file and self._documents.get(file) == id:
                first = 0
                title = files[file].title if file in files else title
            keys = (_file_key(file) if has_page and file else "", _key(title))
            for key, places in zip(keys, self._places[first : first + 2], strict=True):
                if key in wanted:
                    places.setdefault(key, []).append((file or "", id))

    def of_link(self, link: Link, folder: str) -> Target | None:
        """Where a link of a document in ``folder`` leads."""
        if link.kind in (WIKI, NAME):
            return self.of_text(link.target, folder)
        if link.kind == PATH:
            return self._at(link.target) or self._at(os.path.join(folder, link.target))
        return self._at(link.target if link.target[0] == "/" else os.path.join(folder, link.target))

    def of_text(self, text: str, folder: str) -> Target | None:
        """What an id, a name, a title or a path means in a document in ``folder``."""
        text = _unwrapped(text)
        id = meant(self._store, text)
        if self._stands(id):
            return Target(id)
        for places in self._places:
            for key in dict.fromkeys((_key(text), _file_key(text))):
                id = _nearest(places.get(key, []), text, folder)
                if id:
                    return Target(id)
        # A file's node may be made by another document's link: it is there either way.
        path = path_of(text) if text.startswith(FILE_IDS) else ""
        return (
            self._at(os.path.join(folder, text)) or self._at(text)
            or (self._file_at(path) if path and path == os.path.normpath(path) else None)
        )  # fmt: skip

    def is_folder(self, link: Link, folder: str) -> bool:
        """Whether a relative link leads to a folder, which is not a node."""
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
        """The document at a path from the root, or the file there."""
        path = os.path.normpath(path.lstrip("/"))
        for candidate in (path, *(path + extension for extension in EXTENSIONS)):
            if candidate in self._documents:
                return Target(self._documents[candidate])
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
    """The names by which the links of a document may ask for a node."""
    names = [link.target for link in document.links if link.kind in (WIKI, NAME)]
    names += [target for _, target, _ in document.relations]
    texts = [_unwrapped(name) for name in names]
    texts += [split_location(text)[0] for text in texts]
    return {key for text in texts for key in (_key(text), _file_key(text))}


def _nearest(places: list[tuple[str, str]], text: str, folder: str) -> str:
    """Of documents with one name: the one in the same folder, else the least deep."""
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
    return one_line(normalize("NFC", text)).casefold()


def _file_key(path: str) -> str:
    return _key(_without_extension(os.path.basename(path)))


def _without_extension(path: str) -> str:
    return os.path.splitext(path)[0] if is_page(path) else path


def _unwrapped(text: str) -> str:
    """``[[name|label]]`` as a value of the front matter → ``name``."""
    text = text.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0].partition("#")[0].strip()
    return text
