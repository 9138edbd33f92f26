"""Files that change together, found in one pass over the history.

A commit of n files says 1/(n - 1) about each of its pairs, so that each file has one
vote a commit; a bulk commit says nothing.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import sqrt

from ...anchors.file_nodes import file_nodes
from ...core.errors import LoreError
from ...core.model import Record
from ...core.times import now
from ...core.vocabulary import CO_CHANGES
from ...embed.ahead import Ahead
from ...indexing.indexer import write_nodes
from ...system.git import Git
from .commits import write_commits
from .derived import replace_edges
from .kept_commits import keep_history
from .log import Commit, History

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...core.model import Node
    from ...core.settings import Settings
    from ...embed import Embedder
    from ...store import Store

    Pair = tuple[str, str]
    Progress = Callable[[str, int, int], None]

SATURATION = 0.5
"""Evidence at which a weight is a half."""

NORMALISING = 0.1
"""How much of the correlation goes into a weight: 0 is none, 1 is all of it."""


def cochange_weight(evidence: float, correlation: float) -> float:
    """What an edge is worth to the walk, 0 to 1.

    ``evidence`` is the sum of 1/(n - 1) over the commits of n files that changed both,
    ``correlation`` their cosine. Evidence alone predicts best which file changes with
    one that is known; a little of the correlation takes the edge off files that change
    with everything, and predicts best where several files are known.

    >>> round(cochange_weight(1.0, 1.0), 3), round(cochange_weight(1.0, 0.1), 3)
    (0.667, 0.53)
    """
    return evidence / (evidence + SATURATION) * float(correlation**NORMALISING)


class CoChanges(Record):
    """What an analysis did, as counts; ``notes`` are for people.

    ``edges`` is how many there are now, of which some were added, updated or unchanged;
    ``invalidated`` counts those that no longer hold. ``bulk`` commits had more files
    than ``cochange_max_files``, ``unusable`` files have names that cannot be ids,
    ``forgotten`` ones were forgotten.
    """

    __slots__ = (
        "commits", "bulk", "files", "edges", "added", "updated", "unchanged", "invalidated",
        "commit_nodes", "unusable", "forgotten", "notes",
    )  # fmt: skip

    def __init__(self) -> None:
        self.commits = self.bulk = self.files = self.edges = self.commit_nodes = 0
        self.added = self.updated = self.unchanged = self.invalidated = 0
        self.unusable = self.forgotten = 0
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
        kept: set[Pair] = set()
        for pairs in by_file.values():
            if len(pairs) > partners:
                pairs.sort()
            kept.update(pair for _, pair in pairs[:partners])
        return {pair: found[pair] for pair in sorted(kept)}


def count_cochanges(commits: list[Commit], names: dict[str, str | None]) -> Counts:
    """Counts over these commits; ``names`` are today's, None for files that are gone."""
    counts = Counts()
    for commit in commits:
        live = {name for path in commit.paths if (name := names[path]) is not None}
        counts.add(sorted(live), 1 / max(1, len(commit.paths) - 1))
    return counts


def telling_commits(
    git: Git,
    most_files: int,
    since: str = "",
    *,
    messages: bool = False,
    progress: Progress | None = None,
) -> tuple[list[Commit], dict[str, str | None], int]:
    """The commits that say something, today's names of their files, and how many there are.

    Bulk commits and those at which a shallow clone was cut off are only counted. ``progress``
    hears how many were read, and of how many.

    Raises:
        LoreError: git cannot read the history.
    """
    history = History(git, since, messages=messages)
    cut_off = git.shallow_commits()
    telling = []
    count = 0
    total = history.count() if progress else 0
    for commit in history.commits():
        count += 1
        if progress:
            progress("reading the history", count, total)
        if len(commit.paths) <= most_files and commit.hash not in cut_off:
            telling.append(commit)
    paths = {path for commit in telling for path in commit.paths}
    return telling, {path: _todays(history, path) for path in paths}, count


def _todays(history: History, path: str) -> str | None:
    """The name that a file has today; None where it is gone, or lore's own."""
    name = history.today(path)
    return None if name is None or f"/{name}".find("/.lore/") >= 0 else name


def analyze_cochanges(
    store: Store,
    settings: Settings,
    embedder: Callable[[], Embedder | None],
    root: str,
    *,
    since: str = "",
    keep_commits: bool = False,
    progress: Progress | None = None,
) -> CoChanges:
    """Writes ``co_changes_with`` edges, one a pair, and takes back those that no longer hold.

    An edge that is as it was is not written. Edges that a person made or took away
    stay as they are. ``embedder`` is called where a node has to be made. ``progress`` hears what
    is done, how much of it, and of how much.

    Raises:
        LoreError: there is no history to read.
    """
    git = Git(root)
    head = git.require()
    commits, names, count = telling_commits(
        git, settings.cochange_max_files, since,
        messages=keep_commits or settings.history_commits > 0, progress=progress,
    )  # fmt: skip
    pairs = count_cochanges(commits, names).strongest(settings.cochange_partners)
    result = CoChanges()
    result.commits, result.bulk = count, count - len(commits)

    ahead = Ahead(store, embedder)

    def write(nodes: Sequence[Node]) -> None:
        write_nodes(store, ahead.given, nodes)

    def keep() -> None:
        linked = {path for pair in pairs for path in pair}
        if keep_commits:
            linked |= {name for name in names.values() if name is not None}
        files = file_nodes(store, write, sorted(linked))
        result.files, result.unusable = len(files.ids), files.unusable
        result.forgotten = files.forgotten
        _link(store, pairs, files.ids, result)
        if keep_commits:
            result.commit_nodes = write_commits(store, write, commits, names, files.ids)
        if not since:
            keep_history(store, commits[: settings.history_commits], names, progress)
        store.meta.set("cochanges_analyzed_at", now())
        store.meta.set("cochanges_commit", head)

    ahead.settled(keep)
    if git.shallow_commits():
        result.notes.append(
            f"this is a shallow clone: only {count} commits of its history are here"
        )
    return result


def counted_cochanges(
    store: Store,
    settings: Settings,
    embedder: Callable[[], Embedder | None],
    root: str,
    progress: Progress | None = None,
) -> dict[str, int] | None:
    """``analyze_cochanges`` as counts of commits and edges; None where there is no history."""
    try:
        found = analyze_cochanges(store, settings, embedder, root, progress=progress)
    except LoreError:
        return None
    return {"commits": found.commits, "edges": found.edges}


def _link(
    store: Store,
    pairs: dict[Pair, tuple[float, float, int]],
    ids: dict[str, str],
    result: CoChanges,
) -> None:
    wanted = {}
    for (one, other), (weight, correlation, commits) in pairs.items():
        if one in ids and other in ids:
            first, second = sorted((ids[one], ids[other]))
            metadata = f'{{"commits": {commits}, "correlation": {correlation}}}'
            wanted[first, second] = (weight, metadata)
    done = replace_edges(store, CO_CHANGES, wanted)
    result.added, result.updated, result.unchanged, result.invalidated = done
    result.edges = len(wanted)
