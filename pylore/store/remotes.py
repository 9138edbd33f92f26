"""Progress of a store with each hub, as JSON in ``meta``; backups include it."""

from __future__ import annotations

from ..core.json import dumps, loads
from ..core.model import Row
from .connection import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_KEY = "remote "
"""Prefix of the keys in ``meta``, before the name of the remote."""


class RemoteProgress(Row):
    """How far a store is with a remote.

    Attributes:
        takes: filters of what was sent.
        sees: whose lines the hub has given.
        read: number of the last line that was read.
        mark: [number, time] of the last known line; a hub that lacks it has lost lines.
        sent: the last command of which everything was sent; -1 before the first.
        extra: digest of the declarations and purges that were sent.
        again: things to be sent again.
        wrote: True if the hub has lines of this store.
    """

    name: str
    takes: str = ""
    sees: str = ""
    read: int = 0
    mark: Sequence[Any] = (0, None)
    sent: int = -1
    extra: str = ""
    again: Sequence[str] = ()
    synced_at: str = ""
    wrote: bool = False


class Remotes(Table):
    """Reads and writes the progress with hubs."""

    def all(self) -> list[RemoteProgress]:
        """Return the progress with each remote, by name."""
        rows = self._rows(
            "SELECT key, value FROM meta WHERE key >= ?1"
            " AND key < ?1 || char(1114111) ORDER BY key",
            _KEY,
        )
        found = []
        for key, value in rows:
            found.append(RemoteProgress(key.removeprefix(_KEY)))
            for field, known in loads(value).items():
                setattr(found[-1], field, known)
        return found

    def get(self, name: str) -> RemoteProgress:
        """Return the progress with a remote, at the beginning if it is new."""
        return next(
            (one for one in self.all() if one.name == name), RemoteProgress(name, mark=[0, None])
        )

    def put(self, progress: RemoteProgress) -> None:
        """Write the progress with a remote."""
        fields = {name: value for name, value in progress.to_dict().items() if name != "name"}
        self._db.execute(
            "INSERT OR REPLACE INTO main.meta VALUES (?, ?)", (_KEY + progress.name, dumps(fields))
        )

    def remove(self, name: str) -> None:
        """Delete the progress with a remote."""
        self._db.execute("DELETE FROM main.meta WHERE key = ?", (_KEY + name,))

    def send_again(self, things: Iterable[str]) -> None:
        """Let all remotes get these things again, which no command changed."""
        for progress in self.all():
            progress.again = sorted({*progress.again, *things})
            self.put(progress)
