"""Ending well: nothing is left behind by an interrupt."""

from __future__ import annotations

# The module signal wraps this one in enums, which take longer to load.
import _signal as signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from subprocess import Popen
    from types import FrameType
    from typing import Any


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


def _interrupt(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


def end_by(interrupt: KeyboardInterrupt) -> None:
    """End this process by the signal behind ``interrupt``, so that a shell's loop ends too."""
    number = interrupt.args[0] if interrupt.args else signal.SIGINT
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
