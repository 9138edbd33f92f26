"""Measures of ranked lists, and settings of a search scored on queries with known answers."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import compress
from math import log2
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ..core.errors import UsageError
from ..core.settings import Settings
from ..embed import open_embedder
from ..search.pipeline import Request, search
from ..store.filter import Scope
from ..store.resolve_id import resolve_ids

if TYPE_CHECKING:
    from ..core.model import Hits
    from ..embed import Embedder
    from ..store import Store
    from .queries import Question

Scores = npt.NDArray[np.float64]
"""(queries, measures)"""

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


def difference(
    scores: Scores, reference: Scores, measures: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Return each measure's mean difference, 95 % interval, and size relative to the reference."""
    each = scores - reference
    columns = zip(each.mean(axis=0), *interval(each), reference.mean(axis=0), strict=True)
    return {
        name: {
            "mean": round(float(mean), 4), "low": round(float(low), 4),
            "high": round(float(high), 4),
            "relative": round(float(mean / base), 4) if base else None,
        }
        for name, (mean, low, high, base) in zip(measures, columns, strict=True)
    }  # fmt: skip


def measures(at: Sequence[int]) -> list[str]:
    """Return the names of the columns of ``score``."""
    return [*(f"recall@{k}" for k in at), "all_relevant@5", "ndcg@10", "mrr"]


def score(ranked: Sequence[str], relevant: Collection[str], at: Sequence[int]) -> list[float]:
    """Return recall at each of ``at``, all-relevant@5, nDCG@10 and reciprocal rank of one list.

    nDCG (Järvelin and Kekäläinen, TOIS 2002): the gain of a relevant node at rank r is
    1 / log2(r + 1); the sum is divided by that of a list with the relevant nodes in front.
    """
    found = [id in relevant for id in ranked]
    gains = [1 / log2(rank + 2) for rank in range(10)]
    return [
        *(sum(found[:k]) / len(relevant) for k in at),
        float({*relevant} <= {*ranked[:5]}),
        sum(compress(gains, found)) / sum(gains[: len(relevant)]),
        1 / (found.index(True) + 1) if True in found else 0.0,
    ]


class Configuration(NamedTuple):
    """Settings of a search. ``kind``: ``leg``, ``fusion``, ``configuration`` or ``control``."""

    id: str
    kind: str
    settings: Settings


def configured(base: Settings, text: str) -> Configuration:
    """Return the base with ``key=value …`` on top, in the syntax of config files.

    Raises:
        UsageError: unknown setting or wrong value.
    """
    try:
        words = [word.partition("=") for word in shlex.split(text)]
    except ValueError as error:
        raise UsageError(f"'{text}': {error}: quote as a shell does") from None
    for key, equals, _ in words:
        if not equals:
            raise UsageError(f"'{key}' sets nothing: give key=value, as graph_depth=1")
    settings = base.changed([(key, value) for key, _, value in words], f"compare:{text}")
    return Configuration(text or "as it stands", "configuration", settings)


def legs(base: Settings) -> list[Configuration]:
    """Return each leg alone and, of several, each fusion, all without the graph."""
    found = [("leg", name, f"retrievers={name}") for name in base.retrievers]
    if len(found) > 1:
        found += [("fusion", name, f"fusion={name}") for name in ("convex", "rrf")]
    return [
        Configuration(name, kind, configured(base, f"graph_depth=0 {text}").settings)
        for kind, name, text in found
    ]


