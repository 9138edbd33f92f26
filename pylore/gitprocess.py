"""A git process that runs nothing of the repository it is asked about.

A clone brings a ``.git/config`` that can name programs: pagers, filters, file-system
monitors, hooks, signers, transports. These options and this environment switch off what
a command that only reads could start, take no lock and fetch nothing; diffs and filters
take options of their own, see ``git``. Nothing heavy is imported here: an index of a
tree that has not changed asks git, and ``subprocess`` takes longer to load than git does.
"""

from __future__ import annotations

import os

from .programs import find_program, whole_entries

# Without --literal-pathspecs: git check-ignore knows no such thing.
_SAFE = (
    "--no-pager", "--no-optional-locks",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false",
    "-c", "core.quotePath=false", "-c", "color.ui=false", "-c", "protocol.allow=never",
    "-c", "i18n.logOutputEncoding=UTF-8", "-c", "log.follow=false",
)  # fmt: skip


def command(folder: str, *words: str) -> list[str]:
    """The arguments of a git process in ``folder``, its own name first."""
    return [find_program("git") or "/nonexistent/git", "-C", folder, *_SAFE, *words]


def environment() -> dict[str, str]:
    """The variables of a git process: ours, but for those that git itself reads.

    Inside a hook ``GIT_DIR`` and its like speak of another folder, or of another index.
    """
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept, "PATH": whole_entries(), "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
    }  # fmt: skip


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
            words = (*command(folder, *words),)
            self._pid = os.posix_spawn(words[0], words, environment(), file_actions=actions)
        except OSError:
            self._pid = 0
        finally:
            os.close(theirs)

    def out(self) -> bytes | None:
        """What it has printed; None where it failed, or there is no git."""
        with open(self._pipe, "rb") as pipe:
            printed = pipe.read()
        if not self._pid:
            return None
        _, status = os.waitpid(self._pid, 0)
        return printed if status == 0 else None
