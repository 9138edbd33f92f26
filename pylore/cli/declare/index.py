"""lore index."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "index",
    "[options] [FOLDER]",
    "read a repository: files, symbols, imports, calls become part of the graph",
    """\
Reads the files of the project (the folder of .lore), or of a folder in
it. Each file becomes a node (file-src/auth.py), and so does each function, method,
class, interface, type and constant that it defines (symbol-src/auth.py::Login.check).
Wherever an id is taken, src/auth.py::Login.check and src/auth.py::Login::check mean it too.
Edges: defines (file to symbol), imports (file to file), calls, inherits and
instantiates (symbol to symbol; their weight says how sure it is), mentions (a
Markdown file to a path or a symbol that it names).

A second run reads what has changed since. A file that is gone takes its symbols
along, and they come back when it does; a file under a new name keeps what records
are linked to it. An interrupted run is continued by the next one.

The history is looked at once a day for files that change together, as by 'lore
graph analyze-cochanges': co_changes_with edges (file to file); and the messages of the
newest history_commits commits are kept, by which a search for files finds what similar
commits changed.

In a git work tree the files are those that git tracks, or would; elsewhere all but
hidden ones, node_modules and the like. Left out, and counted by reason, are: ignored,
binary, generated, minified, huge (more than index_max_file bytes), encoding (no
UTF-8), symlink, submodule, repository, name (what no id can hold), unreadable, gone,
special, unparsed, limit (more time, memory or facts than suits its size, or
definitions more than 100 deep: such files are named on stderr, too). Nothing in the
repository is run, and none of its git hooks, filters or settings.""",
    Option(
        "--languages NAME,…",
        "read only these languages' symbols: bash, c, cpp, go, java,\n"
        "javascript, python, ruby, rust, typescript",
        choices=(
            "bash",
            "c",
            "cpp",
            "go",
            "java",
            "javascript",
            "python",
            "ruby",
            "rust",
            "typescript",
        ),  # fmt: skip
        many=True,
    ),
    Option("--since REV", "look only at files that differ from this commit, or are not\ncommitted"),
    Option("--no-history", "leave the history alone"),
    QUIET,
    OUTPUT,
    """\
Printed are the files, symbols and edges that there are now, how many files were
read, added, changed, removed and unchanged, the co-changes found, what was left out,
how many names could not be resolved, and the seconds it took.""",
    examples=(
        "lore index",
        "lore index --languages python,typescript src",
        "lore index --since ORIG_HEAD --quiet",
        "lore index --jq .skipped",
    ),
    arguments=(Argument("[FOLDER]", "folder", "files"),),
    settings=None,
    hot="hot:index_command",
)
