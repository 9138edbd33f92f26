"""Where knowledge is kept: what any store gives, and the one that keeps it in search.db.

``protocols.py`` says what a ``Store`` is; ``open_store`` gives one, with an attribute for
each kind of thing it keeps: ``nodes``, ``edges``, ``fulltext``, ``vectors``,
``meta``. What goes wrong in it is one of ``core.errors``. Nothing outside of this folder
speaks SQL or knows of SQLite.
"""

from __future__ import annotations

from .sqlite.store import FILE
from .sqlite.store import create_store as _create
from .sqlite.store import open_store as _open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .copied import Copied
    from .protocols import Store
    from .sqlite.remotes import SqliteRemotes

__all__ = [
    "ALL", "FILE", "Store", "back_up", "create_store", "open_store", "remotes_of",
    "restore_backup_into", "tell_waiting",
]  # fmt: skip

ALL = -1
"""Instead of a limit: everything."""


def open_store(folder: str, *, busy_timeout: float = 30.0) -> Store:
    """The store in ``folder``; a writer waits ``busy_timeout`` seconds for another one.

    Raises:
        NoStore: there is none.
        StoreError: it is not a store, damaged, or of another version.
    """
    return _open(folder, busy_timeout=busy_timeout)


def create_store(folder: str, *, fulltext: str = "auto", busy_timeout: float = 30.0) -> Store:
    """The store in ``folder``, made if it is not there; ``fulltext`` names its engine.

    Raises:
        StoreError: it cannot be made there, or something else is there.
    """
    return _create(folder, fulltext=fulltext, busy_timeout=busy_timeout)


def back_up(
    folder: str,
    path: str,
    *,
    force: bool = False,
    busy_timeout: float = 30.0,
    progress: Callable[[float], None] = lambda part: None,
) -> Copied:
    """Copies the store in ``folder``, as it is at one moment, into a file at ``path``.

    Others may write meanwhile. The copy is looked at before it takes its place. ``force``:
    it may replace what is no backup. ``progress`` hears what part of it is done.

    Raises:
        LoreError: it cannot be written, or must not replace what is there; the store is
            damaged. What was there is as it was.
    """
    from .sqlite.backup import back_up

    return back_up(folder, path, force=force, busy_timeout=busy_timeout, progress=progress)


def restore_backup_into(
    folder: str,
    path: str,
    *,
    busy_timeout: float = 30.0,
    progress: Callable[[float], None] = lambda part: None,
) -> Copied:
    """Puts what the backup at ``path`` holds in the place of the store in ``folder``.

    What was there is kept in a file beside it (``kept``). Who has the store open goes on:
    readers see the old one or the new one, writers wait.

    Raises:
        NoStore: there is no such folder.
        LoreError: the backup is not sound, another writer did not end in time, or there is
            no room. The store is as it was.
    """
    from .sqlite.backup import restore_backup

    return restore_backup(folder, path, busy_timeout=busy_timeout, progress=progress)


def remotes_of(store: Store) -> SqliteRemotes:
    """What a store keeps of the hubs that it syncs with.

    Raises:
        TypeError: it is of a kind that keeps nothing of them.
    """
    from .sqlite.remotes import SqliteRemotes
    from .sqlite.store import SqliteStore

    if not isinstance(store, SqliteStore):
        raise TypeError(f"{type(store).__name__} keeps no remotes")
    return SqliteRemotes(store.connection)


def __getattr__(name: str) -> object:
    # Who names a store's type at run time, as a test does: no search loads the protocols.
    if name == "Store":
        from .protocols import Store

        return Store
    raise AttributeError(name)


def tell_waiting(tell: Callable[[str], None]) -> None:
    """Whoever waits for another writer of a store says so by ``tell`` from now on."""
    from .sqlite import write_queue

    write_queue.tell = tell  # type: ignore[assignment]
