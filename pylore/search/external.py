"""Retrievers of the user's own: programs whose lists are more legs of the fusion.

``retrievers="fulltext vector notes"`` runs ``lore-retriever-notes``, found where
commands of one's own are: in ``plugin_dir``, or else ``~/.config/lore/commands``, then
on ``PATH``. It gets one JSON object on stdin, ``{"query", "limit", "types", "tags",
"files", "since", "exclude"}``, and prints ``[{"id", "score"}]``. Searches without such
a name never import this module.
"""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from typing import Any
from weakref import WeakValueDictionary

from ..core.errors import LoreError, UsageError, nearest
from ..core.settings import BUILT_IN_RETRIEVERS
from ..store.resolve_id import resolve_id
from ..system.plugin_process import LATE, PluginProcess, Refused, environment
from ..system.plugin_process import find as find_plugin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Protocol

    from ..core.model import Hits
    from ..core.settings import Settings
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store
    from .query import Request

    Search = Callable[[Any, Settings, Request, Any], Hits]
    """``pipeline.search``."""

    class Running(Protocol):
        """Answers one search: a program, or a hub."""

        def read(self, deadline: float) -> bytes:
            """Return ``[{"id", "score"}]`` as JSON.

            Raises:
                Refused: it failed, or is late.
            """

        def end(self) -> None:
            """End it; its answer is not wanted."""


PREFIX = "lore-retriever-"
MOST_RESULTS = 1000
LEFT_OUT = ": its list is left out"
MOST_QUERY = 10_000
"""Characters of the query that a retriever gets."""


class Retrievers:
    """The user's own retrievers of one search: a ``with`` block in which they run.

    They start when it is made, so that they work while the other legs do. ``search`` is asked
    of a hub that is one of them.

    Raises:
        UsageError: one of the names has no program, and there is no other leg.
    """

    def __init__(
        self, settings: Settings, query: str, scope: Scope, excluded: frozenset[str],
        search: Search,
    ) -> None:  # fmt: skip
        self.notes: list[str] = []
        self._deadline = time.monotonic() + settings.retriever_timeout
        self._timeout = settings.retriever_timeout
        self._running: dict[str, Running] = {}
        self._lists: dict[str, dict[str, float]] | None = None
        self._interrupt: Any = None
        self._interrupted = False
        asked = {
            "query": query[:MOST_QUERY], "limit": settings.limit, "types": scope.types,
            "tags": scope.tags, "files": scope.files, "since": scope.since,
            "exclude": sorted(excluded),
        }  # fmt: skip
        own = [name for name in settings.retrievers if name not in BUILT_IN_RETRIEVERS]
        self._hold_interrupts()
        self._search = search
        self._start(dict.fromkeys(own), settings, asked)
        if len(own) == len(settings.retrievers) and not self._running:
            self.__exit__()
            raise UsageError(f"{self.notes[0].removesuffix(LEFT_OUT)}: write it, or set "
                             f"retrievers to {' '.join(BUILT_IN_RETRIEVERS)}")  # fmt: skip

    def _start(self, names: Iterable[str], settings: Settings, asked: Mapping[str, object]) -> None:
        request = json.dumps(asked).encode()
        for name in names:
            try:
                if name == "hub" or name.startswith("hub-"):
                    self._running[name] = _leg_at_hub(name, settings, asked, self._search)
                    continue
                if name in _given:
                    self._running[name] = _Called(_given[name].function, request)
                    continue
                path = find(name, settings.plugin_dir)
                # A search that it makes runs no retriever, and belongs to no run.
                environ = environment(
                    PREFIX + name, LORE_RETRIEVERS=" ".join(BUILT_IN_RETRIEVERS), LORE_RUN=""
                )
                self._running[name] = PluginProcess([path], request, environ)
            except Refused as why:
                self._refuse(name, str(why))

    def _hold_interrupts(self) -> None:
        """Keeps Ctrl-C for later: it does not reach what has a session of its own."""
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
            self._interrupt = signal.signal(signal.SIGINT, self._keep_interrupt)

    def _keep_interrupt(self, *_: object) -> None:
        self._interrupted = True

    def __enter__(self) -> Retrievers:
        if self._interrupt is not None:  # from here on it comes, and __exit__ ends what runs
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._interrupted:
            self.__exit__()
            raise KeyboardInterrupt
        return self

    def __exit__(self, *_: object) -> None:
        for running in self._running.values():
            running.end()
        if self._interrupt is not None:
            signal.signal(signal.SIGINT, self._interrupt)

    def legs(self, store: Store, scope: Scope) -> dict[str, dict[str, float]]:
        """Each retriever's list, id to score, best first: what is live and within ``scope``."""
        first = self._lists is None
        found = {}
        for name, scores in self._read().items():
            # What cannot be printed is in no id, and half a surrogate in no store.
            scores = {resolve_id(store, id): score for id, score in scores.items()}
            known = store.nodes.match(scope, [id for id in scores if id.isprintable()])
            if first and len(known) < len(scores):
                self.notes.append(
                    f"retriever {name}: {len(scores) - len(known)} of its {len(scores)} ids are "
                    "not in the store or outside the filters: left out"
                )
            found[name] = {id: score for id, score in scores.items() if id in known}
        return found

    def _read(self) -> dict[str, dict[str, float]]:
        if self._lists is None:
            self._lists = {}
            for name, running in self._running.items():
                try:
                    self._lists[name] = parse_results(running.read(self._deadline))
                except Refused as why:
                    self._refuse(name, str(why))
        return self._lists

    def _refuse(self, name: str, why: str) -> None:
        if why == LATE:
            why = f"did not end within {self._timeout:g} s (retriever_timeout)"
        self.notes.append(f"retriever {name}: {why}{LEFT_OUT}")


