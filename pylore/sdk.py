"""The engine for Python programs: the same one that the commands call."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .core.errors import LoreError, UsageError, nearest
from .core.model import Edge, Hits, Node
from .core.settings import BY_NAME, Settings
from .core.times import parse_since
from .embed import open_embedder
from .graph.stats import stats
from .records.impressions import keep_shown
from .records.records import Change, Records
from .records.runs import RunOutcome, Runs
from .search.file_context import Near, named
from .search.pipeline import Request, search
from .search.related import about_files, related
from .store import Store, create_store, open_store
from .store.filter import Scope, require_statuses
from .system.programs import find_program

if TYPE_CHECKING:
    from .embed import Embedder


class Lore:
    """One store, open for reading and writing; use it in a ``with``, or ``close`` it.

    Several threads may share one: each gets a connection of its own, and so does
    a forked process. Several processes may use one folder: writers wait for each
    other up to ``busy_timeout`` seconds. Every writing method is one transaction.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, create: bool = False, **settings: object
    ) -> None:
        self.folder = os.path.abspath(os.fspath(folder))
        self._flags = _flags(settings)
        self._config = _config(self.folder)
        self.settings = self._settings({})
        self._stores: dict[tuple[int, int], tuple[Store, Embedder | None]] = {}
        self._lock = threading.Lock()
        if create:
            create_store(
                self.folder,
                fulltext=self.settings.fulltext,
                busy_timeout=self.settings.busy_timeout,
            ).close()
        self._open()

    def search(
        self,
        query: str = "",
        *,
        near: Iterable[str] = (),
        types: Iterable[str] = (),
        statuses: Iterable[str] = (),
        tags: Iterable[str] = (),
        files: Iterable[str] = (),
        since: str = "",
        filter_expanded: bool = False,
        exclude: Iterable[str] = (),
        explain: bool = False,
        **settings: object,
    ) -> Hits:
        """What matches ``query``, best first, and what is connected to it.

        ``near`` names files (globs from the project's root, or ``@git``): what is tied to
        them is found as well, with a query or without. ``types`` and ``statuses`` say what
        may be returned (superseded and retracted nodes only where ``statuses`` has that
        word); ``tags``, ``files`` (globs) and ``since`` (a date, or an age as ``7d``)
        where the walk may start; ``settings`` are settings for this search alone
        (``graph_depth=2, edges="implements"``).

        Raises:
            UsageError: a type, a relation, a date or a setting is wrong.
        """
        store, embedder = self._open()
        with store.faults, store.snapshot():
            scope = Scope(
                types=store.types.require(_words(types)),
                statuses=require_statuses(_words(statuses)),
                tags=_words(tags),
                files=_words(files),
                since=parse_since(since) if since else "",
            )
            request = Request(
                query, scope, filter_expanded=filter_expanded, explain=explain,
                excluded=_words(exclude), near=self._near(near),
            )  # fmt: skip
            chosen = self._settings(settings)
            hits = search(store, chosen, request, embedder)
        return self._record(store, chosen, query, hits)

    def related(
        self,
        id: str = "",
        *,
        near: Iterable[str] = (),
        hops: int = 1,
        types: Iterable[str] = (),
        **settings: object,
    ) -> Hits:
        """What is connected to a node, nearest first, up to ``hops`` (1 to 3) edges away.

        In place of an id there may be the path of a file, or files ``near``, as in
        ``search``: then it is what is known about them, records first.

        Raises:
            LoreError: there is no such node.
            UsageError: ``hops`` or a setting is out of range, or a type is not known.
        """
        most = int(BY_NAME["graph_depth"].high)
        if hops not in range(1, most + 1):
            raise UsageError(f"hops is {hops}: give a whole number from 1 to {most}")
        store, _ = self._open()
        chosen = self._settings({"graph_depth": hops, **settings})
        with store.faults, store.snapshot():
            wanted = store.types.require(_words(types))
            files = self._near(near)
            if files is None and (not id or store.nodes.get(id) is not None):
                store.nodes.require(id)
                hits = related(store, chosen, [id], types=wanted)
            else:
                files = named(store, files or Near(self._root), [id] if id else [])
                ids = [id] if store.nodes.get(id) is not None else []
                hits = about_files(store, chosen, files, ids, types=wanted)
        return self._record(store, chosen, f"related {id}", hits)

    def get(self, id: str) -> Node | None:
        """One node, forgotten or not; None if there is none."""
        store, _ = self._open()
        with store.faults:
            return store.nodes.get(id)

    def edges(self, id: str) -> list[Edge]:
        """The live edges of one node, both directions."""
        store, _ = self._open()
        with store.faults:
            return store.edges.of(id)

    def list(
        self,
        *,
        types: Iterable[str] = (),
        tags: Iterable[str] = (),
        statuses: Iterable[str] = (),
        since: str = "",
        limit: int | None = None,
    ) -> Sequence[Node]:
        """Live nodes, the last changed first.

        Raises:
            UsageError: a type or a date is wrong.
        """
        store, _ = self._open()
        with store.faults:
            scope = Scope(
                types=store.types.require(_words(types)),
                tags=_words(tags),
                statuses=_words(statuses),
                since=parse_since(since) if since else "",
            )
            return store.nodes.select(scope, -1 if limit is None else limit)

    def stats(self) -> dict[str, Any]:
        """Counts of nodes and edges, degrees, orphans, components, dangling edges."""
        store, _ = self._open()
        with store.faults:
            return stats(store)

    def add(self, type: str, text: str, **fields: Any) -> Change:
        """Adds a record; the fields are those of ``Records.add`` (title, why, tags, …)."""
        return self._records().add(type, text, **fields)

    def fact(self, subject: str, predicate: str, object: str, **fields: Any) -> Change:
        """States a fact; the fields are those of ``Records.fact``."""
        return self._records().fact(subject, predicate, object, **fields)

    def link(self, from_id: str, relation: str, to_id: str, **fields: Any) -> Change:
        """Links two nodes; the fields are those of ``Records.link``."""
        return self._records().link(from_id, relation, to_id, **fields)

    def unlink(self, from_id: str, relation: str, to_id: str) -> Change:
        """Takes a link away; its history keeps it."""
        return self._records().unlink(from_id, relation, to_id)

    def edit(self, id: str, **changes: Any) -> Change:
        """Changes fields of a record; the fields are those of ``Records.edit``."""
        return self._records().edit(id, **changes)

    def forget(self, *ids: str, purge: bool = False) -> Sequence[Change]:
        """Invalidates nodes with their edges; ``purge`` deletes them."""
        return self._records().forget(ids, purge=purge)

    def restore(self, *ids: str) -> Sequence[Change]:
        """Brings forgotten nodes back, with their edges."""
        return self._records().restore(ids)

    def start_run(self, task: str = "") -> str:
        """The id of a new run; ``search(…, run=id)`` records in it what was shown."""
        return Runs(self._open()[0]).start(task)

    def finish_run(
        self, run: str, helpful: Iterable[str] = (), unhelpful: Iterable[str] = ()
    ) -> RunOutcome:
        """Links what the run was shown to it, rated or not."""
        return Runs(self._open()[0]).finish(run, _words(helpful), _words(unhelpful))

    def rate(self, ids: Iterable[str], rating: str, run: str = "") -> Sequence[dict[str, Any]]:
        """Rates records ``helpful`` or ``unhelpful``, in a run or in this day's own.

        Raises:
            UsageError: ``rating`` is another word.
        """
        return Runs(self._open()[0]).rate(_words(ids), rating, run)[0]

    def close(self) -> None:
        """Lets go of the store, in every thread; a later call opens it again."""
        with self._lock:
            for process, thread in list(self._stores):
                if process == os.getpid():
                    self._stores.pop((process, thread))[0].close()

    def __enter__(self) -> Lore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> tuple[Store, Embedder | None]:
        """This thread's own connection and embedder."""
        # SQLite forbids the use of a connection on the other side of a fork.
        user = (os.getpid(), threading.get_ident())
        with self._lock:
            if user not in self._stores:
                store = open_store(self.folder, busy_timeout=self.settings.busy_timeout)
                with store.faults:
                    embedder = open_embedder(self.settings.embedder, store, self.settings)
                self._stores[user] = (store, embedder)
            return self._stores[user]

    def _record(self, store: Store, settings: Settings, query: str, hits: Hits) -> Hits:
        """The same hits, recorded in the run of the settings, if there is one."""
        if settings.run:
            said = keep_shown(store, settings, query, (hit.id for hit in hits))
            hits.notes.extend(filter(None, [said]))
        return hits

    def _near(self, globs: Iterable[str]) -> Near | None:
        names = _words(globs)
        return Near(self._root, names) if names else None

    @property
    def _root(self) -> str:
        """The folder that paths in the store start from."""
        return os.path.dirname(self.folder)

    def _records(self) -> Records:
        store, embedder = self._open()
        return Records(store, self.settings, embedder, self._root)

    def _settings(self, extra: Mapping[str, object]) -> Settings:
        environ = {**os.environ, "LORE_FROM_CONFIG": self._config}
        return Settings.load(environ=environ, flags={**self._flags, **_flags(extra)})


