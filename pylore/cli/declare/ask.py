"""lore ask."""

from __future__ import annotations

from ..declaration import Argument, Command, Option, Row
from . import OUTPUT, quiet

COMMAND = Command(
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
    Option(
        "--type TYPE,…",
        "only these types, or 'records'; the walk goes through anything",
        kind="types",
        many=True,
        into="types",
    ),
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
    run="ask:ask_command",
)
