"""Running the questions of a set under several configurations."""

from __future__ import annotations

import shlex
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence, Set
from copy import copy
from math import log2
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ..core.errors import UsageError
from ..core.model import Record
from ..core.settings import Settings
from ..core.text import Query
from ..embed import open_embedder
from ..search.pipeline import Request, search
from ..store.resolve_id import resolve_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..embed import Embedder
    from ..store import Store
    from ..store.filter import Scope
    from .queries import Question


RESAMPLES = 10_000
SEED = 1993
_BLOCK = 500


def interval(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the 95 % interval of the mean of each column: an array (2, columns), low and high.

    ``differences``: (queries, measures), each row one query's, so that whatever makes
    a query hard counts on both sides. The same rows give the same interval.
    """
    queries = len(differences)
    generator = np.random.default_rng(SEED)
    shares = np.full(queries, 1 / queries)
    means = [
        generator.multinomial(queries, shares, size=_BLOCK) @ differences / queries
        for _ in range(RESAMPLES // _BLOCK)
    ]
    bounds: npt.NDArray[np.float64] = np.percentile(np.concatenate(means), [2.5, 97.5], axis=0)
    return bounds


def recall(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of the relevant nodes that are among the first ``k``."""
    return len(set(ranked[:k]) & set(relevant)) / len(relevant)


def all_relevant(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 where every relevant node is among the first ``k``, else 0."""
    return float(set(relevant) <= set(ranked[:k]))


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain at ``k`` (Järvelin and Kekäläinen, TOIS 2002).

    The gain of the node at rank r is 1 / log2(r + 1) where it is relevant; the sum is
    divided by that of a list with the relevant nodes in front.
    """
    wanted = set(relevant)
    gain = sum(1 / log2(rank + 2) for rank, id in enumerate(ranked[:k]) if id in wanted)
    return gain / sum(1 / log2(rank + 2) for rank in range(min(k, len(wanted))))


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant node, 0 where the list has none."""
    for rank, id in enumerate(ranked, start=1):
        if id in relevant:
            return 1 / rank
    return 0.0


def measures(at: Sequence[int]) -> list[str]:
    """Return the names of what ``score`` gives, in its order."""
    return [*(f"recall@{k}" for k in at), "all_relevant@5", "ndcg@10", "mrr"]


def score(ranked: Sequence[str], relevant: Collection[str], at: Sequence[int]) -> list[float]:
    """Every measure of one list: recall at each of ``at``, all-relevant@5, nDCG@10, 1/rank."""
    return [
        *(recall(ranked, relevant, k) for k in at),
        all_relevant(ranked, relevant, 5),
        ndcg(ranked, relevant, 10),
        reciprocal_rank(ranked, relevant),
    ]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that ``share`` (0..1) of them do not exceed (nearest rank); 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, -(-round(share * 1000) * len(ordered) // 1000) - 1)] if ordered else 0.0


def report_text(report: dict[str, Any]) -> str:
    """Return the rows of a report under their headings."""
    rows = [headings(report), *(cells(row, report) for row in report["rows"])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [_line(row, widths) for row in rows]
    return "".join([*lines, f"{report['queries']} queries; differences with 95 % intervals\n"])


def headings(report: dict[str, Any]) -> list[str]:
    """Return what stands above the ``cells``."""
    measures = report["measures"]
    return ["", *measures, "ms", "p95", f"{measures[0]} against {report['reference']}"]


def cells(row: dict[str, Any], report: dict[str, Any]) -> list[str]:
    """One row of a report: its name, every measure, the times, the difference."""
    measures, ms, difference = report["measures"], row["ms"], row["difference"]
    name = f"{row['id']} (share {row['share']:g})" if "share" in row else row["id"]
    times = [f"{ms['median']:.1f}", f"{ms['p95']:.1f}"] if ms else ["", ""]
    against = points(difference[measures[0]]) if difference else "the reference"
    return [name, *(percent(row[measure]) for measure in measures), *times, against]


def tuning_text(report: dict[str, Any]) -> str:
    """Return what tuning changed and what it gains, for people."""
    measure = report["measure"]
    lines = [
        f"{measure} {percent(report['base'])} with the settings as they stand, "
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


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    last = len(cells) - 1
    padded = (
        cell.ljust(width) if i in (0, last) else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip() + "\n"


if TYPE_CHECKING:
    Scores = npt.NDArray[np.float64]
    """(queries, measures): see ``metrics.measures``."""


PLAIN = "graph_depth=0"


class Configuration(NamedTuple):
    """One way of searching. ``kind``: ``leg``, ``fusion``, ``configuration`` or ``control``."""

    id: str
    kind: str
    settings: Settings

    @property
    def plain(self) -> bool:
        """Whether it does without the graph."""
        return not self.settings.depth


def configured(base: Settings, text: str) -> Configuration:
    """Return the base with ``key=value …`` on top, in the spelling of the config files.

    ``EDGE_WEIGHTS[calls]=0.5`` sets one element; a value with spaces is quoted.

    Raises:
        UsageError: a setting is not known, or its value is not one of its values.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text}': {error}: quote as a shell does") from None
    pairs = []
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"'{word}' sets nothing: give key=value, as graph_depth=1")
        pairs.append((key, value))
    settings = base.changed(pairs, f"compare:{text}")
    return Configuration(text or "as it stands", "configuration", settings)