class Given:
    """A function of this process as a retriever, known by ``name`` while this object lives."""

    def __init__(self, function: Callable[[dict[str, Any]], Any]) -> None:
        self.function = function
        self.name = f"given-{id(self):x}"
        _given[self.name] = self


_given: WeakValueDictionary[str, Given] = WeakValueDictionary()


class _Called:
    """A given function, called when its answer is read."""

    def __init__(self, function: Callable[[dict[str, Any]], Any], request: bytes) -> None:
        self._function = function
        self._request = request

    def read(self, deadline: float) -> bytes:
        try:
            return json.dumps([*self._function(json.loads(self._request))]).encode()
        except Exception as error:
            raise Refused(f"failed: {type(error).__name__}: {error}") from None

    def end(self) -> None:
        pass


def _leg_at_hub(name: str, settings: Settings, asked: Mapping[str, Any], search: Search) -> Running:
    from ..system.parts import require_part

    try:
        leg: Running = require_part("hub", "search").HubLeg(name, settings, asked, search)
    except LoreError as error:
        raise Refused(str(error)) from None
    return leg


def find(name: str, plugin_dir: str) -> str:
    """Return the program of a retriever: in the user's folder of commands, or on PATH.

    Raises:
        Refused: there is none.
    """
    try:
        return find_plugin(PREFIX, name, plugin_dir)
    except Refused as why:
        if not str(why).startswith("no program"):
            raise
        raise Refused(f"{why}{nearest(name, [*BUILT_IN_RETRIEVERS])}") from None


def parse_results(out: bytes) -> dict[str, float]:
    """``[{"id", "score"}]`` as id to score, the best ``MOST_RESULTS`` of them, best first.

    Of one id that comes twice, the higher score counts; a score of 0 is not a match.

    Raises:
        Refused: it is something else; scores are finite and not negative.
    """
    try:
        rows = json.loads(out.decode())
    except UnicodeDecodeError:
        raise Refused("printed what is not UTF-8") from None
    except (ValueError, RecursionError):
        raise Refused("printed no JSON" if out.strip() else "printed nothing") from None
    if not isinstance(rows, list):
        raise Refused('printed no [{"id", "score"}]')
    scores: dict[str, float] = {}
    for row in rows:
        id, score = _result(row)
        scores[id] = max(score, scores.get(id, 0.0))
    best = sorted(((-score, id) for id, score in scores.items() if score))[:MOST_RESULTS]
    return {id: -score for score, id in best}


def _result(row: object) -> tuple[str, float]:
    id, score = (row.get("id"), row.get("score")) if isinstance(row, dict) else (None, None)
    if not isinstance(id, str) or isinstance(score, bool) or not isinstance(score, (int, float)):
        raise Refused('printed no [{"id", "score"}]')
    try:
        score = float(score)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score) or score < 0:
        raise Refused(f"printed a score that is not a number from 0 on ({score})")
    return id, score
