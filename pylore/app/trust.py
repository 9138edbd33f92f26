"""Whether programs may write into a store, and tell of it unasked."""

from __future__ import annotations

import os

from ..store import FILE
from ..system.trusted_stores import is_trusted, revoke, trust


def trusts(folder: str) -> bool:
    """Whether this user has trusted the store of a data folder."""
    return is_trusted(os.path.join(folder, FILE))


def trust_store(folder: str) -> bool:
    """Trusts it from now on; whether that is new.

    Raises:
        LoreError: the list cannot be written, or what is trusted could not be known again.
    """
    return trust(os.path.join(folder, FILE))


def revoke_trust(folder: str) -> bool:
    """Takes that back; whether it was trusted.

    Raises:
        LoreError: the list cannot be written.
    """
    return revoke(os.path.join(folder, FILE))
