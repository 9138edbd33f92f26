"""Two controls: what looks like a gain from the graph, and is not one.

Shuffled edges have every node's degrees and none of its links: a gain that stays was
not the links'. A prior on in-degree knows which nodes are linked to much and nothing
of the query: a gain that it has too is popularity.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import log1p
from typing import TYPE_CHECKING

import numpy as np

from ..core.scoring import best_first
from ..core.text import parse_query
from ..core.vocabulary import CHANGES, file_id
from ..search.retrieve import candidates, embed_query
from ..system.temporary import TemporaryFolder
from .metrics import score

if TYPE_CHECKING:
    from ..core.model import Edge
    from ..core.settings import Settings
    from ..store import Store
    from .run import Evaluation, Scores

SHUFFLES = 3
"""Shuffled graphs whose scores are averaged."""

SWAPS_PER_EDGE = 10
"""Attempted swaps, as a multiple of the edges; Milo et al. (2003) found 10 enough."""

PRIOR_SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
"""Shares of the prior that are tried; the best one counts."""


def shuffled(
    edges: Sequence[tuple[str, str, str]], generator: random.Random
) -> list[tuple[str, str, str]]:
    """The same ``(from, to, relation)``, in the same order, with targets exchanged.

    Two edges of one relation swap their targets unless a self loop or an edge that is
    there would come of it. So within each relation every node keeps its in-degree and
    its out-degree, and no edge is there twice if none was.
    """
    targets = [edge[1] for edge in edges]
    present = set(edges)
    by_relation: dict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        by_relation[edge[2]].append(number)
    for relation, numbers in by_relation.items():
        for _ in range(SWAPS_PER_EDGE * len(numbers)):
            one, other = generator.choice(numbers), generator.choice(numbers)
            sources = edges[one][0], edges[other][0]
            old = [(sources[0], targets[one], relation), (sources[1], targets[other], relation)]
            new = [(sources[0], targets[other], relation), (sources[1], targets[one], relation)]
            if any(edge[0] == edge[1] or edge in present for edge in new):
                continue
            present.difference_update(old)
            present.update(new)
            targets[one], targets[other] = targets[other], targets[one]
    return [
        (from_id, to_id, relation)
        for (from_id, _, relation), to_id in zip(edges, targets, strict=True)
    ]


@contextmanager
def shuffled_stores(store: Store, count: int = SHUFFLES) -> Iterator[Iterator[Store]]:
    """``count`` times a copy of the store with its edges shuffled; the store stays as it is."""
    with TemporaryFolder() as folder:
        copy = store.copied_to(folder)
        try:
            yield _shuffles(copy, list(store.edges.all(live_only=True)), count)
        finally:
            copy.close()


def _shuffles(copy: Store, edges: list[Edge], count: int) -> Iterator[Store]:
    keys = [edge.key for edge in edges]
    changed = [(id, path, CHANGES) for id, path in copy.commits.files()]
    for seed in range(count):
        generator = random.Random(seed)
        for edge, key in zip(edges, shuffled(keys, generator), strict=True):
            edge.from_id, edge.to_id, edge.relation = key
        dealt = shuffled(changed, generator)
        with copy.transaction():
            copy.edges.replace_all(edges)
            copy.commits.replace_files((id, path) for id, path, _ in dealt)
        yield copy


def shuffled_scores(asked: Evaluation, settings: Sequence[Settings]) -> list[Scores]:
    """The scores under each of the settings with edges shuffled, the mean of several shuffles."""
    rounds: list[list[Scores]] = []
    with shuffled_stores(asked.real_store) as stores:
        for store in stores:
            other = asked.on(store)
            rounds.append([other.scores(one) for one in settings])
    return [np.mean(scores, axis=0) for scores in zip(*rounds, strict=True)]


def in_degree_scores(asked: Evaluation, plain: Settings) -> tuple[float, Scores]:
    """The best share of the prior and its scores: the plain list, ranked anew.

    ``score = (1 − share) · fused + share · log(1 + in-degree) / its largest value``;
    edges that come from an excluded node do not count. The share is chosen by the
    first measure on these same queries, which favours the control.
    """
    targets = _targets(asked.real_store)
    degrees = Counter(target for ends in targets.values() for target in ends)
    most = log1p(max(degrees.values(), default=0)) or 1.0
    rows: dict[float, list[list[float]]] = {share: [] for share in PRIOR_SHARES}
    for question in asked.questions:
        lost = Counter(target for id in question.exclude for target in targets.get(id, ()))
        fused = _plain_list(asked, plain, question.query, frozenset(question.exclude))
        prior = {id: log1p(degrees[id] - lost[id]) / most for id in fused}
        for share, scores in rows.items():
            mixed = {id: (1 - share) * fused[id] + share * prior[id] for id in fused}
            scores.append(score(list(best_first(mixed)), question.relevant, asked.at))
        asked.progress(1)
    best = max(rows, key=lambda share: float(np.mean(rows[share], axis=0)[0]))
    return best, np.array(rows[best])


def _targets(store: Store) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for edge in store.edges.all(live_only=True):
        found[edge.from_id].append(edge.to_id)
    for id, path in store.commits.files():
        found[id].append(file_id(path))
    return found


def _plain_list(
    asked: Evaluation, settings: Settings, text: str, excluded: frozenset[str]
) -> dict[str, float]:
    query = parse_query(text)
    if not query:
        return {}
    vector = embed_query(query, asked.store, settings, asked.embedder(settings), [])
    return candidates(asked.store, settings, query, vector, asked.scope, excluded).fused
