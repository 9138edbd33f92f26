"""Find programs and the files that came with lore, and hold a program to limits.

An empty or a relative entry of ``PATH`` leads to what came with a clone.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # signal adds enums, slow to load
import os

from ..core.errors import LoreError
from ..core.settings import BY_NAME, users_alone
from .files import own_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from subprocess import Popen
    from types import FrameType
    from typing import Any


API = "1"
"""The version of the contract: ``LORE_API``, and what a plugin's ``# Lore-API:`` line names."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"


class Refused(Exception):
    """A plugin failed; the message says why."""


class Missing(Refused):
    """There is no plugin of that name."""


def is_name(text: str) -> bool:
    """Return True for a valid name of a plugin.

    >>> is_name("adr-tools"), is_name("../x")
    (True, False)
    """
    return text[:1] != "-" and bool(text) and not text.strip(_LETTERS)


def find(prefix: str, name: str, plugin_dir: str, *, on_path: bool = True) -> str:
    """Return the program of a plugin, ``prefix`` and ``name``, of the user or on ``PATH``;
    raise Missing, or Refused if it is not executable.
    """
    own = own_folder(plugin_dir)
    for folder in [own, *(whole_entries().split(":") if on_path else ())]:
        path = os.path.join(folder, prefix + name)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return os.path.abspath(path)
            if folder == own:
                raise Refused(f"{path} is not executable")
    where = f"{own} or on the PATH" if on_path else own
    raise Missing(f"no program {prefix}{name} in {where}")


def own_files(path: str) -> str:
    """Return the whole path of a file or folder that came with lore, as ``graph/rules``: in the
    checkout, under ``LORE_ROOT``, or where a wheel puts it. Raise LoreError if it is missing.
    """
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(checkout)))
    installed = os.path.join(prefix, "share", "lore")
    for root in (checkout, os.environ.get("LORE_ROOT", ""), installed):
        if root and os.path.exists(os.path.join(root, path)):
            return os.path.join(root, path)
    raise LoreError(f"{path}, which came with lore, is missing: install lore again")


def whole_entries(path: str | None = None) -> str:
    """Return ``path`` (default: this process's ``PATH``) without relative entries.

    >>> whole_entries(":/usr/bin:.:bin:/bin")
    '/usr/bin:/bin'
    """
    given = os.environ.get("PATH", os.defpath) if path is None else path
    # Nothing at all would be the working directory again.
    return ":".join(entry for entry in given.split(":") if entry.startswith("/")) or os.defpath


def find_program(name: str) -> str | None:
    """Return the whole path of a program by its name; None if there is none."""
    for folder in whole_entries().split(":"):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


_LIMITED = 'ulimit -t "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"'


def limited(command: list[str], seconds: int, megabytes: int) -> list[str]:
    """Return a command under limits of processor time and, if the system can, of address space.
    The shell sets them: Python would have to fork.
    """
    return ["/bin/sh", "-c", _LIMITED, "sh", str(seconds), str(1024 * megabytes), *command]


def environment_of_programs() -> dict[str, str]:
    """Return this process's environment for a program of the user's own, with each setting of the
    config files as a variable, unless the user has set that, or a project's config may not set it.
    """
    environ, kept = dict(os.environ), ""
    exported = environ.get("LORE_EXPORTED", "").split()
    for line in filter(None, os.environ.get("LORE_FROM_CONFIG", "").split("\n")):
        key, origin, text = line.split("\t", 2)
        setting = BY_NAME.get(key.partition("[")[0].lower())
        if origin.startswith("project:") and (not setting or users_alone(setting.name, text)):
            continue
        kept += f"{line}\n"
        variable = f"LORE_{key.upper()}"
        if key in BY_NAME and (variable in exported or variable not in environ):
            environ[variable] = text
            exported.append(variable)
    exported = [*dict.fromkeys(exported)]
    return {**environ, "LORE_FROM_CONFIG": kept, "LORE_EXPORTED": " ".join(exported)}


class Tidying:
    """A ``with`` block in which an interrupt is an exception, so that its cleanup runs.

    Elsewhere it ends the process at once. ``end_by`` ends it then as the signal would have.
    """

    _SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self._set: list[int] = []

    def __enter__(self) -> None:
        for number in self._SIGNALS:
            if signal.getsignal(number) == signal.SIG_DFL:
                try:
                    signal.signal(number, _interrupt)
                except ValueError:  # not the main thread: signals do not come here
                    return
                self._set.append(number)

    def __exit__(self, *_: object) -> None:
        for number in self._set:
            signal.signal(number, signal.SIG_DFL)


def start_session(command: Sequence[str], **options: Any) -> Popen[bytes]:
    """Start ``subprocess.Popen`` in a new session, which no interrupt leaves running: a signal
    waits until ``Popen``, in which an exception would lose the process, is done.
    """
    import subprocess

    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    waiting = [number for number, handler in before.items() if callable(handler)]
    try:
        for number in waiting:
            signal.signal(number, lambda number, _: came.append(number))
    except ValueError:  # not the main thread: signals do not come here
        waiting = []
    try:
        process = subprocess.Popen(command, start_new_session=True, **options)
        if came:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    finally:
        for number in waiting:
            signal.signal(number, before[number])
    for number in came:
        signal.raise_signal(number)
    return process


interrupts: list[int] = []
"""Signals that have come: an import may turn their exception into another."""


def _interrupt(number: int, _: FrameType | None) -> None:
    interrupts.append(number)
    raise KeyboardInterrupt(number)


def end_by(interrupt: KeyboardInterrupt) -> None:
    """End this process by the signal behind ``interrupt``, so that a shell's loop ends too."""
    number = interrupt.args[0] if interrupt.args else signal.SIGINT
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def own_editor() -> str:
    """Return the editor as the person names it: a command line."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


def opening(editor: str, *words: str) -> list[str]:
    """Return the command that opens an editor with these words, as git does."""
    return ["/bin/sh", "-c", f'{editor} "$@"', editor, *words]
