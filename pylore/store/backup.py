"""Copy a store into one file while others write, and put it back under them."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime, timezone
from typing import NamedTuple

from ..core.errors import LoreError, NoStore, StoreDamaged, StoreError, StoreFull
from ..system.atomic_write import new_file, temporary_folder
from ..system.project_files import real_place
from .changes import RESTORE_BACKUP
from .connection import apsw
from .faults import Translated, meaning
from .opening import APPLICATION_ID, FILE, open_store, open_to_replace, reading_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .store import Store


_STEPS = 1_000_000
"""Of SQLite's machine between two looks at whether somebody wants it to end: some 10 ms."""

PAGES = 2000
"""Copied between two looks at whether somebody wants it to end: 8 MB."""

BESIDE = ("-wal", "-journal")
"""Of a database that is open, or was when its program ended: it belongs to the file."""

_OWN = ("", *BESIDE, "-shm")

COPIES = 3
"""How many of the stores that backups replaced are kept."""

_KEPT = ".before-restore-"


class Copied(NamedTuple):
    """A store that was copied to ``file``, and what it holds.

    ``kept`` is the path of what was there before; None where that was replaced, or nothing was.
    """

    file: str
    bytes: int
    nodes: int
    edges: int
    kept: str | None


def back_up(
    folder: str,
    path: str,
    *,
    busy_timeout: float = 30.0,
) -> Copied:
    """Copy the store in ``folder``, as it is at one moment, into a file at ``path``.

    Others may write meanwhile. Whoever reads the file has the old one or the new one.

    Raises:
        LoreError: it cannot be written, or something is there that is not to be replaced;
            the store is damaged. What was there is as it was.
    """
    place = real_place(path)
    with open_store(folder, busy_timeout=busy_timeout) as store:
        _require_free(store.path, place, path)
        store.connection.set_progress_handler(lambda: False, _STEPS)
        try:
            with new_file(place) as beside, Translated(path):
                _rewrite(store.connection, beside)
                copy = reading_copy(beside)
                counts = count(copy)
                copy.close()
                size = os.path.getsize(beside)
        except OSError as error:
            raise LoreError(f"{path}: {error.strerror}: nothing was written") from None
    return Copied(os.path.abspath(path), size, *counts, None)


def _rewrite(source: apsw.Connection, target: str) -> None:
    """Write all rows into an empty file; no page of the source is copied as it is."""
    try:
        source.execute("VACUUM INTO ?", (target,))
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(f"the store is damaged ({error}), no backup was made: "
                           "run 'lore doctor --full'") from error  # fmt: skip


def count(connection: apsw.Connection) -> tuple[int, int]:
    """Return how many nodes and edges there are, forgotten ones too."""
    nodes, edges = connection.execute(
        "SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM links)"
    ).get
    return int(nodes), int(edges)


def copy_pages(
    source: apsw.Connection,
    target: str,
    shown: str,
    progress: Callable[[float], None] = lambda part: None,
) -> None:
    """Copy into an empty file that nobody else has open; messages call it ``shown``.

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
    """Return whether a file is a database that lore has made."""
    try:
        connection = reading_copy(path)
        try:
            return bool(connection.pragma("application_id") == APPLICATION_ID)
        finally:
            connection.close()
    except apsw.Error:
        return False


def _require_free(store: str, place: str, shown: str) -> None:
    """Refuse what a backup must not replace.

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
    if not is_lores(place):
        raise LoreError(f"{shown}: is there and is no backup of lore's: name another file")


_MEND = "take another backup"

_COMMAND = "INSERT INTO commands(name, at) VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))"


def restore_backup(
    folder: str,
    path: str,
    *,
    busy_timeout: float = 30.0,
    progress: Callable[[float], None] = lambda part: None,
) -> Copied:
    """Put the store that a backup holds in the place of the one in ``folder``.

    What was there is kept beside it, as ``search.db.before-restore-<time>``. The backup is
    looked at first, in a copy of this process's own: all of its pages, and whether anything
    in it is not lore's.

    Raises:
        NoStore: there is no such folder.
        LoreError: the backup is not sound, another writer did not end in time, or there is
            no room. The store is as it was.
    """
    place = real_place(path)
    live = os.path.realpath(os.path.join(folder, FILE))
    if not os.path.isdir(folder):
        raise NoStore(f"no store in {folder}: run 'lore init'")
    _require_other(place, live, path)
    try:
        with temporary_folder() as own, _staged(place, path, own) as staged, Translated(live):
            kept = _replace(live, staged, busy_timeout, progress)
            counts = count(staged.connection)
    except OSError as error:
        raise LoreError(f"{live}: {error.strerror}: nothing was restored") from None
    return Copied(live, os.path.getsize(live), *counts, kept)


def _require_other(place: str, live: str, shown: str) -> None:
    if not os.path.isfile(place):
        what = "is no plain file" if os.path.lexists(place) else "there is no such file"
        raise LoreError(f"{shown}: {what}: name a backup that 'lore store backup' has made")
    if os.path.exists(live) and os.path.samefile(place, live):
        raise LoreError(f"{shown}: is the store itself: name a backup of it")


