"""Programs of the user's own: started, bounded, and read."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from typing import IO

from .files import GUARD
from .programs import API, Refused, Tidying, environment_of_programs, find, start_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..core.settings import Settings


MOST_OUTPUT = 1 << 20
"""Bytes of stdout, unless its caller takes more."""
MOST_COMPLAINT = 4096
"""Bytes of stderr that are read; the last line of them is quoted."""
EVENT_SECONDS, FORMAT_SECONDS, RETRIEVER_SECONDS = 10.0, 60.0, 2.0
"""Time limits of the hooks of an event together, of a program that reads a format, and of a
retriever, where ``plugin_timeout`` is 0. Not measured: a person waits for them."""
LATE = "did not end in time"


class Failed(Refused):
    """A plugin ended with another exit code than 0, ``said`` being the last line of its stderr."""

    def __init__(self, code: int, said: str) -> None:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        super().__init__(f"failed with {how}" + (f" ({said})" if said else ""))
        self.own_words = said if code == 1 else ""


class PluginProcess:
    """A running program: started at once, read later, ended by ``end`` or a ``with`` block. Raise
    Refused if it cannot be started. ``said`` is the last line of its stderr, once it has ended.
    """

    def __init__(
        self, command: Sequence[str], stdin: bytes | IO[bytes], environ: Mapping[str, str]
    ) -> None:
        self.said = ""
        with _as_file(stdin) as file:
            try:
                self._process = start_session(
                    command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=environ,
                )  # fmt: skip
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise Refused(f"{command[0]} cannot be started ({why})") from None

    def __enter__(self) -> PluginProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def read(self, deadline: float, most: int = MOST_OUTPUT) -> bytes:
        """Return all of its stdout, as ``pieces``."""
        return b"".join(self.pieces(deadline, most))

    def pieces(self, deadline: float | None, most: int = MOST_OUTPUT) -> Iterator[bytes]:
        """Yield its stdout as it comes, until it has ended. Raise Refused if that is not before the
        deadline (of ``time.monotonic``), or it printed more than ``most`` bytes; Failed if it
        failed.
        """

        def left() -> float | None:
            return None if deadline is None else max(0.0, deadline - time.monotonic())

        out, errors = self._process.stdout, self._process.stderr
        assert out is not None and errors is not None
        complaint, room = bytearray(), most
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            selector.register(errors, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(left())
                if not ready:
                    raise Refused(LATE)
                for key, _ in ready:
                    piece = os.read(key.fd, 1 << 16)
                    if not piece:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is errors:
                        complaint += piece
                        del complaint[:-MOST_COMPLAINT]
                    elif len(piece) > room:
                        raise Refused(f"printed more than {most} bytes")
                    else:
                        room -= len(piece)
                        yield piece
        try:
            code = self._process.wait(left())
        except subprocess.TimeoutExpired:
            raise Refused(LATE) from None
        lines = complaint.decode(errors="replace").strip().splitlines()
        self.said = lines[-1][:200] if lines else ""
        if code:
            raise Failed(code, self.said)

    def end(self) -> None:
        """End what is left of it, its children too."""
        with suppress(ProcessLookupError, PermissionError):  # all of it has ended
            os.killpg(self._process.pid, signal.SIGKILL)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.wait()


@contextmanager
def _as_file(stdin: bytes | IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield stdin as a file: a pipe would block where nobody reads it."""
    if not isinstance(stdin, bytes):
        yield stdin
        return
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        yield file


def environment(plugin: str, **ours: str) -> dict[str, str]:
    """Return a plugin's environment: ``ours`` on top of this process's. A lore that it starts runs
    no event plugin.
    """
    environ = {**environment_of_programs(), "LORE_API": API, GUARD: plugin, **ours}
    exported = environ["LORE_EXPORTED"].split()  # the names of values from config files
    return {**environ, "LORE_EXPORTED": " ".join(name for name in exported if name not in ours)}


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def run_all(
    plugins: Sequence[str],
    event: str,
    rows: Iterable[Mapping[str, object]],
    settings: Settings,
) -> list[tuple[str, str]]:
    """Run plugins of one event; return those that failed, each with why, in order.

    Each gets the rows on stdin, a line of JSON each, with the name of the event. Their stdout is
    dropped.
    """
    text = "".join(_COMPACT.encode({"event": event, **row}) + "\n" for row in rows)
    lines = text.encode(errors="replace")
    limit = settings.plugin_timeout or EVENT_SECONDS
    deadline = time.monotonic() + limit
    failed: dict[str, str] = {}
    running: dict[str, PluginProcess] = {}
    with Tidying():  # Ctrl-C does not reach what has a session of its own
        try:
            for name in plugins:
                try:
                    path = find("", name, settings.plugin_dir, on_path=False)
                    running[name] = PluginProcess([path], lines, environment(name))
                except Refused as why:
                    failed[name] = str(why)
            for name, process in running.items():
                complaint = _complaint(process, deadline, limit)
                if complaint:
                    failed[name] = complaint
        finally:
            for process in running.values():
                process.end()
    return [(name, failed[name]) for name in plugins if name in failed]


def _complaint(process: PluginProcess, deadline: float, timeout: float) -> str:
    """Return why a plugin has failed, in its own words if it refuses; empty if it has not."""
    try:
        process.read(deadline)
    except Failed as why:
        return why.own_words or str(why)
    except Refused as why:
        late = f"did not end within {timeout:g} s (plugin_timeout)"
        return late if str(why) == LATE else str(why)
    return ""
