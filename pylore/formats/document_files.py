"""Files of documents: find them below folders, and name them as the store does."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..records.fields import is_page
from ..system.project_files import is_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LEFT_OUT = ("node_modules",)


def document_files(
    path: str,
    on_error: Callable[[OSError], None],
    on_link: Callable[[str, str], None],
) -> Iterator[str]:
    """Yield the path itself, or the documents below a folder, in a fixed order.

    Hidden files and folders and ``node_modules`` are left out, and links are not followed: their
    targets in the folder are found without them. ``on_error`` gets the errors of folders,
    ``on_link`` links to anything else, with the reason.
    """
    if not os.path.isdir(path):
        yield path
        return
    top = os.path.realpath(path)

    def is_link(file: str) -> bool:
        found = os.path.islink(file) and os.path.exists(file)
        why = _why_lost(top, os.path.realpath(file)) if found else ""
        if why:
            on_link(file, why)
        return found

    for folder, folders, names in os.walk(path, onerror=on_error):
        folders[:] = sorted(
            name for name in folders
            if name[0] != "." and name not in _LEFT_OUT and not is_link(os.path.join(folder, name))
        )  # fmt: skip
        for name in sorted(name for name in names if name[0] != "."):
            file = os.path.join(folder, name)
            if is_page(name) and not is_link(file):
                yield file


def _why_lost(top: str, real: str) -> str:
    """Return why the target of a link is not part of an import of ``top``; empty if it is."""
    if not is_below(top, real) and real != top:
        return f"is a link that leads out of {top}"
    within = os.path.relpath(real, top)
    found = os.path.isdir(real) or is_page(real)
    hidden = any(name.startswith(".") for name in within.split(os.sep) if name != os.curdir)
    return "" if found and not hidden else "is a link to what is left out"


def place_of(root: str, file: str) -> str:
    """Return the store's name of a file or a folder, whatever links lead there; ``.`` is the root.

    ``root`` is a path without links.

    Raises:
        LoreError: the name cannot be kept.
    """
    path = os.path.relpath(os.path.realpath(file), root).replace(os.sep, "/")
    if not path.isprintable():
        raise LoreError("the name has characters that cannot be printed: rename it")
    return path
