"""Keep candidates in the store, and make records of accepted candidates.

Each function is a transaction. An undo opens a candidate again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ..anchors.attach import place_anchor
from ..anchors.project import Project, relative, root_to_keep
from ..core.errors import LoreError
from ..core.ids import named_id, own, plain, record_id
from ..core.json import dumps, loads
from ..core.model import Anchor
from ..core.times import ago, now
from ..core.vocabulary import (
    CONTRADICTS,
    DERIVED_FROM,
    HIDDEN_STATUSES,
    LEARNED_FROM,
    LEARNING_TYPES,
)
from ..hooks.events import AgentSession
from ..indexing.similar import CANDIDATES
from ..records.records import Change, Records
from ..store.curation import KNOWN, OPEN, PROMOTED, REFUSED, SKIPPED, KeptCandidate
from ..store.filter import Scope
from ..system.git import Git, is_commit
from .candidates import ALIKE, COMMITTED, LONGEST_QUOTE, Alike, Candidate, Signal
from .events import project_events
from .extract import error_signature, find_candidates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..app import Engine
    from ..core.model import Node

EVIDENCE = "evidence"
"""The field of an edge's metadata with the quotes."""
NEAR = 0.5
"""Minimum cosine of a record shown with a candidate."""
AGAIN = "again"
"""The signal of an error that returned after the promotion of a record."""
_MOST_QUOTES, _MOST_FILES, _MOST_BESIDE = 5, 10, 3
_LONGEST_SESSION = 200
_INTERNAL = ("data", "command")
_TELLING = 20
"""Minimum number of characters of an error's signature that identifies it."""


class Wanted(NamedTuple):
    """A candidate to promote: type, title and text if they differ, or ``into``, a record to merge
    with."""

    id: str
    type: str = ""
    title: str = ""
    body: str = ""
    into: str = ""


class Gathered(NamedTuple):
    """Ids of new candidates, of records with new evidence, and of records with a repeated error."""

    new: list[str]
    known: list[str]
    again: list[str]


class Evidence:
    """Links of records to the sessions and commits of candidates, inside ``Records.together``.

    ``revive``: links that somebody has taken away return.
    """

    def __init__(
        self, engine: Engine, records: Records, found: Iterable[Candidate], *, revive: bool
    ) -> None:
        self._store, self._records, self._revive = engine.store, records, revive
        self.commits = _commits_of(engine.root, found)

    def add(self, id: str, candidate: Candidate) -> bool:
        """Link a record to the sessions and commits of a candidate; return True if any is new."""
        relation = LEARNED_FROM if id.startswith("lesson-") else DERIVED_FROM
        more = False
        for name in candidate.sessions:
            signals = [one for one in candidate.signals if one.session == name]
            signals.sort(key=lambda one: (-one.weight, one.t, one.quote))
            more |= self._quote(id, relation, self._session(name, signals), signals)
        for node in filter(None, map(self.commits.get, candidate.commits)):
            to = self._there(node.id, "commit", node.body or node.title, node.title)
            more |= self._quote(id, DERIVED_FROM, to, ())
        return more

    def contradict(self, id: str, signal: Signal) -> bool:
        """Link the session of a signal to the record that it contradicts; True if that is new."""
        return self._quote(self._session(signal.session, [signal]), CONTRADICTS, id, [signal])

    def _quote(self, from_id: str, relation: str, to_id: str, signals: Iterable[Signal]) -> bool:
        """Add quotes to a link, up to ``_MOST_QUOTES``; return True if that changed it."""
        old = self._store.edges.get(from_id, to_id, relation)
        gone = old is not None and old.invalidated_at is not None
        before = evidence_of(old.metadata) if old else []
        kept = {str(row.get("quote")): row for row in before}
        for one in signals:
            if len(kept) < _MOST_QUOTES:
                row = {"quote": one.quote, "ref": one.ref, "t": one.t, "signal": one.name}
                kept.setdefault(one.quote, row)
        if (gone and not self._revive) or (old and not gone and len(kept) == len(before)):
            return False
        metadata = {EVIDENCE: [*kept.values()]} if kept else None
        self._records.link(from_id, relation, to_id, source="conversation", metadata=metadata)
        return True

    def _session(self, name: str, signals: Sequence[Signal]) -> str:
        day = min((one.t for one in signals if one.t), default="")[:10]
        text = f"{name[:_LONGEST_SESSION]} {day}".strip()
        return self._there(named_id("session", name), "session", text)

    def _there(self, id: str, type: str, text: str, title: str = "") -> str:
        """Return the id of a session or commit, which is added unless it is in the store."""
        found = self._store.nodes.get(own(id, self._store.scope)) or self._store.nodes.get(id)
        if found is not None and found.invalidated_at is None:
            return found.id
        return self._records.add(type, text, title=title, id=id, source="system").id


def evidence_of(metadata: str) -> list[dict[str, Any]]:
    """Return the quotes in the metadata of an edge."""
    found = loads(metadata).get(EVIDENCE) if EVIDENCE in metadata else None
    rows = found if isinstance(found, list) else []
    return [row for row in rows if isinstance(row, dict)]


