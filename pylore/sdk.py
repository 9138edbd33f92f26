"""The Python interface, on the same functions as the commands."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .anchors.globs import Glob
from .anchors.project import relative, root_to_keep
from .anchors.verify import rows
from .app import Engine, code, find
from .app.ask import AskResult, ask
from .app.find import audit, words
from .app.sync import first_store, make_store
from .context.results import by_worth
from .core.errors import LoreError, NoStore
from .core.model import Edge, Hit, Hits, Node
from .core.settings import GIVEN, Settings
from .graph.queries import degrees, stats
from .records.records import Change, Records
from .records.runs import Runs
from .store import FILE, create_store, open_store
from .system import config
from .system.stores import claim

if TYPE_CHECKING:
    from .code.cochanges import CoChanges
    from .context.build import Context

Given = ParamSpec("Given")
Made = TypeVar("Made")
Row = dict[str, Any]
"""A result in the form of the commands."""
Words = Iterable[str]
"""Several words, or a single word."""


def anchor_id(node_id: str, kind: str, path: str, detail: str) -> str:
    """Return the id of an anchor, by what it ties to which place.

    >>> anchor_id("decision-a", "file", "a.py", "")
    'anchor-30d0d964'
    """
    return "anchor-" + sha256("\0".join((node_id, kind, path, detail)).encode()).hexdigest()[:8]


def _anchor_row(row: Row) -> Row:
    """Return a row of ``lore verify`` with the id of the anchor."""
    return {"anchor_id": anchor_id(row["id"], row["kind"], row["path"], row["detail"] or ""), **row}


def _of_records(
    method: Callable[Concatenate[Records, Given], Made],
) -> Callable[Concatenate[Lore, Given], Made]:
    """Make a method of ``Lore`` of a method of ``Records``."""

    @wraps(method)
    def call(self: Lore, /, *given: Given.args, **named: Given.kwargs) -> Made:
        return method(self._open().records(), *given, **named)

    return call


class Lore:
    """A store, open for reading and writing; use it in a ``with``, or ``close`` it.

    Threads and forked processes may share it: each gets a connection. Processes may use the same
    folder: writers wait for each other up to ``busy_timeout`` seconds. Every writing method is a
    transaction.

    Settings come from the config files, the environment, and ``settings``, which win. ``options``
    are keywords of the function of ``pylore.app`` that a method calls, and settings for this call
    (``graph_depth=2``). Results without a class are dictionaries as the commands print them.

    Args:
        folder: the folder of ``search.db``; default: the store of the working directory.
        create: make a missing store.
        retriever: a further retriever, called with the fields that an executable retriever reads
            (``query``, ``limit``, …); it returns ``[{"id", "score"}]``. Its name among
            ``retrievers`` is ``given``: ``retrievers="given"`` makes it the only retriever.

    Raises StoreError for a missing or unreadable store, UsageError for an invalid type, relation,
    date or setting, LoreError for a missing node, file or link.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        create: bool = False,
        retriever: Callable[..., Any] | None = None,
        **settings: object,
    ) -> None:
        found = dict(os.environ)
        if folder is not None:
            found["LORE_DIR"] = os.path.abspath(os.fspath(folder))
        config.load(found)
        if retriever is not None and not callable(retriever):
            raise TypeError("retriever is not callable")
        self.folder, self._project = found["LORE_STORE"], found["LORE_PROJECT"]
        given = Settings.load(environ=found, flags={}).changed(_texts(settings), "pylore:open")
        if retriever is not None:
            given.given = retriever
            given.retrievers = (*dict.fromkeys((*given.retrievers, GIVEN)),)
        self.settings = given
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
        """Return the matches of ``query``, best first, and connected nodes."""
        return self._call(find.search, query, shown=query, **options)

    def related(self, id: str = "", **options: Any) -> Hits:
        """Return the nodes connected to a node, or ``near`` files, nearest first."""
        names = [id] if id or not options.get("near") else []
        given = {"here": os.getcwd(), **options}
        return self._call(find.related, names, shown=f"related {id}", **given)

    def expand_with_graph(self, ids: Words, *, depth: int = 2, **options: Any) -> Hits:
        """Return the nodes connected to all of these nodes, up to ``depth`` (1 to 3) hops."""
        shown = f"related {' '.join(ids := words(ids))}"
        return self._call(find.related, ids, shown=shown, hops=depth, **options)

    def prioritize_nodes(self, hits: Hits) -> Sequence[Hit]:
        """Return results in the order in which a prompt takes them: by score, that of code × hop
        decay, and of equal ones the most central (with most edges) first."""
        ids = [hit.id for hit in hits]
        found = self._call(lambda engine: degrees(engine.store, ids))
        return by_worth(hits, self.settings.hop_decay, found)

    def context(self, question: str, **options: Any) -> Context:
        """Return a context for a question or the id of a task; ``receipt()`` lists contents."""
        return self._call(find.context, question, shown=question, **options)

    def build_graph_context(self, question: str, **options: Any) -> str:
        """Return the text of ``context`` in the form for a model."""
        return self.context(question, form="prompt", **options).text

    def ask(self, question: str, **options: Any) -> AskResult:
        """Return the answer of ``llm_command`` to a question, with citations and context."""
        return self._call(ask, question, shown=question, **options)

    def show(self, id: str, *, history: bool = False) -> Row:
        """Return a node with edges and anchors, as ``lore show`` prints it."""
        return self._call(find.show, [id], history=history)[0]

    def path(self, from_id: str, to_id: str, max_hops: int | None = None) -> Row:
        """Return the shortest way between two nodes; ``hops`` is None without a way."""
        return self._call(find.path, from_id, to_id, max_hops)

    def get(self, id: str) -> Node | None:
        """Return a node, forgotten or not; None for an unknown id."""
        store = self._open().store
        return store.nodes.get(store.resolve_id(id))

    def edges(self, id: str) -> list[Edge]:
        """Return the live edges of a node, in both directions."""
        store = self._open().store
        return store.edges.of(store.resolve_id(id))

    def list(self, limit: int = -1, **filters: Any) -> Sequence[Node]:
        """Return live nodes, the last changed first, that ``app.find.scope`` lets through."""
        return self._call(
            lambda engine: [*engine.store.nodes.select(find.scope(engine.store, **filters), limit)]
        )

    def stats(self) -> Row:
        """Return counts of nodes, edges and runs, as ``lore graph stats`` prints them."""
        return self._call(lambda one: {**stats(one.store), **audit(one.store, one.settings)})

    # --- code

    def index(self, below: str = "", **options: Any) -> Row:
        """Read the project's files (all, or those ``below`` a folder); return counts."""
        return self._call(code.index, below, **options)

    def analyze_cochanges(self, **options: Any) -> CoChanges:
        """Return which files change together in git's history."""
        return self._call(code.analyze_cochanges, **options)

    def anchor(self, id: str, file: str, kind: str = "", detail: str = "") -> Row:
        """Tie a node to code: ``kind`` is ``glob``, ``hash``, ``symbol``, ``lines`` or empty,
        ``detail`` the symbol, or the lines as ``10-20``."""
        return _anchor_row(self._call(code.anchor, id, file, kind, detail))

    def verify(self, *ids: str) -> Sequence[Row]:
        """Judge these anchors, the anchors of these nodes, or all, and keep the verdicts."""
        wanted = {id for id in ids if id.startswith("anchor-")}

        def judged(engine: Engine) -> Sequence[Row]:
            of = {anchor_id(*one.key): one.node_id for one in engine.store.anchors.live(())}
            if unknown := sorted(wanted - of.keys()):
                raise LoreError(f"no anchor '{unknown[0]}': see 'verify()'")
            found = code.verify(engine, sorted({of.get(id, id) for id in ids}))
            named = [({old.node_id, anchor_id(*old.key)}, new) for old, new in found.found]
            shown = [new for names, new in named if not wanted or names & {*ids}]
            return [*map(_anchor_row, rows(engine.store, shown, found.claims))]

        return self._call(judged)

    def anchors_for_file(self, file: str) -> Sequence[Row]:
        """Return the anchors to this file, including globs."""

        def found(engine: Engine) -> Sequence[Row]:
            store, root = engine.store, engine.root
            path, kept = relative(root, os.path.join(root, file), file), root_to_keep(store, root)
            there = (*store.anchors.about(kept, [path]), *store.anchors.globs_like(kept, [path]))
            ids = dict.fromkeys(row[0] for row in there)
            tied = [one for id in ids for one in store.anchors.of(id)]
            globs = {
                one.path for one in tied if one.kind == "glob" and Glob(one.path).matches(path)
            }
            return rows(store, (one for one in tied if one.path in {path, *globs}))

        return [*map(_anchor_row, self._call(found))]

    # --- write

    add = _of_records(Records.add)
    fact = _of_records(Records.fact)
    link = _of_records(Records.link)
    unlink = _of_records(Records.unlink)
    edit = _of_records(Records.edit)

    def forget(self, *ids: str, purge: bool = False) -> Sequence[Change]:
        """Invalidate nodes with their edges; ``purge`` deletes them."""
        return self._open().records().forget(ids, purge=purge)

    def restore(self, *ids: str, at: str = "") -> Sequence[Change]:
        """Restore forgotten nodes, or the state ``at`` a number of ``show`` or a time."""
        return self._open().records().restore(ids, at=at)

    def undo(self, *ids: str, redo: bool = False) -> Sequence[Change]:
        """Undo the last change of each node, or the last command; ``redo`` repeats that command."""
        return self._open().records().undo(ids, redo=redo)

    def start_run(self, task: str = "") -> str:
        """Return the id of a new run; ``search(…, run=id)`` records results in it."""
        return Runs(self._open().store).start(task)

    def finish_run(self, run: str, helpful: Words = (), unhelpful: Words = ()) -> Row:
        """End a run, link the records shown to it, and rate some; return the run."""
        return Runs(self._open().store).finish(run, words(helpful), words(unhelpful))[0]

    def rate(self, ids: Words, rating: str, run: str = "") -> Sequence[Row]:
        """Rate records ``helpful`` or ``unhelpful``, in a run or in the run of the day."""
        return Runs(self._open().store).rate(words(ids), rating, run)[0]

    # --- open and close

    def close(self) -> None:
        """Close the store, in every thread; a later call opens it again."""
        with self._lock:
            for user in [one for one in self._engines if one[0] == os.getpid()]:
                self._engines.pop(user).store.close()

    def __enter__(self) -> Lore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(
        self, function: Callable[..., Made], *given: Any, shown: str | None = None, **options: Any
    ) -> Made:
        """Call a function of app with the options that it declares, and the others as settings.
        Record results in the run of the settings, if any, with ``shown`` as the query."""
        own = {name: options.pop(name) for name in function.__kwdefaults__ or () if name in options}
        engine = self._open()
        with engine.store.faults:
            engine = engine.changed(_texts(options), "pylore:call") if options else engine
            found = function(engine, *given, **own)
            if shown is not None:
                of: Any = found.context if isinstance(found, AskResult) else found
                of.notes.extend(find.record_shown(engine, shown, of.ids))
        return found

    def _open(self) -> Engine:
        """Return the engine of this thread and process."""
        # SQLite forbids the use of a connection on the other side of a fork.
        user = (os.getpid(), threading.get_ident())
        with self._lock:
            if user not in self._engines:
                try:
                    store = open_store(self.folder, busy_timeout=self.settings.busy_timeout)
                except NoStore:
                    if not self._project:
                        raise
                    store = first_store(self._project, self.settings, lambda notes: None)
                    self.folder = os.path.dirname(store.path)
                store.project = self._project or store.project
                self._engines[user] = Engine(store, self.settings, store.project)
            return self._engines[user]


def _texts(settings: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield settings with their values as a config file has them."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            value = [f"{key}={weight}" for key, weight in value.items()]
        elif isinstance(value, str) or not isinstance(value, Iterable):
            value = [int(value) if isinstance(value, bool) else value]
        yield name, " ".join(map(str, value))
