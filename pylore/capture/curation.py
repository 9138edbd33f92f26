"""Candidates: listing them, their evidence, and how many become records."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence

from ..anchors.attach import place_anchor
from ..anchors.project import Project, relative, root_to_keep
from ..core.errors import LoreError
from ..core.ids import check_id, own, plain, record_id, sha256
from ..core.json import dumps, loads
from ..core.model import Anchor, Edge, Record
from ..core.times import ago, now
from ..core.vocabulary import CONTRADICTS, DERIVED_FROM, HIDDEN_STATUSES, LEARNED_FROM, SESSION_IDS
from ..records.records import NEAR_PASSAGES, Records
from ..store.curation import KNOWN, OPEN, PROMOTED, SKIPPED, KeptCandidate
from ..store.filter import Scope
from ..system.git import Git, is_commit
from .candidates import LONGEST_QUOTE, Candidate, Signal, Told, take
from .capture import project_events
from .extraction import error_signature, find_candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..app.engine import Engine
    from ..core.model import Node


EVIDENCE = "evidence"
"""The field of an edge's metadata that has the quotes."""

MOST_QUOTES = 5
"""Of one session about one record: the first ones stay."""

MOST_FILES = 10
"""That a record is anchored to."""

_DIGITS = 16
_LONGEST_SESSION = 200


def quoted(signal: Signal) -> dict[str, str]:
    """Return what stays of a signal: its quote, where that stood, and a hash to tell if it was
    changed.
    """
    return {
        "quote": signal.quote, "hash": sha256(signal.quote.encode()).hexdigest()[:_DIGITS],
        "ref": signal.ref, "t": signal.t, "signal": signal.name,
    }  # fmt: skip


class Evidence:
    """Writes what speaks for records. Every method is called within ``Records.together``.

    ``revive``: links that somebody has taken away stand again.
    """

    def __init__(
        self,
        engine: Engine,
        records: Records,
        commits: Mapping[str, Node],
        *,
        revive: bool = False,
    ) -> None:
        self._engine = engine
        self._store = engine.store
        self._records = records
        self._commits = commits
        self._revive = revive

    def add(self, id: str, candidate: Candidate) -> bool:
        """Links a record to the sessions and commits that a candidate was found in.

        Whether that says more than was known.
        """
        relation = LEARNED_FROM if id.startswith("lesson-") else DERIVED_FROM
        more = False
        for name, signals in by_session(candidate.signals).items():
            more |= self._say(id, relation, self._session(name, signals), signals)
        for hash in candidate.commits:
            node = self._commits.get(hash)
            if node is not None:
                to = self._commit(node)
                if self._may_come(self._store.edges.get(id, to, DERIVED_FROM)):
                    self._records.link(id, DERIVED_FROM, to, source="conversation")
                    more = True
        return more

    def _may_come(self, old: Edge | None) -> bool:
        """Return whether a link is to be made, or to stand again."""
        return old is None or (old.invalidated_at is not None and self._revive)

    def anchor(self, id: str, files: Sequence[str]) -> list[str]:
        """Ties a record to those of the files that are there; a note on the others."""
        missing = []
        project = Project(self._engine.root)
        kept = root_to_keep(self._store, self._engine.root)
        for path in files[:MOST_FILES]:
            try:
                place = relative(project.root, os.path.join(project.root, path), path)
                place_anchor(self._store, self._records.embedded, project,
                             Anchor(id, "file", place, "", kept))  # fmt: skip
            except LoreError:
                missing.append(path)
        return [f"{id}: not tied to {', '.join(missing)}: not there"] if missing else []

    def use_in(self, id: str, run: str) -> None:
        """Links a record to the run in which it was learned: nobody has rated it there."""
        found = self._store.nodes.get(run)
        if found is None or found.type != "run" or found.invalidated_at is not None:
            return
        if self._store.edges.get(id, run, "used_in_run") is None:
            edge = Edge(id, run, "used_in_run", 0.0, "system", created_at=now())
            edge.metadata = dumps({"rating": None, "learned": True})
            self._store.edges.put(edge)

    def contradict(self, id: str, signal: Signal) -> bool:
        """Links the session of a signal to a record that it speaks against; whether that is new."""
        return self._say(self._session(signal.session, [signal]), CONTRADICTS, id, [signal])

    def _say(self, from_id: str, relation: str, to_id: str, signals: Iterable[Signal]) -> bool:
        """Writes quotes into a link, the first ones that there is room for."""
        old = self._store.edges.get(from_id, to_id, relation)
        kept = said = evidence_of(old.metadata) if old else []
        for one in signals:
            if len(kept) < MOST_QUOTES and one.quote not in [row.get("quote") for row in kept]:
                kept = [*kept, quoted(one)]
        taken_away = old is not None and old.invalidated_at is not None
        if not self._may_come(old) and (kept == said or taken_away):
            return False
        self._records.link(from_id, relation, to_id, source="conversation",
                           metadata={EVIDENCE: kept})  # fmt: skip
        return True

    def _session(self, name: str, signals: Sequence[Signal]) -> str:
        id = session_id(name)
        day = min((one.t for one in signals if one.t), default="")[:10]
        return self._there(id, "session", f"{name[:_LONGEST_SESSION]} {day}".strip())

    def _commit(self, node: Node) -> str:
        return self._there(node.id, "commit", node.body or node.title, node.title)

    def _there(self, id: str, type: str, text: str, title: str = "") -> str:
        found = self._store.nodes.get(own(id, self._store.scope)) or self._store.nodes.get(id)
        if found is not None and found.invalidated_at is None:
            return found.id
        return self._records.add(type, text, title=title, id=id, source="system").id


