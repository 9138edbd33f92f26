"""lore sync."""

from __future__ import annotations

from ..declaration import Argument, Command, Heading, Option
from . import BUSY_TIMEOUT, COUNTS_OUTPUT, IDS, quiet

COMMAND = Command(
    "sync",
    "[--in] [FILE] | REMOTE | --install [--hooks] | --uninstall",
    "share knowledge by git, with .lore/knowledge.jsonl, or through a hub",
    """\
The file has what people write, a record a line, sorted: no files, symbols, commits and
runs, no computed edges, no verdicts and no access counts. The newer version of a record
wins, and the older one goes into its history. The file is written only if its bytes
change; share it with 'git add' and 'git commit'. After a merge that git could not make,
both sides are read, and the file is valid again.

Without FILE it is this project's .lore/knowledge.jsonl; a store of no project needs a
FILE. Prints counts of what came in, as 'lore import' does, and of the lines that went
out; as text, nothing where nothing changed.

REMOTE is the name of a hub ('lore remote add'): what has changed here is sent, then what
others have sent is merged in the same way. Whatever breaks off goes on with the next sync.""",
    Option(
        "--in",
        "only bring in: the file stays as it is",
        into="only_in",
    ),
    Heading("With a remote"),
    Option(
        "--watch SECONDS",
        "again after so many seconds, until Ctrl-C",
        low=0,
        high=86_400,
        default=0.0,
    ),
    Option("--dry-run", "say how many lines would go each way, and end"),
    Option("--all", "send and read everything, and not only what is new"),
    Heading("In a repository, once"),
    Option(
        "--install",
        "let git merge the file by 'lore merge-file': an attribute in\n"
        ".gitattributes, for all, and the driver in this clone's config",
    ),
    Option(
        "--hooks",
        "with --install: bring in after merges, checkouts, rebases and\n"
        "cherry-picks, and write before commits, staging the file if git has\n"
        "it already",
    ),
    Option("--uninstall", "take all of that out again, and nothing else"),
    Option("--embedder NAME", "what makes the vectors; none: no vectors", setting="embedder"),
    BUSY_TIMEOUT,
    quiet("only conflicts on stderr"),
    COUNTS_OUTPUT,
    examples=(
        "lore sync && git add .lore/knowledge.jsonl",
        "lore sync --install --hooks",
        "lore sync ~/shared/knowledge.jsonl",
        "lore sync team --watch 60",
    ),
    arguments=(Argument("[FILE|REMOTE]", "path", "files"),),
    also=(IDS,),
    run="sync:sync",
)
