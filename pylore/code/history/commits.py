"""Commits as nodes: what was done, in words, tied to the files that it was done to."""

from __future__ import annotations

from math import sqrt

from ...core.vocabulary import CHANGES
from ...system.git import commit_node
from .derived import replace_edges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...core.model import Node
    from ...store import Store
    from .log import Commit


def write_commits(
    store: Store,
    write: Callable[[Sequence[Node]], None],
    commits: Sequence[Commit],
    names: Mapping[str, str | None],
    ids: Mapping[str, str],
) -> int:
    """Writes the nodes of commits that changed a file of today, and links them to it.

    A commit of n files is worth 1/sqrt(n) to each. Returns how many nodes are new.
    """
    wanted: dict[tuple[str, str], tuple[float, str]] = {}
    fresh = []
    for commit in commits:
        live = {name for path in commit.paths if (name := names[path]) is not None}
        files = sorted(ids[name] for name in live if name in ids)
        if not files:
            continue
        node = commit_node(commit.hash, commit.time, commit.message)
        old = store.nodes.get(node.id)
        if old is None:
            fresh.append(node)
        elif old.invalidated_at is not None:
            continue
        for id in files:
            wanted[node.id, id] = (round(1 / sqrt(len(commit.paths)), 4), "{}")
    write(fresh)
    replace_edges(store, CHANGES, wanted)
    return len(fresh)
