"""Candidates: found in the events of a project's sessions, and kept until somebody decides.

Nothing here makes knowledge. What a record says already is no candidate: what was said once
more is evidence for that record.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..core.ids import record_id
from ..core.model import Record
from ..core.scopes import own, plain
from ..core.times import ago, now
from ..core.vocabulary import HIDDEN_STATUSES
from ..records.records import NEAR_PASSAGES, Records
from ..store.candidate import KNOWN, OPEN, PROMOTED, SKIPPED, KeptCandidate
from ..store.filter import Scope
from ..telemetry.candidates import LONGEST_QUOTE, Candidate, Signal
from ..telemetry.finding import error_signature, find_candidates
from ..telemetry.projects import project_events
from ..telemetry.similar import Told
from .evidence import Evidence, commits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from .engine import Engine

KNOWLEDGE = ("decision", "failure", "goal", "lesson", "note", "observation", "pattern")
"""Types of records that may say what a candidate says."""

SAME = 0.9
"""The cosine from which on a record says what a candidate says."""

ALSO = "also"
"""The field of a candidate's data that has the ids of those that were merged into it."""

AGAIN = "again"
"""The signal of an error that came up once more although it was learned from."""

_TELLING = 20
"""Characters of an error's signature from which on it is no other's."""

_TIME = 30
"""Characters of a time; what another program has written may be longer."""

_SIGNALS = 20
"""Of one candidate that are kept, the strongest ones."""


class Gathered(Record):
    """What looking through the events has brought, by ids.

    ``new`` candidates, ``more`` of which more was found, ``known`` records that say it already,
    ``again``: records whose error came up once more after they were learned. ``notes`` are for
    people.
    """

    __slots__ = ("again", "known", "more", "new", "notes")

    def __init__(self) -> None:
        self.new: list[str] = []
        self.more: list[str] = []
        self.known: list[str] = []
        self.again: list[str] = []
        self.notes: list[str] = []


def gather(engine: Engine, project: str, since: str = "", *, by_model: bool = False) -> Gathered:
    """Looks through the events of a project's sessions, and keeps what may be worth knowing.

    Args:
        project: its folder, or ``telemetry.projects.ALL``.
        since: only what happened at this time or later.
        by_model: let the setting ``llm_command`` title what is new, and merge what is the same.

    Raises:
        LoreError: the model fails.
        UsageError: there is none.
    """
    events = [*project_events(project, since)]
    found = find_candidates(events)
    with engine.store.faults:
        gathering = _Gathering(engine, events, found)
        if by_model:
            gathering.title()
        return gathering.run()


