"""Commands about lore itself: config, doctor, version, commands, completion, help."""

from __future__ import annotations

from ..declaration import Argument, OldCommand, Option, Row
from . import OUTPUT, QUIET

CONFIG_COMMAND = OldCommand(
    "config",
    "[list [SECTION] | get KEY | set KEY VALUE | unset KEY]",
    "every setting, its value, and where that came from",
    """\
A setting is an option (--graph-depth), an environment variable
(LORE_GRAPH_DEPTH) and a key of a config file (graph_depth). Precedence:
option, environment, the project's .lore/.config, the user's
~/.config/lore/config, default. Config files are read line by line and never
run; config.example has every setting. 'list graph' prints one section.

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
    run="commands.system:config",
)


DOCTOR_COMMAND = OldCommand(
    "doctor",
    "[--full]",
    "checks what lore needs and what it keeps, and says how to mend it",
    """\
Looks at Python, SQLite and its extensions, the embedder, jq, the config files,
the data folder, who may use it, and the store: its tables, its soundness, and whether full
text, vectors and edges agree with its nodes. Nothing is changed.""",
    Option(
        "--full",
        "check that every index of the store agrees with its table\n"
        "too, and warn of records with what looks like a secret",
    ),
    OUTPUT,
    """\
Each check is an object {id, ok, detail, fix}. One that is ok and yet has a fix is
a warning. The exit code is 0 when every check is ok, 1 when one is not.""",
    examples=(
        "lore doctor",
        "lore doctor --jq '.[] | select(.fix) | .fix'",
    ),
    also=(QUIET,),
    run="commands.system:doctor",
)


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
