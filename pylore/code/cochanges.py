"""The history of a repository: its commits, and the files that change together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from ..anchors.attach import file_nodes
from ..core.errors import LoreError
from ..core.model import Edge, Record
from ..core.query import cleaned
from ..core.times import ago, now
from ..core.vocabulary import CO_CHANGES, COMMIT_IDS
from ..indexing.embed import embed_missing
from ..indexing.indexer import write_nodes
from ..system.git import LOG, Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..core.model import Node
    from ..embed import Embedder
    from ..store import Store


if TYPE_CHECKING:
    Pair = tuple[str, str]
    Progress = Callable[[str, int, int], None]


_START = "\x01"  # no letter of a change's kind, so it tells a commit from a change
_FORM = f"{_START}%H %ct%n%B"


@dataclass
class Commit:
    """One commit that is not a merge; ``paths`` are relative to the project."""

    hash: str
    time: int
    """Seconds since 1970, UTC."""
    paths: list[str]
    message: str = ""
    """Its place among those asked for."""


class History:
    """Read commits, newest first, and learns the renames on the way.

    A name means the file that has it, until the commit that renamed another file away
    from it comes by: what is older is about that other one. On a branch beside the
    rename the old name still turns up earlier; ``today`` puts such names right.
    """

    def __init__(self, git: Git, since: str = "") -> None:
        self._git = git
        self._since = since
        self._renamed: dict[str, str] = {}
        self._existing = frozenset(git.fields("ls-tree", "-r", "-z", "--name-only", "HEAD"))

    def count(self) -> int:
        """Return how many commits there are to read, about; 0 where git does not say."""
        since = [f"--since={self._since}"] if self._since else []
        said = self._git.ask("rev-list", "--count", "--no-merges", *since, "HEAD", "--") or ""
        return int(said) if said.isdigit() else 0

    def commits(self) -> Iterator[Commit]:
        """Yield the commits, newest first, each path as far as the renames so far lead.

        Raises:
            LoreError: git cannot read the history.
        """
        # How alike two files are is told by their contents, of which a partial clone lacks some.
        alike = "-M100%" if self._git.is_partial() else "-M"
        options = ["-z", "--no-merges", "--name-status", alike, "--relative", *LOG]
        if self._since:
            options.append(f"--since={self._since}")
        words = self._git.fields("log", *options, f"--format={_FORM}", "HEAD", "--")
        commit = None
        for word in words:
            word = word.lstrip("\n")
            if word.startswith(_START):
                if commit is not None:
                    yield commit
                head, _, message = word[1:].partition("\n")
                hash, _, time = head.partition(" ")
                commit = Commit(hash, int(time) if time.isdigit() else 0, [], message)
            elif word and commit is not None:
                path = next(words, "")
                if word[0] in "RC":
                    path = self._follow(path, next(words, ""), moved=word[0] == "R")
                else:
                    path = self._renamed.get(path, path)
                commit.paths.append(path)
        if commit is not None:
            yield commit

    def _follow(self, old: str, new: str, *, moved: bool) -> str:
        name = self._renamed.get(new, new)
        if moved:
            self._renamed[old] = name
        return name

    def today(self, path: str) -> str | None:
        """Return the name that a file of an old commit has now; None where it is gone."""
        seen = set()
        while path not in self._existing:
            seen.add(path)
            path = self._renamed.get(path, path)
            if path in seen:
                return None
        return path


LONGEST = 5000
"""Characters of a message that are kept: some have a whole log in them."""


def keep_history(
    store: Store,
    commits: Sequence[Commit],
    names: Mapping[str, str | None],
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Keep the commits that changed a file of the index, and no others.

    ``names`` are today's; ``progress`` hears how many messages are written. The caller holds a
    transaction.
    """
    indexed = store.whole_files.paths()
    if not indexed and not store.commits.is_there():
        return
    pairs: list[tuple[str, str]] = []
    kept: dict[str, Commit] = {}
    for commit in commits:
        id = COMMIT_IDS + commit.hash
        paths = {name for path in commit.paths if (name := names[path]) in indexed}
        if paths and commit.message.strip():
            kept[id] = commit
            pairs += [(id, path) for path in sorted(map(str, paths))]
    known = store.commits.ids()
    store.commits.remove(sorted(known - kept.keys()))
    fresh = [kept[id] for id in kept if id not in known]
    store.commits.add(_rows(fresh, progress))
    store.commits.replace_files(pairs)