def _staged(place: str, shown: str, folder: str) -> Store:
    """Return a copy of the backup, sound and of this version, in a folder of our own."""
    own = os.path.join(folder, FILE)
    with open(own, "wb"):
        pass
    try:
        _copy_out(place, shown, own)
        staged = open_store(folder)
        try:
            _check(staged, own)
            with staged.transaction():
                staged.connection.execute(_COMMAND, (RESTORE_BACKUP,))
        except BaseException:
            staged.close()
            raise
    except StoreFull:
        where = os.path.dirname(folder)
        raise StoreFull(f"{shown}: a copy of it has no room in {where}, nothing was restored: "
                        "free some space, or set TMPDIR") from None  # fmt: skip
    except StoreError as error:
        raise _of_backup(str(error), own, shown) from None
    return staged


def _check(staged: Store, own: str) -> None:
    with Translated(own):
        lacking = staged.checks.missing_tables()
        found = [] if lacking else staged.checks.damage(full=True)
    if lacking or found:
        what = f"lacks {', '.join(lacking[:3])}"
        if found:
            what = f"is damaged ({' '.join(found[0].split())})"
        raise StoreDamaged(f"{own}: {what}: {_MEND}")


def _copy_out(place: str, shown: str, own: str) -> None:
    """Copy what a database holds; a log beside it is a part of it."""
    if os.path.lexists(place + "-journal"):
        raise StoreError(f"{own}: has a journal beside it, what it holds is not whole: {_MEND}")
    with Translated(own):
        alone = not os.path.exists(place + "-wal") or not os.path.getsize(place + "-wal")
        before = os.stat(place)
        source = reading_copy(place, alone=alone)
        try:
            source.execute("BEGIN")
            source.pragma("schema_version")  # from here on it is as it is now
            copy_pages(source, own, shown)
        finally:
            source.close()
        after = os.stat(place)
    if alone and (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise StoreError(f"{own}: was written meanwhile: try again")


def _of_backup(message: str, own: str, shown: str) -> StoreError:
    """Return what is said of our own copy, said of the backup."""
    what, _, advice = message.removeprefix(f"{own}: ").rpartition(": ")
    what = what.replace(own, shown).removeprefix(f"{shown}: ")
    if advice not in ("use a newer lore", "try again"):
        advice = _MEND
    return StoreError(f"{shown}: {what}, nothing was restored: {advice}")


def _replace(
    live: str, staged: Store, busy_timeout: float, progress: Callable[[float], None]
) -> str | None:
    """Replace the store; return the path that keeps the old one, None without one."""
    if not os.path.lexists(live):
        for suffix in BESIDE:  # of a store that was moved away: SQLite would apply it
            if os.path.lexists(live + suffix):
                os.replace(live + suffix, _free_name(live) + suffix)
        with new_file(live, instead=False) as beside:
            copy_pages(staged.connection, beside, live, progress)
        return None
    if not os.path.isfile(live):
        raise StoreError(f"{live}: is no plain file: move it away")
    is_empty = not os.path.getsize(live) and not os.path.exists(live + "-wal")
    kept = "" if is_empty else _free_name(live)
    try:
        _overwrite(live, staged, kept, busy_timeout, progress)
    except (apsw.NotADBError, apsw.CorruptError):
        raise StoreDamaged(
            f"{live}: is damaged, nothing was restored: end what has it open, move it away and "
            "try again"
        ) from None
    for path in copies_kept(live)[:-COPIES]:
        with suppress(OSError):
            os.unlink(path)
    return kept or None


def _overwrite(
    live: str, staged: Store, kept: str, busy_timeout: float,
    progress: Callable[[float], None],
) -> None:  # fmt: skip
    """Overwrite the store in one transaction; copy it to ``kept`` as it is when that begins."""
    connection = open_to_replace(live, busy_timeout)
    try:
        with connection.backup("main", staged.connection, "main") as copy:
            copy.step(0)  # takes the lock of writers
            if kept:
                _keep(live, kept)
            try:
                while not copy.done:
                    copy.step(PAGES)
                    progress(1 - copy.remaining / max(1, copy.page_count))
            except BaseException:
                if kept and not copy.done:
                    os.unlink(kept)
                raise
        connection.set_busy_handler(None)
        connection.pragma("wal_checkpoint(truncate)")
    finally:
        connection.close()


def _keep(live: str, kept: str) -> None:
    """Copy the store as it is, damaged pages too."""
    reader = apsw.Connection(live, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        reader.execute("BEGIN")
        reader.pragma("user_version")
        with new_file(kept, instead=False) as beside:
            copy_pages(reader, beside, kept)
    finally:
        reader.close()


def copies_kept(live: str) -> list[str]:
    """Return the paths that keep what restored backups replaced, oldest first."""
    folder, name = os.path.split(live)
    beginning = f"{name}{_KEPT}"
    found = [os.path.join(folder, one) for one in os.listdir(folder)
             if one.startswith(beginning) and not one.endswith(BESIDE)]  # fmt: skip
    return sorted(found, key=os.path.getmtime)


def _free_name(live: str) -> str:
    at = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    name = first = f"{live}{_KEPT}{at}"
    number = 1
    while os.path.lexists(name):
        number += 1
        name = f"{first}-{number}"
    return name
