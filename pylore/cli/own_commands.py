"""The user's own commands, and words that are no command.

They are executables called ``lore-NAME``; one that is called takes the place of this process.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, nearest
from ..core.settings import Settings
from ..core.text import printable
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

_MOST_HEAD = 1 << 16
"""Bytes of a script that are read for its help."""


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


def comment_of(name: str) -> str:
    """Return the comment at the head of a script: of lore's or of the user's own."""
    with open(_file_of(name), "rb") as file:
        lines = file.read(_MOST_HEAD).decode(errors="replace").splitlines()
    end = next((n for n, line in enumerate(lines) if line[:1] != "#"), len(lines))
    shown = [line for line in lines[:end] if not line.startswith(("#!", "# shellcheck "))]
    if not shown:
        raise LoreError(f"lore-{name} has no help at its head: try 'lore {name} --help'")
    return printable("".join(f"{line[1:].removeprefix(' ')}\n" for line in shown))


def _file_of(name: str) -> str:
    """Return the file of a script or of the user's own command.

    Raises:
        UsageError: there is none.
    """
    if name in registry.SCRIPTS:
        return script_file(name)
    if is_name(name) and kind_of(BEGINNING + name)[0] == COMMAND:
        config.load(os.environ)
        try:
            return find(BEGINNING, name, Settings.load({}).plugin_dir)
        except Missing:
            pass
        except Refused as why:
            raise LoreError(f"{why}: chmod +x it, or take it away") from None
    kind = "option" if name.startswith("-") else "command"
    known = ["--help", "--version", *registry.names(), *registry.SCRIPTS, *own_commands()]
    name = name[:60].encode(errors="replace").decode()  # it may not be UTF-8
    raise UsageError(f"unknown {kind} '{name}'{nearest(name, known)}: see 'lore help'")


def run_own(words: list[str]) -> NoReturn:
    """Run the user's own command in ``words`` in place of this process."""
    import errno
    import signal

    path = _file_of(words[0])
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would the program
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(path, [path, *words[1:]], environment())
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        os.execve("/bin/sh", ["sh", path, *words[1:]], environment())
