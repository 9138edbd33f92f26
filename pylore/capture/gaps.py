"""List questions of the log without a confident result among records or pages.

Questions that share most words form a gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..app.find import search
from ..core.text import STOP_WORDS, fold, stem, words
from ..core.vocabulary import NO_RECORDS
from .events import read_events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..app.engine import Engine

SHARED = 0.6
"""Minimum share of common words (Jaccard) of two questions of a gap. Chosen by hand."""
MOST_OTHERS = 5


class Gap(NamedTuple):
    """The events of questions with much the same words, and the words of the first."""

    words: frozenset[str]
    events: list[dict[str, Any]]

    @property
    def sessions(self) -> int:
        """The number of sessions."""
        return len({event.get("session") for event in self.events})


def find_gaps(engine: Engine, since: str = "") -> Iterator[dict[str, Any]]:
    """Yield the gaps of the engine's project as rows.

    Fields: ``question`` (the last), ``times``, ``sessions``, ``last`` and other
    ``questions``.
    """
    few = engine.changed([("limit", "1")], "gaps")
    types = [type for type in engine.store.types.all() if type not in NO_RECORDS]
    gaps = _grouped(engine.root, since)
    for gap in sorted(gaps, key=lambda one: (one.sessions, len(one.events)), reverse=True):
        texts = [*dict.fromkeys(event["text"] for event in reversed(gap.events))]
        if all(hit.weak for hit in search(few, texts[0], types=types)):
            yield {
                "question": texts[0],
                "times": len(gap.events),
                "sessions": gap.sessions,
                "last": gap.events[-1]["t"],
                "questions": texts[1 : 1 + MOST_OTHERS],
            }


def _grouped(root: str, since: str) -> list[Gap]:
    """Return the questions of a project in groups with common words."""
    gaps: list[Gap] = []
    for event in read_events(since=since, kinds=("question",)):
        if event.get("text") and event.get("name") == root:
            said = words(fold(event["text"]))
            own = frozenset(stem(word) for word in said if word not in STOP_WORDS)
            near = (
                one for one in gaps if len(own & one.words) >= SHARED * (len(own | one.words) or 1)
            )
            if gap := next(near, None):
                gap.events.append(event)
            else:
                gaps.append(Gap(own, [event]))
    return gaps
