"""Measures of ranked lists, and scores of settings on queries with relevant nodes."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import compress
from math import log2
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ..core.errors import UsageError
from ..embed import open_embedder
from ..search.pipeline import Request, search
from ..store.filter import Scope
from ..store.resolve_id import resolve_ids

if TYPE_CHECKING:
    from ..core.model import Hits
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from .queries import Question

Scores = npt.NDArray[np.float64]
"""(queries, measures)"""

RANKS = (5, 10)
MEASURES = (*(f"recall@{k}" for k in RANKS), "all_relevant@5", "ndcg@10", "mrr")

RESAMPLES = 10_000
SEED = 1993
_BLOCK = 500


def interval(differences: Scores) -> Scores:
    """Return low and high of the 95 % interval of each column's mean, by a paired bootstrap.

    ``differences``: (queries, measures). The seed is fixed: equal rows give equal intervals.
    """
    queries = len(differences)
    generator = np.random.default_rng(SEED)
    shares = np.full(queries, 1 / queries)
    means = [
        generator.multinomial(queries, shares, size=_BLOCK) @ differences / queries
        for _ in range(RESAMPLES // _BLOCK)
    ]
    bounds: Scores = np.percentile(np.concatenate(means), [2.5, 97.5], axis=0)
    return bounds


def difference(scores: Scores, reference: Scores) -> dict[str, dict[str, float]]:
    """Return mean difference and 95 % interval of each measure."""
    each = scores - reference
    columns = np.round([each.mean(axis=0), *interval(each)], 4).T.tolist()
    return {
        name: dict(zip(("mean", "low", "high"), column, strict=True))
        for name, column in zip(MEASURES, columns, strict=True)
    }


def score(ranked: Sequence[str], relevant: Collection[str]) -> list[float]:
    """Return the ``MEASURES`` of a list.

    nDCG (Järvelin and Kekäläinen, TOIS 2002): the gain of a relevant node at rank r is 1 / log2(r +
    1); the sum is divided by that of a list with the relevant nodes in front.
    """
    found = [id in relevant for id in ranked]
    gains = [1 / log2(rank + 2) for rank in range(10)]
    return [
        *(sum(found[:k]) / len(relevant) for k in RANKS),
        float({*relevant} <= {*ranked[:5]}),
        sum(compress(gains, found)) / sum(gains[: len(relevant)]),
        1 / (found.index(True) + 1) if True in found else 0.0,
    ]


def configured(base: Settings, text: str) -> Settings:
    """Return the base with ``key=value …``, in the syntax of config files; raise UsageError for an
    unknown setting or invalid value.
    """
    try:
        words = [word.partition("=") for word in shlex.split(text)]
    except ValueError as error:
        raise UsageError(f"'{text}': {error}: quote as a shell does") from None
    for key, equals, _ in words:
        if not equals:
            raise UsageError(f"'{key}' sets nothing: give key=value, as graph_depth=1")
    return base.changed([(key, value) for key, _, value in words], f"compare:{text}")


def legs(base: Settings) -> dict[str, Settings]:
    """Return the settings of each leg and, of several, of each fusion, without the graph."""
    texts = {name: f"retrievers={name}" for name in base.retrievers}
    if len(texts) > 1:
        texts |= {name: f"fusion={name}" for name in ("convex", "rrf")}
    return {name: configured(base, f"graph_depth=0 {text}") for name, text in texts.items()}


class Evaluation:
    """Queries to a store; ``progress`` is called after each search."""

    def __init__(
        self,
        store: Store,
        questions: Sequence[Question],
        scope: Scope,
        progress: Callable[[int], None] = lambda step: None,
    ) -> None:
        for question in questions:
            question.relevant = tuple(dict.fromkeys(resolve_ids(store, question.relevant)))
            question.exclude = tuple(resolve_ids(store, question.exclude))
        self.store = store
        self.questions = questions
        self.scope = scope
        self.progress = progress
        self.notes: Counter[str] = Counter()
        self._embedders: dict[str, Any] = {}

    def missing(self) -> set[str]:
        """Return the relevant ids without a live node in the store."""
        wanted = {id for question in self.questions for id in question.relevant}
        return wanted - self.store.nodes.match(Scope(), sorted(wanted))

    def embedder(self, settings: Settings) -> Embedder | None:
        """Return the embedder of these settings, which embeds each text once."""
        name = settings.embedder
        if name not in self._embedders:
            self._embedders[name] = found = open_embedder(name, self.store, settings)
            if found:
                one = cache(lambda text: found.embed([text])[0])
                self._embedders[name] = SimpleNamespace(
                    name=found.name,
                    dimension=found.dimension,
                    embed=lambda texts: [*map(one, texts)],
                )
        return cast("Embedder | None", self._embedders[name])

    def search(self, settings: Settings, question: Question, store: Store | None = None) -> Hits:
        """Return the results of a query, by default in this store."""
        store = store or self.store
        request = Request(question.query, self.scope, excluded=question.exclude)
        with store.snapshot():
            found = search(store, settings, request, self.embedder(settings))
        self.progress(1)
        self.notes.update(found.notes if found else ())
        return found

    def scores(self, settings: Settings, store: Store | None = None) -> Scores:
        """Return every measure of every query."""
        ranked = [(self.search(settings, one, store).ids, one.relevant) for one in self.questions]
        return np.array([score(*one) for one in ranked])


def report_text(report: Mapping[str, Any]) -> str:
    """Return the rows of a report under their headings."""
    rows = table(report)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:-1], widths[1:-1]), row[-1]])
        for row in rows
    ]
    return "\n".join([*lines, f"{report['queries']} queries; differences with 95 % intervals\n"])


def table(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the headings and rows of a report: name, every measure, the first's difference."""
    rows = [["", *MEASURES, f"{MEASURES[0]} against {report['reference']}"]]
    for row in report["rows"]:
        against = points(row["difference"][MEASURES[0]]) if row["difference"] else "the reference"
        rows.append([row["id"], *(f"{100 * row[measure]:.1f}" for measure in MEASURES), against])
    return rows


def tuning_text(report: Mapping[str, Any]) -> str:
    """Return the result of tuning and the lines for a config file."""
    return (
        f"{report['measure']} {100 * report['base']:.1f} with the settings as they are, "
        f"{report['queries']} queries, {report['evaluations']} settings tried\n"
        f"on queries not tuned on: {points(report['unseen'])}\n"
        + (f"\n{report['fragment']}" if report["fragment"] else "")
    )


def points(difference: Mapping[str, float]) -> str:
    """Return a difference in points with an interval: ``+8.3 [+5.1, +11.6]``."""
    mean, low, high = (100 * difference[name] for name in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
