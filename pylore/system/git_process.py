"""The one door to git: nothing else in lore starts it.

A clone brings a ``.git/config`` that can name programs: pagers, filters, file-system
monitors, hooks, signers, transports. These options and this environment switch off what
a command that reads, or writes the config, could start; they take no lock and fetch
nothing. Comparisons take options of their own, see ``git``. Nothing heavy is imported here:
an index of a tree that has not changed asks git, and ``subprocess`` takes longer to load
than git does.
"""

from __future__ import annotations

import os

from .programs import find_program, whole_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import CompletedProcess, Popen
    from typing import IO

NO_HOOKS = "/dev/null"
"""The folder of hooks for every git that lore starts."""

# Without --literal-pathspecs: git check-ignore knows no such thing.
_SAFE = (
    "--no-pager", "--no-optional-locks",
    "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={NO_HOOKS}",
    "-c", "log.showSignature=false",
    "-c", "core.quotePath=false", "-c", "color.ui=false", "-c", "protocol.allow=never",
    "-c", "i18n.logOutputEncoding=UTF-8", "-c", "log.follow=false",
)  # fmt: skip


_BLOCK = 1 << 18
_KILL = 9  # the module signal takes longer to load than git does

SILENT = 30
"""Seconds without a word after which git hangs, as at a pipe in place of a .gitignore."""


def run_git(folder: str, *words: str, input: bytes = b"") -> CompletedProcess[bytes]:
    """Run a git command in ``folder`` to its end; raise FileNotFoundError if there is no git; raise
    TimeoutError if it takes too long.
    """
    import subprocess

    try:
        return subprocess.run(
            _command(folder, *words), env=_environment(), input=input, capture_output=True,
            check=False, timeout=SILENT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise _silence() from None


def start_git(folder: str, *words: str, errors: IO[bytes]) -> Popen[bytes]:
    """Start a git command in ``folder``. Its stdout is a pipe, its stderr goes to ``errors``. Raise
    FileNotFoundError if there is no git.
    """
    import subprocess

    return subprocess.Popen(
        _command(folder, *words), env=_environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=errors,
    )  # fmt: skip


def _command(folder: str, *words: str) -> list[str]:
    """Return the arguments of a git process in ``folder``, its own name first."""
    return [find_program("git") or "/nonexistent/git", "-C", folder, *_SAFE, *words]


def _environment() -> dict[str, str]:
    """Return the variables of a git process: ours, but for those that git itself reads.

    Inside a hook ``GIT_DIR`` and its like speak of another folder, or of another index.
    """
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept, "PATH": whole_entries(), "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_EDITOR": "false",
        "GIT_ASKPASS": "false",
    }  # fmt: skip


def read_from(pipe: int) -> bytes:
    """Return what git says next; nothing at the end. Raise TimeoutError if it says nothing for too
    long.
    """
    from select import POLLIN, poll

    waiting = poll()
    waiting.register(pipe, POLLIN)
    if not waiting.poll(SILENT * 1000):
        raise _silence()
    return os.read(pipe, _BLOCK)


def _silence() -> TimeoutError:
    """Return the error of a git that says nothing for too long."""
    return TimeoutError(f"git has said nothing for {SILENT} s, as where a pipe stands for a file")


class Process:
    """A git command that runs in ``folder`` meanwhile; ``out`` waits for what it prints."""

    __slots__ = ("_pid", "_pipe")

    def __init__(self, folder: str, *words: str) -> None:
        self._pipe, theirs = os.pipe()
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, theirs, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        try:
            words = (*_command(folder, *words),)
            self._pid = os.posix_spawn(words[0], words, _environment(), file_actions=actions)
        except (OSError, ValueError):  # no git; a word with a NUL byte
            self._pid = 0
        finally:
            os.close(theirs)

    @property
    def started(self) -> bool:
        """Return whether there is a git to ask."""
        return self._pid != 0

    def out(self) -> bytes | None:
        """Return what it has printed; None where it failed, or there is no git. Raise TimeoutError
        if it says nothing for too long.
        """
        printed = []
        try:
            while block := read_from(self._pipe):
                printed.append(block)
        except TimeoutError:
            self.end()
            raise
        os.close(self._pipe)
        if not self._pid:
            return None
        _, status = os.waitpid(self._pid, 0)
        return b"".join(printed) if status == 0 else None

    def end(self) -> None:
        """End it, whatever it has printed: nobody waits for it."""
        os.close(self._pipe)
        if self._pid:
            os.kill(self._pid, _KILL)
            os.waitpid(self._pid, 0)
