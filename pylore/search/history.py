"""What the history says of files: commits with messages like the query changed these.

Of the most similar commits that touch a file, similarity s relative to the best one, the file has

    H = √ Σ s² / (10 + n)^¼,  n = the commits that ever changed it

so that what changes with everything is not first everywhere. H' = (n·H + 3·0.7·p) / (n + 3):
of a young file nothing is known yet, and it has of H what it has of the match p. See
docs/decisions/0019.
"""

from __future__ import annotations

from math import sqrt

from ..core.query import head_of
from ..core.scoring import rounded
from ..core.text import parse_query
from ..core.vocabulary import CHANGES, file_id, path_of
from ..graph.walk import Step
from . import tuning
from .files import kinds, phrases_of, relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from ..core.settings import Settings
    from ..store.protocols import SearchStore as Store
    from .files import FileRanks


class FileHistory:
    """``support``: id of a file to what its history adds, in units of the best p; ``ways``: to
    the step from the commit that says most for it; ``commits``: to how many were alike."""

    __slots__ = ("commits", "support", "ways")

    def __init__(self) -> None:
        self.support: dict[str, float] = {}
        self.ways: dict[str, Step] = {}
        self.commits: dict[str, int] = {}

    def explained(self, id: str) -> dict[str, object]:
        """What it says of one file: the commits that are alike, the best of them, and what they
        add."""
        way = self.ways.get(id)
        return {
            "support": rounded(self.support.get(id, 0.0)),
            "commits": self.commits.get(id, 0),
            "best": way.before.id if way and way.before else None,
        }


def history_of(
    store: Store, settings: Settings, ranks: FileRanks, excluded: Set[str]
) -> FileHistory | None:
    """What the history says; None where none is kept, or nothing in it is alike.

    Raises:
        GraphUnavailable: what is kept of commits is missing or damaged.
    """
    if not settings.history_weight or not store.commits.is_there():
        return None
    alike = _alike(store, ranks, excluded)
    if not alike:
        return None
    found = FileHistory()
    changed = store.commits.changed([*alike])
    squares: dict[str, float] = {}
    for id, score in alike.items():  # best first: the first one to touch a file says most for it
        for path in changed.get(id, ()):
            file = file_id(path)
            squares[file] = squares.get(file, 0.0) + score * score
            found.commits[file] = found.commits.get(file, 0) + 1
            if file not in found.ways:
                found.ways[file] = Step(file, score, Step(id, score), CHANGES, 1.0, 1.0, True)
    _add_support(store, settings, ranks, squares, found)
    return found


def _add_support(
    store: Store,
    settings: Settings,
    ranks: FileRanks,
    squares: dict[str, float],
    found: FileHistory,
) -> None:
    """Fills in what the history adds to each file: ``squares`` are sums of s²."""
    files = [*dict.fromkeys((*squares, *ranks.plain))]
    changes = store.commits.changes([path_of(id) for id in files])
    ever = {file_id(path): number for path, number in changes.items()}
    own = relative({
        id: sqrt(square) / (tuning.EVER + ever[id]) ** tuning.OFTEN_CHANGED
        for id, square in squares.items() if id in ever
    })  # fmt: skip
    new = [id for id in squares if id not in ranks.plain]
    stand = {**dict(kinds(settings, ranks.query, new)), **ranks.stand}
    young = tuning.YOUNG
    for id in files:
        number = ever.get(id, 0)
        known = number * own.get(id, 0.0) + young * tuning.YOUNG_HAS * ranks.plain.get(id, 0.0)
        share = settings.history_weight * stand.get(id, 1.0)
        found.support[id] = share * known / (number + young)


def _alike(store: Store, ranks: FileRanks, excluded: Set[str]) -> dict[str, float]:
    """The most similar commits, best first, relative to the best: by all of the query, and by
    how it begins."""
    most = tuning.ALIKE
    whole = store.commits.search(phrases_of(ranks.query), most)
    head = head_of(ranks.query.text)
    beginning = store.commits.search(phrases_of(parse_query(head)), most) if head else []
    scores: dict[str, float] = {}
    for rows, share in ((whole, 1.0), (beginning, tuning.HEAD_OF_HISTORY)):
        best = rows[0][1] if rows else 0.0
        for id, score in rows if best > 0 else ():
            if id not in excluded:
                scores[id] = scores.get(id, 0.0) + share * score / best
    ranked = sorted(scores, key=lambda id: (-scores[id], id))[:most]
    return {id: scores[id] / scores[ranked[0]] for id in ranked}
