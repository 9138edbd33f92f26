"""The user's own commands, and words that are no command.

They are executables called ``lore-NAME``; one that is called takes the place of this process.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, nearest
from ..core.settings import from_environment
from ..system import config
from ..system.plugin_files import BEGINNING, COMMAND, READY, Plugin, all_plugins, kind_of
from ..system.plugin_process import API, Missing, Refused, find, is_name
from ..system.programs import environment_of_programs
from ..terminal.output import note
from .declaration import every_command

_LONGEST = 60
"""Characters of a word that a message quotes."""

_MEANT = {
    "list": "ls dir notes records",
    "forget": "rm del delete remove drop",
    "show": "cat view get open info print read",
    "search": "find query grep rg lookup where",
    "add": "new create insert remember save",
    **{f"add {kind}": kind for kind in ("note", "decision", "lesson", "pattern", "failure",
                                        "observation", "goal")},
    "add task": "task todo",
    "edit": "update modify set",
    "edit ID --title TITLE": "rename retitle",
    "show --history": "history log diff",
    "undo": "revert rollback",
    "graph stats": "status stats count",
    "doctor": "check diagnose fsck",
    "config": "settings preferences",
    "config unset": "unset",
    "import": "load",
    "export": "dump",
    "index": "scan build",
    "help": "man usage",
    **{f"graph {verb}": verb for verb in ("neighbors", "path", "hubs", "orphans", "relations",
                                          "similar", "duplicates")},
}  # fmt: skip
"""Commands, each with what other programs call them."""


def own_commands() -> list[Plugin]:
    """Return those that there are, by name; where the config is wrong, say so and return none."""
    try:
        config.load(os.environ)
        folder = from_environment({}).plugin_dir
    except LoreError as error:
        note(str(error))
        return []
    found = all_plugins(folder, {*every_command()})
    ready = [one for one in found if one.kind == COMMAND and one.state == READY]
    return sorted(ready, key=lambda plugin: plugin.name)


def command_names() -> list[str]:
    """Return the names of lore's commands and of the user's own, each sorted."""
    own = [plugin.name for plugin in own_commands()]
    return [*(name for name in every_command() if " " not in name), *own]


def path_of(name: str) -> str:
    """Return the file of the user's own command of this name; empty if there is none.

    Raises:
        LoreError: it cannot be run, or the config is wrong.
    """
    if not is_name(name) or kind_of(BEGINNING + name)[0] != COMMAND:
        return ""
    config.load(os.environ)
    try:
        return find(BEGINNING, name, from_environment({}).plugin_dir)
    except Missing:
        return ""
    except Refused as why:
        raise LoreError(f"{why}: chmod +x it, or take it away") from None


def run_own(words: list[str]) -> None:
    """Run the user's own command in ``words`` in place of this process.

    Raises:
        UsageError: there is none of this name; the message has the one that may be meant.
        LoreError: as ``path_of``.
    """
    import errno
    import signal

    path = path_of(words[0])
    if not path:
        raise unknown(words[0])
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would the program
        signal.signal(number, signal.SIG_DFL)
    environ = {**environment_of_programs(), "LORE_API": API}
    try:
        os.execve(path, [path, *words[1:]], environ)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        os.execve("/bin/sh", ["sh", path, *words[1:]], environ)


def unknown(word: str) -> UsageError:
    """Return what to say of a word that is no command."""
    kind = "option" if word.startswith("-") else "command"
    word = word[:_LONGEST].encode(errors="replace").decode()  # it may not be UTF-8
    known = ["--help", "--version"] if kind == "option" else command_names()
    meant = next((name for name, others in _MEANT.items() if word in others.split()), "")
    hint = f" (did you mean 'lore {meant}'?)" if meant else nearest(word, known)
    return UsageError(f"unknown {kind} '{word}'{hint}: see 'lore help'")