def legs(base: Settings) -> list[Configuration]:
    """Each leg alone and, where there are several, each fusion of them, without the graph."""
    found = [
        Configuration(name, "leg", configured(base, f"{PLAIN} retrievers={name}").settings)
        for name in base.retrievers
    ]
    if len(found) > 1:
        found += [
            Configuration(name, "fusion", configured(base, f"{PLAIN} fusion={name}").settings)
            for name in ("convex", "rrf")
        ]
    return found


KEPT = 1_000_000
"""Rows of answers of one kind that are kept, the last used ones: 200 MB of passages."""

_SHARED = ("fulltext", "vectors", "nodes", "whole_files")
_OF_THE_GRAPH = ("edges", "commits")


class Memo:
    """Remembers what functions gave for their arguments."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, _Answers] = {}

    def remembering(self, kind: Hashable, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, asked once for the same arguments; each answer is a copy."""
        known = self._kinds.setdefault(kind, _Answers())

        def ask(*arguments: Any, **named: Any) -> Any:
            key = (frozen(arguments), frozen(named))
            if key in known:
                known.move_to_end(key)
            else:
                answer = function(*arguments, **named)
                if isinstance(answer, Iterator):
                    return answer  # it can be read once only
                known.keep(key, answer)
            return copy(known[key])

        return ask


class _Answers(OrderedDict[Hashable, Any]):
    """Answers by what was asked, the last used ones at the end."""

    rows = 0

    def keep(self, key: Hashable, answer: Any) -> None:
        """Adds one, and lets the oldest go while there are too many rows."""
        self[key] = answer
        self.rows += _size(answer)
        while self.rows > KEPT and len(self) > 1:
            self.rows -= _size(self.popitem(last=False)[1])


def _size(answer: Any) -> int:
    return 1 + (len(answer) if isinstance(answer, (list, set, dict)) else 0)


class _RememberedPart:
    """One part of a store, each of its methods remembering: nothing is written here."""

    def __init__(self, part: object, name: str, memo: Memo) -> None:
        self._part = part
        self._name = name
        self._memo = memo

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if callable(found):
            found = self._memo.remembering((self._name, name), found)
            setattr(self, name, found)
        return found


class _Remembering:
    def __init__(self, store: Store, shared: Memo, own: Memo) -> None:
        self._store = store
        for memo, parts in ((shared, _SHARED), (own, _OF_THE_GRAPH)):
            for name in parts:
                setattr(self, name, _RememberedPart(getattr(store, name), name, memo))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def remembering(store: Store, shared: Memo, own: Memo) -> Store:
    """Return the store. What its edges say is remembered in ``own``, the rest in ``shared``.

    Stores that differ in nothing but their edges may have the latter in common.
    """
    return cast("Store", _Remembering(store, shared, own))


class RememberingEmbedder:
    """An embedder that embeds each text once."""

    def __init__(self, embedder: Embedder, memo: Memo) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.embed = memo.remembering(("embedder", embedder.name), embedder.embed)


def frozen(value: Any) -> Hashable:
    """``value`` as a key: what is equal gives the same one."""
    if isinstance(value, Query):
        return value.text
    if isinstance(value, Record):
        return tuple(frozen(getattr(value, name)) for name in value.__slots__)
    if isinstance(value, Mapping):
        return tuple((key, frozen(item)) for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(map(frozen, value))
    return frozenset(value) if isinstance(value, Set) else cast("Hashable", value)


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
            question.relevant = tuple(dict.fromkeys(resolve_ids(store, question.relevant)))
            question.exclude = tuple(resolve_ids(store, question.exclude))
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
        """Return the same questions to a store that differs in its edges alone."""
        other = copy(self)
        other._use(store)
        return other

    def embedder(self, settings: Settings) -> Embedder | None:
        """Return the embedder of these settings, remembering."""
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
    """Return the relevant ids that no live node of the store has."""
    from ..store.filter import Scope

    wanted = {id for question in questions for id in question.relevant}
    return wanted - store.nodes.match(Scope(), sorted(wanted))


def milliseconds(times: Sequence[float]) -> dict[str, float] | None:
    """Median and 95th percentile; None where nothing was timed."""
    if not times:
        return None
    return {"median": round(percentile(times, 0.5), 2), "p95": round(percentile(times, 0.95), 2)}
