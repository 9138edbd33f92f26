"""Keep how far a store is with each hub, as JSON in ``meta``.

It is kept in the store itself, so that it is as old as the records that it is about: a backup that
is restored goes on from where it was.
"""

from __future__ import annotations

from ..core.json import dumps, loads
from ..core.model import Record
from .connection import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_KEY = "remote "
"""Beginning of the keys in ``meta``; the name of the remote follows."""


class RemoteProgress(Record):
    """How far a store is with one remote.

    Attributes:
        takes: filters of what was sent.
        sees: whose lines the hub has given.
        read: number of the last line that was read.
        mark: [number, time] of the last known line; a hub that lacks it has lost lines.
        sent: the last command of which everything was sent; -1 before the first one.
        extra: digest of the declarations and purges that were sent.
        again: things that are to be sent again.
        wrote: True if the hub has lines of this store.
    """

    __slots__ = (
        "again", "extra", "mark", "name", "read", "sees", "sent", "synced_at", "takes", "wrote",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.takes = self.sees = self.extra = self.synced_at = ""
        self.read, self.sent, self.wrote = 0, -1, False
        self.mark: list[Any] = [0, None]
        self.again: list[str] = []


class Remotes:
    """Reads and writes the progress with hubs; ``put`` and what follows run in a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self) -> list[RemoteProgress]:
        """Return the progress with each remote, by name."""
        rows = self._db.execute(
            "SELECT key, value FROM meta WHERE key >= ?1 AND key < ?1 || char(1114111)"
            " ORDER BY key",
            (_KEY,),
        )
        return [self._read(str(key)[len(_KEY) :], str(value)) for key, value in rows]

    def _read(self, name: str, text: str) -> RemoteProgress:
        progress = RemoteProgress(name)
        for field, value in loads(text).items():
            setattr(progress, field, value)
        return progress

    def get(self, name: str) -> RemoteProgress:
        """Return the progress with one remote; with a new one, that of the beginning."""
        return next((one for one in self.all() if one.name == name), RemoteProgress(name))

    def put(self, progress: RemoteProgress) -> None:
        """Keep the progress with a remote."""
        fields = {name: getattr(progress, name) for name in progress.__slots__ if name != "name"}
        self._db.execute(
            "INSERT OR REPLACE INTO main.meta VALUES (?, ?)",
            (_KEY + progress.name, dumps(fields)),
        )

    def remove(self, name: str) -> None:
        """Forget a remote."""
        self._db.execute("DELETE FROM main.meta WHERE key = ?", (_KEY + name,))

    def send_again(self, things: Iterable[str]) -> None:
        """Note for all remotes that these things are to be sent, though no command changed them."""
        for progress in self.all():
            progress.again = sorted({*progress.again, *things})
            self.put(progress)
