"""Commands that find and show: search, related, show, list, context, ask, browse."""

from __future__ import annotations

from ..declaration import EXPAND, NO_DIVERSIFY, NO_PAGER, Argument, Command, Heading, Option, Row
from . import (
    IDS,
    JQ,
    JSON,
    JSONL,
    MAX_BYTES,
    ONELINE,
    OUTPUT,
    QUIET,
    SCOPES,
    SEARCH_OUTPUT,
    TEXT,
    quiet,
    types,
)

SEARCH_COMMAND = Command(
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
    types(
        "return only these types; the walk goes through anything. Here and\n"
        "elsewhere 'records' stands for what people wrote: all types but\n"
        "file, symbol, commit and run, and 'learning' for what was learned:\n"
        "lesson, decision, pattern, failure, observation"
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
        "the files you are at, from the project's root (src/**/*.ts),\n"
        "@git for those changed in the work tree, or @session for those\n"
        "that the latest sessions of agents edited in this folder and on\n"
        "this branch: what is tied to them is found too, and counts more\n"
        "where the query matches it. It filters nothing, as --file does.\n"
        "Needs no query. From depth 1 on also what is tied to files that\n"
        "these import, that import them, or that change together with them",
        kind="files",
        many=True,
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
    Option(
        "--min-score X", "leave out results that score less (0 to 1)", low=0, high=1, default=0.0
    ),
    NO_DIVERSIFY,
    Option("--explain, --verbose", "every factor of each score"),
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
    arguments=(Argument("QUERY…", "words"),),
    also=(Option("--on NAME", setting="on"),),
    settings=None,
    run="hot:search",
)


RELATED_COMMAND = Command(
    "related",
    "[options] ID|FILE… | --files GLOB,…",
    "what is connected to a node or known about a file, nearest first",
    """\
Walks from the nodes given (a lone - reads ids from stdin) as a search does.

In place of an id there may be a path, from the working directory or from the
project's root: then it is what is known about this file, records first: those
tied to it (hops 0), then those tied to files that it imports, that import it, or
that change together with it (2 hops, over that file), then what the walk reaches.
A folder stands for all files below it, @git for those changed in the work tree,
@session for those that the latest sessions of agents edited.
Where a node has such an id, it is the node (./NAME is a file).""",
    Option(
        "--files GLOB,…",
        "files too: globs from the project's root, @git or @session",
        kind="files",
        many=True,
    ),
    Option("--hops N", "how far to walk, 1 to 3; 1 unless set", whole=True, low=1, high=3),
    Option("--edges NAME,…", "walk these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "never walk these", setting="graph_exclude_edges"),
    types("return only these types, or 'records'"),
    Option(
        "--exclude ID,…", "neither return these nodes nor walk through them", kind="ids", many=True
    ),
    Row(
        "as in 'lore search'",
        Option("--decay X", setting="hop_decay"),
        Option("--max-nodes N", setting="graph_max_nodes"),
    ),
    Option("--symbols", "the symbols of these files too, which are counted otherwise"),
    Option("--explain, --verbose", "every factor of each score"),
    Option("--tree", "each reached node hangs on the one it was reached from"),
    Option("-n, --limit N", "the most to return, nearest first; all unless set", setting="limit"),
    ONELINE,
    OUTPUT,
    NO_PAGER,
    MAX_BYTES,
    examples=(
        "lore related decision-1a2b3c4d --hops 2 --type file --ids",
        "lore related src/auth.py --text",
    ),
    arguments=(Argument("ID|FILE…", "ids", "ids"),),
    settings=None,
    run="hot:related",
)


SHOW_COMMAND = Command(
    "show",
    "[--history] ID…",
    "a record whole, with its edges",
    """\
One id prints one object; several, or a lone - (ids from stdin), an array. Being shown
counts as an access, of an entity's facts too: what was staged is confirmed after
promote_after of them. The states of a record are numbered from 1, the first one: see
'lore restore --at N'.""",
    Option("--history", "every state that the record and its edges have left, ended edges too"),
    OUTPUT,
    NO_PAGER,
    MAX_BYTES,
    arguments=(Argument("ID…", "ids", "ids"),),
    settings=None,
    run="hot:show",
)


LIST_COMMAND = Command(
    "list",
    "[options]",
    "the records there are, the last changed first",
    """\
Records are what people and agents wrote. What an index brought (files, symbols, commits)
and runs are listed where their types are asked for.""",
    types("only these types", into="types"),
    Option("--all", "all types", into="all_types"),
    Option(
        "--tag TAG,…, --tags TAG,…",
        "only records with all these tags",
        kind="tags",
        many=True,
        into="tags",
    ),
    Option(
        "--status STATUS,…",
        "only these: staged, confirmed, superseded, retracted",
        kind="statuses",
        many=True,
        into="statuses",
    ),
    Option("--file GLOB,…", "only records of these files", kind="files", many=True, into="files"),
    Option(
        "--since DATE|AGE", "only what changed since (2026-01-31, 12h, 7d, 2w, 3m, 1y)", default=""
    ),
    Option("--until DATE|AGE", "only what has not changed after", default=""),
    Option("-n, --limit N", "the most of them; all unless set", whole=True, low=1),
    Option("--oldest", "the first changed first"),
    Option("--forgotten", "what was forgotten, in place of what stands"),
    SCOPES,
    ONELINE,
    OUTPUT,
    NO_PAGER,
    QUIET,
    examples=(
        "lore list --type decision --since 7d",
        "lore list --tag auth --ids | xargs lore show",
    ),
    run="listing:list_records",
)


CONTEXT_COMMAND = Command(
    "context",
    "[options] QUESTION… | TASK-ID | --files GLOB,…",
    "what the store has on a question, cut to a number of tokens",
    """\
Searches, walks the graph (depth 2 unless set), and puts the best together as
something to read: facts, decisions, lessons, documents, and code as it stands in the
work tree. What does not fit is shortened between sentences or statements, or
left out, and a receipt says so. With a task's id, its text is the question and
what it is linked to comes along. A lone - reads the question from stdin.""",
    Option("--budget N", "the most tokens, all of the text counted (4000)", setting="budget"),
    Option(
        "--as FORM",
        "narrative: Markdown for people, what the terminal gets\n"
        "prompt: a diagram and code snippets too, for a model\n"
        'json: the prompt as "text" with its receipt, what a pipe gets',
        choices=("narrative", "prompt", "json"),
    ),
    Option("--mermaid", "the diagram alone, for a program that draws Mermaid"),
    Option(
        "--receipt FILE", "write the receipt there, as JSON; - writes it to stderr", kind="files"
    ),
    types("only these types, or 'records'; the walk goes through anything"),
    Option(
        "--files GLOB,…",
        "start only from records and code of these files (globs, @git or\n"
        "@session); without a question, or where nothing matches, what\n"
        "is known about them",
        kind="files",
        many=True,
    ),
    SCOPES,
    Option("--graph-depth N", "hops to walk, 0 to 3", setting="graph_depth"),
    Option(
        "--user-entity ID",
        "your own entity, whose facts come first if the question names nobody",
        setting="user_entity",
    ),
    Option("--with-superseded", "facts that are superseded too, marked as such"),
    Row("JSON, or the narrative, wherever it goes", JSON, JSONL, TEXT),
    MAX_BYTES,
    Row("the ids of what came in alone", IDS),
    JQ,
    quiet("no notes and no summary on stderr"),
    """\
The receipt: tokens_used, budget, included (id, tokens, how: whole or shortened,
why) and withheld (id, reason). Settings of a search are options here too.""",
    examples=(
        'lore context "how do sessions expire" --budget 2000',
        'lore context "why sqlite" --as prompt | llm',
        "lore context task-1a2b3c4d --jq '.withheld'",
    ),
    arguments=(Argument("QUESTION…", "words"),),
    settings=None,
    run="context:context",
)


ASK_COMMAND = Command(
    "ask",
    "[options] QUESTION…",
    "ask your own model about what the store has, and check what it cites",
    """\
Builds the prompt of 'lore context --as prompt', gives it to your model command on
stdin, and prints the answer as it comes. Then every id and file:line that the answer
cites is looked up in the prompt; what was not there is listed on stderr. In a pipe,
prints one object: answer, citations (text, in_prompt), needed (what the model asked for
in rounds) and the context's receipt.
A lone - reads the question from stdin.""",
    Option(
        "--llm-command CMD",
        "the program and its arguments, no shell: it reads a prompt on\n"
        "stdin and prints an answer. Unless given, the setting\n"
        "llm_command, from your own config or LORE_LLM_COMMAND",
        setting="llm_command",
    ),
    Option("--strict", "exit 1 if something is cited that was not in the prompt"),
    Option(
        "--rounds N",
        "let the model name up to N times what it still needs (a symbol,\n"
        "a file, a question), look that up and ask it again; 0 unless\n"
        "set, 5 at the most. What is found shares the same budget",
        whole=True,
        low=0,
        high=5,
        default=0,
    ),
    Option("--budget N", "the most tokens of the context (4000)", setting="budget"),
    types("only these types, or 'records'; the walk goes through anything", into="types"),
    Option(
        "--files GLOB,…",
        "start only from records and code of these files",
        kind="files",
        many=True,
        into="globs",
    ),
    Option("--graph-depth N", "hops to walk, 0 to 3; 2 unless set", setting="graph_depth"),
    Option("--with-superseded", "facts that are superseded too, marked as such"),
    Row("the form of the output; --ids: what is cited", *OUTPUT.options),
    quiet("no notes on stderr but what is wrong with citations"),
    """\
Settings of a search are options here too: 'lore config list' names them. lore keeps
no key and knows no provider; that is your command's business.""",
    examples=(
        'lore ask "why do sessions expire" --llm-command "llm -m gpt-4o-mini"',
        "echo 'llm_command=\"ollama run llama3.2\"' >>~/.config/lore/config",
        'lore ask "what did we learn about logging out" --budget 2000 --strict',
    ),
    arguments=(Argument("QUESTION…", "words"),),
    settings=None,
    run="commands.ask:ask_command",
)


BROWSE_COMMAND = Command(
    "browse",
    "[options] [QUERY…]",
    "look around in the store: search as you type, read, follow links",
    """\
Shows the store through fzf (https://github.com/junegunn/fzf, 0.25 or later), which has to
be installed. What is typed is searched for at once; without a word there are the records
changed last, or without records the files and symbols. What is under the cursor is shown
beside the list, in fewer than 100 columns below it, which does not count as an access.

  Enter      read the record whole; where the output goes into a pipe, print its id and end
  Ctrl-E     open it in $VISUAL or $EDITOR: its file at the line, or else the record
  Ctrl-L     list what it is linked to; Ctrl-B goes back to the search
  Esc        end""",
    types("only these types"),
    Option("-n, --limit N", "the most results of a search; 50 unless set", setting="limit"),
    SCOPES,
    """\
Every setting is an option too: 'lore config list' names them.""",
    examples=(
        "lore browse",
        "lore browse --type decision tokens",
    ),
    arguments=(Argument("[QUERY…]", "query"),),
    also=(
        Option("--rows", "what fzf is given for a query"),
        Option("--of ID", "what it is given of a record's links"),
        Option("--preview ID", "what it shows beside the list"),
        Option("--open ID", "opens a record in the editor"),
    ),
    settings=None,
    run="browse:browse",
)
