"""What a record was learned from: edges to sessions and commits, with quotes that stay.

Events go after some days. What was quoted of them lies in the metadata of these edges, so it
travels in exports and merges as edges do, one edge for each session.
"""

from __future__ import annotations

import os

from ..anchors.attach import place_anchor
from ..anchors.project import Project
from ..anchors.project_paths import relative, root_to_keep
from ..core.digests import sha256
from ..core.errors import LoreError
from ..core.ids import check_id, record_id
from ..core.json_plain import dumps, loads
from ..core.model import Edge
from ..core.times import now
from ..core.vocabulary import (
    CONTRADICTS,
    DERIVED_FROM,
    LEARNED_FROM,
    SESSION_IDS,
)
from ..store.anchor import Anchor
from ..system.git import Git, is_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..core.model import Node
    from ..records.records import Records
    from ..telemetry.candidates import Candidate, Signal
    from .engine import Engine

EVIDENCE = "evidence"
"""The field of an edge's metadata that has the quotes."""

MOST_QUOTES = 5
"""Of one session about one record: the first ones stay."""

MOST_FILES = 10
"""That a record is anchored to."""

_DIGITS = 16
_LONGEST_SESSION = 200


def quoted(signal: Signal) -> dict[str, str]:
    """What stays of a signal: its quote, where that stood, and a hash to tell if it was changed."""
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
        """Whether a link is to be made, or to stand again."""
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
        from ..core.scopes import own

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
    """The id of a session's node.

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
    """The quotes that the metadata of an edge have."""
    found = loads(metadata).get(EVIDENCE) if EVIDENCE in metadata else None
    rows = found if isinstance(found, list) else []
    return [row for row in rows if isinstance(row, dict)]


def commits_of(root: str, candidates: Iterable[Candidate]) -> dict[str, Node]:
    """The commits that candidates name, as far as the project's repository has them."""
    git = Git(root)
    found = {}
    for name in dict.fromkeys(hash for one in candidates for hash in one.commits):
        words = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        whole = git.ask(*words) if is_commit(name) else None
        if whole:
            found[name] = git.commit(whole)
    return found