def _commits_of(root: str, candidates: Iterable[Candidate]) -> dict[str, Node]:
    """Return the commits of candidates that the project's repository has, by their short names."""
    git = Git(root)
    found = {}
    for name in dict.fromkeys(name for one in candidates for name in one.commits):
        words = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if is_commit(name) and (whole := git.ask(*words)):
            found[name] = git.commit(whole)
    return found


def gather(engine: Engine, project: str, since: str = "") -> Gathered:
    """Keep the candidates in the events of a project's sessions, since a time.

    A candidate of an existing record adds evidence to the record. Skipped candidates open again if
    a new session repeats them; refused candidates never do. Undecided candidates are deleted
    after ``candidates_days``.
    """
    events = [*project_events(project, since)]
    found = find_candidates(events)
    with engine.store.faults:
        if found or engine.store.candidates.all():
            gathering = _Gathering(engine, found)
            with gathering.records.writing("candidates"):
                gathering.write(events)
            return gathering.done
    return Gathered([], [], [])


class _Gathering:
    def __init__(self, engine: Engine, found: list[Candidate]) -> None:
        self._store = engine.store
        self._scope, self._days = engine.settings.scope, engine.settings.candidates_days
        self.records = engine.records()
        self.done = Gathered([], [], [])
        self._evidence = Evidence(engine, self.records, found, revive=False)
        self._found = [one for one in found if not self._is_in_history(one)]
        for one in self._found:
            one.id = own(one.id, self._scope)

    def _is_in_history(self, one: Candidate) -> bool:
        """Return True if all signals are from stored commits, which a search finds."""
        commits = [node for name in one.commits if (node := self._evidence.commits.get(name))]
        return (
            {signal.name for signal in one.signals} == {COMMITTED}
            and self._store.commits.is_there()
            and any(self._store.commits.get(node.id) for node in commits)
        )

    def write(self, events: list[dict[str, Any]]) -> None:
        """Keep new candidates; read decisions of other processes first."""
        candidates = self._store.candidates
        if self._days:
            undecided, oldest = candidates.all((OPEN, SKIPPED)), ago(self._days)
            candidates.remove(row.id for row in undecided if row.found_at < oldest)
        kept = {row.id: row for row in candidates.all()}
        known: Alike[KeptCandidate] = Alike(ALIKE)
        for held in kept.values():
            known.add(Candidate.from_row(held).words, held)
        for one in self._found:
            row = kept.get(one.id) or known.nearest(one.words)
            if row is None:
                self._keep(one)
            elif row.status in (OPEN, SKIPPED):
                self._add_to(row, one)
            elif row.status in (PROMOTED, KNOWN):
                self._add_evidence(str(row.promoted_as), one)
        failures = _failures(events)
        for row in kept.values():
            if row.status == PROMOTED and row.promoted_as:
                self._flag(row, failures)

    def _keep(self, one: Candidate) -> None:
        row = one.to_row()
        row.found_at = now()
        if itself := self._store.nodes.get(own(record_id(one.type, one.body), self._scope)):
            row.status, row.promoted_as, row.decided_at = KNOWN, itself.id, row.found_at
            self._add_evidence(itself.id, one)
        else:
            self.done.new.append(one.id)
        self._store.candidates.put([row])

    def _add_to(self, row: KeptCandidate, one: Candidate) -> None:
        both = Candidate.from_row(row)
        before = {*both.sessions}
        both.take(one)
        new = both.to_row()
        new.data = dumps({**loads(row.data), **both.evidence()})  # decisions stay for an undo
        new.found_at, new.status, new.decided_at = row.found_at, row.status, row.decided_at
        if row.status == SKIPPED and {*both.sessions} - before:
            new.status, new.decided_at = OPEN, None
        self._store.candidates.put([new])

    def _is_ours(self, id: str) -> bool:
        """Return True for a live record; under a scope, only for a record of the scope."""
        node = self._store.nodes.get(id)
        if node is None or node.invalidated_at is not None or node.status in HIDDEN_STATUSES:
            return False
        return not self._scope or plain(id) != id

    def _add_evidence(self, id: str, one: Candidate) -> None:
        if self._is_ours(id) and self._evidence.add(id, one):
            self.done.known.append(id)

    def _flag(self, row: KeptCandidate, failures: dict[str, list[dict[str, Any]]]) -> None:
        """Link sessions in which the error of a record returned after it was promoted."""
        one, id = Candidate.from_row(row), str(row.promoted_as)
        signatures = {error_signature(signal.quote) for signal in one.signals}
        known = [name for name in failures if name in signatures or name in one.body]
        for event in (event for name in known for event in failures[name]):
            is_later = event["t"] > (row.decided_at or "")
            if not is_later or event.get("session") in one.sessions or not self._is_ours(id):
                continue
            where = event.get("session", ""), event["t"], event.get("ref", "")
            signal = Signal(AGAIN, 0.0, event["err"][:LONGEST_QUOTE], *where)
            if self._evidence.contradict(id, signal) and id not in self.done.again:
                self.done.again.append(id)


