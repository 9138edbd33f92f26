"""Copy a store into a file, and restore the store, while other processes use the store."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from datetime import datetime, timezone

from ..core.errors import LoreError, NoStore, StoreDamaged, StoreError, StoreFull
from ..system.atomic_write import new_file, temporary_folder
from ..system.files import make_private_file
from ..system.project_files import real_place
from . import opening
from .changes import RESTORE_BACKUP
from .connection import Translated, apsw, translate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_STEPS = 1_000_000
"""Steps of SQLite's virtual machine between checks for signals, about 10 ms."""

PAGES = 2000
"""Pages copied between checks for signals: 8 MB."""

BESIDE = ("-wal", "-journal")
"""Suffixes of files that belong to an open database, or to a database of a killed program."""

COPIES = 3
"""Maximum number of replaced stores in the folder."""

_KEPT = ".before-restore-"


def back_up(folder: str, path: str, *, busy_timeout: float = 30.0) -> None:
    """Copy the store in ``folder``, as of a single moment, into a file at ``path``, atomically.
    Raise LoreError if the file cannot be written or replaced, or the store is damaged."""
    place = real_place(path)
    with opening.open_store(folder, busy_timeout=busy_timeout) as store:
        _require_free(os.path.realpath(store.path), place, path)
        store.connection.set_progress_handler(lambda: False, _STEPS)
        try:
            with new_file(place) as beside, Translated(path):
                store.connection.execute("VACUUM INTO ?", (beside,))
        except StoreDamaged as error:
            what = f"the store is damaged ({error.__cause__}), no backup was made"
            raise StoreDamaged(f"{what}: run 'lore doctor --full'") from error
        except OSError as error:
            raise LoreError(f"{path}: {error.strerror}: not written") from None


def _copy_pages(
    source: apsw.Connection, target: apsw.Connection, begun: Callable[[], str] = lambda: ""
) -> None:
    """Overwrite a database; ``begun`` copies it once it is locked, and returns the path."""
    with target.backup("main", source, "main") as copy:
        copy.step(0)
        kept = begun()
        try:
            while not copy.done:
                copy.step(PAGES)
        except BaseException:
            if kept and not copy.done:
                os.unlink(kept)
            raise