def _flags(values: Mapping[str, object]) -> dict[str, str]:
    """Settings by name, or by the name of their option, as text."""
    options = {setting.option.replace("-", "_"): name for name, setting in BY_NAME.items()}
    flags = {}
    for key, value in values.items():
        name = options.get(key, key)
        if name not in BY_NAME:
            raise UsageError(f"unknown setting '{key}'{nearest(key, list(BY_NAME))}")
        flags[name] = _as_text(value)
    return flags


def _words(value: Iterable[str]) -> tuple[str, ...]:
    """One word may be given for a list of one."""
    return (value,) if isinstance(value, str) else tuple(value)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Mapping):
        return " ".join(f"{key}={weight}" for key, weight in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return " ".join(map(str, value))
    return str(value)


def _config(folder: str) -> str:
    """What ``lib/config.sh``, the one reader of config files, finds for this folder."""
    reader = _reader()
    if reader is None:
        return ""
    environ = {key: value for key, value in os.environ.items() if key != "LORE_FROM_CONFIG"}
    bash = find_program("bash")
    if bash is None:
        raise LoreError("bash, which reads the config files, is not on the PATH: install it")
    done = subprocess.run(
        [bash, reader, folder], env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UsageError(done.stderr.strip().removeprefix("lore: ") or "a config file is wrong")
    return done.stdout


def _reader() -> str | None:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for root in (here, os.path.join(sys.prefix, "share", "lore")):
        path = os.path.join(root, "lib", "config.sh")
        if os.path.exists(path):
            return path
    return None
