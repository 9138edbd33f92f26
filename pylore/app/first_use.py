"""The store of a project at its first use: made, and filled with what its collaborators share."""

from __future__ import annotations

import os
from time import time

from ..core.errors import NoStore, StoreError
from ..core.text import counted
from ..formats.knowledge import FILE as KNOWLEDGE
from ..store import FILE, create_store, open_store, scratch_store
from ..system.config import SHARED
from ..system.projects import make_folder, moved_to, place_of, remember, trust
from .engine import Engine
from .sync import sync

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.settings import Settings
    from ..store import Store


_NEW, _DAY = ".new-", 86_400


def first_store(folder: str, project: str, settings: Settings, say: Callable[[str], None]) -> Store:
    """Make the store of a project that shares knowledge, read its file, and open the store.

    Where the data folder cannot be written, the store is one in memory that takes no writes.

    Raises:
        NoStore: the project shares nothing, or its store is elsewhere; says what to do.
        LoreError: the file cannot be read.
    """
    path = os.path.join(project, SHARED, KNOWLEDGE)
    _refuse_known_elsewhere(folder, project)
    if not os.path.lexists(path):
        raise NoStore(f"no store for {project}: run 'lore init' there")
    try:
        count = _make(folder, path, project, settings)
        say(f"made a store for {project}, with {counted(count, 'line')} of {SHARED}/{KNOWLEDGE}")
        store = open_store(folder, busy_timeout=settings.busy_timeout)
        store.project = project
        return store
    except (StoreError, OSError):
        if os.path.exists(os.path.join(folder, FILE)):
            raise
        store = scratch_store(os.path.join(folder, FILE))
        count = _read(store, path, project, settings)
        store.refuse_writes()
        say(f"{folder} cannot be made: answering from memory, with {counted(count, 'line')} of "
            f"{SHARED}/{KNOWLEDGE}")  # fmt: skip
        return store


def make_store(folder: str, project: str, settings: Settings) -> int:
    """Make the store of a project, with what it shares; return how many lines that are.

    Raises:
        LoreError: it cannot be made, or the shared file cannot be read.
    """
    path = os.path.join(project, SHARED, KNOWLEDGE)
    if os.path.lexists(path):
        return _make(folder, path, project, settings)
    make_empty_store(folder, settings)
    trust(folder)  # all that it will hold is the user's own
    return 0


def make_empty_store(folder: str, settings: Settings) -> None:
    """Make the store of a project, with nothing in it.

    Raises:
        StoreError: it cannot be made.
    """
    make_folder(folder)
    create_store(folder, fulltext=settings.fulltext, busy_timeout=settings.busy_timeout).close()
    remember(folder)


def _make(folder: str, path: str, project: str, settings: Settings) -> int:
    """Fill a store beside its place, then put it there: nobody meets half of it."""
    from tempfile import TemporaryDirectory

    make_folder(folder)
    _remove_abandoned(folder)
    with TemporaryDirectory(prefix=_NEW, dir=folder) as beside:
        with create_store(beside, fulltext=settings.fulltext) as store:
            count = _read(store, path, project, settings)
        place = os.path.join(folder, FILE)
        if os.path.exists(place) and not os.path.getsize(place):
            os.unlink(place)
        try:
            os.link(os.path.join(beside, FILE), place)
        except FileExistsError:
            return count  # another command was first
    remember(folder)
    return count


def _remove_abandoned(folder: str) -> None:
    """Delete what killed commands left here a day ago or earlier."""
    from shutil import rmtree

    for entry in os.scandir(folder):
        if entry.name.startswith(_NEW) and time() - entry.stat().st_mtime > _DAY:
            rmtree(entry.path, ignore_errors=True)


def _read(store: Store, path: str, project: str, settings: Settings) -> int:
    store.project = project
    with store.faults:
        done = sync(Engine(store, settings, project), path, out=False)
    return done.came_in.added + done.came_in.updated


def _refuse_known_elsewhere(folder: str, project: str) -> None:
    inside = os.path.join(project, SHARED, FILE)
    if os.path.lexists(inside):
        raise NoStore(
            f"{inside}: a database in a project is not opened: if it is yours, run 'lore init', "
            f"then 'LORE_DIR={os.path.dirname(inside)} lore export | lore import -'"
        )
    former = moved_to(place_of(folder) or project)
    if former:
        raise NoStore(f"no store for {project}, which seems to be {former}, moved: run "
                      f"'lore store adopt {former}', or 'lore init' for a new one")  # fmt: skip
