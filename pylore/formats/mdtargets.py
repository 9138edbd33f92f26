"""What a link in a document means: the node or the file that it leads to."""

from __future__ import annotations

import os
from unicodedata import normalize

from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.model import Record
from ..core.text import one_line
from ..core.vocabulary import file_id
from ..system.project_files import place_within
from .mdfile import EXTENSIONS, is_markdown
from .mdlinks import PATH, WIKI

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from .mdfile import Document
    from .mdlinks import Link

    Places = dict[str, list[tuple[str, str]]]
    """folded name to (path, id) of every document that has it"""


class Target(Record):
    """A node's id, and the path of the file where the node stands for one."""

    __slots__ = ("file", "id")

    def __init__(self, id: str, file: str = "") -> None:
        self.id = id
        self.file = file


class Targets:
    """Looks targets up among the documents of one import, then in the store, then on disk."""

    def __init__(self, store: Store, root: str) -> None:
        self._store = store
        self._root = root
        self._documents: dict[str, str] = {}
        self._ids: set[str] = set()
        self._wanted: set[str] = set()
        self._by_name: tuple[Places, Places] = ({}, {})  # file names, titles
        self._in_store: tuple[Places, Places] = ({}, {})
        self._files: dict[str, bool] = {}

    def add(self, document: Document) -> None:
        """Makes a document of this import known, and what it will ask for by name."""
        self._documents[document.path] = document.id
        self._ids.add(document.id)
        place = (document.path, document.id)
        self._by_name[0].setdefault(_file_key(document.path), []).append(place)
        self._by_name[1].setdefault(_key(document.title), []).append(place)
        names = [link.target for link in document.links if link.kind == WIKI]
        for name in (*names, *(target for _, target, _ in document.relations)):
            self._wanted |= {_key(_unwrapped(name)), _file_key(_unwrapped(name))}

    def read_store(self) -> None:
        """Finds the nodes of the store that have a name which no document of the import has."""
        self._in_store = ({}, {})
        self._wanted -= self._by_name[0].keys() | self._by_name[1].keys()
        if not self._wanted:
            return
        for id, type, title, _, _, file in self._store.nodes.outlines():
            if type == "file" or id in self._ids:
                continue
            keys = (_file_key(file) if file and is_markdown(file) else "", _key(title))
            for key, places in zip(keys, self._in_store, strict=True):
                if key in self._wanted:
                    places.setdefault(key, []).append((file or "", id))

    def of_link(self, link: Link, folder: str) -> Target | None:
        """Where a link of a document in ``folder`` leads."""
        if link.kind == WIKI:
            return self.of_text(link.target, folder)
        if link.kind == PATH:
            return self._at(link.target) or self._at(os.path.join(folder, link.target))
        return self._at(link.target if link.target[0] == "/" else os.path.join(folder, link.target))

    def of_text(self, text: str, folder: str) -> Target | None:
        """What an id, a name, a title or a path means in a document in ``folder``."""
        text = _unwrapped(text)
        if self._lives(text):
            return Target(text)
        for places in (*self._by_name, *self._in_store):
            for key in dict.fromkeys((_key(text), _file_key(text))):
                id = _nearest(places.get(key, []), text, folder)
                if id:
                    return Target(id)
        return self._at(os.path.join(folder, text)) or self._at(text)

    def is_folder(self, link: Link, folder: str) -> bool:
        """Whether a relative link leads to a folder, which is not a node."""
        start = self._root if link.target[0] == "/" else os.path.join(self._root, folder)
        return os.path.isdir(os.path.join(start, link.target.lstrip("/")))

    def _lives(self, id: str) -> bool:
        if id in self._ids:
            return True
        node = self._store.nodes.get(id)
        return node is not None and node.invalidated_at is None

    def _at(self, path: str) -> Target | None:
        """The document at a path from the root, or the file there."""
        path = os.path.normpath(path.lstrip("/"))
        for candidate in (path, *(path + extension for extension in EXTENSIONS)):
            if candidate in self._documents:
                return Target(self._documents[candidate])
            for id, _ in self._store.nodes.documents(candidate):
                return Target(id)
        return self._file_at(path)

    def _file_at(self, path: str) -> Target | None:
        if path.startswith("../") or not self._is_file(path):
            return None
        try:
            id = check_id(file_id(path))
        except LoreError:
            return None
        node = self._store.nodes.get(id)
        return None if node is not None and node.invalidated_at else Target(id, path)

    def _is_file(self, path: str) -> bool:
        if path not in self._files:
            try:
                self._files[path] = os.path.isfile(place_within(self._root, path))
            except LoreError:
                self._files[path] = False
        return self._files[path]


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
    return os.path.splitext(path)[0] if is_markdown(path) else path


def _unwrapped(text: str) -> str:
    """``[[name|label]]`` as a value of the front matter → ``name``."""
    text = text.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0].partition("#")[0].strip()
    return text
