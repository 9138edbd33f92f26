"""Show progress where stderr is a terminal; say anywhere what an interrupt left."""

from __future__ import annotations

import os
import sys
from time import monotonic

from ..system.interrupts import Tidying
from .lines import first_columns

_FROM = 0.7
"""Seconds after which it is shown: what is done by then needs no bar."""
_BETWEEN = 0.1
_WIDEST = 36


class Progress:
    """``with Progress("importing", size, kept="nothing was imported") as advance: advance(n)``

    ``total`` in steps of any size; without one they are counted. ``kept`` is what to say of an
    interrupt, also where there is no terminal: what of the work there is all the same. Unless
    ``on``, no bar is drawn.
    """

    def __init__(self, label: str, total: int = 0, *, kept: str = "", on: bool = True) -> None:
        self._label = label
        self._total = total
        self._kept = kept
        self._terminal = sys.stderr.isatty()
        self._on = on and self._terminal
        self._tidying = Tidying()
        self._began = self._last = 0.0
        self._done = 0
        self._drawn = False

    @property
    def seen(self) -> bool:
        """Return whether somebody may see it: else nobody need count what there is to do."""
        return self._on

    def __enter__(self) -> Progress:
        self._tidying.__enter__()
        if self._on:
            self._began = monotonic()
            self._last = self._began + _FROM - _BETWEEN
        return self

    def __call__(self, steps: int) -> None:
        """Add steps that were done."""
        self._done += steps
        if self._on and monotonic() - self._last >= _BETWEEN:
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
        line = _line(self._label, self._done, self._total, self._last - self._began)
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        sys.stderr.write(f"\r{first_columns(line, width - 1)}\x1b[K")
        sys.stderr.flush()
        self._drawn = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
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


def _line(label: str, done: int, total: int, seconds: float) -> str:
    """Return what the terminal shows after so many seconds.

    >>> _line("importing", 500, 2000, 10.0)
    'importing  [#########---------------------------]   25 %  50/s  0:30 left'
    >>> _line("importing", 30, 0, 10.0)
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
