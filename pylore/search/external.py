"""Retrievers of the user's own: programs, hubs and functions whose lists are more legs of a search.

``retrievers="fulltext vector notes"`` runs ``lore-retriever-notes`` (docs/plugins.md). Searches
without such a name never import this module.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from typing import Any
from weakref import WeakValueDictionary

from ..core.errors import LoreError, UsageError, nearest
from ..core.settings import BUILT_IN_RETRIEVERS
from ..store.resolve_id import resolve_id
from ..system.parts import require_part
from ..system.plugin_process import LATE, Missing, PluginProcess, Refused, environment, find
from ..system.programs import Tidying

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.settings import Settings
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store

PREFIX = "lore-retriever-"
MOST_RESULTS = 1000
"""Results of one retriever, the best of them."""
MOST_QUERY = 10_000
"""Characters of the query that a retriever gets."""

given: WeakValueDictionary[str, Callable[[dict[str, Any]], Any]] = WeakValueDictionary()
"""Functions of this process that are retrievers, by name, while somebody else keeps them."""


class Retrievers:
    """The user's own retrievers of one search: they run within a ``with`` block, side by side."""

    def __init__(
        self, settings: Settings, query: str, scope: Scope, excluded: frozenset[str]
    ) -> None:
        self.notes: list[str] = []
        self._settings = settings
        self._asked = {
            "query": query[:MOST_QUERY], "limit": settings.limit, "types": [*scope.types],
            "tags": [*scope.tags], "files": [*scope.files], "since": scope.since,
            "exclude": sorted(excluded),
        }  # fmt: skip
        self._deadline = time.monotonic() + settings.retriever_timeout
        self._answers: dict[str, Callable[[], bytes]] = {}
        self._lists: dict[str, dict[str, float]] = {}
        self._block = ExitStack()

    def __enter__(self) -> Retrievers:
        """Start them.

        Raises:
            UsageError: none can be started, and there is no other leg.
        """
        chosen = self._settings.retrievers
        own = [name for name in chosen if name not in BUILT_IN_RETRIEVERS]
        with self._block as block:
            block.enter_context(Tidying())  # Ctrl-C does not reach what has a session of its own
            for name in dict.fromkeys(own):
                try:
                    self._answers[name] = self._start(name, block)
                except (LoreError, Refused) as why:
                    self._leave_out(name, why)
            if not self._answers and len(own) == len(chosen):
                raise UsageError(f"{self.notes[0].rpartition(':')[0]}: write it, or set "
                                 f"retrievers to {' '.join(BUILT_IN_RETRIEVERS)}")  # fmt: skip
            self._block = block.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._block.close()

    def _start(self, name: str, block: ExitStack) -> Callable[[], bytes]:
        """Start a retriever, until the end of the ``block``; return what waits for its answer."""
        if name in given:
            return lambda: _call(given[name], {**self._asked})
        if name == "hub" or name.startswith("hub-"):
            leg = require_part("hub", "search").HubLeg(name, self._settings, self._asked)
            return lambda: leg.read(self._deadline)
        try:
            program = find(PREFIX, name, self._settings.plugin_dir)
        except Missing as why:
            raise Refused(f"{why}{nearest(name, [*BUILT_IN_RETRIEVERS])}") from None
        # A search that it makes runs no retriever, and belongs to no run.
        environ = environment(
            PREFIX + name, LORE_RETRIEVERS=" ".join(BUILT_IN_RETRIEVERS), LORE_RUN=""
        )
        asked = json.dumps(self._asked).encode()
        process = block.enter_context(PluginProcess([program], asked, environ))
        return lambda: process.read(self._deadline)

    def legs(self, store: Store, scope: Scope) -> dict[str, dict[str, float]]:
        """Return each retriever's list, id to score, best first: live nodes within ``scope``."""
        found = {}
        for name, scores in self._read().items():
            scores = {resolve_id(store, id): score for id, score in scores.items()}
            # What cannot be printed is in no id, and half a surrogate in no store.
            known = store.nodes.match(scope, [id for id in scores if id.isprintable()])
            lost = len(scores) - len(known)
            if lost and not any(note.startswith(f"retriever {name}:") for note in self.notes):
                self.notes.append(
                    f"retriever {name}: {lost} of its {len(scores)} ids are not in the store or "
                    "outside the filters: left out"
                )
            found[name] = {id: score for id, score in scores.items() if id in known}
        return found

    def _read(self) -> dict[str, dict[str, float]]:
        """Wait for the answers, once."""
        for name in [*self._answers]:
            try:
                self._lists[name] = parse_results(self._answers.pop(name)())
            except Refused as why:
                self._leave_out(name, why)
        return self._lists

    def _leave_out(self, name: str, why: Exception) -> None:
        said = str(why)
        if said == LATE:
            said = f"did not end within {self._settings.retriever_timeout:g} s (retriever_timeout)"
        self.notes.append(f"retriever {name}: {said}: its list is left out")


def _call(function: Callable[[dict[str, Any]], Any], asked: dict[str, Any]) -> bytes:
    try:
        return json.dumps([*function(asked)]).encode()
    except Exception as error:
        raise Refused(f"failed: {type(error).__name__}: {error}") from None


def parse_results(out: bytes) -> dict[str, float]:
    """Return ``[{"id", "score"}]`` as id to its highest score, the best ``MOST_RESULTS``, best
    first; without scores of 0.

    Raises:
        Refused: it is something else, or a score is negative or not finite.
    """
    try:
        rows = json.loads(out.decode())
    except UnicodeDecodeError:
        raise Refused("printed what is not UTF-8") from None
    except (ValueError, RecursionError):
        raise Refused("printed no JSON" if out.strip() else "printed nothing") from None
    scores: dict[str, float] = {}
    for row in rows if isinstance(rows, list) else [None]:
        id = row.get("id") if isinstance(row, dict) else None
        score: Any = row.get("score") if isinstance(row, dict) else None
        if not isinstance(id, str) or type(score) not in (int, float):
            raise Refused('printed no [{"id", "score"}]')
        if not 0 <= score <= sys.float_info.max:
            raise Refused("printed a score that is not a number from 0 on")
        scores[id] = max(float(score), scores.get(id, 0.0))
    best = sorted((-score, id) for id, score in scores.items() if score)
    return {id: -score for score, id in best[:MOST_RESULTS]}
