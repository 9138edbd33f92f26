"""A store in one file, page by page while others write: SQLite's online backup."""

from __future__ import annotations

import os

from ...core.errors import LoreError, StoreDamaged, StoreError
from ...system.atomic_write import NewFile
from ...system.links import real_place
from ..copied import Copied
from .check import SqliteChecks
from .driver import apsw
from .faults import Translated, meaning
from .foreign import refuse_foreign
from .reads import TAKEN, WAITING
from .store import APPLICATION_ID, SCHEMA_VERSION, open_store, reading_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .store import SqliteStore

PAGES = 2000
"""Copied between two looks at whether somebody wants it to end: 8 MB."""

BESIDE = ("-wal", "-journal")
"""Of a database that is open, or was when its program ended: it belongs to the file."""

_OWN = ("", *BESIDE, "-shm", "-queue", WAITING, TAKEN)
_HEADER, _ID_AT = 72, 68
"""Bytes of a database's header, and where it has the id of its program."""


def back_up(
    folder: str,
    path: str,
    *,
    force: bool = False,
    busy_timeout: float = 30.0,
    progress: Callable[[float], None] = lambda part: None,
) -> Copied:
    """Copies the store in ``folder``, as it is at one moment, into a file at ``path``.

    Others may write meanwhile. The file is looked at before it takes its place; whoever
    reads it has the old one or the new one. ``force``: it may replace what is no store.
    ``progress`` hears what part of it is done.

    Raises:
        LoreError: it cannot be written, or something is there that is not to be replaced;
            the store is damaged. What was there is as it was.
    """
    place = real_place(path)
    with open_store(folder, busy_timeout=busy_timeout) as store:
        _require_free(store.path, place, path, force=force)
        _count_reads(store)
        try:
            with store.snapshot(), NewFile(place) as beside:
                counts = count(store.connection)
                copy_pages(store.connection, beside, path, progress)
                _verify(beside, path, counts)
                size = os.path.getsize(beside)
        except OSError as error:
            raise LoreError(f"{path}: {error.strerror}: nothing was written") from None
    return Copied(os.path.abspath(path), size, *counts, None)


def _count_reads(store: SqliteStore) -> None:
    """They wait in a file that is not copied; whoever writes just now has counted them."""
    if not store.writable:
        return
    try:
        with store.aside():
            store.review.catch_up()
    except StoreError:
        return


def count(connection: apsw.Connection) -> tuple[int, int]:
    """How many nodes and edges there are, forgotten ones too."""
    nodes, edges = connection.execute(
        "SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM graph_edges)"
    ).get
    return int(nodes), int(edges)


def copy_pages(
    source: apsw.Connection,
    target: str,
    shown: str,
    progress: Callable[[float], None] = lambda part: None,
) -> None:
    """Into an empty file that nobody else has open. ``shown`` is what a person calls it.

    Raises:
        StoreError: there is no room for it, or it cannot be written.
    """
    try:
        connection = apsw.Connection(
            target, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
        )
        try:
            connection.pragma("journal_mode", "off")  # what has not its place yet can go
            connection.pragma("synchronous", 0)  # who puts it in its place does so
            with connection.backup("main", source, "main") as copy:
                while not copy.done:
                    copy.step(PAGES)
                    progress(1 - copy.remaining / max(1, copy.page_count))
        finally:
            connection.close()
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError) as error:
        raise meaning(error, shown) from error


def is_lores(path: str) -> bool:
    """Whether a file is a database that lore has made, as its header says."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        header = os.read(number, _HEADER)
    finally:
        os.close(number)
    made_by = int.from_bytes(header[_ID_AT:], "big")
    return header.startswith(b"SQLite format 3\0") and made_by == APPLICATION_ID


def _require_free(store: str, place: str, shown: str, *, force: bool) -> None:
    """Refuses what a backup must not replace.

    Nothing of the store's own is opened here: to close a file drops the locks on it.
    """
    if place in {os.path.realpath(store) + suffix for suffix in _OWN} or (
        os.path.exists(place) and os.path.samefile(place, store)
    ):
        raise LoreError(f"{shown}: is the store itself: name another file")
    if any(os.path.lexists(place + suffix) for suffix in BESIDE):
        raise LoreError(
            f"{shown}: belongs to a database that is in use, or was when its program ended: "
            "name another file"
        )
    if not os.path.lexists(place):
        return
    if not os.path.isfile(place):
        raise LoreError(f"{shown}: is no plain file: name another")
    if not force and not is_lores(place):
        raise LoreError(f"{shown}: is there and is no backup of lore's: "
                        "name another file, or replace it with --force")  # fmt: skip


def _verify(path: str, shown: str, counts: tuple[int, int]) -> None:
    """Opens a copy that nobody else knows, and looks at all of it."""
    with Translated(shown):
        connection = reading_copy(path)
        try:
            version = connection.pragma("user_version")
            refuse_foreign(connection, shown)
            found = SqliteChecks(connection, path).damage(full=True)
            copied = counts if found else count(connection)
        finally:
            connection.close()
    if found:
        raise StoreDamaged(f"the store is damaged ({found[0]}), no backup was made: "
                           "run 'lore doctor --full'")  # fmt: skip
    if version != SCHEMA_VERSION or copied != counts:
        raise StoreError(f"{shown}: is not what the store holds, and was taken away: try again")
