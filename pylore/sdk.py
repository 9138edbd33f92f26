"""The engine for Python programs: the same one that the commands call."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .anchors.verify import rows
from .app import code, find
from .app.ask import AskResult, ask
from .app.audit import audit
from .app.engine import Engine
from .app.find import words
from .app.sync import first_store, make_store
from .context.results import by_worth
from .core.errors import LoreError, NoStore, UsageError, nearest
from .core.json import dumps
from .core.model import Edge, Hit, Hits, Node
from .core.settings import BY_NAME, GIVEN, Settings
from .core.times import parse_since
from .graph.queries import stats
from .records.records import Change, Records
from .records.runs import RunOutcome, Runs
from .records.undo import told_history
from .store import FILE, Store, create_store, open_store
from .store.filter import Scope
from .store.resolve_id import resolve_id
from .system import config
from .system.stores import claim

if TYPE_CHECKING:
    from .code.cochanges import CoChanges
    from .context.build import Context

Given = ParamSpec("Given")
Made = TypeVar("Made")
Words = Iterable[str]
"""Several words; one may be given alone."""


class SdkResult(dict[str, Any]):
    """One result as the commands print it: ``row["id"]`` is ``row.id``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no field '{name}'") from None

    def to_json(self) -> str:
        """Return the result as JSON on one line."""
        return dumps(self)


class AnchorResult(SdkResult):
    """An anchor with its id and its verdict.

    ``state`` is only there after ``anchor``; ``claim`` (in words), ``new`` (against it) and
    ``places`` only for a rule.
    """

    anchor_id: str
    id: str
    title: str
    kind: str
    path: str
    detail: str | None
    verdict: str
    reason: str | None
    similarity: float | None
    verified_at: str
    state: str
    claim: str
    new: bool
    places: list[dict[str, Any]]

    @classmethod
    def of(cls, row: dict[str, Any]) -> AnchorResult:
        """Return the result for a row of ``lore verify``."""
        key = (row["id"], row["kind"], row["path"], row["detail"] or "")
        return cls(anchor_id=anchor_id(*key), **row)


def anchor_id(node_id: str, kind: str, path: str, detail: str) -> str:
    """Return the id of an anchor, by what it ties to which place.

    >>> anchor_id("decision-a", "file", "a.py", "")
    'anchor-30d0d964'
    """
    return "anchor-" + sha256("\0".join((node_id, kind, path, detail)).encode()).hexdigest()[:8]


def _of_records(
    method: Callable[Concatenate[Records, Given], Made],
) -> Callable[Concatenate[Lore, Given], Made]:
    """Make a method of ``Lore`` of one of ``Records``."""

    @wraps(method)
    def call(self: Lore, /, *given: Given.args, **named: Given.kwargs) -> Made:
        return method(self._records, *given, **named)

    return call


