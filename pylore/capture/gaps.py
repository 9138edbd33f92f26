"""Gaps: questions of the log of events that found nothing sure, the most asked first.

Questions that share most of their words are one gap. A gap that a record or a page answers by now
is left out; code is no answer.
"""

from __future__ import annotations

from typing import NamedTuple

from ..app.find import search
from ..core.ids import sha256
from ..core.text import STOP_WORDS, fold, stem, words
from ..core.vocabulary import NO_RECORDS
from .events import read_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..app.engine import Engine

SHARED = 0.6
"""Minimum share of common words (Jaccard) of two questions of one gap. Chosen by hand."""

SHOWN = 5
"""Maximum number of other questions of a gap."""

_NEAREST = "3"


class Asked(NamedTuple):
    """One question: its text, its time, and its session."""

    text: str
    t: str
    session: str


def find_gaps(engine: Engine, since: str = "") -> Iterator[dict[str, Any]]:
    """Yield the gaps of the engine's project as rows.

    Fields: ``id``, ``question`` (the last one), ``times``, ``sessions``, ``last``, ``questions``
    (others) and ``nearest`` (three records).
    """
    few = engine.changed([("limit", _NEAREST)], "gaps")
    types = [type for type in engine.store.types.all() if type not in NO_RECORDS]
    for gap in sorted(_grouped(_asked(engine.root, since)), key=_order, reverse=True):
        texts = [*dict.fromkeys(one.text for one in reversed(gap))]
        hits = search(few, texts[0], types=types)
        if not hits or hits[0].weak:
            yield {
                "id": f"gap-{sha256(fold(gap[0].text).encode()).hexdigest()[:8]}",
                "question": texts[0], "times": len(gap), "sessions": len(_sessions(gap)),
                "last": gap[-1].t, "questions": texts[1 : 1 + SHOWN],
                "nearest": [{"id": hit.id, "title": hit.title, "score": hit.score} for hit in hits],
            }  # fmt: skip


def _asked(root: str, since: str) -> Iterator[Asked]:
    """Yield the questions of a project, in the order of the log."""
    for event in read_events(since=since, kinds=("question",)):
        if event.get("text") and event.get("name") == root:
            yield Asked(event["text"], event["t"], event.get("session") or "")


def _grouped(asked: Iterable[Asked]) -> list[list[Asked]]:
    """Return the questions in groups: each joins the first group with enough of its words."""
    groups: list[tuple[frozenset[str], list[Asked]]] = []
    for one in asked:
        own = frozenset(stem(word) for word in words(fold(one.text)) if word not in STOP_WORDS)
        for others, group in groups:
            if len(own & others) >= SHARED * (len(own | others) or 1):
                group.append(one)
                break
        else:
            groups.append((own, [one]))
    return [group for _, group in groups]


def _order(gap: Sequence[Asked]) -> tuple[int, int, str]:
    return len(_sessions(gap)), len(gap), gap[-1].t


def _sessions(gap: Iterable[Asked]) -> set[str]:
    return {one.session for one in gap}
