"""A terminal: a pager for long text, and progress of long commands."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from itertools import chain
from time import monotonic

from ..core.errors import LoreError
from ..system.programs import Tidying, find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def page(pieces: Iterable[str], write: Callable[[str], None]) -> None:
    """Write text to the terminal, or to the pager as soon as it is longer than that.

    Without ``PAGER``, less quits if all fits, passes colours on, and leaves the text.
    """
    usual = "less -FRX" if find_program("less") and os.environ.get("TERM") != "dumb" else ""
    command, held, lines = os.environ.get("PAGER", usual).strip(), [], 0
    try:
        width, height = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        width, height = 0, 0
    rest = iter(pieces)
    for piece in rest:
        held.append(piece)
        lines += sum(1 + len(line) // (width or 80) for line in piece.splitlines())
        if command not in ("", "cat") and lines >= (height or 24):
            _feed(command, chain(held, rest))
            return
    write("".join(held))


def _feed(command: str, pieces: Iterable[str]) -> None:
    from signal import SIG_IGN, SIGINT, signal
    from subprocess import PIPE, Popen

    sys.stdout.flush()
    environment = {"LESS": "FRX", **os.environ}
    words = ["/bin/sh", "-c", command]
    with suppress(BrokenPipeError), Popen(words, stdin=PIPE, env=environment) as process:
        signal(SIGINT, SIG_IGN)  # for the pager: else the terminal keeps the state of less
        assert process.stdin is not None
        for piece in pieces:
            process.stdin.write(piece.encode())
            process.stdin.flush()
    if process.returncode == _NOT_FOUND:
        raise LoreError(f"pager '{command}' not found: correct PAGER")


_NOT_FOUND = 127
"""Exit code of a shell without such a command."""
LINE_AFTER = 2.0
"""Seconds to the first line where stderr is no terminal; the next takes twice as long, to 60."""


class Progress:
    """``with Progress("importing", size, kept="nothing was imported") as advance: advance(n)``

    A thread prints how far the work is: on a terminal one line that changes, elsewhere a line now
    and then. ``total`` is 0 if it is unknown; ``kept`` is what an interrupt leaves. Without ``on``
    only that is printed.
    """

    def __init__(self, label: str, total: int = 0, *, kept: str = "", on: bool = True) -> None:
        from threading import Event, Thread

        self._label, self._done, self._total = label, 0, total
        self._kept = kept
        self._began = monotonic()
        self._terminal = sys.stderr.isatty()
        self._clear = ""
        self._tidying = Tidying()
        self._ended = Event()
        self._thread = Thread(target=self._print, daemon=True) if on else None

    def __enter__(self) -> Progress:
        self._tidying.__enter__()
        if self._thread is not None:
            self._thread.start()
        return self

    def __call__(self, steps: int) -> None:
        """Add steps that were done."""
        self._done += steps

    def show(self, done: int, total: int) -> None:
        """Set how many steps are done, of how many."""
        self._done, self._total = done, total

    def stage(self, label: str, done: int, total: int) -> None:
        """Set the progress of a part of the work; each new ``label`` restarts the time."""
        if label != self._label:
            self._label, self._began = label, monotonic()
        self.show(done, total)

    def _far(self) -> str:
        part = f"{min(100, 100 * self._done // self._total)} %" if self._total else self._done
        return f"{self._label}: {part}"

    def _print(self) -> None:
        wait = 0.7 if self._terminal else LINE_AFTER
        while not self._ended.wait(wait):
            wait = 0.2 if self._terminal else min(2 * wait, 60.0)
            line = f"{self._far()}, {monotonic() - self._began:.0f} s so far"
            # without wrapping, which would leave lines behind
            _say(f"\r\x1b[?7l{line}\x1b[K\x1b[?7h" if self._terminal else f"lore: {line}\n")
            self._clear = "\r\x1b[K" if self._terminal else ""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        _say(self._clear)
        if kind is KeyboardInterrupt:
            start = "\n" if self._terminal else ""  # behind the ^C that a terminal shows
            _say(f"{start}lore: interrupted ({self._far()}): {self._kept}\n")
        self._tidying.__exit__()


def _say(text: str) -> None:
    with suppress(OSError, ValueError):  # the terminal or the reader is gone
        sys.stderr.write(text)
        sys.stderr.flush()
