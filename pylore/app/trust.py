"""Whether programs may write into a store, and tell of it unasked."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..system.trusted_stores import is_trusted, new_word, revoke, trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store

_KEPT = "trust_word"
"""The key of ``meta`` under which a store keeps its word."""


def trusts(store: Store, folder: str) -> bool:
    """Whether this user has trusted the store of a data folder."""
    return is_trusted(_file(folder), store.meta.get(_KEPT) or "")


def trust_store(store: Store, folder: str) -> bool:
    """Trusts it from now on; whether that is new.

    Raises:
        LoreError: the store or the list cannot be written.
    """
    path = _file(folder)
    if "\n" in path:
        raise LoreError(f"{folder}: has the end of a line in its name: give it another name")
    word = store.meta.get(_KEPT)
    if not word:
        word = new_word()
        with store.transaction():
            store.meta.set(_KEPT, word)
    return trust(path, word)


def revoke_trust(folder: str) -> bool:
    """Takes that back; whether it was trusted.

    Raises:
        LoreError: the list cannot be written.
    """
    return revoke(_file(folder))


def _file(folder: str) -> str:
    from ..store import FILE

    return os.path.join(folder, FILE)