class Lore:
    """One store, open for reading and writing; use it in a ``with``, or ``close`` it.

    Threads may share one, and so may forked processes: each gets a connection. Several processes
    may use one folder: writers wait for each other up to ``busy_timeout`` seconds. Every writing
    method is one transaction.

    Methods raise UsageError for a wrong type, relation, date or setting, and LoreError for what is
    not there. ``settings`` are settings for a call alone (``graph_depth=2, edges="implements"``).

    Args:
        folder, create, retriever, settings: those of ``pylore.open``.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, *, create: bool = False,
        retriever: Callable[..., Any] | None = None, **settings: object,
    ) -> None:  # fmt: skip
        found = dict(os.environ)
        if folder is not None:
            found["LORE_DIR"] = os.path.abspath(os.fspath(folder))
        config.load(found)
        if not found["LORE_STORE"]:
            raise NoStore("no data folder: set HOME or LORE_DIR, or name the folder of a store")
        if retriever is not None and not callable(retriever):
            raise TypeError("retriever is not callable")
        self.folder = found["LORE_STORE"]
        self._project, self._config = found["LORE_PROJECT"], found["LORE_FROM_CONFIG"]
        self._retriever, self._flags = retriever, _flags(settings)
        self.settings = self._settings({})
        self._engines: dict[tuple[int, int], Engine] = {}
        self._lock = threading.Lock()
        if create and self._project and not os.path.exists(os.path.join(self.folder, FILE)):
            self.folder = claim(self._project)
            make_store(self.folder, self._project, self.settings)
        elif create:
            create_store(self.folder, busy_timeout=self.settings.busy_timeout).close()
        self._open()

    # --- find

    def search(self, query: str = "", **options: Any) -> Hits:
        """Return what matches ``query``, best first, and what is connected to it.

        Options are those of ``app.find.search`` (``near``, ``types``, ``statuses``, ``tags``,
        ``files``, ``since``, ``min_score``, ``exclude``, ``explain``, …), and settings.
        """
        return self._call(find.search, query, shown=query, **options)

    def related(self, id: str = "", **options: Any) -> Hits:
        """Return what is connected to a node, nearest first, or known about a file, records first.

        Options are those of ``app.find.related`` (``near``: files in place of an id; ``hops``,
        ``types``, ``exclude``, …), and settings.
        """
        names = [id] if id or not options.get("near") else []
        given = {"here": os.getcwd(), **options}
        return self._call(find.related, names, shown=f"related {id}", **given)

    def expand_with_graph(self, ids: Words, *, depth: int = 2, **options: Any) -> Hits:
        """Return what the graph connects to all of these nodes, up to ``depth`` (1 to 3) hops."""
        shown = f"related {' '.join(ids := words(ids))}"
        return self._call(find.related, ids, shown=shown, hops=depth, **options)

    def prioritize_nodes(self, hits: Hits) -> Sequence[Hit]:
        """Return results in the order in which a prompt takes them: code by score × hop decay."""
        return by_worth(hits, self.settings.hop_decay)

    def context(self, question: str, **options: Any) -> Context:
        """Return what the store has on a question, or on the task of this id, as ``text``.

        Options are those of ``app.find.context`` (``form``: ``narrative``, ``prompt``, ``json`` or
        ``mermaid``; ``types``, ``files``, ``with_superseded``), and settings (``budget``).
        ``receipt()`` says what the text holds.
        """
        return self._call(find.context, question, shown=question, **options)

    def build_graph_context(self, question: str, **options: Any) -> str:
        """Return the text of ``context`` in the form for a model."""
        return self.context(question, form="prompt", **options).text

    def ask(self, question: str, **options: Any) -> AskResult:
        """Return the answer of the setting ``llm_command`` to a question, and what it rests on.

        Options are those of ``app.ask.ask`` (``types``, ``files``, ``rounds``,
        ``with_superseded``), and settings.
        """
        return self._call(ask, question, shown=question, **options)

    def show(self, id: str, *, history: bool = False) -> SdkResult:
        """Return one node with its edges and anchors, as ``lore show`` prints it."""
        return SdkResult(self._call(find.show, [id], history=history)[0])

    def path(self, from_id: str, to_id: str, max_hops: int | None = None) -> SdkResult:
        """Return the shortest way between two nodes; ``hops`` is None where there is none."""
        return SdkResult(self._call(find.path, from_id, to_id, max_hops))

    def get(self, id: str) -> Node | None:
        """Return one node, forgotten or not; None if there is none."""
        with self._engine() as engine:
            return engine.store.nodes.get(resolve_id(engine.store, id))

    def edges(self, id: str) -> list[Edge]:
        """Return the live edges of one node, both directions."""
        with self._engine() as engine:
            return engine.store.edges.of(resolve_id(engine.store, id))

    def list(
        self, *, types: Words = (), tags: Words = (), statuses: Words = (), since: str = "",
        limit: int | None = None,
    ) -> Sequence[Node]:  # fmt: skip
        """Return live nodes, the last changed first."""
        with self._engine() as engine:
            scope = Scope(
                types=engine.store.types.require(words(types)), tags=words(tags),
                statuses=words(statuses), since=parse_since(since) if since else "",
            )  # fmt: skip
            return [*engine.store.nodes.select(scope, -1 if limit is None else limit)]

    def stats(self) -> SdkResult:
        """Return counts of nodes, edges and runs, as ``lore graph stats`` prints them."""
        with self._engine() as engine:
            return SdkResult(stats(engine.store), **audit(engine.store, self.settings))

    def history(self, id: str) -> Sequence[SdkResult]:
        """Return the states that a node has left, as ``lore show --history`` has them."""
        with self._engine() as engine:
            node = engine.store.nodes.require(resolve_id(engine.store, id))
            return [SdkResult(one) for one in told_history(engine.store, node)]

    # --- code

    def index(self, below: str = "", **options: Any) -> SdkResult:
        """Read the project's files (all, or those ``below`` a folder); return counts.

        Options are those of ``app.code.index`` (``languages``, ``since``, ``history``), and
        settings.
        """
        return SdkResult(self._call(code.index, below, **options))

    def analyze_cochanges(self, **options: Any) -> CoChanges:
        """Return which files change together in git's history (``since``, ``keep_commits``)."""
        return self._call(code.analyze_cochanges, **options)

    def anchor(self, id: str, file: str, kind: str = "", detail: str = "") -> AnchorResult:
        """Tie a node to code: ``kind`` is ``glob``, ``hash``, ``symbol``, ``lines`` or empty.

        ``detail`` is the symbol, or the lines as ``10-20``.
        """
        return AnchorResult.of(self._call(code.anchor, id, file, kind, detail))

    def verify(self, *ids: str) -> Sequence[AnchorResult]:
        """Judge these anchors, the anchors of these nodes, or all, and keep the verdicts.

        ``similarity``, 0 to 1, says how like the code of a relocated anchor is to what it was.
        """
        wanted = {id for id in ids if id.startswith("anchor-")}
        nodes = {*ids} - wanted
        with self._engine() as engine:
            of = {anchor_id(*one.key): one.node_id for one in engine.store.anchors.live(())}
            if wanted - of.keys():
                raise LoreError(f"no anchor '{min(wanted - of.keys())}': see 'verify()'")
            found = code.verify(engine, sorted(nodes | {of[id] for id in wanted}))
            shown = [new for old, new in found.found if not wanted or old.node_id in nodes
                     or anchor_id(*old.key) in wanted]  # fmt: skip
            return [AnchorResult.of(row) for row in rows(engine.store, shown, found.claims)]

    def anchors_for_file(self, file: str) -> Sequence[AnchorResult]:
        """Return the anchors that tie something to this file, by globs too."""
        return [AnchorResult.of(row) for row in self._call(code.anchors_for_file, file)]

    # --- write

    add = _of_records(Records.add)
    fact = _of_records(Records.fact)
    link = _of_records(Records.link)
    unlink = _of_records(Records.unlink)
    edit = _of_records(Records.edit)

    def forget(self, *ids: str, purge: bool = False) -> Sequence[Change]:
        """Invalidate nodes with their edges; ``purge`` deletes them."""
        return self._records.forget(ids, purge=purge)

    def restore(self, *ids: str, at: str = "") -> Sequence[Change]:
        """Bring forgotten nodes back, with their edges; ``A, relation, B`` are an edge.

        ``at`` is the number of a state, as ``history`` has it, or a time at which it stood.
        """
        return self._records.restore(ids, at=at)

    def undo(self, *ids: str) -> Sequence[Change]:
        """Take back the last change of each of these nodes, or the last command as a whole."""
        return self._records.undo(ids)

    def start_run(self, task: str = "") -> str:
        """Return the id of a new run; ``search(…, run=id)`` records in it what was shown."""
        return Runs(self._open().store).start(task)

    def finish_run(self, run: str, helpful: Words = (), unhelpful: Words = ()) -> RunOutcome:
        """Link what the run was shown to it, rated or not."""
        return Runs(self._open().store).finish(run, words(helpful), words(unhelpful))

    def rate(self, ids: Words, rating: str, run: str = "") -> Sequence[SdkResult]:
        """Rate records ``helpful`` or ``unhelpful``, in a run or in this day's own."""
        return [SdkResult(one) for one in Runs(self._open().store).rate(words(ids), rating, run)[0]]

    # --- open and close

    def close(self) -> None:
        """Close the store, in every thread; a later call opens it again."""
        with self._lock:
            for process, thread in [*self._engines]:
                if process == os.getpid():
                    self._engines.pop((process, thread)).store.close()

    def __enter__(self) -> Lore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(
        self, function: Callable[..., Made], *given: Any, shown: str | None = None, **options: Any
    ) -> Made:
        """Call a function of app with the options that it has, under the others, as settings.

        What it found is recorded in the run of the settings, if there is one, as ``shown`` for a
        query.
        """
        own = {name: options.pop(name) for name in function.__kwdefaults__ or () if name in options}
        with self._engine(options) as engine:
            found = function(engine, *given, **own)
            if shown is not None:
                of: Any = found.context if isinstance(found, AskResult) else found
                of.notes.extend(find.record_shown(engine, shown, of.ids))
        return found

    @contextmanager
    def _engine(self, settings: Mapping[str, object] | None = None) -> Iterator[Engine]:
        """Yield the engine of this thread, under settings of a call."""
        engine = self._open()
        with engine.store.faults:
            yield engine.under(self._settings(settings)) if settings else engine

    def _open(self) -> Engine:
        """Return the engine of this thread and process."""
        # SQLite forbids the use of a connection on the other side of a fork.
        user = (os.getpid(), threading.get_ident())
        with self._lock:
            if user not in self._engines:
                store = self._opened()
                self._engines[user] = Engine(store, self.settings, store.project)
            return self._engines[user]

    def _opened(self) -> Store:
        try:
            store = open_store(self.folder, busy_timeout=self.settings.busy_timeout)
        except NoStore:
            if not self._project:
                raise
            store = first_store(self._project, self.settings, lambda text: None)
            self.folder = os.path.dirname(store.path)
        store.project = self._project or store.project
        return store

    @property
    def _records(self) -> Records:
        return self._open().records()

    def _settings(self, given: Mapping[str, object]) -> Settings:
        environ = {**os.environ, "LORE_FROM_CONFIG": self._config}
        settings = Settings.load(environ=environ, flags={**self._flags, **_flags(given)})
        settings.given = self._retriever
        if self._retriever is not None and "retrievers" not in given:
            settings.retrievers = (*dict.fromkeys((*settings.retrievers, GIVEN)),)
        return settings


def _flags(values: Mapping[str, object]) -> dict[str, str]:
    """Return settings, by name or by the name of their option, as text."""
    options = {setting.option.replace("-", "_"): name for name, setting in BY_NAME.items()}
    flags = {}
    for key, value in values.items():
        name = options.get(key, key)
        if name not in BY_NAME:
            raise UsageError(f"unknown setting '{key}'{nearest(key, list(BY_NAME))}")
        flags[name] = _as_text(value)
    return flags


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Mapping):
        return " ".join(f"{key}={weight}" for key, weight in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return " ".join(map(str, value))
    return str(value)
