"""Commands about lore itself: version, commands, completion, help."""

from __future__ import annotations

from ..declaration import Argument, OldCommand, Option


def version(**_: object) -> None:
    """``lore version``."""
    from ... import __version__
    from ...terminal.output import write

    write(f"lore {__version__}\n")


VERSION_COMMAND = OldCommand(
    "version",
    "",
    "which lore this is",
    run="declare.system:version",
)


COMMANDS_COMMAND = OldCommand(
    "commands",
    "",
    "the names of all commands, a line each",
    """\
The built-ins, then the user's own: executables called lore-<command> in the
folder that the setting plugin_dir names, or else ~/.config/lore/commands,
then on PATH. A built-in cannot be replaced.

Such a command finds in its environment LORE_ROOT (where lore lives),
LORE_STORE (the folder of search.db), LORE_PROJECT (the project's folder, or nothing) and
LORE_<SETTING> for each setting of the config files, of a project's for those that a project
may set; the comment at its head is its help, its '# Summary:' line is listed.""",
    run="help:commands",
)


COMPLETION_COMMAND = OldCommand(
    "completion",
    "bash|zsh",
    "print the completion script for a shell",
    """\
For bash, in ~/.bashrc:      eval "$(lore completion bash)"
For zsh, after compinit:     source <(lore completion zsh)
or save it as _lore in a folder of $fpath.

The scripts ask 'lore completion words WORD…' for what may stand in place of
the last WORD: commands and options come from what the commands declare.""",
    arguments=(Argument("SHELL", "shell", choices=("bash", "zsh")),),
    raw="completion:completion_command",
)


HELP_COMMAND = OldCommand(
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
    raw="help:help_command",
)
