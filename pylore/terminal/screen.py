"""A terminal: a pager for long text, and how far a long command is."""

from __future__ import annotations

import os
import sys
from itertools import chain
from time import monotonic

from ..system.programs import Tidying, find_program
from .text import first_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PAGER = "less -FRX"
"""The pager without PAGER: it quits if all fits, passes colours on, and leaves the text."""


def page(pieces: Iterable[str], write: Callable[[str], None]) -> None:
    """Write text to the terminal, or to the pager as soon as it is longer than that."""
    command, held, lines = pager(), [], 0
    width, height = _size()
    rest = iter(pieces)
    for piece in rest:
        held.append(piece)
        lines += sum(1 + len(line) // width for line in piece.splitlines())
        if command and lines >= height:
            _feed(command, chain(held, rest))
            return
    write("".join(held))


def _feed(command: str, pieces: Iterable[str]) -> None:
    from contextlib import suppress
    from signal import SIG_IGN, SIGINT, signal
    from subprocess import PIPE, Popen

    sys.stdout.flush()
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    words = ["/bin/sh", "-c", command]
    with suppress(BrokenPipeError), Popen(words, stdin=PIPE, env=environment) as process:
        signal(SIGINT, SIG_IGN)  # it is the pager's: without it the terminal stays as less left it
        assert process.stdin is not None
        for piece in pieces:
            process.stdin.write(piece.encode())
            process.stdin.flush()


def pager() -> str:
    """Return the person's command for long text; empty if they want none or there is none."""
    chosen = os.environ.get("PAGER")
    if chosen is not None:
        return "" if chosen.strip() in ("", "cat") else chosen
    return PAGER if find_program("less") and os.environ.get("TERM") not in (None, "dumb") else ""


def _size() -> tuple[int, int]:
    """Return columns and lines of the terminal."""
    try:
        width, height = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        width, height = 0, 0
    return width or 80, height or 24


_FROM = 0.7
"""Seconds after which the bar is drawn."""
_BETWEEN = 0.1
_WIDEST = 36
LINE_AFTER = 2.0
"""Seconds to the first line where stderr is not a terminal; the next takes twice as long."""
_LINE_AT_LEAST = 60.0
"""Seconds between two lines in the end."""


class Progress:
    """``with Progress("importing", size, kept="nothing was imported") as advance: advance(n)``

    A bar on a terminal; elsewhere a line on stderr now and then. ``total`` is in steps of any size;
    0 if it is unknown. ``kept`` is what an interrupt leaves, for a message on stderr. Without
    ``on`` only that message is printed.
    """

    def __init__(self, label: str, total: int = 0, *, kept: str = "", on: bool = True) -> None:
        self._label = label
        self._total = total
        self._kept = kept
        self._terminal = sys.stderr.isatty()
        self._on = on
        self._tidying = Tidying()
        self._began = self._last = 0.0
        self._done = 0
        self._drawn = False
        self._lines: _Lines | None = None

    def __enter__(self) -> Progress:
        self._tidying.__enter__()
        self._began = monotonic()
        self._last = self._began + _FROM - _BETWEEN
        if self._on and not self._terminal:
            self._lines = _Lines(self._line)
        return self

    def __call__(self, steps: int) -> None:
        """Add steps that were done."""
        self._done += steps
        if self._on and self._terminal and monotonic() - self._last >= _BETWEEN:
            self._draw()

    def show(self, done: int, total: int) -> None:
        """Show how many steps are done, of so many."""
        self._total = total
        self(done - self._done)

    def stage(self, label: str, done: int, total: int) -> None:
        """Show a part of the work, whose bar starts again with each new ``label``."""
        if label != self._label:
            self._label, self._done, self._began = label, 0, monotonic()
        self.show(done, total)

    def _draw(self) -> None:
        self._last = monotonic()
        line = _bar(self._label, self._done, self._total, self._last - self._began)
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        sys.stderr.write(f"\r{first_columns(line, width - 1)}\x1b[K")
        sys.stderr.flush()
        self._drawn = True

    def _line(self) -> str:
        of = f"{self._done} of {self._total}, " if self._total else ""
        return f"{self._label}: {of}{monotonic() - self._began:.0f} s so far"

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._lines is not None:
            self._lines.end()
        try:
            if self._drawn:
                sys.stderr.write("\r\x1b[K")
            if kind is KeyboardInterrupt:
                done = f"{self._done} of {self._total}" if self._total else str(self._done)
                start = "\n" if self._terminal else ""  # behind the ^C that a terminal shows
                sys.stderr.write(
                    f"{start}lore: interrupted ({self._label}: {done}): {self._kept}\n"
                )
            sys.stderr.flush()
        except OSError:
            pass  # the terminal is gone: that was the interrupt
        self._tidying.__exit__()


class _Lines:
    """A thread that prints lines of progress, also while the work is within one call."""

    def __init__(self, line: Callable[[], str]) -> None:
        from threading import Event, Thread

        self._line = line
        self._stream = sys.stderr
        self._ended = Event()
        self._thread = Thread(target=self._print, daemon=True)
        self._thread.start()

    def _print(self) -> None:
        wait = LINE_AFTER
        while not self._ended.wait(wait):
            wait = min(2 * wait, _LINE_AT_LEAST)
            try:
                self._stream.write(f"lore: {self._line()}\n")
                self._stream.flush()
            except (OSError, ValueError):
                return  # the stream is closed

    def end(self) -> None:
        """Print no more."""
        self._ended.set()
        self._thread.join()


def _bar(label: str, done: int, total: int, seconds: float) -> str:
    """Return the bar after so many seconds.

    >>> _bar("importing", 500, 2000, 10.0)
    'importing  [#########---------------------------]   25 %  50/s  0:30 left'
    >>> _bar("importing", 30, 0, 10.0)
    'importing  30  3/s'
    """
    rate = done / seconds if seconds else 0.0
    speed = f"{_short(rate)}/s" if rate >= 1 or not rate else f"{1 / rate:.0f} s each"
    if not total:
        return f"{label}  {done}  {speed}"
    part = min(1.0, done / total)
    bar = "#" * int(_WIDEST * part)
    left = _clock((total - done) / rate) + " left" if rate and part < 1 else ""
    return f"{label}  [{bar:-<{_WIDEST}}]  {100 * part:3.0f} %  {speed}  {left}".rstrip()


def _short(number: float) -> str:
    if number < 10_000:
        return f"{number:.0f}"
    return f"{number / 1000:.0f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
