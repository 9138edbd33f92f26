"""The store: a file, search.db. ``open_store`` returns a ``Store``, with an attribute for each
table or index: ``nodes``, ``edges``, ``fulltext``. Only this folder speaks SQL."""

from __future__ import annotations

from .opening import FILE, copy_store, create_store, open_store, scratch_store
from .store import Store

__all__ = ["ALL", "FILE", "Store", "copy_store", "create_store", "open_store", "scratch_store"]

ALL = -1
"""Instead of a limit: everything."""
