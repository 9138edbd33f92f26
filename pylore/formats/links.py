"""Resolve the links of documents to nodes and files."""

from __future__ import annotations

import os
from functools import cached_property

from ..core.text import composed, one_line, split_location
from ..system.files import spelled
from ..system.project_files import LONGEST_PATH, is_below
from . import EXTENSIONS, is_page
from .pages import CODE, FIELD, NAME, PATH, RELATIVE, WIKI, Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from ..store.files import DocumentFile

    Target = tuple[str, str]
    """The id of a node, and the path if it is a file."""


class Targets:
    """Resolve links: to documents of a store, then its other nodes, then files on disk.

    ``root`` is a path without symlinks, ``base`` the store's name of it, ``files`` are documents by
    path. The result depends only on the store and the files, not on the imported documents.
    """

    def __init__(self, store: Store, root: str, base: str, files: dict[str, DocumentFile]) -> None:
        self._store = store
        self._root = root
        self._files = files
        paths = {path: id for id, path in store.nodes.documents(None, base)}
        live = {*paths.values()}
        paths |= {path: file.node_id for path, file in files.items() if file.node_id in live}
        self._documents = {composed(path).casefold(): id for path, id in paths.items()}
        self._documents |= {composed(path): id for path, id in paths.items()}

    @cached_property
    def _named(self) -> dict[str, list[tuple[int, str, str]]]:
        """Name to (rank, file, id) of nodes: documents first, by file, title, alias."""
        found: dict[str, list[tuple[int, str, str]]] = {}
        for id, type, title, _, _, path in self._store.nodes.outlines():
            if type == "file":
                continue
            file = path or ""
            is_own = self._documents.get(composed(file)) == id and is_page(file)
            names = self._files[file].names if is_own and file in self._files else [title]
            name = _path_key(os.path.basename(file)) if is_page(file) else ""
            for number, key in enumerate((name, *map(_key, names))):
                found.setdefault(key, []).append((min(number, 2) + 3 * (not is_own), file, id))
        return found

    def of(self, link: Link, folder: str) -> Target | None:
        """Return the target of a link of a document in ``folder``; empty for a folder."""
        if link.kind in (WIKI, NAME, FIELD):
            found = (self._of_text(text, folder) for text in _readings(link.target))
            return next(filter(None, found), None)
        near = os.path.join(folder, link.target)
        places = [link.target, near]
        if link.kind == RELATIVE:  # of a site: from any folder above, perhaps written as .html
            page, above = near.removesuffix(".html").lstrip("/"), folder.split("/")
            tops = range(1, len(above) + 1) if near.startswith("/") else ()
            places = [near, page, *("/".join([*above[:top], page]) for top in tops)]
            head, mark, rest = f"/{folder}/".rpartition("/modules/")  # of Antora
            places += [f"{head}{mark}{rest.partition('/')[0]}/pages/{link.target}"] * bool(mark)
            places += [os.path.join(folder, "-", link.target)] * (not is_page(near))  # ../sibling/
        target = next(filter(None, (self._at(place, link.kind) for place in places)), None)
        if target or link.kind != RELATIVE:
            return target
        if ids := [id for rank, _, id in self._named.get(_key(near), ()) if rank == 2]:
            return min(ids), ""  # of a permalink or an alias
        return ("", "") if os.path.isdir(os.path.join(self._root, near.lstrip("/"))) else None

    def _of_text(self, text: str, folder: str) -> Target | None:
        """Return the target that an id, a name, a title or a path means."""
        node = self._store.nodes.get(self._store.resolve_id(text))
        if named := node.id if node and not node.invalidated_at else self._best(text, folder):
            return named, ""
        return self._at(os.path.join(folder, text)) or self._at(text)

    def _best(self, text: str, folder: str) -> str:
        """Return the best node with a name: in the same folder, else nearest to the root.

        A path matches nodes with the same end of the path.
        """
        end, name = _path_key(text.lstrip("./")), _path_key(os.path.basename(text))
        found = [
            (rank, by_file, os.path.dirname(file) != folder, file.count("/"), file, id)
            for by_file, key in enumerate(dict.fromkeys((_key(text), name)))
            for rank, file, id in self._named.get(key, ())
            if not by_file or "/" not in end or f"/{_path_key(file)}".endswith(f"/{end}")
        ]
        return min(found)[-1] if found else ""

    def _at(self, path: str, kind: str = PATH) -> Target | None:
        """Return the document at a path from the root, or the file there."""
        path = os.path.normpath(path.lstrip("/"))
        endings = ("", *EXTENSIONS, *(f"/index{one}" for one in EXTENSIONS))
        for name in () if kind == CODE else [composed(path) + ending for ending in endings]:
            if id := self._documents.get(name) or self._documents.get(name.casefold()):
                return id, ""
        whole = spelled(os.path.join(self._root, path))
        path = whole.removeprefix(self._root).lstrip("/")
        is_file = os.path.isfile(whole) and is_below(self._root, os.path.realpath(whole))
        is_named = is_file and path.isprintable() and len(path) <= LONGEST_PATH
        if not is_named or f"{path}/".startswith(("../", ".git/")):
            return None
        id = self._store.file_node_id(path)
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


def _key(text: str) -> str:  # ___ as in Logseq's file names
    return one_line(composed(text.replace("___", "/").replace("’", "'"), "NFKC")).casefold()


def _path_key(path: str) -> str:
    return _key(os.path.splitext(path)[0] if is_page(path) else path)
