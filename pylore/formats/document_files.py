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


def document_files(path: str, on_error: Callable[[str, str], None]) -> Iterator[str]:
    """Yield the path itself, or the documents below a folder, in a fixed order.

    Hidden files and folders, ``node_modules`` and symlinks are left out. ``on_error`` gets a folder
    that cannot be read, or a symlink that leads out of ``path``, and the reason.
    """
    if not os.path.isdir(path):
        yield path
        return
    top = os.path.realpath(path)

    def is_plain(file: str) -> bool:
        if os.path.basename(file).startswith((".", *_LEFT_OUT)):
            return False
        if os.path.islink(file) and os.path.exists(file):
            real = os.path.realpath(file)
            if real != top and not is_below(top, real) and (os.path.isdir(real) or is_page(file)):
                on_error(file, f"is a link that leads out of {top}")
            return False
        return True

    def failed(error: OSError) -> None:
        on_error(str(error.filename), f"cannot be read ({error.strerror})")

    for folder, folders, names in os.walk(path, onerror=failed):
        folders[:] = sorted(name for name in folders if is_plain(os.path.join(folder, name)))
        for name in sorted(filter(is_page, names)):
            if is_plain(os.path.join(folder, name)):
                yield os.path.join(folder, name)


def place_of(root: str, file: str) -> str:
    """Return the store's name of a file or a folder, whatever links lead there; ``.`` is the root.

    ``root`` is a path without links.

    Raises:
        LoreError: the name has characters that cannot be printed.
    """
    path = os.path.relpath(os.path.realpath(file), root).replace(os.sep, "/")
    if not path.isprintable():
        raise LoreError("the name has characters that cannot be printed: rename it")
    return path
