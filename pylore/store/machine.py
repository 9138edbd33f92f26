"""What the machine has of what a store needs; ``lore doctor`` asks, with or without a store."""

from __future__ import annotations

from .sqlite.check import sqlite_features, sqlite_version, vector_extension
from .sqlite.store import scratch_store as _scratch_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocols import Store

__all__ = ["scratch_store", "sqlite_features", "sqlite_version", "vector_extension"]


def scratch_store(path: str = ":memory:") -> Store:
    """An empty store that nothing of stays."""
    return _scratch_store(path)
