"""lore store, whose verbs are declared beside it."""

from __future__ import annotations

from ..declaration import Command

COMMAND = Command(
    "store",
    "path | list | adopt | remove",
    "where the store is, and the stores of all projects",
    """\
A project's search.db lies in your data folder (~/.local/share/lore/projects), never in the
project: other people can write there through git. All worktrees of a repository share one
store; two clones have two. LORE_DIR names another folder.""",
    verbs=("path", "list", "adopt", "remove"),
)
