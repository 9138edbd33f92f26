"""Spell paths as the store does, from the folder where its paths start.

This module is on the path of ``lore related FILE``: it imports nothing heavy.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..system.git import is_commit
from ..system.project_files import leads_down
from ..system.trusted_roots import is_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from ..store.anchor import Anchor


def fault_of(anchor: Anchor) -> str:
    """Return why an anchor must not be followed, whoever has written it; nothing where it may be.

    Its root is examined apart: see ``is_open``.
    """
    way = anchor.stamp if anchor.kind == "glob" else anchor.path
    if not leads_down(anchor.path) or not (leads_down(way) or way == ""):
        return f"path '{anchor.path}' leads out of the project"
    if anchor.commit_id and not is_commit(anchor.commit_id):
        return f"commit_id '{anchor.commit_id}' is not the hash of a commit"
    return ""


def is_open(root: str) -> bool:
    """Return whether the root that an anchor keeps may be looked into: the store's own, or this
    user's."""
    return root == "" or is_known(root)


def root_of(store: Store, root: str) -> str:
    """Return the folder that an anchor's path starts from: ``root``, or else the store's
    project."""
    return root or store.project


def root_to_keep(store: Store, root: str) -> str:
    """Return what an anchor keeps of the folder ``root``: nothing where the store lies in it.

    So a project can be moved, and a store apart from any project tells projects apart.
    """
    full = os.path.realpath(root)
    return "" if full == os.path.realpath(root_of(store, "")) else full


def relative(root: str, path: str, written: str = "") -> str:
    """Return a person's path, which they may have ``written`` otherwise, as the store spells it.

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
    """Return a glob that starts from the folder ``start`` as the store spells it: from the root.

    Raises:
        LoreError: it leads outside.
    """
    base = os.path.realpath(root)
    full = os.path.normpath(os.path.join(os.path.realpath(start), pattern))
    if not full.startswith(base.rstrip(os.sep) + os.sep):
        raise LoreError(f"{pattern}: leads outside the project {base}: give one within it")
    return os.path.relpath(full, base).replace(os.sep, "/")
