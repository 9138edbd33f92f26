"""lore help."""

from __future__ import annotations

from ..declaration import Argument, Command

COMMAND = Command(
    "help",
    "[COMMAND [VERB]]",
    "what the commands do, or how to use one",
    """\
Without a command: every command with a line of what it does, the user's own
included. With one, its whole help, as 'lore COMMAND --help' prints it;
'lore help graph VERB' has one verb of the graph.""",
    examples=(
        "lore help search",
        "lore help graph path",
    ),
    arguments=(
        Argument("[COMMAND]", "command", "commands"),
        Argument("[VERB]", "verb", "verbs"),
    ),
)
