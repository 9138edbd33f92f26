"""Gaps: what was asked and found nothing sure, by the log of events; the most asked first.

Questions that are alike are one gap: by the cosine of their vectors, or by the words that they
share. A gap to which the store has a sure answer by now is none.
"""

from __future__ import annotations

from calendar import timegm
from collections import Counter
from struct import unpack
from time import strptime
from typing import NamedTuple

from ..app.search import search
from ..core.errors import LoreError
from ..core.ids import sha256
from ..core.text import STOP_WORDS, fold, stem, words
from ..system.git import Git
from .events import read_events
from .recent import sessions_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..app.engine import Engine
    from ..embed import Embedder


ALIKE = 0.8
"""Cosine of two questions from which they ask the same: see docs/quality.md."""

SHARED = 0.6
"""Share of the words of two questions that both have (Jaccard) from which they ask the same."""

AFTERWARDS = 1800
"""Seconds in which edits count as what a question led to."""

SHOWN, COMMITS = 5, 500
"""Questions, files and people that are named of a gap; the latest commits that are looked at for
who changed its files."""

_NEAREST = "3"


class Asked(NamedTuple):
    """One question of the log: its ``text``, and when (``at``: in seconds) in which ``session`` it
    was asked. ``dismissed``: a person has said that it needs no answer."""

    text: str
    when: str
    at: int
    session: str
    dismissed: bool


class Gap:
    """Questions that are alike, the first one first, and the ``files`` that were edited next."""

    __slots__ = ("asked", "files")

    def __init__(self, first: Asked) -> None:
        self.asked = [first]
        self.files: Counter[str] = Counter()

    @property
    def id(self) -> str:
        """Return the id, made from the first question."""
        return f"gap-{sha256(fold(self.asked[0].text).encode()).hexdigest()[:8]}"

    @property
    def questions(self) -> list[str]:
        """Return the different questions, the last one first."""
        return [*dict.fromkeys(one.text for one in reversed(self.asked))]

    @property
    def sessions(self) -> int:
        """Return in how many sessions it was asked."""
        return len({one.session for one in self.asked})

    @property
    def order(self) -> tuple[int, int, str]:
        """Return what gaps are ranked by: the greater, the more it is asked."""
        return self.sessions, len(self.asked), self.asked[-1].when


def gaps(engine: Engine, since: str = "") -> Iterator[dict[str, Any]]:
    """Yield what is asked most and known least in the engine's project, as plain values.

    Fields: ``id``, ``question`` (the last one), ``times``, ``sessions``, ``last``, ``questions``
    (others), ``files`` (edited within half an hour), ``people`` (who committed most to these) and
    ``nearest`` (records).
    """
    for gap, near in _unanswered(engine, since):
        files = [path for path, _ in gap.files.most_common(SHOWN)]
        yield {
            "id": gap.id, "question": gap.questions[0], "times": len(gap.asked),
            "sessions": gap.sessions, "last": gap.asked[-1].when,
            "questions": gap.questions[1 : 1 + SHOWN], "files": files,
            "people": _people(engine.root, files), "nearest": near,
        }  # fmt: skip


def require_gap(engine: Engine, name: str) -> Gap:
    """Return the gap of an id, or of a place in the list.

    Raises:
        LoreError: there is none.
    """
    if name.isdecimal():
        named = (gap for at, (gap, _) in enumerate(_unanswered(engine), 1) if str(at) == name)
    else:
        named = (gap for gap in _found(engine) if gap.id == name)
    gap = next(named, None)
    if gap is None:
        raise LoreError(f"there is no gap '{name}': 'lore gaps' lists them")
    return gap


def _unanswered(engine: Engine, since: str = "") -> Iterator[tuple[Gap, list[dict[str, Any]]]]:
    """Yield the gaps to which the store has no sure answer by now, with what is nearest."""
    for gap in _found(engine, since):
        near = nearest(engine, gap.questions[0])
        if not near or near[0]["weak"]:
            yield gap, near


def _found(engine: Engine, since: str = "") -> list[Gap]:
    """Return the gaps of the engine's project that nobody has dismissed, the most asked first."""
    asked, edits = _of_log(engine.root, since)
    told = [gap for gap in _alike(asked, engine.embedder)
            if not any(one.dismissed for one in gap.asked)]  # fmt: skip
    for gap in told:
        _add_files(gap, edits)
    return sorted(told, key=lambda gap: gap.order, reverse=True)


def nearest(engine: Engine, question: str) -> list[dict[str, Any]]:
    """Return ``{id, title, score, weak}`` of the first three results for a question."""
    few = engine.changed([("limit", _NEAREST)], "gaps")
    hits = search(few, question)
    return [{"id": hit.id, "title": hit.title, "score": hit.score, "weak": hit.weak}
            for hit in hits]  # fmt: skip


Edit = tuple[int, str, "Sequence[str]"]
"""When (seconds), in which session, which files."""


def _of_log(root: str, since: str) -> tuple[list[Asked], list[Edit]]:
    """Return what was asked in a project, and what its sessions edited, in the order of the log."""
    ours = sessions_of(root)
    asked, edits = [], []
    for event in read_events(since=since, kinds=("question", "edit")):
        session = event.get("session") or ""
        if event["kind"] == "edit":
            if session in ours and event.get("files"):
                edits.append((_seconds(event["t"]), session, event["files"]))
        elif event.get("text") and event.get("name") == root:
            when = event["t"]
            asked.append(
                Asked(event["text"], when, _seconds(when), session, event.get("ok") is True)
            )
    return asked, edits


def _seconds(moment: str) -> int:
    """Return a time as seconds; 0 where it is none."""
    try:
        return timegm(strptime(moment[:19], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return 0


def _alike(asked: Iterable[Asked], embedder: Embedder | None) -> list[Gap]:
    """Return the questions in groups: each goes to the nearest group by its first question."""
    every = [*asked]
    vectors = embedder.embed([one.text for one in every]) if embedder and every else []
    groups: list[tuple[Gap, frozenset[str], Sequence[float]]] = []
    for number, one in enumerate(every):
        own = frozenset(stem(word) for word in words(fold(one.text)) if word not in STOP_WORDS)
        vector = _numbers(vectors[number] if vectors else None)
        best, to = 0.0, None
        for gap, others, other in groups:
            cosine = sum(map(float.__mul__, vector, other)) / ALIKE
            shared = len(own & others) / (len(own | others) or 1) / SHARED
            if max(cosine, shared) >= max(1.0, best):
                best, to = max(cosine, shared), gap
        if to is None:
            groups.append((Gap(one), own, vector))
        else:
            to.asked.append(one)
    return [gap for gap, _, _ in groups]


def _numbers(vector: bytes | None) -> Sequence[float]:
    return unpack(f"<{len(vector) // 4}f", vector) if vector else ()


def _add_files(gap: Gap, edits: Sequence[Edit]) -> None:
    """Count the files that were edited after a question of the gap was asked: in its session, or in
    any where it was asked at a prompt of the shell."""
    sessions = {session for _, session, _ in edits}
    for one in gap.asked:
        for when, session, files in edits:
            same = session == one.session or one.session not in sessions
            if same and 0 <= when - one.at <= AFTERWARDS:
                gap.files.update(files)


def _people(root: str, files: Sequence[str]) -> list[str]:
    """Return who made most of the latest commits that changed the files."""
    if not files:
        return []
    names = Git(root).ask("log", f"--max-count={COMMITS}", "--format=%aN", "--", *files) or ""
    return [name for name, _ in Counter(filter(None, names.split("\n"))).most_common(SHOWN)]
