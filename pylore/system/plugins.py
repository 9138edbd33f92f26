"""Plugins: executables called ``lore-*`` in the user's folder and on ``PATH``, and limits of them.

A kind may follow on ``lore-``: retriever, redact, or the hook of an event.
"""

from __future__ import annotations

import os
import time

from ..core.errors import LoreError
from ..core.json import dumps
from . import programs
from .files import GUARD, own_folder
from .programs import KILL, Refused, Tidying, absolute_entries, environment, find, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..core.settings import Settings

    Row = Mapping[str, object]

BEGINNING, PREFIX = "lore-", "lore-hook-"
_KINDS = ("retriever-", "redact-", "hook-")
MOST_OUTPUT = 1 << 20
"""Default maximum number of bytes of stdout."""
_MOST_COMPLAINT = 4096
"""Bytes of stderr that are read; the last line of them is quoted."""
EVENT_SECONDS, REDACTOR_SECONDS, RETRIEVER_SECONDS = 10.0, 60.0, 2.0
"""Time limits of the hooks of an event together, of a redactor, and of a retriever, where
``plugin_timeout`` is 0. Not measured: a person waits for them."""


def command_files(plugin_dir: str) -> dict[str, str]:
    """Return the files of the user's commands by name, from the user's folder, even those that are
    not executable, then ``PATH``."""
    found: dict[str, str] = {}
    own = own_folder(plugin_dir)
    for folder in dict.fromkeys([own, *absolute_entries().split(":")]):
        try:
            files = sorted(os.listdir(folder))
        except OSError:
            continue
        for file in files:
            path = os.path.join(folder, file)
            name = file.removeprefix(BEGINNING)
            is_command = file != name and is_name(name) and not name.startswith(_KINDS)
            if is_command and os.path.isfile(path) and (folder == own or os.access(path, os.X_OK)):
                found.setdefault(name, path)
    return found


class Events:
    """The event plugins in the user's folder, sorted by name; plugins call no plugins."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._plugins: list[str] = []
        self._faults: list[tuple[str, str]] = []
        folder = own_folder(settings.plugin_dir)
        try:
            if os.path.isdir(folder) and not os.environ.get(GUARD):
                self._plugins = sorted(os.listdir(folder))
        except OSError as error:
            self._faults = [(folder, f"cannot be read ({error.strerror}), so no plugin can run")]

    def has_plugins(self, event: str) -> bool:
        """Return True if there are plugins of an event, or their folder cannot be read."""
        return bool(self._faults or self._of(event))

    def _of(self, event: str) -> list[str]:
        """Return the files called ``lore-hook-EVENT`` and ``lore-hook-EVENT.NAME``."""
        start = f"{PREFIX}{event}."
        found = (name for name in self._plugins if f"{name}.".startswith(start))
        return [name for name in found if is_name(name[len(start) :] or event)]

    def ask(self, event: str, rows: Sequence[Row]) -> None:
        """Raise LoreError if a plugin of an event refuses the rows, or fails."""
        for plugin, why in self._run(event, rows):
            raise LoreError(f"{plugin}: {why}: not written")

    def tell(self, event: str, rows: Sequence[Row]) -> list[str]:
        """Pass written rows to the plugins of an event; return a note for each failure."""
        failed = self._run(event, rows) if rows else []
        return [f"{plugin}: {why}: what was written stands" for plugin, why in failed]

    def _run(self, event: str, rows: Sequence[Row]) -> list[tuple[str, str]]:
        """Run the plugins of an event; return the failed ones with reasons, in order. Each reads
        the rows from stdin, as JSON lines with the name of the event. Stdout is ignored."""
        plugins = self._of(event)
        if self._faults or not plugins:
            return self._faults
        from contextlib import ExitStack

        text = "".join(dumps({"event": event, **row}) + "\n" for row in rows)
        limit = self._settings.plugin_timeout or EVENT_SECONDS
        failed: dict[str, str] = {}
        running: dict[str, PluginProcess] = {}
        with Tidying(), ExitStack() as stack:  # Ctrl-C does not reach processes in other sessions
            for name in plugins:
                try:
                    path = find("", name, self._settings.plugin_dir, on_path=False)
                    process = PluginProcess(
                        [path], text.encode(errors="replace"), environment(name), limit
                    )
                    running[name] = stack.enter_context(process)
                except Refused as why:
                    failed[name] = str(why)
            for name, process in running.items():
                try:
                    process.read()
                except Refused as why:
                    failed[name] = why.own_words or str(why)
        return [(name, failed[name]) for name in plugins if name in failed]


class PluginProcess:
    """A running program: started at once, read later, ended by ``end`` or a ``with`` block.
    ``seconds`` is a time limit, 0 for no limit. Raise Refused if it cannot be started. ``said`` is
    the last line of stderr after the end."""

    def __init__(
        self, command: Sequence[str], stdin: bytes, environ: Mapping[str, str], seconds: float = 0
    ) -> None:
        from subprocess import PIPE, Popen
        from tempfile import TemporaryFile

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
                self._process = Popen(
                    command,
                    stdin=file,
                    env=environ,
                    stdout=PIPE,
                    stderr=self._errors,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                self._errors.close()
                why = getattr(error, "strerror", None) or error
                raise Refused(f"{command[0]} cannot be started ({why})") from None
            finally:
                programs.starting = False
        programs.running.add(self._process.pid)
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
        from select import POLLIN, poll
        from subprocess import TimeoutExpired

        out = self._process.stdout
        assert out is not None
        waiting = poll()
        waiting.register(out, POLLIN)
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
        except TimeoutExpired:
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
        from contextlib import suppress

        with suppress(ProcessLookupError, PermissionError):  # all of it has ended
            os.killpg(self._process.pid, KILL)
        programs.running.discard(self._process.pid)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
        self._process.wait()