class _Gathering:
    def __init__(
        self, engine: Engine, events: list[dict[str, Any]], found: list[Candidate]
    ) -> None:
        self._engine = engine
        self._store = engine.store
        self._scope = engine.settings.scope
        self._events = events
        for one in found:
            one.id = own(one.id, self._scope)
        self._found = found
        self._records = Records(self._store, engine.settings, engine.embedder, engine.root)
        self._commits = commits_of(engine.root, found)
        self._same: dict[str, str] = {}
        self._also: dict[str, list[str]] = {}
        self._notes: list[str] = []

    def title(self) -> None:
        """Lets the user's own model title what is new, and say what is the same."""
        from .candidate_titles import with_titles

        known = _by_any_id(self._store.candidates.all())
        new = [one for one in self._found if one.id not in known]
        before = {one.id: {(sign.quote, sign.t) for sign in one.signals} for one in new}
        texts = [str(event.get(name) or "") for event in self._events for name in ("text", "err")]
        kept, dropped = with_titles(new, texts, self._engine.settings.llm_command)
        self._notes = [f"of the model's answer was dropped: {why}" for why in dropped]
        for one in kept:
            signs = {(sign.quote, sign.t) for sign in one.signals}
            self._also[one.id] = [id for id, had in before.items() if id != one.id and had <= signs]
        gone = before.keys() - {one.id for one in kept}
        self._also = {id: [one for one in also if one in gone] for id, also in self._also.items()}
        self._found = [*kept, *(one for one in self._found if one.id in known)]

    def run(self) -> Gathered:
        kept = self._store.candidates.all()
        known = _by_any_id(kept)
        self._same = self._near([one for one in self._found if one.id not in known])
        if not self._found and not any(one.status == PROMOTED for one in kept):
            return Gathered()
        texts = [one.title for one in self._found]
        return self._records.together(self._write, "candidates", texts)

    def _write(self) -> Gathered:
        """Within the transaction: what others have decided meanwhile counts."""
        done = Gathered()
        done.notes = self._notes
        rows = self._store.candidates.all()
        kept = _by_any_id(rows)
        told = Told(candidate_of(one) for one in rows)
        evidence = Evidence(self._engine, self._records, self._commits)
        for one in self._found:
            like = None if one.id in kept else told.like(one)
            row = kept.get(like.id if like else one.id)
            if row is None:
                self._keep(one, evidence, done)
            elif row.status in (OPEN, SKIPPED):
                self._add_to(row, one, done)
            elif row.status in (PROMOTED, KNOWN):
                self._add_evidence(str(row.promoted_as), one, evidence, done)
        self._flag(rows, evidence, done)
        return done

    def _keep(self, one: Candidate, evidence: Evidence, done: Gathered) -> None:
        row = row_of(one)
        row.found_at = now()
        same = self._same.get(one.id) or self._same_id(one)
        if same:
            row.status, row.promoted_as, row.decided_at = KNOWN, same, row.found_at
            self._add_evidence(same, one, evidence, done)
        else:
            done.new.append(one.id)
        if self._also.get(one.id):
            row.data = _with(row.data, {ALSO: self._also[one.id]})
        self._store.candidates.put([row])

    def _add_to(self, row: KeptCandidate, one: Candidate, done: Gathered) -> None:
        """More of what is known of it; what was skipped is open again if a new session says it."""
        before = candidate_of(row)
        both = joined(before, one)
        new = row_of(both)
        new.data = _with(row.data, json.loads(new.data))
        if (new.data, new.score) == (row.data, row.score):
            return
        again = row.status == SKIPPED and {*both.sessions} - {*before.sessions}
        new.status = OPEN if again else row.status
        new.found_at, new.decided_at = row.found_at, None if again else row.decided_at
        self._store.candidates.put([new])
        done.more.append(row.id)

    def _add_evidence(self, id: str, one: Candidate, evidence: Evidence, done: Gathered) -> None:
        node = self._store.nodes.get(id)
        if node is None or node.invalidated_at is not None or node.status in HIDDEN_STATUSES:
            return
        if self._scope and plain(id) == id:
            return  # what is common is not changed under a scope
        if evidence.add(id, one):
            done.known.append(id)

    def _same_id(self, one: Candidate) -> str:
        """The record that it would be, where that is there or was forgotten."""
        node = self._store.nodes.get(own(record_id(one.type, one.body), self._scope))
        return node.id if node is not None else ""

    def _near(self, new: Sequence[Candidate]) -> dict[str, str]:
        """Those of which a record has nearly the same meaning, with its id."""
        embedder = self._engine.embedder
        if not new or embedder is None or self._store.meta.get("embedder") != embedder.name:
            return {}
        vectors = embedder.embed([f"{one.title} {one.body}" for one in new])
        scope = Scope(types=self._store.types.require(KNOWLEDGE))
        found = {}
        for one, vector in zip(new, vectors, strict=True):
            near = self._store.vectors.alike(vector, scope, SAME, NEAR_PASSAGES) if vector else []
            if near:
                found[one.id] = near[0][1]
        return found

    def _flag(self, kept: Iterable[KeptCandidate], evidence: Evidence, done: Gathered) -> None:
        """Errors that came up once more after something was promoted that names them."""
        learned = [_Learned(row) for row in kept if row.status == PROMOTED and row.promoted_as]
        named: dict[str, list[_Learned]] = {}
        for event in self._events if learned else ():
            signature = _failure(event)
            if signature not in named:
                named[signature] = [one for one in learned if one.names(signature)]
            for one in named[signature]:
                if one.came_before(event):
                    self._flag_one(one, event, evidence, done)

    def _flag_one(
        self, one: _Learned, event: Mapping[str, Any], evidence: Evidence, done: Gathered
    ) -> None:
        node = self._store.nodes.get(one.id)
        if node is None or node.invalidated_at is not None:
            return
        if self._scope and plain(one.id) == one.id:
            return
        quote = str(event.get("err") or "")[:LONGEST_QUOTE]
        signal = Signal(AGAIN, 0.0, quote, event["session"], event["t"], event.get("ref") or "")
        if evidence.contradict(one.id, signal) and one.id not in done.again:
            done.again.append(one.id)


