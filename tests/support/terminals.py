"""Run programs in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence

from wire import LORE

from pylore.cli.main import run

_LONGEST = 30
"""Seconds until a program that still runs is ended."""


def at_terminal(
    words: Sequence[str],
    environ: Mapping[str, str],
    folder: str,
    *,
    columns: int = 80,
    rows: int = 24,
    typed: Sequence[tuple[str, str]] = (),
) -> tuple[int, str]:
    """Return the exit code and the output of a program in a new pseudo-terminal.

    lore runs in a fork of this process, which has imported lore. ``typed`` are pairs: wait for the
    first text on the screen, then type the second.
    """
    sized, done = os.pipe()
    process, terminal = pty.fork()
    if process == 0:
        os.close(done)
        os.read(sized, 1)  # end of file when the size is set
        os.chdir(folder)
        environ = {"TERM": "xterm", **environ}
        if words[0] == LORE:
            _be_lore(words[1:], environ)
        os.execve(words[0], [*words], environ)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.close(done)
    os.close(sized)
    shown, seen, left = b"", 0, [*typed]
    until = time.monotonic() + _LONGEST
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
        while left and left[0][0].encode() in shown[seen:]:
            wanted, keys = left.pop(0)
            seen = shown.index(wanted.encode(), seen) + len(wanted.encode())
            os.write(terminal, keys.encode())
    else:
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(terminal)
    return code, shown.decode(errors="replace").replace("\r\n", "\n")


def _be_lore(words: Sequence[str], environ: Mapping[str, str]) -> None:
    """End this process with a command of lore."""
    code = 1
    try:
        os.environ.clear()
        os.environ.update(environ)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdin, sys.stdout, sys.stderr = (
            open(stream, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            for stream, mode in enumerate("rww")
        )
        code = run([*words])
    finally:
        os._exit(code)
