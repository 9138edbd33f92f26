"""A terminal that text goes to: lines as wide as it is, and a pager for what is longer than it."""

from __future__ import annotations

import os
import re
import sys
from time import monotonic

from ..system.programs import Tidying, find_program
from .text import columns, first_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen


_LINK = re.compile(r"\x1b]8;;[^\x1b]*\x1b\\")
_SHOWN = re.compile(r"\x1b\[[0-9;]*m|" + _LINK.pattern)
_FIRST_COLUMN = re.compile(r"( +)|\S{1,12}  +(?=\S)")
_NARROWEST = 20
"""Columns; what says that it has fewer is not believed."""

PAGER = "less -FRX"
"""The pager without PAGER: it quits if all fits, passes colours on, and leaves the text."""


class Screen:
    """``with Screen(write, paging=…) as screen``: what is ``put`` on it is written when the block
    ends; or as soon as it is longer than a screen the pager has it."""

    def __init__(self, write: Callable[[str], None], *, paging: bool) -> None:
        self._write = write
        self._width, self._height = size()
        self._pager_words = pager() if paging else ""
        self._held: list[str] = []
        self._lines = 0
        self._pager: Popen[bytes] | None = None

    def __enter__(self) -> Screen:
        return self

    def put(self, text: str) -> None:
        """Show text, or keep it until it is known whether all fits."""
        text = fitted(text, self._width)
        self._lines += text.count("\n")
        if self._pager is not None:
            self._feed(text)
            return
        self._held.append(text)
        if self._pager_words and self._lines >= self._height:
            self._open()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pager is None:
            self._write("".join(self._held))
            return
        try:
            if self._pager.stdin is not None:
                self._pager.stdin.close()
        except BrokenPipeError:
            pass  # the person has seen enough
        finally:
            self._pager.wait()

    def _open(self) -> None:
        from signal import SIG_IGN, SIGINT, signal
        from subprocess import PIPE, Popen

        sys.stdout.flush()
        environment = {"LESS": "FRX", "LV": "-c", **os.environ}
        self._pager = Popen(["/bin/sh", "-c", self._pager_words], stdin=PIPE, env=environment)
        signal(SIGINT, SIG_IGN)  # it is the pager's: without it the terminal stays as less left it
        self._feed("".join(self._held))
        self._held = []

    def _feed(self, text: str) -> None:
        assert self._pager is not None and self._pager.stdin is not None
        # An older less shows the bytes of a link.
        self._pager.stdin.write(_LINK.sub("", text).encode())
        self._pager.stdin.flush()


def size() -> tuple[int, int]:
    """Return columns and lines of the terminal that stdout is, as COLUMNS and LINES say or it
    says."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
        width, height = found.columns, found.lines
    except (OSError, ValueError):
        width, height = 0, 0
    given = [os.environ.get(name, "") for name in ("COLUMNS", "LINES")]
    width, height = (
        int(text) if text.isdecimal() and len(text) < 6 and int(text) else number
        for text, number in zip(given, (width, height), strict=True)
    )
    return max(width or 80, _NARROWEST), height or 24


def pager() -> str:
    """Return the person's command for long text; nothing where they want none, or there is none."""
    chosen = os.environ.get("PAGER")
    if chosen is not None:
        return "" if chosen.strip() in ("", "cat") else chosen
    return PAGER if find_program("less") and os.environ.get("TERM") not in (None, "dumb") else ""


def fitted(text: str, width: int) -> str:
    """Return ``text`` with lines of at most so many columns, broken between words.

    What goes on is below the first word of the line, or below its second column. A word
    that is too long for a line stays whole: it may be a path to be copied.

    >>> print(fitted("0.91  note-1  Sessions are signed\\n", 22), end="")
    0.91  note-1  Sessions
          are signed
    """
    if all(len(line) <= width and line.isascii() for line in text.split("\n")):
        return text
    return "\n".join(_broken(line, width) for line in text.split("\n"))


def _broken(line: str, width: int) -> str:
    if columns(_SHOWN.sub("", line)) <= width or line.startswith("/"):
        return line  # the path of a file may have spaces in it, and is to be copied
    first = _FIRST_COLUMN.match(_SHOWN.sub("", line))
    indent = " " * min(len(first[0]) if first else 2, width // 2)
    lines, now, used = [], "", 0
    for word in re.split(r"( +)", line):
        wide = columns(_SHOWN.sub("", word))
        hopeless = used <= len(indent) and wide > width - len(indent)
        if used + wide > width and word.strip(" ") and now.strip(" ") and not hopeless:
            lines.append(now.rstrip(" "))
            now, used = indent, len(indent)
        if word.strip(" ") or not lines or now != indent:
            now, used = now + word, used + wide
    return "\n".join([*lines, now.rstrip(" ")])


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
