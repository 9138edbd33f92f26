"""lore search."""

from __future__ import annotations

from ..declaration import NO_PAGER, Argument, Command, Heading, Option
from . import (
    EXPAND,
    JQ,
    MAX_BYTES,
    NO_DIVERSIFY,
    ONELINE,
    QUIET,
    SCOPES,
    SEARCH_OUTPUT,
)

COMMAND = Command(
    "search",
    "[options] QUERY… | --files GLOB,… | --batch FILE",
    "find records by their words, their meaning and what they are connected to",
    """\
Prints the direct matches (at most --limit) and, with a graph depth above 0,
nodes reached from them by edges (at most --graph-limit), best first. A lone -
reads the query from stdin.

In a query of at most 12 words: "exact phrase" and title:word must be there, in
the title; -word (three lower-case letters or more) must not; word* finds all
that begins so; tag:x and type:x are as --tag and --type. Quote the query for
the shell. Whatever else has such marks (-Wall, a::b, *.py, key: value) is
words; what looks like an operator and cannot be read is words too, with a note.""",
    Heading("What to return and where to start"),
    Option(
        "--type TYPE,…",
        "return only these types; the walk goes through anything. Here and\n"
        "elsewhere 'records' stands for what people wrote: all types but\n"
        "file, symbol, commit and run, and 'learning' for what was learned:\n"
        "lesson, decision, pattern, failure, observation",
        kind="types",
        many=True,
    ),
    Option(
        "--status STATUS,…",
        "return only these; superseded and retracted ones are returned\n"
        "only when they are asked for",
        kind="statuses",
        many=True,
    ),
    Option("--tag TAG,…", "start only from records with all these tags", kind="tags", many=True),
    Option("--file GLOB,…", "start only from records of these files", kind="files", many=True),
    Option("--since DATE|AGE", "start only from records changed since (2026-01-31, 7d)"),
    Option("--filter-expanded", "apply all of these to everything, reached nodes too"),
    Option(
        "--exclude ID,…", "neither return these nodes nor walk through them", kind="ids", many=True
    ),
    SCOPES,
    Heading("What is at hand"),
    Option(
        "--files GLOB,…",
        "the files you are at, from the project's root (src/**/*.ts), or\n"
        "@git for those changed in the work tree: what is tied to them\n"
        "is found too, and counts more where the query matches it. It\n"
        "filters nothing, as --file does. Needs no query. From depth 1\n"
        "on also what is tied to files that these import, that import\n"
        "them, or that change together with them",
        kind="files",
        many=True,
    ),
    Option(
        "--files-weight X",
        "what it adds to a score to be tied to one of these files",
        setting="files_weight",
    ),
    Heading("Many queries in one process"),
    Option(
        "--batch FILE",
        'a JSON object a line, {"id","query"[,"exclude":[IDs]]\n'
        '[,"options":{"type":"note",…}]}, from a file or - (stdin);\n'
        'prints {"id","results":[…]} for each, at once. All other\n'
        "options hold for every query that has none of its own. On stdin\n"
        "a line may be plain words too, an id may be left out (then it is\n"
        'the line\'s number), and what is wrong is answered, {"id","error"}',
        kind="files",
    ),
    Option("--skip-bad", "leave broken lines out, name them, answer the rest"),
    Heading("The graph"),
    Option("--graph-depth N", "hops to walk, 0 to 3 (0: a plain search)", setting="graph_depth"),
    EXPAND,
    Option("--edges NAME,…", "walk these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "never walk these", setting="graph_exclude_edges"),
    Option("--decay X", "score factor per hop", setting="hop_decay"),
    Option("--max-nodes N", "the most nodes to reach", setting="graph_max_nodes"),
    Option("--graph-limit N", "the most reached nodes to return", setting="graph_limit"),
    Heading("Output"),
    Option(
        "-n, --limit N",
        "the most direct matches to return; further ones still lead on",
        setting="limit",
    ),
    NO_DIVERSIFY,
    Option("--explain", "every factor of each score"),
    SEARCH_OUTPUT,
    Option(
        "--offsets",
        "with JSON: a field 'matches', where the query's words stand in\n"
        "the snippet, as [start, length] in characters",
    ),
    ONELINE,
    MAX_BYTES,
    Option("--tree", "what the walk reached hangs on the matches it came from"),
    JQ,
    NO_PAGER,
    QUIET,
    Option("--run ID", "record in this run what is shown; LORE_RUN unless given", setting="run"),
    """\
Every setting is an option too: 'lore config list' names them.""",
    examples=(
        'lore search "jwt" --graph-depth 2 --edges implements,derived_from',
        'lore search "session expiry" --expand --tree',
        "lore search '\"signed tokens\" -cookie type:decision'",
        "lore search \"session expiry\" --type decision --jq '.[].id'",
        'lore search "token expiry" --files src/auth.py,@git',
        "lore search --files src/auth.py --graph-depth 1",
        "lore search --batch queries.jsonl --ids --graph-depth 1",
        'printf "%s\\n" "jwt" "session expiry" | lore search --batch - --ids',
    ),
    arguments=(Argument("QUERY…", "query"),),
    settings=None,
    hot="hot:search_command",
)
