"""Support of files by commits whose messages are like the query.

Of the most similar commits that touch a file, with similarity s relative to the best commit:

    H = √ Σ s² / (10 + n)^¼,  n = the commits that ever changed the file

so that files that change with everything are not always first. See docs/decisions/0018.
"""

from __future__ import annotations

from math import sqrt

from ..core.query import head_of
from ..core.scoring import relative
from ..core.text import parse_query
from ..core.vocabulary import file_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from ..core.text import Query
    from ..store import Store

ALIKE = 200
"""Commits that are read."""

HEAD = 0.5
"""Share of commits that are like the first line of the query, beside those like all of it."""

OFTEN, POWER = 10, 0.25
"""H is divided by (``OFTEN`` + n) to this power. Recall@5 on pytest-commits by files alone: 63.7
without it, 64.1 with it, 62.2 with 0.5."""


def history_of(store: Store, query: Query, excluded: Set[str]) -> dict[str, float]:
    """Return the support of files by similar commits, relative to the best one; empty without such
    commits.

    Raises:
        GraphUnavailable: the table of commits is missing or damaged.
    """
    alike = _alike(store, query, excluded)
    squares: dict[str, float] = {}
    for id, paths in store.commits.changed([*alike]).items() if alike else ():
        for path in paths:
            squares[path] = squares.get(path, 0.0) + alike[id] ** 2
    changes = store.commits.changes([*squares]) if squares else {}
    return relative({
        file_id(path): sqrt(squares[path]) / (OFTEN + number) ** POWER
        for path, number in changes.items()
    })  # fmt: skip


def _alike(store: Store, query: Query, excluded: Set[str]) -> dict[str, float]:
    """Return the most similar commits, best first, relative to the best commit."""
    scores: dict[str, float] = {}
    head = head_of(query.text)
    for asked, share in ((query, 1.0), (parse_query(head) if head else None, HEAD)):
        rows = store.commits.search(asked.phrases(), ALIKE) if asked is not None else []
        best = rows[0][1] if rows else 0.0
        for id, score in rows if best > 0 else ():
            if id not in excluded:
                scores[id] = scores.get(id, 0.0) + share * score / best
    ranked = sorted(scores, key=lambda id: (-scores[id], id))[:ALIKE]
    return relative({id: scores[id] for id in ranked})
