"""What a session of an agent was shown already: a file of its own in the user's state folder."""

from __future__ import annotations

import os
import time

from ..core.digests import sha256
from ..system.private_files import open_private_log, user_folder

_DAYS = 14
_LONGEST = 1_000_000
_DIGITS = 32


class AgentSession:
    """One session: ``ids`` and ``files`` that were shown, and the ``run`` that they belong to.

    A session without a name remembers nothing.
    """

    def __init__(self, name: str, project: str) -> None:
        key = sha256(f"{project}\n{name}".encode("utf-8", "replace")).hexdigest()[:_DIGITS]
        self._path = os.path.join(_folder(), key) if name else ""
        self.ids: set[str] = set()
        self.files: set[str] = set()
        self.run = ""
        for line in self._lines():
            kind, _, value = line.partition(" ")
            if kind == "id":
                self.ids.add(value)
            elif kind == "file":
                self.files.add(value)
            elif kind == "run":
                self.run = value

    def remember(self, kind: str, *values: str) -> None:
        """Adds ``id``, ``file`` or ``run`` of what was shown; where that fails it is not kept."""
        lines = "".join(f"{kind} {value}\n" for value in values if "\n" not in value)
        if not self._path or not lines:
            return
        try:
            number = open_private_log(self._path)
        except OSError:
            return
        try:
            os.write(number, lines.encode("utf-8", "replace"))
        finally:
            os.close(number)

    def _lines(self) -> list[str]:
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                return file.read(_LONGEST).split("\n")
        except OSError:
            return []


def sweep_sessions() -> None:
    """Takes away what was kept of sessions that nobody has gone on with for two weeks."""
    oldest = time.time() - _DAYS * 86_400
    try:
        with os.scandir(_folder()) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
    except OSError:
        return


def _folder() -> str:
    return os.path.join(user_folder("XDG_STATE_HOME", ".local/state"), "sessions")