def by_session(signals: Iterable[Signal]) -> dict[str, list[Signal]]:
    """Signals by the session they are from, the strongest first; without one they are nothing."""
    found: dict[str, list[Signal]] = {}
    for one in sorted(signals, key=lambda one: (-one.weight, one.t, one.quote)):
        if one.session:
            found.setdefault(one.session, []).append(one)
    return found


def session_id(name: str) -> str:
    """Return the id of a session's node.

    >>> session_id("0b2e"), session_id("a\\nb")
    ('session-0b2e', 'session-05e1e162')
    """
    try:
        if "@@" not in name:
            return check_id(SESSION_IDS + name)
    except LoreError:
        pass
    return record_id("session", name)


def evidence_of(metadata: str) -> list[dict[str, Any]]:
    """Return the quotes that the metadata of an edge have."""
    found = loads(metadata).get(EVIDENCE) if EVIDENCE in metadata else None
    rows = found if isinstance(found, list) else []
    return [row for row in rows if isinstance(row, dict)]


def commits_of(root: str, candidates: Iterable[Candidate]) -> dict[str, Node]:
    """Return the commits that candidates name, as far as the project's repository has them."""
    git = Git(root)
    found = {}
    for name in dict.fromkeys(hash for one in candidates for hash in one.commits):
        words = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        whole = git.ask(*words) if is_commit(name) else None
        if whole:
            found[name] = git.commit(whole)
    return found


KNOWLEDGE = ("decision", "failure", "goal", "lesson", "note", "observation", "pattern")
"""Types of records that may say what a candidate says."""

