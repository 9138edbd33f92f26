"""What the readers of agents' own transcripts have in common."""

from __future__ import annotations

from .recorder import Recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Reading:
    """The events of one transcript so far; ``skipped`` counts lines that say nothing, by type."""

    source = ""

    def __init__(self, path: str) -> None:
        self.recorder = Recorder(self.source, path)
        self.skipped: dict[str, int] = {}
        self.known = 0

    @property
    def unfinished(self) -> int:
        """Calls whose result was not seen."""
        return len(self.recorder.calls)

    def taken(self) -> list[dict[str, Any]]:
        """The events since this was last asked."""
        return self.recorder.taken()

    def _skip(self, kind: str) -> None:
        self.skipped[kind] = self.skipped.get(kind, 0) + 1
