"""The gate: what becomes of a candidate. Each function is one transaction, all of it or nothing.

A person's word makes a confirmed record, a rule's or a program's a staged one. What was decided
lies with the candidate, so that taking back the command opens it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import LoreError
from ..core.ids import own
from ..core.model import Record
from ..core.times import now
from ..core.vocabulary import HIDDEN_STATUSES
from ..records.records import Change, Records
from ..records.undo import decided, was_by_rule
from ..store.curation import OPEN, PROMOTED, REFUSED, SKIPPED, KeptCandidate
from ..store.filter import Scope
from ..store.resolve_id import resolve_id
from .curation import KNOWLEDGE, Evidence, candidate_of, commits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ..app.engine import Engine
    from ..records.records import Change
    from .candidates import Candidate

COMMAND = "promote"
"""What the history calls it."""

MOST_A_DAY = 5
"""That ``promote_auto`` stages, whatever it says."""

_SESSIONS, _SIGNALS = 2, 2
"""What a candidate needs to be staged by itself: so many sessions, and kinds of signals."""

_NEAREST = 3
"""Records that are shown beside a candidate."""

_NEAR = 0.5
"""The cosine from which on they are."""

_DENIALS = frozenset(
    "not no never without avoid don't dont cannot can't instead stop isn't won't mustn't".split()
)


class Wanted(NamedTuple):
    """What is to become of one candidate: the record's type, title and text where they differ
    from the candidate's, or ``into``, the record that it is merged into."""

    id: str
    type: str = ""
    title: str = ""
    body: str = ""
    into: str = ""


class Promoted(Record):
    """What a candidate has become: the record, and what happened to that (added, updated,
    unchanged); ``notes`` are for people."""

    __slots__ = ("candidate", "id", "notes", "state")

    def __init__(self, candidate: str, change: Change, notes: Sequence[str] = ()) -> None:
        self.candidate = candidate
        self.id = change.id
        self.state = change.state
        self.notes = [*change.notes, *notes]


def promote(
    engine: Engine,
    wanted: Sequence[Wanted],
    *,
    confirm: bool,
    run_of: Callable[[str], str] = lambda session: "",
    at_most: int | None = None,
) -> list[Promoted]:
    """Makes records of candidates, or merges them into records: all of them or none.

    Args:
        confirm: a person says that they are right; else what is new is staged.
        run_of: the run that a session belonged to, where that is known.
        at_most: stage no more than so many a day, by a rule; the others are left.

    Raises:
        LoreError: there is no such candidate, or it was decided already.
    """
    rows = [require(engine, one.id) for one in wanted]
    candidates = [candidate_of(row) for row in rows]
    records = engine.records()
    evidence = Evidence(engine, records, commits_of(engine.root, candidates), revive=True)
    gate = _Gate(engine, records, evidence, confirm=confirm, run_of=run_of)

    def write() -> list[Promoted]:
        rest = wanted if at_most is None else wanted[: max(0, at_most - _staged_today(engine))]
        return [gate.let_in(one, by_rule=at_most is not None) for one in rest]

    return records.together(write, COMMAND)


class _Gate:
    def __init__(
        self, engine: Engine, records: Records, evidence: Evidence, *, confirm: bool,
        run_of: Callable[[str], str],
    ) -> None:  # fmt: skip
        self._engine = engine
        self._store = engine.store
        self._records = records
        self._evidence = evidence
        self._confirm = confirm
        self._run_of = run_of

    def let_in(self, wanted: Wanted, *, by_rule: bool) -> Promoted:
        row = require(self._engine, wanted.id)
        candidate = candidate_of(row)
        change = self._merged(wanted) if wanted.into else self._added(wanted, candidate)
        self._evidence.add(change.id, candidate)
        notes = self._evidence.anchor(change.id, candidate.files)
        for run in filter(None, map(self._run_of, candidate.sessions)):
            self._evidence.use_in(change.id, run)
        command = self._store.changes.command
        self._store.candidates.put(
            [decided(row, PROMOTED, promoted_as=change.id, command=command, by_rule=by_rule)]
        )
        return Promoted(row.id, change, notes)

    def _added(self, wanted: Wanted, candidate: Candidate) -> Change:
        body = wanted.body or candidate.body
        return self._records.add(
            wanted.type or candidate.type,
            body,
            title=wanted.title or ("" if wanted.body else candidate.title),
            status="confirmed" if self._confirm else None,
            source="conversation",
            confidence=1.0 if self._confirm else round(candidate.score, 4),
            anew=True,
        )

    def _merged(self, wanted: Wanted) -> Change:
        node = self._store.nodes.require_live(resolve_id(self._store, wanted.into))
        return Change(node.id, "updated")


