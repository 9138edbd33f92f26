"""Files that change together, found in one pass over the history.

A commit of n files says 1/(n - 1) about each of its pairs, so that each file has one
vote a commit; a bulk commit says nothing.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import sqrt

from ..filenodes import file_nodes
from ..git import Git
from ..model import Edge, Record
from ..times import now
from ..vocabulary import CO_CHANGES
from .history import History

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..embed import Embedder
    from ..settings import Settings
    from ..store import Store

    Pair = tuple[str, str]

SATURATION = 0.5
"""Evidence at which a weight is a half."""

NORMALISING = 0.1
"""How much of the correlation goes into a weight: 0 is none, 1 is all of it."""

SUPERSEDED = "superseded"
"""The status of an edge that a later analysis no longer finds. One that a person took
away has another, and does not come back."""


def cochange_weight(evidence: float, correlation: float) -> float:
    """What an edge is worth to the walk, 0 to 1.

    ``evidence`` is the sum of 1/(n - 1) over the commits of n files that changed both,
    ``correlation`` their cosine. Evidence alone predicts best which file changes with
    one that is known; a little of the correlation takes the edge off files that change
    with everything, and predicts best where several files are known.

    >>> round(cochange_weight(1.0, 1.0), 3), round(cochange_weight(1.0, 0.1), 3)
    (0.667, 0.53)
    """
    return evidence / (evidence + SATURATION) * correlation**NORMALISING


class CoChanges(Record):
    """What an analysis did, as counts; ``notes`` are for people.

    ``bulk`` commits had more files than ``cochange_max_files``, ``unusable`` counts
    the files whose names cannot be ids, ``forgotten`` those that were forgotten.
    """

    __slots__ = (
        "added", "bulk", "commits", "edges", "files", "forgotten", "invalidated", "notes",
        "unchanged", "unusable", "updated",
    )  # fmt: skip

    def __init__(self) -> None:
        for name in self.__slots__:
            setattr(self, name, 0)
        self.notes: list[str] = []


class Counts:
    """How often files changed, alone and in pairs, under the names they have today."""

    def __init__(self) -> None:
        self.commits = 0
        self.bulk = 0
        self.changes: dict[str, float] = defaultdict(float)
        """File to its votes."""
        self.evidence: dict[Pair, float] = defaultdict(float)
        """Pair, smaller name first, to the votes for it."""
        self.together: dict[Pair, int] = defaultdict(int)
        """The same, to the number of commits."""

    def add(self, paths: list[str], vote: float) -> None:
        """Counts one commit; ``paths`` are sorted and each there once."""
        for path in paths:
            self.changes[path] += vote
        for pair in combinations(paths, 2):
            self.evidence[pair] += vote
            self.together[pair] += 1

    def strongest(self, partners: int) -> dict[Pair, tuple[float, float, int]]:
        """Pair to (weight, correlation, commits), where it is among the strongest of either file's.

        The correlation is the cosine of the two files' votes over the commits.
        """
        found = {}
        by_file: dict[str, list[tuple[float, Pair]]] = defaultdict(list)
        for pair, evidence in self.evidence.items():
            cosine = min(1.0, evidence / sqrt(self.changes[pair[0]] * self.changes[pair[1]]))
            weight = round(cochange_weight(evidence, cosine), 4)
            found[pair] = (weight, round(cosine, 4), self.together[pair])
            for path in pair:
                by_file[path].append((-weight, pair))
        kept = set()
        for pairs in by_file.values():
            if len(pairs) > partners:
                pairs.sort()
            kept.update(pair for _, pair in pairs[:partners])
        return {pair: found[pair] for pair in sorted(kept)}


def count_cochanges(git: Git, most_files: int, since: str = "") -> Counts:
    """Counts over the commits since a time that git understands, merges left out.

    Raises:
        LoreError: git cannot read the history.
    """
    history = History(git, since)
    cut_off = git.shallow_commits()
    counts = Counts()
    kept = []
    for commit in history.commits():
        counts.commits += 1
        if len(commit.paths) > most_files:
            counts.bulk += 1
        elif commit.hash not in cut_off:  # it seems to add every file there is
            kept.append(commit.paths)
    names: dict[str, str | None] = {}
    for paths in kept:  # only now all renames are known
        for path in paths:
            if path not in names:
                names[path] = history.today(path)
        live = {name for path in paths if (name := names[path]) is not None}
        counts.add(sorted(live), 1 / max(1, len(paths) - 1))
    return counts


def analyze_cochanges(
    store: Store,
    settings: Settings,
    embedder: Callable[[], Embedder | None],
    root: str,
    *,
    since: str = "",
) -> CoChanges:
    """Writes ``co_changes_with`` edges, one a pair, and takes back those that no longer hold.

    An edge that is as it was is not written. Edges that a person made or took away
    stay as they are. ``embedder`` is called where a file's node has to be made.

    Raises:
        LoreError: there is no history to read.
    """
    git = Git(root)
    head = git.require()
    counts = count_cochanges(git, settings.cochange_max_files, since)
    result = CoChanges()
    result.commits, result.bulk = counts.commits, counts.bulk
    pairs = counts.strongest(settings.cochange_partners)
    with store.faults, store.transaction():
        nodes = file_nodes(store, embedder, sorted({path for pair in pairs for path in pair}))
        result.files, result.unusable = len(nodes.ids), nodes.unusable
        result.forgotten = nodes.forgotten
        wanted = {}
        for (one, other), found in pairs.items():
            if one in nodes.ids and other in nodes.ids:
                first, second = sorted((nodes.ids[one], nodes.ids[other]))
                wanted[first, second] = found
        _replace(store, wanted, result)
        store.meta.set("cochanges_analyzed_at", now())
        store.meta.set("cochanges_commit", head)
    if git.shallow_commits():
        result.notes.append(
            f"this is a shallow clone: only {counts.commits} commits of its history are here"
        )
    return result


def _replace(
    store: Store, wanted: dict[Pair, tuple[float, float, int]], result: CoChanges
) -> None:
    """Brings the edges in the store to what was found, by their difference."""
    at = now()
    old = {(edge.from_id, edge.to_id): edge for edge in store.edges.with_relation(CO_CHANGES)}
    fresh = []
    for ends, (weight, correlation, commits) in wanted.items():
        metadata = f'{{"commits": {commits}, "correlation": {correlation}}}'
        edge = old.get(ends)
        if edge is None:
            fresh.append(Edge(*ends, CO_CHANGES, weight, "system", "confirmed", metadata, at))
            result.added += 1
        elif _is_ours(edge) and (edge.weight, edge.metadata, edge.invalidated_at) != (
            weight, metadata, None,
        ):  # fmt: skip
            edge.weight, edge.metadata = weight, metadata
            edge.status, edge.invalidated_at = "confirmed", None
            fresh.append(edge)
            result.updated += 1
        else:
            result.unchanged += 1
    store.edges.put_many(fresh)
    for ends, edge in old.items():
        if ends not in wanted and edge.invalidated_at is None and _is_ours(edge):
            store.edges.invalidate(edge.key, at, SUPERSEDED)
            result.invalidated += 1
    result.edges = len(wanted)


def _is_ours(edge: Edge) -> bool:
    return edge.source == "system" and (edge.invalidated_at is None or edge.status == SUPERSEDED)
