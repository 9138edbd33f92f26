"""Support of files by commits whose messages are like the query.

Of the most similar commits that touch a file, with similarity s relative to the best commit:

    H = √ Σ s² / (10 + n)^¼,  n = the commits that ever changed the file

so that files that change with everything are not always first. See docs/decisions/0019.
"""

from __future__ import annotations

from math import sqrt

from ..core.query import head_of
from ..core.scoring import relative
from ..core.text import parse_query, phrases_of
from ..core.vocabulary import file_id, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from ..core.text import Query
    from ..store.protocols import SearchStore as Store

ALIKE = 200
"""Commits that are read."""

HEAD = 0.5
"""Share of commits that are like the first line of the query, beside those like all of it."""

OFTEN, POWER = 10, 0.25
"""H is divided by (``OFTEN`` + n) to this power. Recall@5 on pytest-commits by files alone: 63.7
without it, 64.1 with it, 62.2 with 0.5."""


class CommitSupport:
    """``support``: id of a file to what commits add to its p; ``best``: to the most similar of
    these commits; ``count``: to their number."""

    __slots__ = ("best", "count", "support")

    def __init__(self) -> None:
        self.support: dict[str, float] = {}
        self.best: dict[str, str] = {}
        self.count: dict[str, int] = {}


def history_of(store: Store, query: Query, excluded: Set[str]) -> CommitSupport:
    """Return the support of files by similar commits; empty without such commits.

    Raises:
        GraphUnavailable: the table of commits is missing or damaged.
    """
    found = CommitSupport()
    alike = _alike(store, query, excluded) if store.commits.is_there() else {}
    squares: dict[str, float] = {}
    changed = store.commits.changed([*alike]) if alike else {}
    for id, score in alike.items():  # best first
        for path in changed.get(id, ()):
            file = file_id(path)
            squares[file] = squares.get(file, 0.0) + score * score
            found.count[file] = found.count.get(file, 0) + 1
            found.best.setdefault(file, id)
    changes = store.commits.changes([path_of(id) for id in squares]) if squares else {}
    found.support = relative({
        file_id(path): sqrt(squares[file_id(path)]) / (OFTEN + number) ** POWER
        for path, number in changes.items()
    })  # fmt: skip
    return found


def _alike(store: Store, query: Query, excluded: Set[str]) -> dict[str, float]:
    """Return the most similar commits, best first, relative to the best commit."""
    scores: dict[str, float] = {}
    head = head_of(query.text)
    for asked, share in ((query, 1.0), (parse_query(head) if head else None, HEAD)):
        rows = store.commits.search(phrases_of(asked), ALIKE) if asked is not None else []
        best = rows[0][1] if rows else 0.0
        for id, score in rows if best > 0 else ():
            if id not in excluded:
                scores[id] = scores.get(id, 0.0) + share * score / best
    ranked = sorted(scores, key=lambda id: (-scores[id], id))[:ALIKE]
    return relative({id: scores[id] for id in ranked})
