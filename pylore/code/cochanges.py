"""The history of a repository: commits, and files that change together."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ..anchors.attach import file_nodes
from ..core.model import Edge, Row
from ..core.query import cleaned
from ..core.times import ago, now
from ..core.vocabulary import CO_CHANGES, COMMIT_IDS
from ..indexing.embed import embed_missing
from ..indexing.indexer import write_nodes
from ..system.git import LOG, Git

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ..embed import Embedder
    from ..store import Store

    Pair = tuple[str, str]
    Progress = Callable[[str, int, int], None]  # step, count so far, total

MAX_FILES = 30  # maximum files of a commit that counts (docs/quality.md: recall@10 of co-changes)
PARTNERS = 25  # maximum co-changes of a file, the strongest first; not measured separately
KEPT_MESSAGES = 20_000  # newest commits with messages for searches (docs/decisions/0018)
LONGEST = 5000  # maximum characters of a message: some contain logs
SATURATION = 0.5  # evidence at which a weight is a half
NORMALISING = 0.1  # share of the correlation in a weight, 0 to 1
_START = "\x01"  # no letter of a change's kind, so it tells a commit from a change


class Commit(NamedTuple):
    """A commit, but no merge; ``paths`` are in the project, ``time`` is in seconds since 1970."""

    hash: str
    time: int
    message: str
    paths: list[str]


def read_history(
    git: Git, since: str, progress: Progress | None
) -> tuple[list[Commit], dict[str, str | None], int]:
    """Return the commits, newest first, today's names of their files (None for a deleted file), and
    the number of all commits. Bulk commits and the cut ends of a shallow clone are left out.

    A name means the current file until the log reaches the commit that renamed another file away
    from it; older entries mean the other file. Branches may have the old name earlier.

    Raises:
        LoreError: git cannot read the history.
    """
    chosen = ["--no-merges", *([f"--since={since}"] if since else []), "HEAD", "--"]
    counted = git.ask("rev-list", "--count", *chosen) or ""
    total = int(counted) if counted.isdigit() else 0
    existing = {*git.fields("ls-files", "-z")}.difference(git.fields("ls-files", "-z", "--deleted"))
    # Renames are found by contents, of which a partial clone lacks some.
    alike = "-M100%" if git.is_partial() else "-M"
    form = ["-z", "--name-status", "--relative", f"--format={_START}%H %ct%n%B"]
    words = git.fields("log", *form, alike, *LOG, *chosen)
    commits: list[Commit] = []
    renamed: dict[str, str] = {}
    for word in words:
        word = word.lstrip("\n")
        if word.startswith(_START):
            head, _, message = word[1:].partition("\n")
            hash, _, time = head.partition(" ")
            commits.append(Commit(hash, int(time) if time.isdigit() else 0, message, []))
            if progress:
                progress("reading the history", len(commits), total)
        elif word and commits:
            old = new = next(words, "")
            if word[0] in "RC":
                new = next(words, "")
            name = renamed.get(new, new)
            if word[0] == "R":
                renamed[old] = name
            commits[-1].paths.append(name)

    def today(path: str) -> str | None:
        seen = set()
        while path not in existing:
            seen.add(path)
            path = renamed.get(path, path)
            if path in seen:
                return None
        return None if "/.lore/" in f"/{path}" else path

    cut_off = git.shallow_commits()
    telling = [one for one in commits if len(one.paths) <= MAX_FILES and one.hash not in cut_off]
    return telling, {path: today(path) for each in telling for path in each.paths}, len(commits)


def keep_history(store: Store, commits: Sequence[Commit], names: Mapping[str, str | None]) -> None:
    """Store the commits that changed an indexed file, by today's ``names``, and remove all others,
    in the caller's transaction."""
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
    rows = []
    for commit in (commit for id, commit in kept.items() if id not in known):
        text = commit.message.strip().encode("utf-8", "replace").decode().replace("\0", "")
        rows.append((commit.hash, commit.time, text[:LONGEST], cleaned(text[:LONGEST])))
    store.commits.add(rows)
    store.commits.replace_files(pairs)


def cochange_weight(evidence: float, correlation: float) -> float:
    """Return the weight of an edge, 0 to 1.

    ``evidence`` is the sum of 1/(n - 1) over the commits of n files that changed both,
    ``correlation`` their cosine. Evidence predicts best from a single file; a little correlation
    lowers files that change with everything, and predicts best from several files.
    """
    return evidence / (evidence + SATURATION) * float(correlation**NORMALISING)


