"""Find programs and the files that came with lore, and hold a program to limits.

An empty or a relative entry of ``PATH`` leads to what came with a clone.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
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
    """Return whether a plugin may be called so.

    >>> is_name("adr-tools"), is_name("../x")
    (True, False)
    """
    return text[:1] != "-" and bool(text) and not text.strip(_LETTERS)


def find(prefix: str, name: str, plugin_dir: str, *, on_path: bool = True) -> str:
    """Return the program of a plugin, ``prefix`` and ``name``: in the user's folder, or on
    ``PATH``.

    Raises:
        Missing: there is none.
        Refused: it is not executable.
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
    """Return the whole path of a file or folder that came with lore, as ``graph/rules``.

    It lies in the checkout, under ``LORE_ROOT``, or where a wheel puts it.

    Raises:
        LoreError: it is missing.
    """
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(checkout)))
    installed = os.path.join(prefix, "share", "lore")
    for root in (checkout, os.environ.get("LORE_ROOT", ""), installed):
        if root and os.path.exists(os.path.join(root, path)):
            return os.path.join(root, path)
    raise LoreError(f"{path}, which came with lore, is missing: install lore again")


def whole_entries(path: str | None = None) -> str:
    """Return ``path`` (default: this process's ``PATH``) without what is relative in it.

    >>> whole_entries(":/usr/bin:.:bin:/bin")
    '/usr/bin:/bin'
    """
    given = os.environ.get("PATH", os.defpath) if path is None else path
    # Nothing at all would be the working directory again.
    return ":".join(entry for entry in given.split(":") if entry.startswith("/")) or os.defpath


def find_program(name: str) -> str | None:
    """Return the whole path of a program by its name; None where there is none."""
    for folder in whole_entries().split(":"):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


_LIMITED = 'ulimit -t "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"'


def limited(command: list[str], seconds: int, megabytes: int) -> list[str]:
    """Return a command that may take so much processor time and address space.

    Not every system limits memory. The shell sets both: Python would have to fork for it.
    """
    return ["/bin/sh", "-c", _LIMITED, "sh", str(seconds), str(1024 * megabytes), *command]


def environment_of_programs() -> dict[str, str]:
    """Return this process's environment for a program of the user's own, as a command or a plugin.

    Each setting of the config files is a variable too, unless the user has set that. Without
    what a project's config file may not set: it is kept for the warning alone.
    """
    environ, kept = dict(os.environ), ""
    exported = environ.get("LORE_EXPORTED", "").split()
    for line in filter(None, os.environ.get("LORE_FROM_CONFIG", "").split("\n")):
        key, origin, text = line.split("\t", 2)
        if not _may_stand(key, origin, text):
            continue
        kept += f"{line}\n"
        variable = f"LORE_{key.upper()}"
        if key in BY_NAME and (variable in exported or variable not in environ):
            environ[variable] = text
            exported.append(variable)
    exported = [*dict.fromkeys(exported)]
    return {**environ, "LORE_FROM_CONFIG": kept, "LORE_EXPORTED": " ".join(exported)}


def _may_stand(key: str, origin: str, text: str) -> bool:
    setting = BY_NAME.get(key.partition("[")[0].lower())
    if not origin.startswith("project:"):
        return True
    return setting is not None and not users_alone(setting.name, text)


# The module signal wraps this one in enums, which take longer to load.


class Tidying:
    """A ``with`` block in which an interrupt is an exception: what was begun is taken away.

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
    """Start ``subprocess.Popen`` in a new session, which no interrupt leaves running.

    A signal that comes while the program is being started waits until it can be ended: an
    exception within ``Popen`` would lose it.

    Raises:
        OSError: it cannot be started.
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
"""Signals that have come: what is being imported may turn their exception into one of its own."""


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
    """Return the command that opens an editor with these words, each of which stays one, as git
    does."""
    return ["/bin/sh", "-c", f'{editor} "$@"', editor, *words]