SAME = 0.9
"""The cosine from which on a record says what a candidate says."""

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
    ``again``: records whose error came up once more after they were learned.
    """

    __slots__ = ("again", "known", "more", "new")

    def __init__(self) -> None:
        self.new: list[str] = []
        self.more: list[str] = []
        self.known: list[str] = []
        self.again: list[str] = []


def gather(engine: Engine, project: str, since: str = "") -> Gathered:
    """Looks through the events of a project's sessions, and keeps what may be worth knowing.

    Args:
        project: its folder.
        since: only what happened at this time or later.
    """
    events = [*project_events(project, since)]
    found = find_candidates(events)
    with engine.store.faults:
        return _Gathering(engine, events, found).run()


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
        self._records = engine.records()
        self._commits = commits_of(engine.root, found)
        self._found = [one for one in found if not self._is_in_history(one)]
        self._same: dict[str, str] = {}

    def _is_in_history(self, one: Candidate) -> bool:
        """Return whether commits alone say it, of which a search has the messages."""
        commits = [self._commits[name].id for name in one.commits if name in self._commits]
        if not commits or not one.is_of_commits or not self._store.commits.is_there():
            return False
        return any(map(self._store.commits.get, commits))

    def run(self) -> Gathered:
        kept = self._store.candidates.all()
        known = {row.id: row for row in kept}
        self._same = self._near([one for one in self._found if one.id not in known])
        if not self._found and not any(one.status == PROMOTED for one in kept):
            return Gathered()
        return self._records.together(self._write, "candidates")

    def _write(self) -> Gathered:
        """Within the transaction: what others have decided meanwhile counts."""
        done = Gathered()
        rows = self._store.candidates.all()
        kept = {row.id: row for row in rows}
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
        self._store.candidates.put([row])

    def _add_to(self, row: KeptCandidate, one: Candidate, done: Gathered) -> None:
        """More of what is known of it; what was skipped is open again if a new session says it."""
        before = candidate_of(row)
        both = joined(before, one)
        new = row_of(both)
        new.data = json.dumps({**json.loads(row.data), **json.loads(new.data)}, ensure_ascii=False)
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
        """Return the record that it would be, where that is there or was forgotten."""
        node = self._store.nodes.get(own(record_id(one.type, one.body), self._scope))
        return node.id if node is not None else ""

    def _near(self, new: Sequence[Candidate]) -> dict[str, str]:
        """Return those of which a record has nearly the same meaning, with its id."""
        embedder = self._engine.embedder
        if not new or embedder is None or self._store.meta.get("embedder") != embedder.name:
            return {}
        vectors = embedder.embed([f"{one.title} {one.body}" for one in new])
        scope = Scope(types=self._store.types.require(KNOWLEDGE))
        found = {}
        for one, vector in zip(new, vectors, strict=True):
            near = self._store.vectors.search(vector, scope, NEAR_PASSAGES) if vector else []
            if near and near[0][2] >= SAME:
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
        """Return whether it is about an error of this signature."""
        if len(signature) < _TELLING:
            return False
        return signature in self._signatures or signature in self._body

    def came_before(self, event: Mapping[str, Any]) -> bool:
        """Return whether something happened afterwards, in a session that it was not learned
        from."""
        session = event.get("session")
        return bool(session) and session not in self._sessions and event["t"] > self._decided_at


def _failure(event: Mapping[str, Any]) -> str:
    """Return the signature of the error of a call that failed; nothing where it is none."""
    if event.get("kind") != "tool" or event.get("ok") is not False:
        return ""
    return error_signature(str(event.get("err") or ""))


def joined(kept: Candidate, found: Candidate) -> Candidate:
    """Return a candidate with what speaks for another that says the same; its text stays."""
    both = Candidate(
        kept.type, kept.title, kept.body, kept.signals, kept.files, kept.commits, kept.id
    )
    take(both, found)
    both.signals = sorted(both.signals, key=lambda one: -one.weight)[:_SIGNALS]
    return both


def row_of(one: Candidate) -> KeptCandidate:
    """Return a candidate as a store keeps it: open, and found now."""
    row = one.to_row()
    data = {name: row[name] for name in ("files", "sessions", "commits", "signals")}
    first, last = row["first"][:_TIME], row["last"][:_TIME]
    return KeptCandidate(one.id, one.type, one.title, one.body, row["score"], first, last,
                         data=json.dumps(data, ensure_ascii=False))  # fmt: skip


def candidate_of(row: KeptCandidate) -> Candidate:
    """Return a kept candidate as it was found; what has another form in its data is left out."""
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
        for name in Signal._fields
    )


def told(row: KeptCandidate) -> dict[str, Any]:
    """Return a candidate as it is printed."""
    fields = {**row.to_dict(), **candidate_of(row).to_row()}
    del fields["data"], fields["command"], fields["first_at"], fields["last_at"]
    return fields


def listed(engine: Engine, *, everything: bool = False) -> list[dict[str, Any]]:
    """Return the open candidates, the best first; with ``everything`` those of all statuses."""
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
