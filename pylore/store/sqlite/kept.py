"""What was read of a store, kept in memory for as long as nobody writes to it.

For who asks many questions of one open store. Each snapshot looks whether it sees what the one
before saw; from the second in a row on that does, what is read may be kept.
"""

from __future__ import annotations

from .driver import changes_seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .driver import apsw


class KeptReads:
    """``place`` is None wherever nothing may be kept: outside of a snapshot, too."""

    __slots__ = ("_db", "_held", "_seen", "place")

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._seen: object = None
        self._held: dict[str, Any] = {}
        self.place: dict[str, Any] | None = None

    def begin(self) -> None:
        """Within a transaction: lets go of everything if the store is not as it was."""
        seen = changes_seen(self._db)
        if seen == self._seen:
            self.place = self._held
        else:
            self._held.clear()
            self._seen = seen

    def end(self) -> None:
        """What is read from here on is not of the snapshot."""
        self.place = None
