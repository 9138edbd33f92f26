"""The engine for Python programs: the same one that the commands call."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .app.ask import AskResult, ask
from .app.code import (
    analyze_cochanges,
    anchor,
    anchors_for_file,
    index,
    verified_rows,
    verify,
)
from .app.context import context
from .app.engine import Engine
from .app.related import path, related
from .app.results import AnchorResult, SdkResult, anchor_id, anchor_result
from .app.run_audit import audit
from .app.search import record_ids, record_shown, search
from .app.show import show
from .app.sync import first_store, make_store
from .context.results import by_worth
from .core.errors import LoreError, NoStore, UsageError, nearest
from .core.model import Edge, Hit, Hits, Node
from .core.settings import BY_NAME, Settings
from .core.times import parse_since
from .embed import open_embedder
from .graph.queries import stats
from .records.records import Change, Records
from .records.runs import RunOutcome, Runs
from .records.undo import told_history
from .search.external import given
from .store import FILE, create_store, open_store
from .store.filter import Scope
from .store.resolve_id import resolve_id
from .system import config
from .system.stores import claim

if TYPE_CHECKING:
    from .code.cochanges import CoChanges
    from .context.build import Context
    from .embed import Embedder
    from .store import Store


class Lore:
    """One store, open for reading and writing; use it in a ``with``, or ``close`` it.

    Several threads may share one: each gets a connection of its own, and so does
    a forked process. Several processes may use one folder: writers wait for each
    other up to ``busy_timeout`` seconds. Every writing method is one transaction. ``retriever``
    is called with what an executable retriever gets and returns ``[{"id", "score"}]``.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, *, create: bool = False,
        retriever: Callable[..., Any] | None = None, **settings: object,
    ) -> None:  # fmt: skip
        found = _found() if folder is None else {}
        self.folder = os.path.abspath(os.fspath(folder or found["LORE_STORE"]))
        self._project = found.get("LORE_PROJECT", "")
        self._flags = _flags(settings)
        self._config = found["LORE_FROM_CONFIG"] if found else _config(self.folder)
        self.settings = self._settings({})
        if retriever is not None:
            self._retriever = partial(retriever)  # whose end a weak reference sees
            name = f"given-{id(self._retriever):x}"
            given[name] = self._retriever
            self._flags["retrievers"] = " ".join((*self.settings.retrievers, name))
            self.settings = self._settings({})
        self._stores: dict[tuple[int, int], tuple[Store, Embedder | None]] = {}
        self._lock = threading.Lock()
        if create and self._project and not os.path.exists(os.path.join(self.folder, FILE)):
            self.folder = claim(self._project)
            make_store(self.folder, self._project, self.settings)
        elif create:
            create_store(self.folder, busy_timeout=self.settings.busy_timeout).close()
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
        min_score: float = 0.0,
        exclude: Iterable[str] = (),
        explain: bool = False,
        **settings: object,
    ) -> Hits:
        """Return what matches ``query``, best first, and what is connected to it.

        ``near`` names files (globs from the project's root, ``@git``, ``@session``): what is tied
        to them is found as well, with a query or without. ``types`` and ``statuses`` say what
        may be returned (superseded and retracted nodes only where ``statuses`` has that
        word); ``tags``, ``files`` (globs) and ``since`` (a date, or an age as ``7d``)
        where the walk may start. Results below ``min_score`` (0 to 1) are left out;
        ``settings`` are settings for this search alone
        (``graph_depth=2, edges="implements"``).

        Raises:
            UsageError: a type, a relation, a date or a setting is wrong.
        """
        engine = self._engine(settings)
        with engine.store.faults:
            hits = search(engine, 
                query, near=_words(near), types=_words(types), statuses=_words(statuses),
                tags=_words(tags), files=_words(files), since=since,
                filter_expanded=filter_expanded, min_score=min_score,
                exclude=_words(exclude), explain=explain,
            )  # fmt: skip
            return _recorded(engine, query, hits)

    def related(
        self,
        id: str = "",
        *,
        near: Iterable[str] = (),
        hops: int = 1,
        types: Iterable[str] = (),
        **settings: object,
    ) -> Hits:
        """Return what is connected to a node, nearest first, up to ``hops`` (1 to 3) edges away.

        In place of an id there may be the path of a file, or files ``near``, as in
        ``search``: then it is what is known about them, records first.

        Raises:
            LoreError: there is no such node.
            UsageError: ``hops`` or a setting is out of range, or a type is not known.
        """
        engine = self._engine(settings)
        with engine.store.faults:
            hits = related(
                engine, [id] if id or not near else [], near=_words(near), hops=hops,
                types=_words(types), here=os.getcwd(),
            )  # fmt: skip
            return _recorded(engine, f"related {id}", hits)

    def context(
        self,
        question: str,
        *,
        form: str = "narrative",
        types: Iterable[str] = (),
        files: Iterable[str] = (),
        with_superseded: bool = False,
        **settings: object,
    ) -> Context:
        """Return what the store has on a question, or on the task of this id, as text in ``form``.

        ``form`` is ``narrative``, ``prompt``, ``json`` or ``mermaid``; ``budget=…`` (tokens) is
        one of the settings. ``Context.text`` is the text, ``receipt()`` says what it holds.
        ``with_superseded``: facts that are superseded come too, and say so.

        Raises:
            UsageError: a type, the form or a setting is wrong.
        """
        engine = self._engine(settings)
        with engine.store.faults:
            found = context(
                engine, question, form=form, types=_words(types), files=_words(files),
                with_superseded=with_superseded,
            )  # fmt: skip
            return _recorded_context(engine, found)

    def expand_with_graph(
        self, ids: Iterable[str], *, depth: int = 2, types: Iterable[str] = (), **settings: object
    ) -> Hits:
        """Return what the graph connects to all of these nodes, up to ``depth`` (1 to 3) hops.

        Raises:
            LoreError: there is no such node.
        """
        engine = self._engine(settings)
        with engine.store.faults:
            ids = _words(ids)
            hits = related(engine, ids, hops=depth, types=_words(types))
            return _recorded(engine, f"related {' '.join(ids)}", hits)

    def prioritize_nodes(self, hits: Hits) -> Sequence[Hit]:
        """Return results in the order in which a prompt takes them: code by score × hop decay."""
        return by_worth(hits, self.settings.hop_decay)

    def build_graph_context(self, question: str, **settings: Any) -> str:
        """Return the text of ``context`` in the form for a model."""
        return self.context(question, form="prompt", **settings).text

    def ask(
        self,
        question: str,
        *,
        types: Iterable[str] = (),
        files: Iterable[str] = (),
        rounds: int = 0,
        with_superseded: bool = False,
        **settings: object,
    ) -> AskResult:
        """Return the answer of the setting ``llm_command`` to a question, and what it rests on.

        Up to ``rounds`` times the model may first name what it still needs; ``needed`` of the
        result has it.

        Raises:
            LoreError: no model is set, the store has nothing on this, the command fails.
        """
        engine = self._engine(settings)
        with engine.store.faults:
            answer = ask(
                engine, question, types=_words(types), files=_words(files), rounds=rounds,
                with_superseded=with_superseded,
            )  # fmt: skip
            _recorded_context(engine, answer.context)
            return answer

    def show(self, id: str, *, history: bool = False) -> SdkResult:
        """One node with its edges and anchors, as ``lore show`` prints it.

        Raises:
            LoreError: there is no such node.
        """
        engine = self._engine({})
        with engine.store.faults:
            return SdkResult(show(engine, [id], history=history)[0])

    def path(self, from_id: str, to_id: str, max_hops: int | None = None) -> SdkResult:
        """Return the shortest way between two nodes; ``hops`` is None where there is none.

        Raises:
            LoreError: there is no such node.
        """
        engine = self._engine({})
        with engine.store.faults:
            return SdkResult(path(engine, from_id, to_id, max_hops))

    def index(
        self,
        below: str = "",
        *,
        languages: Iterable[str] = (),
        since: str = "",
        history: bool = True,
        **settings: object,
    ) -> SdkResult:
        """Reads the project's files (all, or those ``below`` a folder) into the graph.

        ``since`` is a commit; ``history``: co-changes too, where they are due. Returns
        counts, as ``lore index`` prints them.

        Raises:
            LoreError: no such folder, commit or language.
        """
        engine = self._engine(settings)
        with engine.store.faults:
            found = index(engine, below, languages=_words(languages), since=since, history=history)
            return SdkResult(found)

    def analyze_cochanges(
        self, *, since: str = "", keep_commits: bool = False, **settings: object
    ) -> CoChanges:
        """Return which files change together, from git's history since a time as git takes it.

        Raises:
            LoreError: the project is not a git repository with a commit.
        """
        engine = self._engine(settings)
        with engine.store.faults:
            return analyze_cochanges(engine, since=since, keep_commits=keep_commits)

    def anchor(self, id: str, file: str, kind: str = "", detail: str = "") -> AnchorResult:
        """Ties a node to code: ``kind`` is ``glob``, ``hash``, ``symbol``, ``lines`` or empty.

        ``detail`` is the symbol, or the lines as ``10-20``. Returns the anchor with its
        verdict and ``state``.

        Raises:
            LoreError: no such node, file or symbol.
        """
        engine = self._engine({})
        with engine.store.faults:
            return anchor_result(anchor(engine, id, file, kind, detail))

    def verify(self, *ids: str) -> Sequence[AnchorResult]:
        """Judges these anchors, the anchors of these nodes, or all, and keeps the verdicts.

        Of an anchor that has gone elsewhere ``similarity``, 0 to 1, says how like it was the
        code there is: where it is another body, the anchor has drifted.

        Raises:
            LoreError: a node has no anchors, or there is no such anchor.
        """
        engine = self._engine({})
        wanted = {id for id in ids if id.startswith("anchor-")}
        with engine.store.faults:
            nodes = {one for one in ids if one not in wanted}
            of = {anchor_id(*one.key): one.node_id for one in engine.store.anchors.live(())}
            if wanted - of.keys():
                raise LoreError(f"no anchor '{min(wanted - of.keys())}': see 'verify()'")
            found = verify(engine, sorted(nodes | {of[id] for id in wanted}))
            found.found = [
                (old, new) for old, new in found.found
                if not wanted or old.node_id in nodes or anchor_id(*old.key) in wanted
            ]  # fmt: skip
            return [anchor_result(row) for row in verified_rows(engine, found)]

    def anchors_for_file(self, file: str) -> Sequence[AnchorResult]:
        """Return the anchors that tie something to this file, by globs too."""
        engine = self._engine({})
        with engine.store.faults:
            return [anchor_result(row) for row in anchors_for_file(engine, file)]

    def get(self, id: str) -> Node | None:
        """One node, forgotten or not; None if there is none."""
        store, _ = self._open()
        with store.faults:
            return store.nodes.get(resolve_id(store, id))

    def edges(self, id: str) -> list[Edge]:
        """Return the live edges of one node, both directions."""
        store, _ = self._open()
        with store.faults:
            return store.edges.of(resolve_id(store, id))

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
            return [*store.nodes.select(scope, -1 if limit is None else limit)]

    def stats(self) -> SdkResult:
        """Counts of nodes and edges, degrees, orphans, components, dangling edges, runs.

        ``coverage`` and ``diversity`` say what runs were shown: see ``lore graph stats``.
        """
        store, _ = self._open()
        with store.faults:
            return SdkResult(stats(store), **audit(store, self.settings))

    def add(self, type: str, text: str, **fields: Any) -> Change:
        """Adds a record; the fields are those of ``Records.add`` (title, why, tags, …)."""
        return self._records().add(type, text, **fields)

    def fact(self, subject: str, predicate: str, object: str, **fields: Any) -> Change:
        """States a fact; the fields are those of ``Records.fact``."""
        return self._records().fact(subject, predicate, object, **fields)

    def link(self, from_id: str, relation: str, to_id: str, **fields: Any) -> Change:
        """Links two nodes; the fields are those of ``Records.link`` (weight, metadata, …)."""
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

    def restore(self, *ids: str, at: str = "") -> Sequence[Change]:
        """Brings forgotten nodes back, with their edges; ``A, relation, B`` are an edge.

        ``at`` is the number of a state, as ``history`` has it, or a time at which it stood.

        Raises:
            LoreError: there is no such node, edge or state.
        """
        return self._records().restore(ids, at=at)

    def undo(self, *ids: str) -> Sequence[Change]:
        """Takes back the last change of each of these nodes, or the last command as a whole.

        Raises:
            LoreError: there is nothing to take back, or it was a purge.
        """
        return self._records().undo(ids)

    def history(self, id: str) -> Sequence[SdkResult]:
        """Return the states that a node has left, as ``lore show --history`` has them.

        Raises:
            LoreError: there is no such node.
        """
        store, _ = self._open()
        with store.faults:
            node = store.nodes.require(resolve_id(store, id))
            return [SdkResult(one) for one in told_history(store, node)]

    def start_run(self, task: str = "") -> str:
        """Return the id of a new run; ``search(…, run=id)`` records in it what was shown."""
        return Runs(self._open()[0]).start(task)

    def finish_run(
        self, run: str, helpful: Iterable[str] = (), unhelpful: Iterable[str] = ()
    ) -> RunOutcome:
        """Links what the run was shown to it, rated or not."""
        return Runs(self._open()[0]).finish(run, _words(helpful), _words(unhelpful))

    def rate(self, ids: Iterable[str], rating: str, run: str = "") -> Sequence[SdkResult]:
        """Rates records ``helpful`` or ``unhelpful``, in a run or in this day's own.

        Raises:
            UsageError: ``rating`` is another word.
        """
        return [SdkResult(one) for one in Runs(self._open()[0]).rate(_words(ids), rating, run)[0]]

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
                store = self._opened()
                with store.faults:
                    embedder = open_embedder(self.settings.embedder, store, self.settings)
                self._stores[user] = (store, embedder)
            store, embedder = self._stores[user]
            if store.scope != self.settings.scope:
                store.keep_to(self.settings.scope)
            return store, embedder

    def _opened(self) -> Store:
        try:
            store = open_store(self.folder, busy_timeout=self.settings.busy_timeout)
        except NoStore:
            if not self._project:
                raise
            store = first_store(self._project, self.settings, lambda text: None)
            self.folder = os.path.dirname(store.path)
            return store
        store.project = self._project or store.project
        return store

    def _engine(self, extra: Mapping[str, object]) -> Engine:
        store, embedder = self._open()
        engine = Engine(store, self.settings, self._root, embedder=embedder)
        return engine.under(self._settings(extra))

    @property
    def _root(self) -> str:
        """Return the folder that paths in the store start from."""
        return self._open()[0].project

    def _records(self) -> Records:
        store, embedder = self._open()
        return Engine(store, self.settings, self._root, embedder=embedder).records()

    def _settings(self, extra: Mapping[str, object]) -> Settings:
        environ = {**os.environ, "LORE_FROM_CONFIG": self._config}
        return Settings.load(environ=environ, flags={**self._flags, **_flags(extra)})


