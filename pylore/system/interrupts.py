"""Ending well: nothing is left behind by an interrupt."""

from __future__ import annotations

# The module signal wraps this one in enums, which take longer to load.
import _signal as signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


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
                signal.signal(number, _interrupt)
                self._set.append(number)

    def __exit__(self, *_: object) -> None:
        for number in self._set:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


def end_by(interrupt: KeyboardInterrupt) -> None:
    """Ends this process by the signal behind ``interrupt``, so that a shell's loop ends too."""
    number = interrupt.args[0] if interrupt.args else signal.SIGINT
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
