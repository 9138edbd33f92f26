"""Where the paths in a store start from, and how it spells the paths that people give.

This module is on the path of ``lore related FILE``: it imports nothing heavy.
"""

from __future__ import annotations

import os

from .errors import LoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .store import Store


def root_of(store: Store, root: str) -> str:
    """The folder that an anchor's path starts from: ``root``, or else the store's project."""
    return root or os.path.dirname(os.path.dirname(os.path.abspath(store.path)))


def root_to_keep(store: Store, root: str) -> str:
    """What an anchor keeps of the folder ``root``: nothing where the store lies in it.

    So a project can be moved, and a store apart from any project tells projects apart.
    """
    full = os.path.realpath(root)
    return "" if full == os.path.realpath(root_of(store, "")) else full


def relative(root: str, path: str, written: str = "") -> str:
    """A person's path, which they may have ``written`` otherwise, as the store spells it.

    That is from the root, with ``/``.

    Raises:
        LoreError: it lies outside, or has letters that no id may have.
    """
    written = written or path
    if not path.isprintable():
        raise LoreError(f"{written!r}: has characters that cannot be printed: rename the file")
    base = os.path.realpath(root)
    full = os.path.realpath(path)
    if not full.startswith(base.rstrip(os.sep) + os.sep):
        raise LoreError(f"{written}: lies outside the project {base}: give a path within it")
    found = os.path.relpath(full, base).replace(os.sep, "/")
    if not found.isprintable():
        raise LoreError(f"{written!r}: has characters that cannot be printed: rename the file")
    return found


def relative_glob(root: str, start: str, pattern: str) -> str:
    """A glob that starts from the folder ``start`` as the store spells it: from the root.

    Raises:
        LoreError: it leads outside.
    """
    base = os.path.realpath(root)
    full = os.path.normpath(os.path.join(os.path.realpath(start), pattern))
    if not full.startswith(base.rstrip(os.sep) + os.sep):
        raise LoreError(f"{pattern}: leads outside the project {base}: give one within it")
    return os.path.relpath(full, base).replace(os.sep, "/")