def _failures(events: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the failed calls by the signature of their error."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if event["kind"] == "tool" and event.get("ok") is False:
            found.setdefault(error_signature(event.get("err", "")), []).append(event)
    return {signature: rows for signature, rows in found.items() if len(signature) >= _TELLING}


def beside(engine: Engine, candidate: Candidate) -> list[tuple[Node, float]]:
    """Return the records near a candidate with their cosines, the nearest first."""
    embedder, store = engine.embedder, engine.store
    with store.faults:
        if embedder is None or store.meta.get("embedder") != embedder.name:
            return []
        types = store.types.require((*LEARNING_TYPES, "note", "goal"))
        scope = Scope(types=types, hides=HIDDEN_STATUSES)
        vector = embedder.embed([f"{candidate.title} {candidate.body}"])[0]
        best: dict[str, float] = {}
        for _, id, cosine in store.vectors.search(vector, scope, CANDIDATES) if vector else ():
            best.setdefault(id, cosine)
        near = [(id, cosine) for id, cosine in best.items() if cosine >= NEAR][:_MOST_BESIDE]
        return [(store.nodes.require(id), cosine) for id, cosine in near]


def promote(engine: Engine, wanted: Sequence[Wanted], *, confirm: bool) -> list[Change]:
    """Make records of candidates, or merge them into records, in a transaction.

    ``confirm``: a person has confirmed them; otherwise new records are staged.

    Raises:
        LoreError: a candidate is unknown or already promoted.
    """
    candidates = [Candidate.from_row(require(engine, one.id)) for one in wanted]
    store, records = engine.store, engine.records()
    evidence = Evidence(engine, records, candidates, revive=True)

    def let_in(one: Wanted, candidate: Candidate) -> Change:
        row = require(engine, one.id)
        if one.into:
            into = store.nodes.require_live(store.resolve_id(one.into))
            change = Change(into.id, "updated", records.notes)
        else:
            change = records.add(
                one.type or candidate.type,
                one.body or candidate.body,
                title=one.title or ("" if one.body else candidate.title),
                status="confirmed" if confirm else None,
                source="conversation",
                confidence=1.0 if confirm else round(candidate.score, 4),
            )
        evidence.add(change.id, candidate)
        _anchor(engine, records, change.id, candidate.files)
        for run in (AgentSession(name, engine.root).run for name in candidate.sessions):
            if store.impressions.state(run) in ("open", "finished"):
                records.link(change.id, DERIVED_FROM, run, source="conversation")
        row.status, row.promoted_as, row.decided_at = PROMOTED, change.id, now()
        row.command = store.changes.command
        store.candidates.put([row])
        return change

    with records.writing("promote"):
        return [*map(let_in, wanted, candidates)]


def _anchor(engine: Engine, records: Records, id: str, files: Sequence[str]) -> None:
    """Anchor a record to the files that exist in the project."""
    project, kept = Project(engine.root), root_to_keep(engine.store, engine.root)
    for path in files[:_MOST_FILES]:
        with suppress(LoreError):
            place = relative(project.root, os.path.join(project.root, path), path)
            wanted = Anchor(id, "file", place, "", kept)
            place_anchor(engine.store, lambda nodes: [*map(records.write, nodes)], project, wanted)


def decide(engine: Engine, ids: Sequence[str], status: str) -> list[KeptCandidate]:
    """Refuse candidates forever, or skip them until a new session repeats them.

    Raise LoreError if a candidate is unknown or already promoted.
    """
    store = engine.store
    with store.transaction():
        rows = [require(engine, id) for id in ids]
        for row in rows:
            row.status, row.decided_at, row.command = status, now(), None
        store.candidates.put(rows)
    return rows


def require(engine: Engine, id: str) -> KeptCandidate:
    """Return a candidate that can be decided: open, skipped or refused.

    Raise LoreError if it is unknown or already promoted.
    """
    id = own(id, engine.settings.scope)
    with engine.store.faults:
        row = engine.store.candidates.get_many([id]).get(id)
    if row is None:
        raise LoreError(f"no candidate '{id}': see 'lore capture candidates'")
    if row.status not in (OPEN, SKIPPED, REFUSED):
        raise LoreError(f"'{id}' is {row.promoted_as} now: see 'lore show {row.promoted_as}'")
    return row


def listed(engine: Engine, *, everything: bool = False) -> list[dict[str, Any]]:
    """Return the open candidates, or all, as printed rows: the best first."""
    with engine.store.faults:
        return [*map(printed, engine.store.candidates.all(() if everything else (OPEN,)))]


def printed(row: KeptCandidate) -> dict[str, Any]:
    """Return a candidate as a printed row."""
    fields = {name: value for name, value in row.to_dict().items() if name not in _INTERNAL}
    return {**fields, **Candidate.from_row(row).evidence()}
