"""Files of documents: find them below folders, and name them as the store does."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..records.fields import is_page
from ..system.files import lstamp_of
from ..system.project_files import is_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LEFT_OUT = ("node_modules",)


def document_files(
    path: str,
    on_error: Callable[[OSError], None],
    on_link: Callable[[str, str], None],
    on_other: Callable[[str], None] = lambda name: None,
) -> Iterator[str]:
    """Yield the path itself, or the documents below a folder, in a fixed order.

    Hidden files and folders and ``node_modules`` are left out, and links are not
    followed: what they lead to in the folder is found without them. ``on_error`` hears of
    folders that cannot be read, ``on_link`` of links to anything else, with the reason,
    ``on_other`` of the names of files that are no documents.
    """
    if not os.path.isdir(path):
        yield path
        return
    top = os.path.realpath(path)
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            on_error(error)
            continue
        below = []
        for entry in found:
            name = entry.name
            if name.startswith("."):
                continue
            is_link, is_folder = entry.is_symlink(), _is_folder(entry)
            if (name in _LEFT_OUT) if is_folder else not is_page(name):
                if not is_folder:
                    on_other(name)
                continue
            if is_link and os.path.exists(entry.path):
                why = _why_lost(top, os.path.realpath(entry.path))
                if why:
                    on_link(entry.path, why)
            elif is_folder:
                below.append(entry.path)
            else:
                yield entry.path
        waiting += below[::-1]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _why_lost(top: str, real: str) -> str:
    """Return why what a link leads to is not part of an import of ``top``; nothing where it is."""
    if not is_below(top, real) and real != top:
        return f"is a link that leads out of {top}"
    within = os.path.relpath(real, top)
    found = os.path.isdir(real) or is_page(real)
    hidden = any(name.startswith(".") for name in within.split(os.sep) if name != os.curdir)
    return "" if found and not hidden else "is a link to what is left out"


class Places:
    """Names of a project's files in the store."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._folders: dict[str, str] = {}

    def of(self, file: str) -> tuple[str, str]:
        """Return ``(path in the store, stamp)`` of a file; without a stamp it has to be read.

        Raises:
            LoreError: its name cannot be kept.
        """
        stamp = lstamp_of(file)
        if "-" in stamp:
            folder, _, name = file.rpartition(os.sep)
            path = self._beginning(folder if folder or file[:1] != os.sep else os.sep) + name
        else:
            path, stamp = self.folder(file), ""
        if not path.isprintable():
            raise LoreError("the name has characters that cannot be printed: rename it")
        return path, stamp

    def folder(self, path: str) -> str:
        """Return what the store calls a folder, whatever links lead there; ``.`` is the root."""
        return os.path.relpath(os.path.realpath(path), self.root).replace(os.sep, "/")

    def _beginning(self, folder: str) -> str:
        """Return what the paths of the files in a folder begin with."""
        if folder not in self._folders:
            place = self.folder(folder or os.curdir)
            self._folders[folder] = "" if place == os.curdir else place + "/"
        return self._folders[folder]

    def has(self, path: str) -> bool:
        """Return whether anything is at a path of the store."""
        return os.path.lexists(os.path.join(self.root, path))