class Evaluation:
    """Queries to a store. ``at``: ranks of recall; ``progress`` is called after each search."""

    def __init__(
        self, store: Store, questions: Sequence[Question], scope: Scope,
        at: Sequence[int] = (5, 10), progress: Callable[[int], None] = lambda step: None,
    ) -> None:  # fmt: skip
        for question in questions:
            question.relevant = tuple(dict.fromkeys(resolve_ids(store, question.relevant)))
            question.exclude = tuple(resolve_ids(store, question.exclude))
        self.store = store
        self.questions = questions
        self.scope = scope
        self.at = tuple(at)
        self.measures = measures(at)
        self.progress = progress
        self.notes: list[str] = []
        """Notes that every query got."""
        self._embedders: dict[str, tuple[Embedder | None, Embedder | None]] = {}

    def embedder(self, settings: Settings, *, caching: bool = True) -> Embedder | None:
        """Return the embedder of these settings; with ``caching`` it embeds each text once."""
        name = settings.embedder
        if name not in self._embedders:
            found = open_embedder(name, self.store, settings)
            self._embedders[name] = found, _caching(found) if found else None
        return self._embedders[name][caching]

    def search(
        self, settings: Settings, question: Question, embedder: Embedder | None,
        store: Store | None = None,
    ) -> Hits:  # fmt: skip
        """Return the results of one query, in ``store`` instead of its own if given."""
        store = store or self.store
        request = Request(question.query, self.scope, excluded=question.exclude)
        with store.snapshot():
            found = search(store, settings, request, embedder)
        self.progress(1)
        return found

    def scores(
        self, settings: Settings, *, listen: bool = False, store: Store | None = None
    ) -> Scores:
        """Return every measure of every query; with ``listen``, keep the notes that all got."""
        embedder = self.embedder(settings)
        found = [self.search(settings, one, embedder, store) for one in self.questions]
        if listen and len(found) > 1:
            every = set.intersection(*({*hits.notes} for hits in found))
            self.notes += [note for note in found[0].notes if note in every - {*self.notes}]
        return np.array([
            score([hit.id for hit in hits], question.relevant, self.at)
            for hits, question in zip(found, self.questions, strict=True)
        ])  # fmt: skip

    def times(self, configurations: Sequence[Configuration], count: int) -> list[list[float]]:
        """Return the milliseconds of each configuration's search, for ``count`` of the queries.

        Configurations take turns at each query, so that a slower machine affects all alike.
        """
        step = max(1, len(self.questions) // max(1, count))
        chosen = self.questions[::step][:count]
        found: list[list[float]] = [[] for _ in configurations]
        for question in [*chosen[:1], *chosen]:  # the first one twice: it loads what all need
            for times, one in zip(found, configurations, strict=True):
                embedder = self.embedder(one.settings, caching=False)
                start = perf_counter()
                self.search(one.settings, question, embedder)
                times.append((perf_counter() - start) * 1000)
        return [times[1:] for times in found]


def _caching(embedder: Embedder) -> Embedder:
    one = cache(lambda text: embedder.embed([text])[0])
    caching = SimpleNamespace(name=embedder.name, dimension=embedder.dimension,
                              embed=lambda texts: [*map(one, texts)])  # fmt: skip
    return cast("Embedder", caching)


def missing(store: Store, questions: Sequence[Question]) -> set[str]:
    """Return the relevant ids without a live node in the store."""
    wanted = {id for question in questions for id in question.relevant}
    return wanted - store.nodes.match(Scope(), sorted(wanted))


def milliseconds(times: Sequence[float]) -> dict[str, float] | None:
    """Return median and 95th percentile (nearest rank); None for no times."""
    if not times:
        return None
    found = np.percentile(times, [50, 95], method="inverted_cdf")
    return {name: round(float(ms), 2) for name, ms in zip(("median", "p95"), found, strict=True)}


def report_text(report: dict[str, Any]) -> str:
    """Return the rows of a report under their headings."""
    rows = [headings(report), *(cells(row, report) for row in report["rows"])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:-1], widths[1:-1]), row[-1]])
        for row in rows
    ]
    return "\n".join([*lines, f"{report['queries']} queries; differences with 95 % intervals\n"])


def headings(report: dict[str, Any]) -> list[str]:
    """Return the headings of the ``cells``."""
    measures = report["measures"]
    return ["", *measures, "ms", "p95", f"{measures[0]} against {report['reference']}"]


def cells(row: dict[str, Any], report: dict[str, Any]) -> list[str]:
    """Return one row of a report: its name, every measure, the times, the difference."""
    measures, ms, difference = report["measures"], row["ms"], row["difference"]
    name = f"{row['id']} (share {row['share']:g})" if "share" in row else row["id"]
    times = [f"{ms['median']:.1f}", f"{ms['p95']:.1f}"] if ms else ["", ""]
    against = points(difference[measures[0]]) if difference else "the reference"
    return [name, *(percent(row[measure]) for measure in measures), *times, against]


def tuning_text(report: dict[str, Any]) -> str:
    """Return the result of tuning and the lines for a config file."""
    lines = [
        f"{report['measure']} {percent(report['base'])} with the settings as they stand, "
        f"{report['queries']} queries, {report['evaluations']} settings tried",
        f"on the queries tuned on     {points(report['seen'])}",
        f"on queries not tuned on     {points(report['unseen'])}  ({report['folds']} folds)",
    ]
    return "\n".join(lines) + "\n" + (f"\n{report['fragment']}" if report["fragment"] else "")


def percent(share: float) -> str:
    """0.6725 → 67.2 (or 67.3: as ``format`` rounds)."""
    return f"{100 * share:.1f}"


def points(difference: dict[str, float]) -> str:
    """Return a difference in points with its interval: ``+8.3 [+5.1, +11.6]``."""
    mean, low, high = (100 * difference[name] for name in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
