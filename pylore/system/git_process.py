"""Start git; all of lore calls it here.

The ``.git/config`` of a clone can name programs: pagers, filters, file-system monitors, hooks,
signers, transports. These options and this environment switch them off, take no lock and fetch
nothing; ``git`` has more for comparisons. ``subprocess`` takes longer to load than git.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError
from .programs import KILL, absolute_entries, find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NO_HOOKS = "/dev/null"
"""The folder of hooks for every git that lore starts."""

# Without --literal-pathspecs: git check-ignore knows no such thing.
_CONFIG = (
    f"core.fsmonitor=false core.hooksPath={NO_HOOKS} log.showSignature=false core.quotePath=false"
    " color.ui=false protocol.allow=never i18n.logOutputEncoding=UTF-8 log.follow=false"
).split()
_SAFE = ["--no-pager", "--no-optional-locks", *(word for key in _CONFIG for word in ("-c", key))]
_BLOCK = 1 << 18
SILENT = 30
"""Seconds without output after which git hangs, as at a pipe in place of a .gitignore."""


def run_git(folder: str, *words: str, input: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a git command; return status (0: success), stdout and stderr. Raise LoreError without
    git, TimeoutError after ``SILENT`` seconds without output."""
    from tempfile import TemporaryFile

    with TemporaryFile() as stdin, TemporaryFile() as errors:  # a full pipe would block
        stdin.write(input)
        stdin.seek(0)
        process = Process(folder, *words, stdin=stdin.fileno(), errors=errors.fileno())
        status, out = process.result()
        if not process.started:
            raise LoreError("git is not installed: install git, then repeat")
        errors.seek(0)
        return status, out, errors.read()


def _environment() -> dict[str, str]:
    """Return the environment of a git process, without git's variables. In a hook, ``GIT_DIR`` and
    others point to a different folder or index."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "PATH": absolute_entries(),
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_EDITOR": "false",
        "GIT_ASKPASS": "false",
    }


class Process:
    """A git command that runs in ``folder`` in the background. ``stdin`` and ``errors`` are numbers
    of open files, by default /dev/null."""

    __slots__ = ("_pipe", "started")

    def __init__(self, folder: str, *words: str, stdin: int = -1, errors: int = -1) -> None:
        self._pipe, theirs = os.pipe()
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        streams = [null if stdin < 0 else stdin, theirs, null if errors < 0 else errors]
        actions = [(os.POSIX_SPAWN_DUP2, number, to) for to, number in enumerate(streams)]
        try:
            program = find_program("git") or "/nonexistent/git"
            words = (program, "-C", folder, *_SAFE, *words)
            self.started = os.posix_spawn(program, words, _environment(), file_actions=actions)
        except (OSError, ValueError):  # no git; a word with a NUL byte
            self.started = 0
        finally:
            os.close(theirs)
            os.close(null)

    def blocks(self) -> Iterator[bytes]:
        """Yield the output; raise TimeoutError after ``SILENT`` seconds without any."""
        from select import POLLIN, poll

        waiting = poll()
        waiting.register(self._pipe, POLLIN)
        while True:
            if not waiting.poll(SILENT * 1000):
                raise TimeoutError(f"no output of git for {SILENT} s, as from a pipe for a file")
            block = os.read(self._pipe, _BLOCK)
            if not block:
                return
            yield block

    def result(self) -> tuple[int, bytes]:
        """Return status, as ``wait``, and output; raise TimeoutError as ``blocks``."""
        try:
            out = b"".join(self.blocks())
        except TimeoutError:
            self.end()
            raise
        return self.wait(), out

    def out(self) -> bytes | None:
        """Return the output; None if the command failed. Raise TimeoutError as ``blocks``."""
        status, out = self.result()
        return None if status else out

    def wait(self) -> int:
        """Return 0 for success, after all output was read."""
        os.close(self._pipe)
        return os.waitpid(self.started, 0)[1] if self.started else -1

    def end(self) -> None:
        """Kill the process."""
        if self.started:
            os.kill(self.started, KILL)
        self.wait()
