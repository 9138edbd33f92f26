"""Retrievers of users: programs and functions that return further legs of a search.

``retrievers="fulltext vector notes"`` runs ``lore-retriever-notes`` (docs/plugins.md). Searches
without such a name never import this module.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ..core.errors import LoreError, UsageError, nearest
from ..core.scoring import best_first
from ..core.settings import BUILT_IN_RETRIEVERS, GIVEN
from ..system.plugins import RETRIEVER_SECONDS, PluginProcess
from ..system.programs import Refused, Tidying, environment, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from ..core.settings import Settings
    from ..store import Store
    from ..store.filter import Scope

PREFIX = "lore-retriever-"
MOST_QUERY = 10_000  # characters of the query that a retriever gets


class Retrievers:
    """The user's retrievers of a search: started side by side, ended with the ``block``."""

    def __init__(
        self,
        settings: Settings,
        query: str,
        scope: Scope,
        excluded: frozenset[str],
        block: ExitStack,
    ) -> None:
        self.notes: list[str] = []
        self._settings = settings
        self._asked = {
            "query": query[:MOST_QUERY],
            "limit": settings.limit,
            "types": [*scope.types],
            "tags": [*scope.tags],
            "files": [*scope.files],
            "since": scope.since,
            "exclude": sorted(excluded),
        }
        self._limit = settings.plugin_timeout or RETRIEVER_SECONDS
        self._answers: dict[str, Callable[[], bytes]] = {}  # name to the pending answer
        self._lists: dict[str, dict[str, float]] = {}
        block.enter_context(Tidying())  # Ctrl-C does not reach processes in another session
        for name in settings.retrievers:
            try:
                if name not in BUILT_IN_RETRIEVERS:
                    self._answers[name] = self._start(name, block)
            except (LoreError, Refused) as why:
                self._leave_out(name, f"{why}{nearest(name, [*BUILT_IN_RETRIEVERS])}")
        if not self._answers and not {*BUILT_IN_RETRIEVERS} & {*settings.retrievers}:
            raise UsageError(self.notes[0].rpartition(": ")[0])

    def _start(self, name: str, block: ExitStack) -> Callable[[], bytes]:
        function = self._settings.given if name == GIVEN else None
        if function is not None:
            return lambda: _call(function, {**self._asked})
        program = find(PREFIX, name, self._settings.plugin_dir)
        # A search that it makes runs no retriever, and belongs to no run.
        built_in = " ".join(BUILT_IN_RETRIEVERS)
        environ = environment(PREFIX + name, LORE_RETRIEVERS=built_in, LORE_RUN="")
        asked = json.dumps(self._asked).encode()
        return block.enter_context(PluginProcess([program], asked, environ, self._limit)).read

    def legs(self, store: Store, scope: Scope) -> dict[str, dict[str, float]]:
        """Return each retriever's list, id to score, best first: live nodes within ``scope``."""
        for name in [*self._answers]:
            try:
                scores = parse_results(self._answers.pop(name)())
                self._lists[name] = {store.resolve_id(id): score for id, score in scores.items()}
            except Refused as why:
                self._leave_out(name, str(why))
        found = {}
        for name, scores in self._lists.items():
            known = store.nodes.match(scope, [*scores])
            found[name] = {id: score for id, score in scores.items() if id in known}
        return found

    def _leave_out(self, name: str, why: str) -> None:
        self.notes.append(f"retriever {name}: {why}: its list is left out")


def _call(function: Callable[[dict[str, Any]], Any], asked: dict[str, Any]) -> bytes:
    try:
        return json.dumps([*function(asked)]).encode()
    except Exception as error:
        raise Refused(f"failed: {type(error).__name__}: {error}") from None


def parse_results(out: bytes) -> dict[str, float]:
    """Return ``[{"id", "score"}]`` as printable ids to the highest score above 0, best first.

    Raises:
        Refused: invalid rows, or a negative or infinite score.
    """
    try:
        rows = json.loads(out)
    except (ValueError, RecursionError):
        raise Refused("printed no JSON" if out.strip() else "printed no output") from None
    scores: dict[str, float] = {}
    for row in rows if isinstance(rows, list) else [None]:
        id = row.get("id") if isinstance(row, dict) else None
        score: Any = row.get("score") if isinstance(row, dict) else None
        if not isinstance(id, str) or type(score) not in (int, float):
            raise Refused('printed no [{"id", "score"}]')
        if not 0 <= score <= sys.float_info.max:
            raise Refused("printed a score that is not a number from 0 on")
        if score > scores.get(id, 0) and id.isprintable():
            scores[id] = float(score)
    return best_first(scores)
