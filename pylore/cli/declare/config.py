"""lore config."""

from __future__ import annotations

from ..declaration import Argument, Command, Option, Row
from . import OUTPUT, QUIET

COMMAND = Command(
    "config",
    "[list | get KEY | set KEY VALUE | unset KEY]",
    "every setting, its value, and where that came from",
    """\
A setting is an option (--graph-depth), an environment variable
(LORE_GRAPH_DEPTH) and a key of a config file (graph_depth). Precedence:
option, environment, the project's .lore/.config, the user's
~/.config/lore/config, default. Config files are read line by line and never
run; config.example has every setting.

'set' and 'unset' change one line of a file and keep the others, with their comments. What
no file may have is refused, and so is what a project's may not, which may come with a
clone. An element of an array is EDGE_WEIGHTS[calls].""",
    Row(
        "the file to change: the project's where there is one, else the user's",
        Option("--user"),
        Option("--project"),
    ),
    Option("--value", "with 'get': the value alone", into="value_only"),
    OUTPUT,
    QUIET,
    examples=(
        "lore config",
        "lore config get graph_depth --value",
        "lore config set graph_depth 1",
    ),
    arguments=(
        Argument("[list|get|set|unset]", "words", choices=("list", "get", "set", "unset")),
        Argument("[KEY…]", "words", "settings"),
    ),
    run="config:config",
)
