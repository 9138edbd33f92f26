"""lore context."""

from __future__ import annotations

from ..declaration import Argument, Command, Option, Row
from . import IDS, JQ, JSON, JSONL, MAX_BYTES, SCOPES, TEXT, quiet

COMMAND = Command(
    "context",
    "[options] QUESTION… | TASK-ID",
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
    Option(
        "--type TYPE,…",
        "only these types, or 'records'; the walk goes through anything",
        kind="types",
        many=True,
    ),
    Option(
        "--files GLOB,…", "start only from records and code of these files", kind="files", many=True
    ),
    SCOPES,
    Option("--graph-depth N", "hops to walk, 0 to 3", setting="graph_depth"),
    Option(
        "--user-entity ID",
        "whose facts come first, before those of whom the question names",
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
    arguments=(Argument("QUESTION…", "question"),),
    settings=None,
    hot="context:context_command",
)