def _rows(
    commits: Sequence[Commit], progress: Callable[[str, int, int], None] | None
) -> Iterator[tuple[str, int, str, str]]:
    for done, one in enumerate(commits, start=1):
        yield (one.hash, one.time, *_texts(one.message))
        if progress:
            progress("keeping the history", done, len(commits))


def _texts(message: str) -> tuple[str, str]:
    """Return a message as it is shown, and what of it is indexed."""
    text = message.strip().encode("utf-8", "replace").decode().replace("\0", "")[:LONGEST]
    return text, cleaned(text)


def replace_edges(
    store: Store, relation: str, wanted: Mapping[tuple[str, str], tuple[float, str]]
) -> tuple[int, int, int, int]:
    """Make the derived edges of one relation those that are wanted: ``(weight, metadata)``.

    Only what differs is written; what a person made or took away stays as it is. The
    caller holds a transaction. Returns how many were added, updated, unchanged and
    invalidated.
    """
    at = now()
    old = {(edge.from_id, edge.to_id): edge for edge in store.edges.with_relation(relation)}
    added = []
    updated = []
    for ends, (weight, metadata) in wanted.items():
        edge = old.get(ends)
        if edge is None:
            added.append(Edge(*ends, relation, weight, "system", "confirmed", metadata, at))
        elif _is_derived(edge) and (edge.weight, edge.metadata) != (weight, metadata):
            edge.weight, edge.metadata = weight, metadata
            updated.append(edge)
    store.edges.put_many(added)
    store.edges.put_many(updated)
    ended = [edge.key for ends, edge in old.items() if ends not in wanted and _is_derived(edge)]
    store.edges.drop_derived(ended)
    return len(added), len(updated), len(wanted) - len(added) - len(updated), len(ended)


def _is_derived(edge: Edge) -> bool:
    """Return whether the edge stands as it was found: what a person took away stays away."""
    return edge.source == "system" and edge.ended_at is None


def cochanges_are_due(store: Store) -> bool:
    """Return whether the history has not been examined for a day, or before its commits were
    kept."""
    looked = store.meta.get("cochanges_analyzed_at") or ""
    return looked < ago(1) or not store.commits.is_there()


MAX_FILES = 30
"""Maximum files of a commit that counts; recall@10 of co-changes is in docs/decisions/0024."""

PARTNERS = 25
"""Maximum co-changes of a file, the strongest ones. Not measured by itself."""

KEPT_MESSAGES = 20_000
"""Newest commits whose messages are kept for searches (docs/decisions/0019)."""

SATURATION = 0.5
"""Evidence at which a weight is a half."""

NORMALISING = 0.1
"""Share of the correlation in a weight, 0 to 1."""


def cochange_weight(evidence: float, correlation: float) -> float:
    """Return what an edge is worth to the walk, 0 to 1.

    ``evidence`` is the sum of 1/(n - 1) over the commits of n files that changed both,
    ``correlation`` their cosine. Evidence alone predicts best which file changes with
    one that is known; a little of the correlation takes the edge off files that change
    with everything, and predicts best where several files are known.

    >>> round(cochange_weight(1.0, 1.0), 3), round(cochange_weight(1.0, 0.1), 3)
    (0.667, 0.53)
    """
    return evidence / (evidence + SATURATION) * float(correlation**NORMALISING)


class CoChanges(Record):
    """Counts of an analysis; ``notes`` are for people.

    ``edges`` is how many there are now, of which some were added, updated or unchanged;
    ``invalidated`` counts those that no longer hold. ``bulk`` commits had more files
    than ``MAX_FILES``, ``unusable`` files have names that cannot be ids,
    ``forgotten`` ones were forgotten.
    """

    __slots__ = (
        "commits", "bulk", "files", "edges", "added", "updated", "unchanged", "invalidated",
        "unusable", "forgotten", "notes",
    )  # fmt: skip

    def __init__(self) -> None:
        self.commits = self.bulk = self.files = self.edges = 0
        self.added = self.updated = self.unchanged = self.invalidated = 0
        self.unusable = self.forgotten = 0
        self.notes: list[str] = []


