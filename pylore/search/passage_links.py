"""What a passage that matches lends to what it links to.

A citation belongs to the passage in which it stands. Of the best ``LENDING`` passages, each
stands for what it links to with its own score ``b`` (the best has 1):

    support(j) = √(walk(j)² + Σ (LENT × b² × edge weight × relation weight)²)

the sum over the passages with a link to ``j``; a passage is not thinned by the number of
its links. To the walk, such an edge is of less weight (``graph.positional_edges``).
"""

from __future__ import annotations

from math import sqrt

from ..core.scoring import best_first
from ..graph.relations import relation_weights
from ..graph.walk import Step
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.settings import Settings
    from ..graph.walk import Walk
    from ..store.protocols import SearchStore as Store
    from .legs import Matches


def lend(
    store: Store,
    settings: Settings,
    found: Matches,
    walk: Walk,
    excluded: frozenset[str],
    hides: tuple[str, ...],
) -> None:
    """Adds to a walk's support what passages lend, and what they alone lead to.

    Neither what is ``excluded`` nor what is in a status of ``hides`` gets anything.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    scores = {key: (id, score) for key, id, score in found.passages(settings, tuning.LENDING)}
    rows = store.positional_edges.within([*scores])
    if not rows:
        return
    weights = relation_weights(store, settings)
    barred = set(excluded)
    if hides:
        barred |= store.nodes.hidden_among([row[2] for row in rows], hides)
    squares: dict[str, float] = {}
    strongest: dict[str, tuple[float, Step]] = {}
    for key, relation, to, weight in rows:
        id, score = scores[key]
        if relation not in weights or to in barred or to == id:
            continue
        strength = weights[relation][0]
        value = tuning.LENT * score**2 * weight * strength
        squares[to] = squares.get(to, 0.0) + value**2
        if value > strongest.get(to, (0.0,))[0]:
            strongest[to] = value, Step(to, 0.0, Step(id, score), relation, weight, strength)
    _add(walk, squares, {to: step for to, (_, step) in strongest.items()})


def _add(walk: Walk, squares: Mapping[str, float], ways: Mapping[str, Step]) -> None:
    """Adds these squares to the support, and the nodes that the walk has not reached."""
    for to, way in ways.items():
        walk.support[to] = sqrt(walk.support.get(to, 0.0) ** 2 + squares[to])
        walk.roots.pop(to, None)
        walk.reached.setdefault(to, way)
        walk.reached[to].score = walk.support[to]
    best = best_first({to: step.score for to, step in walk.reached.items()})
    walk.reached = {to: walk.reached[to] for to in best}
