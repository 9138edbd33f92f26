"""Ending well: files that are written whole, and nothing left behind by an interrupt."""

from __future__ import annotations

# The module signal wraps this one in enums, which take longer to load.
import _signal as signal  # type: ignore[import-not-found]
import os

from .errors import LoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
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


def write_whole(path: str, lines: Iterable[str], *, private: bool = False) -> None:
    """Puts a file of these lines at ``path``: whoever reads it has the old one or the new one.

    What is there and is no plain file (a pipe, a device) is written into; of a link, what
    it leads to is replaced. ``private``: nobody else may read it.

    Raises:
        LoreError: it cannot be written; what was there is as it was.
    """
    try:
        if path.startswith(("/dev/", "/proc/")) or (
            os.path.exists(path) and not os.path.isfile(path)
        ):
            with open(path, "w", encoding="utf-8", newline="\n") as out:
                out.writelines(lines)
        else:
            with Tidying():
                _replace(os.path.realpath(path), lines, private)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: nothing was written") from None


def _replace(target: str, lines: Iterable[str], private: bool) -> None:
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:200]}.{os.getpid()}")
    try:
        mode = 0o600 if private else 0o666
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as out:
            out.writelines(lines)
            out.flush()
            os.fsync(descriptor)
        if os.path.exists(target) and not private:
            os.chmod(beside, os.stat(target).st_mode & 0o7777)
        os.replace(beside, target)
    except BaseException:
        _remove(beside)
        raise


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
