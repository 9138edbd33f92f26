"""lore store and its verbs."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

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


PATH = Command(
    "store path",
    "[options]",
    "",
    """\
Prints the path of the search.db that commands in this folder use; text unless asked otherwise.""",
    OUTPUT,
    QUIET,
    examples=("sqlite3 -readonly \"$(lore store path)\" 'select id, title from nodes limit 5'",),
    run="stores:path",
)


LIST = Command(
    "store list",
    "[options]",
    "",
    """\
Lists the projects that have a store: folder, state (present or gone), bytes, search.db.""",
    Option("--gone", "only those whose project is gone"),
    OUTPUT,
    QUIET,
    examples=("lore store list --gone --ids | xargs -I{} lore store remove {}",),
    run="stores:list_stores",
)


ADOPT = Command(
    "store adopt",
    "[options] FOLDER",
    "",
    """\
Makes the store of a project that was in FOLDER that of the project in use: for one that was
moved. It is refused while a project is still in FOLDER, or where this one has a store.""",
    OUTPUT,
    QUIET,
    arguments=(Argument("FOLDER", "folder", "files"),),
    run="stores:adopt",
)


REMOVE = Command(
    "store remove",
    "[options] FOLDER",
    "",
    """\
Deletes the store of a project that was in FOLDER, for good. It is refused while the project is
still there.""",
    OUTPUT,
    QUIET,
    arguments=(Argument("FOLDER", "folder", "files"),),
    run="stores:remove",
)
