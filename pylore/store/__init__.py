"""Where knowledge is kept: one file, search.db, and the one class that reads and writes it.

``open_store`` returns a ``Store``, with an attribute for each table or index: ``nodes``,
``edges``, ``fulltext``, ``vectors``, ``meta``. It raises errors of ``core.errors``. Nothing outside
of this folder speaks SQL or knows of SQLite.
"""

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
    """Use ``tell`` from now on to say that another writer of a store is waited for."""
    from . import connection

    connection.tell = tell  # type: ignore[assignment]