def refuse(engine: Engine, ids: Sequence[str]) -> list[KeptCandidate]:
    """Lets candidates never come again, whatever is captured later.

    Raises:
        LoreError: there is no such candidate, or it was promoted.
    """
    return _decide(engine, ids, REFUSED)


def skip(engine: Engine, ids: Sequence[str]) -> list[KeptCandidate]:
    """Leaves candidates for later: they are open again when a new session says the same.

    Raises:
        LoreError: there is no such candidate, or it was promoted.
    """
    return _decide(engine, ids, SKIPPED)


def _decide(engine: Engine, ids: Sequence[str], status: str) -> list[KeptCandidate]:
    store = engine.store
    with store.faults, store.transaction():
        rows = [decided(require(engine, id), status) for id in ids]
        store.candidates.put(rows)
    return rows


def require(engine: Engine, id: str) -> KeptCandidate:
    """Return a candidate that can be decided: open, skipped, or refused before.

    Raises:
        LoreError: there is none, or it became a record.
    """
    id = own(id, engine.settings.scope)
    with engine.store.faults:
        row = engine.store.candidates.get_many([id]).get(id)
    if row is None:
        raise LoreError(f"no candidate '{id}': see 'lore capture candidates'")
    if row.status not in (OPEN, SKIPPED, REFUSED):
        raise LoreError(f"'{id}' is known as {row.promoted_as}: see 'lore show {row.promoted_as}'")
    return row


def stage_by_rule(engine: Engine) -> list[str]:
    """Return the open candidates that ``promote_auto`` may stage today, the best first.

    The setting is honoured from the user's own config alone; whoever calls asks event plugins,
    and gives ``promote`` the same number.
    """
    if not engine.settings.promote_auto:
        return []
    left = most_a_day(engine) - _staged_today(engine)
    with engine.store.faults:
        rows = engine.store.candidates.all((OPEN,)) if left > 0 else []
    fit = [
        row.id for row in rows if not was_by_rule(row) and _speaks_for_itself(candidate_of(row))
    ]  # what was taken back is a person's matter
    return fit[: max(0, left)]


def most_a_day(engine: Engine) -> int:
    """Return how many candidates a day may be staged by a rule."""
    return min(engine.settings.promote_auto, MOST_A_DAY)


def _speaks_for_itself(one: Candidate) -> bool:
    kinds = {signal.name for signal in one.signals}
    return len(one.sessions) >= _SESSIONS and len(kinds) >= _SIGNALS


def _staged_today(engine: Engine) -> int:
    return engine.store.candidates.let_in_since(now()[:10])


class Beside(NamedTuple):
    """A record that is near what a candidate says. ``otherwise``: the one denies where the
    other does not, so that they may contradict each other."""

    id: str
    title: str
    text: str
    status: str
    cosine: float
    otherwise: bool


def beside(engine: Engine, candidate: Candidate) -> list[Beside]:
    """Return what is known already that is near a candidate, the nearest first."""
    found: list[Beside] = []
    with engine.store.faults:
        for id, cosine in _near(engine, candidate):
            node = engine.store.nodes.require(id)
            denied = _denies(node.body or node.title), _denies(candidate.body)
            otherwise = node.status == "confirmed" and denied[0] != denied[1]
            found.append(
                Beside(id, node.title, node.body, node.status, cosine, otherwise=otherwise)
            )
    return found


def _near(engine: Engine, candidate: Candidate) -> Iterable[tuple[str, float]]:
    embedder, store = engine.embedder, engine.store
    if embedder is None or store.meta.get("embedder") != embedder.name:
        return []
    vector = embedder.embed([f"{candidate.title} {candidate.body}"])[0]
    if vector is None:
        return []
    scope = Scope(types=store.types.require(KNOWLEDGE), hides=HIDDEN_STATUSES)
    best: dict[str, float] = {}
    for _, id, cosine in store.vectors.search(vector, scope, 4 * _NEAREST):
        best.setdefault(id, cosine)
    return [(id, cosine) for id, cosine in best.items() if cosine >= _NEAR][:_NEAREST]


def _denies(text: str) -> bool:
    return sum(word.strip(".,;:!?()") in _DENIALS for word in text.lower().split()) % 2 == 1


def asked_row(wanted: Wanted, row: dict[str, Any], *, confirm: bool) -> dict[str, Any]:
    """Return what ``pre-promote`` is told of one."""
    return {
        "id": row["id"], "type": wanted.type or row["type"],
        "title": wanted.title or row["title"], "body": wanted.body or row["body"],
        "into": wanted.into, "status": "confirmed" if confirm else "staged",
        "score": row["score"], "files": row["files"], "sessions": row["sessions"],
        "signals": row["signals"],
    }  # fmt: skip
