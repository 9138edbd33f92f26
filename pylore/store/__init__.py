"""The store: a file, search.db, and the class that reads and writes the file. ``open_store``
returns a ``Store``, with an attribute for each table or index: ``nodes``, ``edges``, ``fulltext``,
``vectors``, ``meta``. It raises errors of ``core.errors``. Only this folder speaks SQL."""

from __future__ import annotations

from .opening import FILE, copy_store, create_store, open_store, scratch_store
from .store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ALL", "FILE", "Store", "copy_store", "create_store", "open_store", "scratch_store",
    "tell_waiting",
]  # fmt: skip

ALL = -1
"""Instead of a limit: everything."""


def tell_waiting(tell: Callable[[str], None]) -> None:
    """Print by ``tell`` from now on that a writer of a store waits."""
    from . import connection

    connection.tell = tell  # type: ignore[assignment]