def _words(given: Iterable[str]) -> tuple[str, ...]:
    """Return several words; one may be given alone."""
    return (given,) if isinstance(given, str) else tuple(given)


def _recorded(engine: Engine, query: str, hits: Hits) -> Hits:
    """Return the same hits, recorded in the run of the settings, if there is one."""
    hits.notes.extend(record_shown(engine, query, hits))
    return hits


def _recorded_context(engine: Engine, found: Context) -> Context:
    """Return the same context, what it holds recorded in the run of the settings, if there is
    one."""
    ids = [entry["id"] for entry in found.included]
    found.notes.extend(record_ids(engine, found.question, ids))
    return found


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


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Mapping):
        return " ".join(f"{key}={weight}" for key, weight in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return " ".join(map(str, value))
    return str(value)


def _found() -> dict[str, str]:
    """Return where a command in the working directory finds its store, project and config.

    Raises:
        NoStore: there is no data folder.
    """
    found = dict(os.environ)
    config.load(found)
    if not found.get("LORE_STORE"):
        raise NoStore("no data folder: set HOME or LORE_DIR, or name the folder of a store")
    return found


def _config(folder: str) -> str:
    """Return what the user's config and this folder's set, as ``config.load`` has it."""
    environ = {**os.environ, "LORE_DIR": folder}
    config.load(environ)
    return environ["LORE_FROM_CONFIG"]
