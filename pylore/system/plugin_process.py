"""Start, limit and read programs of the user."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from tempfile import TemporaryFile

from ..core.json import dumps
from . import programs
from .programs import Refused, Tidying, environment, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..core.settings import Settings


MOST_OUTPUT = 1 << 20
"""Default maximum number of bytes of stdout."""
_MOST_COMPLAINT = 4096
"""Bytes of stderr that are read; the last line of them is quoted."""
EVENT_SECONDS, REDACTOR_SECONDS, RETRIEVER_SECONDS = 10.0, 60.0, 2.0
"""Time limits of the hooks of an event together, of a program that reads a format, and of a
retriever, where ``plugin_timeout`` is 0. Not measured: a person waits for them."""


class PluginProcess:
    """A running program: started at once, read later, ended by ``end`` or a ``with`` block.
    ``seconds`` is a time limit, 0 for no limit. Raise Refused if it cannot be started. ``said`` is
    the last line of stderr after the end."""

    def __init__(
        self, command: Sequence[str], stdin: bytes, environ: Mapping[str, str], seconds: float = 0
    ) -> None:
        self.said = ""
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        came = len(programs.interrupts)
        self._errors = TemporaryFile()  # noqa: SIM115 - ``end`` closes it
        with TemporaryFile() as file:  # a pipe without a reader would block
            file.write(stdin)
            file.seek(0)
            programs.starting = True  # an interrupt would lose the process
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=file,
                    env=environ,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                self._errors.close()
                why = getattr(error, "strerror", None) or error
                raise Refused(f"{command[0]} cannot be started ({why})") from None
            finally:
                programs.starting = False
        if len(programs.interrupts) > came:
            self.end()
            raise KeyboardInterrupt(programs.interrupts[-1])

    def __enter__(self) -> PluginProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def read(self, most: int = MOST_OUTPUT) -> bytes:
        """Return all of stdout, as ``pieces``."""
        return b"".join(self.pieces(most))

    def pieces(self, most: int) -> Iterator[bytes]:
        """Yield stdout without delay, until the program has ended. Raise Refused if it timed out,
        printed more than ``most`` bytes, or failed."""
        out = self._process.stdout
        assert out is not None
        waiting = select.poll()
        waiting.register(out, select.POLLIN)
        piece, room = b".", most
        late = f"did not end within {self._seconds:g} s (plugin_timeout)"
        while piece:
            left = self._left()
            if not waiting.poll(None if left is None else 1000 * left):
                raise Refused(late)
            piece = os.read(out.fileno(), 1 << 16)
            room -= len(piece)
            if room < 0:
                raise Refused(f"printed more than {most} bytes")
            yield piece
        try:
            code = self._process.wait(self._left())
        except subprocess.TimeoutExpired:
            raise Refused(late) from None
        self._errors.seek(max(0, os.fstat(self._errors.fileno()).st_size - _MOST_COMPLAINT))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self.said = lines[-1][:200] if lines else ""
        if code:
            how = f"exit code {code}" if code > 0 else f"signal {-code}"
            why = Refused(f"failed with {how}" + (f" ({self.said})" if self.said else ""))
            why.own_words = self.said if code == 1 else ""
            raise why

    def _left(self) -> float | None:
        return max(0.0, self._deadline - time.monotonic()) if self._seconds else None

    def end(self) -> None:
        """Kill the program and child processes."""
        with suppress(ProcessLookupError, PermissionError):  # all of it has ended
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
        self._process.wait()


def run_all(
    plugins: Sequence[str], event: str, rows: Iterable[Mapping[str, object]], settings: Settings
) -> list[tuple[str, str]]:
    """Run the plugins of an event; return the failed ones with reasons, in order. Each reads the
    rows from stdin, as JSON lines with the name of the event. Stdout is ignored."""
    text = "".join(dumps({"event": event, **row}) + "\n" for row in rows)
    lines, limit = text.encode(errors="replace"), settings.plugin_timeout or EVENT_SECONDS
    failed: dict[str, str] = {}
    running: dict[str, PluginProcess] = {}
    with Tidying(), ExitStack() as stack:  # Ctrl-C does not reach processes in other sessions
        for name in plugins:
            try:
                path = find("", name, settings.plugin_dir, on_path=False)
                process = PluginProcess([path], lines, environment(name), limit)
                running[name] = stack.enter_context(process)
            except Refused as why:
                failed[name] = str(why)
        for name, process in running.items():
            try:
                process.read()
            except Refused as why:
                failed[name] = why.own_words or str(why)
    return [(name, failed[name]) for name in plugins if name in failed]
