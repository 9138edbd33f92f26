"""lore eval."""

from __future__ import annotations

from ..declaration import Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
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
    Option("--type TYPE,…", "return only these types", kind="types", many=True, into="types"),
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
    run="quality:eval_command",
)
