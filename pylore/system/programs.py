"""Find programs and files installed with lore, and limit programs.

Empty and relative entries of ``PATH`` are ignored: they may lead into a clone.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # signal adds enums, slow to load
import os

from ..core.errors import LoreError
from .files import GUARD, own_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

KILL = signal.SIGKILL
API = "1"
"""The version of the plugin contract: ``LORE_API``, and ``# Lore-API:`` in a plugin."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"


class Refused(Exception):
    """A plugin failed; the message is the reason, in ``own_words`` if it has refused."""

    own_words = ""


def is_name(text: str) -> bool:
    """Return True for a valid name of a plugin."""
    return text[:1] != "-" and bool(text) and not text.strip(_LETTERS)


def find(prefix: str, name: str, plugin_dir: str, *, on_path: bool = True) -> str:
    """Return the program of a plugin, ``prefix`` and ``name``, of the user or on ``PATH``; raise
    Refused if it is missing or not executable."""
    own = own_folder(plugin_dir)
    path = os.path.join(own, prefix + name)
    if os.path.isfile(path) and not os.access(path, os.X_OK):
        raise Refused(f"{path} is not executable")
    found = path if os.path.isfile(path) else find_program(prefix + name) if on_path else None
    if found:
        return os.path.abspath(found)
    where = f"{own} or on the PATH" if on_path else own
    raise Refused(f"no program {prefix}{name} in {where}")


def own_files(path: str) -> str:
    """Return the complete path of a file or folder that came with lore, as ``graph/rules``: in the
    checkout, under ``LORE_ROOT``, or where a wheel puts it. Raise LoreError if it is missing."""
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(checkout)))
    installed = os.path.join(prefix, "share", "lore")
    for root in (checkout, os.environ.get("LORE_ROOT", ""), installed):
        if root and os.path.exists(os.path.join(root, path)):
            return os.path.join(root, path)
    raise LoreError(f"{path} of lore is missing: install lore again")


def absolute_entries() -> str:
    """Return this process's ``PATH`` without relative entries."""
    given = os.environ.get("PATH", os.defpath)
    # An empty PATH would be the working directory again.
    return ":".join(entry for entry in given.split(":") if entry.startswith("/")) or os.defpath


def find_program(name: str) -> str | None:
    """Return the complete path of a program; None for an unknown name."""
    for folder in absolute_entries().split(":"):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


_LIMITED = 'ulimit -t "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"'


def limited(command: list[str], seconds: int, megabytes: int) -> list[str]:
    """Return a command that a shell runs under limits of CPU time and address space."""
    return ["/bin/sh", "-c", _LIMITED, "sh", str(seconds), str(1024 * megabytes), *command]


def environment(plugin: str = "", **ours: str) -> dict[str, str]:
    """Return this process's environment with ``ours``, without the settings of config files. A lore
    that a ``plugin`` starts runs no event plugin."""
    guard = {GUARD: plugin} if plugin else {}
    return {**os.environ, "LORE_FROM_CONFIG": "", "LORE_API": API, **guard, **ours}


class Tidying:
    """A ``with`` block in which an interrupt raises an exception, so that cleanup code runs.
    Elsewhere an interrupt ends the process at once. ``end_by`` then ends it as the signal would
    have."""

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


running: set[int] = set()
"""Plugins that were started and not yet ended, by process group."""
interrupts: list[int] = []
"""Signals that were received: an import may turn their exception into a different one."""
starting = False
"""True while a program is started, which sees to an interrupt itself."""


def _interrupt(number: int, _: FrameType | None) -> None:
    interrupts.append(number)
    if not starting:
        raise KeyboardInterrupt(number)


def exit_at_once() -> None:
    """End this process without cleanup, from any thread; plugins end, too."""
    for group in [*running]:
        try:
            os.killpg(group, KILL)
        except OSError:  # it has ended
            continue
    os._exit(0)


def end_by(interrupt: KeyboardInterrupt) -> None:
    """End this process by the signal behind ``interrupt``, so that a shell's loop ends too."""
    number = interrupt.args[0] if interrupt.args else signal.SIGINT
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
