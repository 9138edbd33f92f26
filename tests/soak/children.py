"""Forked processes that report lines through a pipe, until they end or are killed."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable

Tell = Callable[[str], object]
"""Sends a line to the parent."""


class Child:
    """A forked process that runs ``live``; an error becomes its last line."""

    def __init__(self, live: Callable[[Tell], None]) -> None:
        self._reader, writer = os.pipe()
        self._rest = b""
        self._process = os.fork()
        if not self._process:
            _live(live, lambda text: os.write(writer, f"{text}\n".encode()))
        os.close(writer)

    def told(self) -> list[str]:
        """Return the lines since the last call; do not wait for more."""
        os.set_blocking(self._reader, False)
        return self._lines()

    def kill(self) -> list[str]:
        """Kill the process and return the last complete lines; raise AssertionError if it ended."""
        os.kill(self._process, signal.SIGKILL)
        return self._end(killed=True)

    def join(self) -> list[str]:
        """Return the remaining lines once the process has ended without an error."""
        os.set_blocking(self._reader, True)
        return self._end(killed=False)

    def _end(self, *, killed: bool) -> list[str]:
        lines = self._lines()
        os.close(self._reader)
        _, status = os.waitpid(self._process, 0)
        assert os.WIFSIGNALED(status) if killed else status == 0, lines[-1:]
        return lines

    def _lines(self) -> list[str]:
        data = self._rest
        try:
            while more := os.read(self._reader, 1 << 16):
                data += more
        except BlockingIOError:
            pass
        *lines, self._rest = data.split(b"\n")
        return [line.decode() for line in lines]


def _live(live: Callable[[Tell], None], tell: Tell) -> None:
    code = 1
    try:
        live(tell)
        code = 0
    except BaseException as error:
        traceback.print_exc()
        tell(f"{type(error).__name__}: {error}".replace("\n", " "))
    finally:
        os._exit(code)
