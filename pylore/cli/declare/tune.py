"""lore tune."""

from __future__ import annotations

from ..declaration import Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
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
        "tune these only, of: graph_depth, expansion, graph_weight,\n"
        "edge_weights, edge_backward_weights (of the relations in the\n"
        "store), hop_decay, graph_seeds, graph_limit, fusion,\n"
        "fulltext_share, vector_min, field_weights",
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
    Option("--type TYPE,…", "return only these types", kind="types", many=True, into="types"),
    Option("--skip-bad", "leave broken lines out, name them"),
    QUIET,
    OUTPUT,
    """\
Every setting is an option too, and what it says is where tuning starts.""",
    examples=(
        "lore tune --queries queries.jsonl --graph-depth 1",
        "lore tune --queries queries.jsonl --settings fulltext_share,field_weights",
        "lore tune --queries queries.jsonl --write",
    ),
    settings=None,
    run="quality:tune_command",
)
