"""The user's own commands, and words that are no command.

They are executables called ``lore-NAME``; one that is called takes the place of this process.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, nearest
from ..core.settings import Settings
from ..core.text import printable
from ..system import config
from ..system.plugin_files import BEGINNING, command_files
from ..system.programs import environment, own_files
from ..terminal.output import note
from . import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_MOST_HEAD = 1 << 16
"""Bytes of a program that are read for its help."""


def programs() -> dict[str, str]:
    """Return the files of lore's scripts and of the user's own commands by name."""
    scripts = {name: own_files(f"lib/{BEGINNING}{name}") for name in registry.SCRIPTS}
    return {**scripts, **own_commands()}


def own_commands() -> dict[str, str]:
    """Return the files of the user's own commands by name; print a note if the config is wrong."""
    try:
        config.load(os.environ)
        folder = Settings.load({}).plugin_dir
    except LoreError as error:
        note(str(error))
        return {}
    built_in = {*registry.names(), *registry.SCRIPTS}
    return {name: file for name, file in command_files(folder).items() if name not in built_in}


def comment_of(file: str) -> str:
    """Return the comment at the head of a program; empty if there is none."""
    with open(file, "rb") as opened:
        lines = opened.read(_MOST_HEAD).decode(errors="replace").splitlines()
    end = next((n for n, line in enumerate(lines) if line[:1] != "#"), len(lines))
    shown = [line for line in lines[:end] if not line.startswith(("#!", "# shellcheck "))]
    return printable("".join(f"{line[1:].removeprefix(' ')}\n" for line in shown))


def file_of(name: str) -> str:
    """Return the file of a script or of the user's own command.

    Raises:
        UsageError: there is none.
    """
    files = programs()
    if name in files:
        return files[name]
    kind = "option" if name.startswith("-") else "command"
    known = ["--help", "--version", *registry.names(), *files]
    name = name[:60].encode(errors="replace").decode()  # it may not be UTF-8
    raise UsageError(f"unknown {kind} '{name}'{nearest(name, known)}: see 'lore help'")


def run_own(words: list[str]) -> NoReturn:
    """Run the user's own command in ``words`` in place of this process."""
    import signal

    path = file_of(words[0])
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would the program
        signal.signal(number, signal.SIG_DFL)
    os.execve(path, [path, *words[1:]], environment())
