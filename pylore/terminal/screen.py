"""A terminal that text goes to: lines as wide as it is, and a pager for what is longer than it."""

from __future__ import annotations

import os
import re
import sys

from .lines import columns

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
    from ..system.programs import find_program

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
