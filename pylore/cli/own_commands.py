"""The user's own commands, and words that are no command.

They are executables called ``lore-NAME``; one that is called takes the place of this process.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, nearest
from ..core.settings import Settings
from ..system import config
from ..system.plugin_files import BEGINNING, COMMAND, command_files, kind_of
from ..system.programs import (
    Missing,
    Refused,
    environment,
    find,
    is_name,
    own_files,
)
from ..terminal.output import note
from . import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def own_commands() -> dict[str, str]:
    """Return the files of the user's own commands by name; print a note if the config is wrong."""
    try:
        config.load(os.environ)
        folder = Settings.load({}).plugin_dir
    except LoreError as error:
        note(str(error))
        return {}
    built_in = {*registry.names(), *registry.SCRIPTS}
    files = sorted(command_files(folder).items())
    return {name: file for name, file in files if name not in built_in}


def script_file(name: str) -> str:
    """Return the file of a script of the toolkit."""
    return own_files(f"lib/{BEGINNING}{name}")


def command_names() -> list[str]:
    """Return the names of lore's commands and scripts, sorted, then those of the user's own."""
    return [*sorted((*registry.names(), *registry.SCRIPTS)), *own_commands()]


def path_of(name: str) -> str:
    """Return the file of a script or of the user's own command; empty if there is none."""
    if name in registry.SCRIPTS:
        return script_file(name)
    if not is_name(name) or kind_of(BEGINNING + name)[0] != COMMAND:
        return ""
    config.load(os.environ)
    try:
        return find(BEGINNING, name, Settings.load({}).plugin_dir)
    except Missing:
        return ""
    except Refused as why:
        raise LoreError(f"{why}: chmod +x it, or take it away") from None


def run_own(words: list[str]) -> NoReturn:
    """Run the user's own command in ``words`` in place of this process."""
    import errno
    import signal

    path = path_of(words[0])
    if not path:
        raise unknown(words[0])
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would the program
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(path, [path, *words[1:]], environment())
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        os.execve("/bin/sh", ["sh", path, *words[1:]], environment())


def unknown(word: str) -> UsageError:
    """Return what to say of a word that is no command."""
    kind = "option" if word.startswith("-") else "command"
    word = word[:60].encode(errors="replace").decode()  # it may not be UTF-8
    known = ["--help", "--version"] if kind == "option" else command_names()
    verbs = [one.name for one in registry.every_command() if one.name.endswith(f" {word}")]
    meant = "' or '".join(verbs)
    near = f" (did you mean '{meant}'?)" if verbs else nearest(word, known)
    return UsageError(f"unknown {kind} '{word}'{near}: see 'lore help'")
