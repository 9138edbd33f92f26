"""What was read of a store, kept in memory for as long as nobody writes to it.

For who asks many questions of one open store. Each snapshot looks whether it sees what the one
before saw; from the second in a row on that does, what is read may be kept. Who goes on asking
gets it as arrays: to load numpy takes as long as some ten questions.

It stays: at 60,000 passages a search of a server takes a quarter less time with it.
"""

from __future__ import annotations

from .driver import changes_seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .driver import apsw


OFTEN = 16
"""Snapshots after which numpy is worth its loading."""


class ReadCache:
    """``place`` is None wherever nothing may be kept: outside of a snapshot, too.

    ``often``: so many snapshots have begun that arrays are worth their making.
    """

    __slots__ = ("_begun", "_db", "_held", "_seen", "often", "place")

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._begun = 0
        self.often = False
        self._seen: object = None
        self._held: dict[str, Any] = {}
        self.place: dict[str, Any] | None = None

    def begin(self) -> None:
        """Let go of everything if the store has changed; called within a transaction."""
        self._begun += 1
        self.often = self._begun > OFTEN
        seen = changes_seen(self._db)
        if seen == self._seen:
            self.place = self._held
        else:
            self._held.clear()
            self._seen = seen

    def end(self) -> None:
        """Cache nothing from here on: it is not of the snapshot."""
        self.place = None