class _Learned:
    """A record that was promoted, and the errors that it names."""

    __slots__ = ("_body", "_decided_at", "_sessions", "_signatures", "id")

    def __init__(self, row: KeptCandidate) -> None:
        one = candidate_of(row)
        self.id = str(row.promoted_as)
        self._body = one.body
        self._decided_at = row.decided_at or ""
        self._sessions = {*one.sessions}
        self._signatures = {error_signature(signal.quote) for signal in one.signals}

    def names(self, signature: str) -> bool:
        """Whether it is about an error of this signature."""
        if len(signature) < _TELLING:
            return False
        return signature in self._signatures or signature in self._body

    def came_before(self, event: Mapping[str, Any]) -> bool:
        """Whether something happened afterwards, in a session that it was not learned from."""
        session = event.get("session")
        return bool(session) and session not in self._sessions and event["t"] > self._decided_at


def _failure(event: Mapping[str, Any]) -> str:
    """The signature of the error of a call that failed; nothing where it is none."""
    if event.get("kind") != "tool" or event.get("ok") is not False:
        return ""
    return error_signature(str(event.get("err") or ""))


def _by_any_id(rows: Iterable[KeptCandidate]) -> dict[str, KeptCandidate]:
    """Rows by their ids, and by those of what was merged into them."""
    found: dict[str, KeptCandidate] = {}
    for row in rows:
        also = _list(json.loads(row.data), ALSO) if ALSO in row.data else []
        found.update({id: row for id in also if isinstance(id, str)})
    return found | {row.id: row for row in rows}


def _with(data: str, fields: dict[str, Any]) -> str:
    return json.dumps({**json.loads(data), **fields}, ensure_ascii=False)


def joined(kept: Candidate, found: Candidate) -> Candidate:
    """A candidate with what speaks for another that says the same; its text stays."""
    have = {(one.name, one.t, one.quote) for one in kept.signals}
    new = [one for one in found.signals if (one.name, one.t, one.quote) not in have]
    strongest = sorted([*kept.signals, *new], key=lambda one: -one.weight)[:_SIGNALS]
    return Candidate(kept.type, kept.title, kept.body, strongest, [*kept.files, *found.files],
                     [*kept.commits, *found.commits], kept.id)  # fmt: skip


def row_of(one: Candidate) -> KeptCandidate:
    """A candidate as a store keeps it: open, and found now."""
    row = one.to_row()
    data = {name: row[name] for name in ("files", "sessions", "commits", "signals")}
    first, last = row["first"][:_TIME], row["last"][:_TIME]
    return KeptCandidate(one.id, one.type, one.title, one.body, row["score"], first, last,
                         data=json.dumps(data, ensure_ascii=False))  # fmt: skip


def candidate_of(row: KeptCandidate) -> Candidate:
    """A kept candidate as it was found; what has another form in its data is left out."""
    data = json.loads(row.data)
    fields = data if isinstance(data, dict) else {}
    files, commits = (
        [one for one in _list(fields, name) if isinstance(one, str)]
        for name in ("files", "commits")
    )
    signals = [Signal.from_row(one) for one in _list(fields, "signals") if _is_signal(one)]
    return Candidate(row.type, row.title, row.body, signals, files, commits, row.id)


def _list(fields: dict[str, Any], name: str) -> list[Any]:
    value = fields.get(name)
    return value if isinstance(value, list) else []


def _is_signal(row: object) -> bool:
    return isinstance(row, dict) and all(
        isinstance(row.get(name), (int, float) if name == "weight" else str)
        for name in Signal.__slots__
    )


def told(row: KeptCandidate) -> dict[str, Any]:
    """A candidate as it is printed."""
    fields = {**row.to_dict(), **candidate_of(row).to_row()}
    del fields["data"], fields["command"], fields["first_at"], fields["last_at"]
    return fields


def listed(engine: Engine, *, everything: bool = False) -> list[dict[str, Any]]:
    """The open candidates, the best first; with ``everything`` those of all statuses."""
    with engine.store.faults:
        return [told(row) for row in engine.store.candidates.all(() if everything else (OPEN,))]


def sweep_candidates(engine: Engine, *, dry_run: bool = False) -> list[str]:
    """Drops what was found more than ``candidates_days`` ago and nobody has decided; its ids.

    What was refused stays, so that it does not come again.
    """
    days = engine.settings.candidates_days
    if not days:
        return []
    store, before = engine.store, ago(days)
    with store.faults, store.transaction():
        due = [one.id for one in store.candidates.all((OPEN, SKIPPED)) if one.found_at < before]
        if not dry_run:
            store.candidates.remove(due)
    return due
