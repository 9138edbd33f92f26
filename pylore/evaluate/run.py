"""Runs queries under several configurations and compares what comes back.

Scores come from a store that remembers (``memo``), times from the store itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from ..embed import open_embedder
from ..search.pipeline import Request, search
from ..store.meant import all_meant
from .memo import Memo, RememberingEmbedder, remembering
from .metrics import measures, percentile, score

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from ..store.filter import Scope
    from .configurations import Configuration
    from .queries import Question

    Scores = npt.NDArray[np.float64]
    """(queries, measures): see ``metrics.measures``."""


def silent(step: int) -> None:
    """The progress of what nobody watches."""


class Evaluation:
    """What is asked of which store, and how results are scored.

    ``at``: the ranks at which recall is taken; ``progress`` hears of each search.
    """

    def __init__(
        self,
        store: Store,
        questions: Sequence[Question],
        scope: Scope,
        at: Sequence[int] = (5, 10),
        progress: Callable[[int], None] = silent,
    ) -> None:
        for question in questions:
            question.relevant = tuple(dict.fromkeys(all_meant(store, question.relevant)))
            question.exclude = tuple(all_meant(store, question.exclude))
        self.questions = questions
        self.scope = scope
        self.at = tuple(at)
        self.progress = progress
        self.notes: list[str] = []
        """What search said of every single query."""
        self.embedders: dict[str, Embedder | None] = {}
        """Setting to embedder: one each, so that a word is new to it once."""
        self._memo = Memo()
        self._use(store)

    def _use(self, store: Store) -> None:
        self.real_store = store
        self.store = remembering(store, self._memo, Memo())

    @property
    def measures(self) -> list[str]:
        """The names of the columns of ``scores``."""
        return measures(self.at)

    def on(self, store: Store) -> Evaluation:
        """The same questions to a store that differs in its edges alone."""
        other = copy(self)
        other._use(store)
        return other

    def embedder(self, settings: Settings) -> Embedder | None:
        """The embedder of these settings, remembering."""
        found = self._embedder(settings)
        return RememberingEmbedder(found, self._memo) if found else None

    def _embedder(self, settings: Settings) -> Embedder | None:
        if settings.embedder not in self.embedders:
            found = open_embedder(settings.embedder, self.real_store, settings)
            self.embedders[settings.embedder] = found
        return self.embedders[settings.embedder]

    def scores(self, settings: Settings, *, listen: bool = False) -> Scores:
        """Every measure of every query's results under these settings.

        With ``listen``, a note that every single query gets is kept in ``notes``.
        """
        embedder = self.embedder(settings)
        said: Counter[str] = Counter()
        rows = []
        for question in self.questions:
            hits = search(self.store, settings, self._request(question), embedder)
            said.update(hits.notes)
            rows.append(score([hit.id for hit in hits], question.relevant, self.at))
            self.progress(1)
        self.notes += [
            note
            for note, times in said.items()
            if listen and times == len(self.questions) > 1 and note not in self.notes
        ]
        return np.array(rows)

    def times(self, configurations: Sequence[Configuration], count: int) -> list[list[float]]:
        """Milliseconds of each configuration's search, for ``count`` of the queries.

        All configurations take their turn at a query before the next one comes, so a
        machine that gets slower does so for all alike.
        """
        step = max(1, len(self.questions) // max(1, count))
        chosen = self.questions[::step][:count]
        store = self.real_store
        embedders = [self._embedder(one.settings) for one in configurations]
        found: list[list[float]] = [[] for _ in configurations]
        for question in [*chosen[:1], *chosen]:  # the first one twice: to warm up
            for number, one in enumerate(configurations):
                start = perf_counter()
                search(store, one.settings, self._request(question), embedders[number])
                found[number].append((perf_counter() - start) * 1000)
                self.progress(1)
        return [times[1:] for times in found]

    def _request(self, question: Question) -> Request:
        return Request(question.query, self.scope, excluded=question.exclude)


def missing(store: Store, questions: Sequence[Question]) -> set[str]:
    """The relevant ids that no live node of the store has."""
    from ..store.filter import Scope

    wanted = {id for question in questions for id in question.relevant}
    return wanted - store.nodes.match(Scope(), sorted(wanted))


def milliseconds(times: Sequence[float]) -> dict[str, float] | None:
    """Median and 95th percentile; None where nothing was timed."""
    if not times:
        return None
    return {"median": round(percentile(times, 0.5), 2), "p95": round(percentile(times, 0.95), 2)}