def _copy_to_file(source: apsw.Connection, target: str, shown: str) -> None:
    """Copy into an empty private file; messages call it ``shown``."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    try:
        with closing(apsw.Connection(target, flags=flags)) as connection:
            connection.pragma("journal_mode", "off")
            connection.pragma("synchronous", 0)  # the caller syncs
            _copy_pages(source, connection)
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError) as error:
        raise translate(error, shown) from error


def _require_free(store: str, place: str, shown: str) -> None:
    """Refuse to replace the store, and files other than backups. It does not open the store's
    files, because closing a file drops the locks on it."""
    why = ""
    if place.startswith(f"{store}-") or (os.path.exists(place) and os.path.samefile(place, store)):
        why = "is the store itself"
    elif any(os.path.lexists(place + suffix) for suffix in BESIDE):
        why = "belongs to a database that is in use, or was when its program ended"
    elif os.path.lexists(place) and not (os.path.isfile(place) and _is_lores(place)):
        why = "is there and is no backup of lore's"
    if why:
        raise LoreError(f"{shown}: {why}: name another file")


def _is_lores(path: str) -> bool:
    with suppress(apsw.Error), closing(opening.reading_copy(path)) as connection:
        return bool(connection.pragma("application_id") == opening.APPLICATION_ID)
    return False


def restore_backup(folder: str, path: str, *, busy_timeout: float = 30.0) -> str | None:
    """Replace the store in ``folder`` by a backup; return the path of the old store, which is kept
    beside it, or None if there was none. The backup is checked first, in a private copy. Raise
    LoreError, with the store unchanged, for an unsound backup, another writer, a full disk."""
    place = real_place(path)
    live = os.path.realpath(os.path.join(folder, opening.FILE))
    if not os.path.isdir(folder):
        raise NoStore(f"no store in {folder}: run 'lore init'")
    if not os.path.isfile(place):
        raise LoreError(f"{path}: is no file: name a backup that 'lore store backup' has made")
    if os.path.exists(live) and os.path.samefile(place, live):
        raise LoreError(f"{path}: is the store itself: name a backup")
    try:
        with temporary_folder() as own:
            _stage(place, path, own)
            with opening.open_store(own) as staged, Translated(live):
                return _replace(live, staged.connection, busy_timeout)
    except OSError as error:
        raise LoreError(f"{live}: {error.strerror}: the store is unchanged") from None


def _stage(place: str, shown: str, folder: str) -> None:
    """Copy a backup, with the log, into a private folder, and check the copy."""
    own = os.path.join(folder, opening.FILE)
    make_private_file(own)
    try:
        if os.path.lexists(place + "-journal"):
            raise StoreError(f"{own}: is incomplete without the journal: ")
        alone = not os.path.exists(place + "-wal") or not os.path.getsize(place + "-wal")
        with Translated(own), closing(opening.reading_copy(place, alone=alone)) as source:
            _copy_to_file(source, own, own)
        with opening.open_store(folder) as store:
            if lacking := opening.missing_statements(store.connection):
                raise StoreDamaged(f"{own}: lacks {lacking[0]}: ")
            if damage := store.checks.damage(full=True):
                raise StoreDamaged(f"{own}: is damaged ({' '.join(damage[0].split())}): ")
            with store.transaction(RESTORE_BACKUP):
                _ = store.changes.command
                store.meta.set("machine", None)  # stamps after the backup are known elsewhere
    except StoreFull:
        where = os.path.dirname(folder)
        what = f"{shown}: a copy of it has no room in {where}, the store is unchanged"
        raise StoreFull(f"{what}: free some space, or set TMPDIR") from None
    except StoreError as error:
        what, _, advice = str(error).replace(own, shown).rpartition(": ")
        mend = advice if advice == "use a newer lore" else "take another backup"
        raise StoreError(f"{what}, the store is unchanged: {mend}") from None


def _replace(live: str, staged: apsw.Connection, busy_timeout: float) -> str | None:
    if not os.path.lexists(live):
        for suffix in BESIDE:  # SQLite would apply the log of a store that was moved away
            if os.path.lexists(live + suffix):
                os.replace(live + suffix, _free_name(live) + suffix)
        with new_file(live, instead=False) as beside:
            _copy_to_file(staged, beside, live)
        return None
    if not os.path.isfile(live):
        raise StoreError(f"{live}: is no plain file: move it away")
    is_empty = not os.path.getsize(live) and not os.path.exists(live + "-wal")
    kept = "" if is_empty else _free_name(live)
    try:
        with closing(opening.open_to_replace(live, busy_timeout)) as connection:
            _copy_pages(staged, connection, lambda: _keep(live, kept))
            connection.set_busy_handler(None)
            connection.pragma("wal_checkpoint(truncate)")
    except (apsw.NotADBError, apsw.CorruptError):
        hint = "close all programs that use it, move it and retry"
        raise StoreDamaged(f"{live}: is damaged, the store is unchanged: {hint}") from None
    for path in copies_kept(live)[:-COPIES]:
        with suppress(OSError):
            os.unlink(path)
    return kept or None


def _keep(live: str, kept: str) -> str:
    """Copy the pages of the store, even damaged pages; return the path."""
    if not kept:
        return ""
    with closing(apsw.Connection(live, flags=apsw.SQLITE_OPEN_READWRITE)) as reader:
        reader.execute("BEGIN")
        with new_file(kept, instead=False) as beside:
            _copy_to_file(reader, beside, kept)
    return kept


def copies_kept(live: str) -> list[str]:
    """Return the paths of stores that backups replaced, oldest first."""
    folder, name = os.path.split(live)
    found = [one for one in os.listdir(folder) if one.startswith(f"{name}{_KEPT}")]
    return [os.path.join(folder, one) for one in sorted(found) if not one.endswith(BESIDE)]


def _free_name(live: str) -> str:
    return f"{live}{_KEPT}{datetime.now(timezone.utc):%Y%m%dT%H%M%S.%fZ}"
