"""lore help."""

from __future__ import annotations

from ..declaration import Argument, Command, Option

COMMAND = Command(
    "help",
    "[--all] [COMMAND [VERB]]",
    "what the commands do, or how to use one",
    """\
Without a command: those to start with, and the names of the others, the user's own
included. With one, its help, as 'lore COMMAND --help' prints it; 'lore help graph VERB'
has one verb of the graph, and so of others.""",
    Option("--all", "every command with a line of what it does; of the graph every verb's help"),
    examples=(
        "lore help search",
        "lore help graph path",
    ),
    arguments=(
        Argument("[COMMAND]", "command", "commands"),
        Argument("[VERB]", "verb", "verbs"),
    ),
    hot="help:help_command",
)
