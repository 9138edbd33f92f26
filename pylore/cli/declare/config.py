"""lore config."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "config",
    "[list | get KEY]",
    "every setting, its value, and where that came from",
    """\
A setting is an option (--graph-depth), an environment variable
(LORE_GRAPH_DEPTH) and a key of a config file (graph_depth). Precedence:
option, environment, the project's .lore/.config, the user's
~/.config/lore/config, default. Config files are read line by line and never
run; config.example has every setting.""",
    Option("--value", "with 'get': the value alone", into="value_only"),
    OUTPUT,
    QUIET,
    examples=(
        "lore config",
        "lore config get graph_depth --value",
    ),
    arguments=(
        Argument("[list|get]", "words", choices=("list", "get")),
        Argument("[KEY…]", "words", "settings"),
    ),
    run="system:config",
)
