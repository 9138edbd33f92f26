"""The store that calls are answered from: looked up at each of them, and kept open in between."""

from __future__ import annotations

import os

from ..app.engine import Engine, Engines
from ..core.errors import LoreError, NoStore
from ..core.setting_values import OWN_EMBEDDERS
from ..core.settings import BUILT_IN_RETRIEVERS, Settings
from ..store import FILE, open_store
from ..store.filter import Scope
from ..system import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..store import Store

_DEFAULTS = (("max_bytes", "32768"),)
"""Settings where nobody has set them: what clients take without cutting it."""

_MOST_ANSWERS = 100

PATIENCE = 5.0
"""Seconds that a write waits for another one, at the most: a model waits for the answer."""

Stamps = tuple[tuple[int, int, int], ...]


class CurrentStore:
    """The store of the working directory, or of ``LORE_DIR``, as it is when a call comes in.

    ``environ`` is this process's environment, with what ``config.load`` has found; that is
    looked up again only where something has changed that it depends on. ``flags`` are settings
    that stand above all of it.
    """

    def __init__(
        self, environ: Mapping[str, str], here: str, flags: Mapping[str, str] | None = None
    ) -> None:
        self._environ = dict(environ)
        self._flags = flags or {}
        self.here = here
        """The working directory."""
        self._folder = environ.get("LORE_STORE", "")
        self._watched = self._places()
        self._stamps: Stamps | None = None
        self._store: Store | None = None
        self._identity: tuple[int, int] | None = None
        self._engines: Engines | None = None
        self._answers: dict[str, tuple[float, Any]] = {}
        self._answers_to: object = None

    def use_folder(self, folder: str) -> None:
        """Takes this data folder from now on, as if ``LORE_DIR`` named it."""
        self._environ["LORE_DIR"] = os.path.join(self.here, folder)
        self._look_up()

    def engine(self, flags: Mapping[str, str]) -> Engine:
        """Return the engine for a call, under these settings by name.

        Raises:
            UsageError: a setting or a config file is wrong.
            NoStore: there is none; the message says what to do.
            StoreError: it cannot be opened.
        """
        self._follow()
        store = self._opened()
        if self._engines is None:
            self._engines = Engines(Engine(store, self._settings({}), self._root()), self._settings)
        return self._engines.under(flags)

    @property
    def is_projects(self) -> bool:
        """Whether nobody but the place where this process runs has chosen the store."""
        return bool(self.project)

    @property
    def project(self) -> str:
        """The project's folder; empty outside of one."""
        return self._environ.get("LORE_PROJECT", "")

    @property
    def folder(self) -> str:
        """The data folder."""
        return self._folder

    def interrupt(self) -> None:
        """Ends the question that the store is answering; for another thread."""
        store = self._store
        if store is not None:
            store.interrupt()

    def read_ahead(self) -> None:
        """Search for the newest record and walk from it, so that the first call finds the code, the
        vectors and the pages of the store in memory; ask no program for vectors."""
        if _identity(os.path.join(self._folder, FILE)) is None:
            return
        from ..app.search import search

        try:
            own = self._settings({}).embedder in OWN_EMBEDDERS
            legs = " ".join(BUILT_IN_RETRIEVERS if own else BUILT_IN_RETRIEVERS[:1])
            engine = self.engine({"graph_depth": "2", "retrievers": legs, "run": ""})
            with engine.store.faults:
                for node in [*engine.store.nodes.select(Scope(), 1)]:
                    search(engine, node.title)
        except LoreError:  # the first call says it
            return

    def recent_answers(self) -> dict[str, tuple[float, Any]]:
        """Return the cache of answers, by call, with the time of each; a change of the store
        empties it."""
        assert self._store is not None
        state = self._store.changes_seen()
        if state != self._answers_to or len(self._answers) >= _MOST_ANSWERS:
            self._answers, self._answers_to = {}, state
        return self._answers

    def close(self) -> None:
        """Lets go of the store until the next call."""
        self._forget()
        if self._store is not None:
            self._store.close()
            self._store = None

    def _forget(self) -> None:
        self._engines = None
        self._answers = {}

    def _settings(self, flags: Mapping[str, str]) -> Settings:
        """Return the settings of a call: those of this process under what the call sets."""
        settings = Settings.load(environ=self._environ, flags={**self._flags, **flags})
        unset = [(name, text) for name, text in _DEFAULTS if not settings.origins.get(name)]
        return settings.changed(unset, "default:mcp")

    def _root(self) -> str:
        return self.project or self.here

    def _opened(self) -> Store:
        identity = self._found()
        if identity is None and self.is_projects:
            self._look_up()  # the project may have another store
            identity = self._found()
        if identity is None or identity != self._identity:
            self.close()
        if identity is None:
            self._store = self._make()
        elif self._store is None:
            self._store = self._open()
            self._identity = identity
        return self._store

    def _found(self) -> tuple[int, int] | None:
        return _identity(os.path.join(self._folder, FILE)) if self._folder else None

    def _make(self) -> Store:
        """Make the store of a project that shares knowledge, as its first command would."""
        if not self.is_projects:
            raise NoStore(self._where_to_init())
        from ..app.sync import first_store
        from ..terminal.output import note

        store = first_store(self.project, self._settings({}), note)
        self._folder = os.path.dirname(store.path)
        return store

    def _open(self) -> Store:
        patience = min(PATIENCE, self._settings({}).busy_timeout)
        store = open_store(self._folder, busy_timeout=patience)
        store.project = self.project or store.project
        store.cache_reads()
        return store

    def _where_to_init(self) -> str:
        if self._environ.get("LORE_DIR"):
            return f"no store in {self._folder}: run 'lore init'"
        return f"no store for {self.here}: run 'lore init' in the project"

    def _follow(self) -> None:
        """Looks the data folder and the config files up again, if anything there has changed."""
        stamps = self._seen()
        if self._stamps is None:
            self._stamps = stamps  # this process has just looked
        elif stamps != self._stamps:
            self._look_up()

    def _look_up(self) -> None:
        before = self._folder
        config.load(self._environ, self.here)
        self._folder = self._environ.get("LORE_STORE", "")
        self._watched = self._places()
        self._stamps = self._seen()
        self._forget()
        if self._folder != before:
            self.close()

    def _places(self) -> tuple[str, ...]:
        """Folders and files whose coming and going says that something else holds now."""
        above, places = self.here, []
        while not self._environ.get("LORE_DIR"):
            places += [os.path.join(above, ".lore"), os.path.join(above, ".git")]
            if above == os.path.dirname(above):
                break
            above = os.path.dirname(above)
        config = self._environ.get("XDG_CONFIG_HOME", "")
        if not config.startswith("/"):
            config = os.path.join(self._environ.get("HOME", "/"), ".config")
        files = [os.path.join(config, "lore", "config")]
        if self._folder:
            shared = os.path.join(self.project, ".lore") if self.project else self._folder
            files.append(os.path.join(shared, ".config"))
        return (*places, *files)

    def _seen(self) -> Stamps:
        return tuple(map(_stamp, self._watched))


_NOTHING = (0, 0, 0)
_KIND, _FOLDER = 0o170000, 0o040000


def _stamp(path: str) -> tuple[int, int, int]:
    """Return what tells a file from what it was before; of a folder that it is the same one."""
    try:
        status = os.stat(path)
    except OSError:
        return _NOTHING
    if status.st_mode & _KIND == _FOLDER:
        return (status.st_dev, status.st_ino, 0)
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)