class Counts:
    """Counts of changes of files, alone and in pairs, under today's names."""

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
        """Count one commit; ``paths`` are sorted and each there once."""
        for path in paths:
            self.changes[path] += vote
        for pair in combinations(paths, 2):
            self.evidence[pair] += vote
            self.together[pair] += 1

    def strongest(self, partners: int) -> dict[Pair, tuple[float, float, int]]:
        """Map pair to (weight, correlation, commits), where it is among the strongest of either
        file's.

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
    """Count over these commits; ``names`` are today's, None for files that are gone."""
    counts = Counts()
    for commit in commits:
        live = {name for path in commit.paths if (name := names[path]) is not None}
        counts.add(sorted(live), 1 / max(1, len(commit.paths) - 1))
    return counts


def telling_commits(
    git: Git, since: str = "", progress: Progress | None = None
) -> tuple[list[Commit], dict[str, str | None], int]:
    """Return the commits that say something, today's names of their files, and how many there are.

    Bulk commits and those at which a shallow clone was cut off are only counted. ``progress``
    hears how many were read, and of how many.

    Raises:
        LoreError: git cannot read the history.
    """
    history = History(git, since)
    cut_off = git.shallow_commits()
    telling = []
    count = 0
    total = history.count() if progress else 0
    for commit in history.commits():
        count += 1
        if progress:
            progress("reading the history", count, total)
        if len(commit.paths) <= MAX_FILES and commit.hash not in cut_off:
            telling.append(commit)
    paths = {path for commit in telling for path in commit.paths}
    return telling, {path: _todays(history, path) for path in paths}, count


def _todays(history: History, path: str) -> str | None:
    """Return the name that a file has today; None where it is gone, or lore's own."""
    name = history.today(path)
    return None if name is None or f"/{name}".find("/.lore/") >= 0 else name


def analyze_cochanges(
    store: Store,
    embedder: Callable[[], Embedder | None],
    root: str,
    *,
    since: str = "",
    progress: Progress | None = None,
) -> CoChanges:
    """Write ``co_changes_with`` edges, one a pair, and take back those that no longer hold.

    An edge that is as it was is not written. Edges that a person made or took away
    stay as they are, and so do all of them where nothing changed together ``since``.
    ``embedder`` is called where a node has to be made. ``progress`` hears what is done, how
    much of it, and of how much.

    Raises:
        LoreError: there is no history to read.
    """
    git = Git(root)
    head = git.require()
    commits, names, count = telling_commits(git, since, progress)
    pairs = count_cochanges(commits, names).strongest(PARTNERS)
    result = CoChanges()
    result.commits, result.bulk = count, count - len(commits)
    nothing_new = bool(since) and not pairs
    if nothing_new:
        result.notes.append("no files changed together since then: co-changes are kept as they "
                            "were; an earlier --since replaces them")  # fmt: skip

    def write(nodes: Sequence[Node]) -> None:
        write_nodes(store, nodes)

    def keep() -> None:
        files = file_nodes(store, write, sorted({path for pair in pairs for path in pair}))
        result.files, result.unusable = len(files.ids), files.unusable
        result.forgotten = files.forgotten
        if nothing_new:
            result.edges = result.unchanged = len([*store.edges.outlines([CO_CHANGES])])
        else:
            _link(store, pairs, files.ids, result)
            store.meta.set("cochanges_analyzed_at", now())
        if not since:
            keep_history(store, commits[:KEPT_MESSAGES], names, progress)
        store.meta.set("cochanges_commit", head)

    with store.faults:
        with store.transaction():
            keep()
        embed_missing(store, embedder(), bulk=True)
    if git.shallow_commits():
        result.notes.append(
            f"this is a shallow clone: only {count} commits of its history are here"
        )
    return result


def counted_cochanges(
    store: Store,
    embedder: Callable[[], Embedder | None],
    root: str,
    progress: Progress | None = None,
) -> dict[str, int] | None:
    """Return ``analyze_cochanges`` as counts of commits and edges; None where there is no
    history."""
    try:
        found = analyze_cochanges(store, embedder, root, progress=progress)
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