def strongest(
    commits: Iterable[tuple[Collection[str], float]], partners: int
) -> dict[Pair, tuple[float, float, int]]:
    """Map a pair, smaller name first, to weight, correlation and number of commits, for the
    strongest ``partners`` of each file. A commit is the changed files, and a vote.

    The correlation is the cosine of the two files' votes over the commits.
    """
    changes: dict[str, float] = defaultdict(float)
    evidence: dict[Pair, float] = defaultdict(float)
    together: dict[Pair, int] = defaultdict(int)
    for paths, vote in commits:
        for path in paths:
            changes[path] += vote
        for pair in combinations(sorted(paths), 2):
            evidence[pair] += vote
            together[pair] += 1
    found = {}
    by_file: dict[str, list[tuple[float, Pair]]] = defaultdict(list)
    for pair, votes in evidence.items():
        cosine = min(1.0, votes / sqrt(changes[pair[0]] * changes[pair[1]]))
        weight = round(cochange_weight(votes, cosine), 4)
        found[pair] = (weight, round(cosine, 4), together[pair])
        for path in pair:
            by_file[path].append((-weight, pair))
    kept = {pair for pairs in by_file.values() for _, pair in sorted(pairs)[:partners]}
    return {pair: found[pair] for pair in sorted(kept)}


class CoChanges(Row):
    """Counts of an analysis; ``notes`` are for people, ``bulk`` commits had too many files."""

    commits: int
    bulk: int
    files: int = 0
    edges: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    invalidated: int = 0
    notes: Sequence[str] = ()


def cochanges_are_due(store: Store) -> bool:
    """Return True if the last look at the history is a day old, or commits are not stored."""
    looked = store.meta.get("cochanges_analyzed_at") or ""
    return looked < ago(1) or not store.commits.is_there()


def analyze_cochanges(
    store: Store,
    embedder: Callable[[], Embedder | None],
    root: str,
    *,
    since: str = "",
    progress: Progress | None = None,
) -> CoChanges:
    """Write ``co_changes_with`` edges, one per pair, and end edges that no longer hold.

    Edges of people stay, and so do all edges if no files changed together ``since``.

    Raises:
        LoreError: the history is missing.
    """
    git = Git(root)
    head = git.require()
    commits, names, count = read_history(git, since, progress)
    votes = []
    for commit in commits:
        live = {name for path in commit.paths if (name := names[path]) is not None}
        votes.append((live, 1 / max(1, len(commit.paths) - 1)))
    pairs = strongest(votes, PARTNERS)
    result = CoChanges(count, count - len(commits), notes=[])
    if git.shallow_commits():
        result.notes = [f"this is a shallow clone: only {count} commits of its history are here"]
    with store.faults:
        with store.transaction():
            _link(store, pairs, result, keep=bool(since) and not pairs)
            if not since:
                keep_history(store, commits[:KEPT_MESSAGES], names)
            store.meta.set("cochanges_commit", head)
        embed_missing(store, embedder(), bulk=True)
    return result


def _link(
    store: Store, pairs: Mapping[Pair, tuple[float, float, int]], result: CoChanges, *, keep: bool
) -> None:
    """Write the edges of ``pairs``; with ``keep`` leave all edges."""
    paths = sorted({path for pair in pairs for path in pair})
    files = file_nodes(store, lambda nodes: write_nodes(store, nodes), paths)
    result.files = len(files)
    old = {(edge.from_id, edge.to_id): edge for edge in store.edges.with_relation(CO_CHANGES)}
    if keep:
        result.edges = result.unchanged = sum(edge.ended_at is None for edge in old.values())
        note = "no files changed together since then: co-changes are kept as they were"
        result.notes = [*result.notes, f"{note}; an earlier --since replaces them"]
        return
    wanted = {}
    for (one, other), (weight, correlation, commits) in pairs.items():
        if one in files and other in files:
            ends = min(files[one], files[other]), max(files[one], files[other])
            why = f'{{"commits": {commits}, "correlation": {correlation}}}'
            wanted[ends] = Edge(*ends, CO_CHANGES, weight, "system", metadata=why, created_at=now())
    derived = [edge for edge in old.values() if edge.source == "system" and edge.ended_at is None]
    added = [edge for ends, edge in wanted.items() if ends not in old]
    updated = []
    for edge in derived:  # edges of people stay
        new = wanted.get((edge.from_id, edge.to_id), edge)
        if (edge.weight, edge.metadata) != (new.weight, new.metadata):
            edge.weight, edge.metadata = new.weight, new.metadata
            updated.append(edge)
    store.edges.put_many([*added, *updated])
    ended = [edge.key for edge in derived if (edge.from_id, edge.to_id) not in wanted]
    store.edges.drop_derived(ended)
    result.edges, result.added, result.updated = len(wanted), len(added), len(updated)
    result.unchanged = len(wanted) - len(added) - len(updated)
    result.invalidated = len(ended)
    store.meta.set("cochanges_analyzed_at", now())
