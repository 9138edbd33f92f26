"""Gaps: questions of the log of events that found nothing sure, the most asked first.

Questions that share most of their words are one gap. A gap that a record or a page answers by now
is left out; code is no answer.
"""

from __future__ import annotations

from calendar import timegm
from collections import Counter
from time import strptime
from typing import NamedTuple

from ..app.find import search
from ..core.ids import sha256
from ..core.text import STOP_WORDS, fold, stem, words
from ..core.vocabulary import NO_RECORDS
from .events import read_events
from .recent import sessions_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..app.engine import Engine

SHARED = 0.6
"""Minimum share of common words (Jaccard) of two questions of one gap. Chosen by hand."""

AFTERWARDS = 1800
"""Seconds after a question in which edits count as its consequence. Chosen by hand."""

SHOWN = 5
"""Maximum number of other questions and of files of a gap."""

_NEAREST = "3"


class Asked(NamedTuple):
    """One question: its text, its time, the same in seconds, and its session."""

    text: str
    t: str
    at: int
    session: str


Edit = tuple[int, str, "Sequence[str]"]
"""Time in seconds, session, files."""


def find_gaps(engine: Engine, since: str = "") -> Iterator[dict[str, Any]]:
    """Yield the gaps of the engine's project as rows.

    Fields: ``id``, ``question`` (the last one), ``times``, ``sessions``, ``last``, ``questions``
    (others), ``files`` (edited within half an hour) and ``nearest`` (three records).
    """
    asked, edits = _read_log(engine.root, since)
    few = engine.changed([("limit", _NEAREST)], "gaps")
    types = [type for type in engine.store.types.all() if type not in NO_RECORDS]
    for gap in sorted(_grouped(asked), key=_order, reverse=True):
        texts = [*dict.fromkeys(one.text for one in reversed(gap))]
        hits = search(few, texts[0], types=types)
        if not hits or hits[0].weak:
            yield {
                "id": f"gap-{sha256(fold(gap[0].text).encode()).hexdigest()[:8]}",
                "question": texts[0], "times": len(gap), "sessions": len(_sessions(gap)),
                "last": gap[-1].t, "questions": texts[1 : 1 + SHOWN],
                "files": _edited_next(gap, edits),
                "nearest": [{"id": hit.id, "title": hit.title, "score": hit.score} for hit in hits],
            }  # fmt: skip


def _read_log(root: str, since: str) -> tuple[list[Asked], list[Edit]]:
    """Return the questions and the edits of a project, in the order of the log."""
    ours = sessions_of(root)
    asked: list[Asked] = []
    edits: list[Edit] = []
    for event in read_events(since=since, kinds=("question", "edit")):
        session, t = event.get("session") or "", event["t"]
        if event["kind"] == "edit":
            if session in ours and event.get("files"):
                edits.append((_seconds(t), session, event["files"]))
        elif event.get("text") and event.get("name") == root:
            asked.append(Asked(event["text"], t, _seconds(t), session))
    return asked, edits


def _seconds(moment: str) -> int:
    """Return a time as seconds; 0 if it is malformed."""
    try:
        return timegm(strptime(moment[:19], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return 0


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


def _edited_next(gap: Iterable[Asked], edits: Sequence[Edit]) -> list[str]:
    """Return the files edited most after the questions: in the same session, or in any session
    for a question at a shell's prompt."""
    sessions = {session for _, session, _ in edits}
    files: Counter[str] = Counter()
    for one in gap:
        for at, session, paths in edits:
            same = session == one.session or one.session not in sessions
            if same and 0 <= at - one.at <= AFTERWARDS:
                files.update(paths)
    return [path for path, _ in files.most_common(SHOWN)]
