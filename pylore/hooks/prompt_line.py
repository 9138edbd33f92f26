"""The line that a shell's prompt shows, kept in a small file that the shell reads by itself.

The file has one line: printable, and no longer than a screen is wide. ``lib/prompt.bash`` reads
it; ``lore hook run shell`` writes it, one process at a time.
"""

from __future__ import annotations

import os

from ..app.related import related
from ..core.errors import LoreError
from ..core.text import counted, one_line, printable
from ..core.vocabulary import BROKEN, RECORDS
from ..system.files import make_private_folder, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..app.engine import Engine

LONGEST = 160
"""Letters of a line."""

_FRESH = 5.0
"""Seconds in which a line is not made again."""

_LONGEST_NAME = 240
"""Bytes of a file's name."""


class PromptLine:
    """What is kept for one project."""

    def __init__(self, project: str) -> None:
        name = project.replace("%", "%25").replace("/", "%2F")
        self._folder = os.path.join(user_folder("XDG_CACHE_HOME", ".cache"), "prompt")
        self._path = os.path.join(self._folder, name)
        self.fits = len(os.fsencode(name)) <= _LONGEST_NAME

    def is_fresh(self) -> bool:
        """Return whether it was made just now."""
        import time

        try:
            age = time.time() - os.stat(self._path).st_mtime
        except OSError:
            return False
        return 0 <= age < _FRESH

    def lock(self) -> int | None:
        """Takes the right to write the line until this process ends; None: another has it.

        Raises:
            OSError: nothing can be written there.
        """
        import fcntl

        make_private_folder(os.path.dirname(self._folder))
        make_private_folder(self._folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        number = os.open(os.path.join(self._folder, "%lock"), flags, 0o600)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(number)
            return None
        return number

    def write(self, text: str) -> None:
        """Keeps a line.

        Raises:
            LoreError: it cannot be written.
        """
        from ..system.atomic_write import write_whole

        write_whole(self._path, [f"{text}\n"], private=True)


def line_about_changes(engine: Engine) -> str:
    """Return what is known of the files that were changed in the work tree; empty where it is
    nothing.
    """
    try:
        with engine.store.faults:
            found = related(engine, near=["@git"], types=(RECORDS,))
    except LoreError:
        return ""  # no git, or no file that the store has
    hits = sorted(found, key=lambda hit: hit.verdict not in BROKEN)
    if not hits:
        return ""
    best = hits[0]
    verdict = f" [{best.verdict}]" if best.verdict in BROKEN else ""
    said = f"lore: {counted(len(hits), 'record')} on changed files: {best.id}{verdict} "
    return printable(one_line(said + best.title))[:LONGEST]
