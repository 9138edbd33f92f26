"""Another store's anchors into this one: what ``merge`` does for nodes and edges.

An anchor is there if it was made after it was last taken away, by what either store has
kept of that. Of two the one that was made later stands, and else the later verdict: so what
was taken away in between has no say, whether that is heard of before the other one or after.
"""

from __future__ import annotations

from ..store.anchor import ANCHOR_HISTORY as _FIELDS
from .exchange import told_anchor, when_gone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from ..store.anchor import Anchor, AnchorKey

    State = tuple[str, ...]


class AnchorMerge:
    """Anchors and their history, gathered by node; ``finish`` writes them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._anchors: dict[str, list[Anchor]] = {}
        self._past: dict[str, set[State]] = {}
        self._purged = store.history.purged()

    def anchor(self, anchor: Anchor) -> None:
        """An anchor of the other store."""
        self._anchors.setdefault(anchor.node_id, []).append(anchor)

    def past(self, state: dict[str, str]) -> None:
        """A place or a verdict that one has left, with the fields of ``ANCHOR_HISTORY``."""
        self._past.setdefault(state["node_id"], set()).add(tuple(state.values()))

    def purge(self, node_id: str, at: str) -> None:
        """A node was deleted for good at this time."""
        self._purged[node_id] = max(at, self._purged.get(node_id, ""))
        self._past.setdefault(node_id, set())

    def finish(self) -> list[str]:
        """What has become of each anchor: ``added``, ``updated``, ``kept`` or ``unchanged``."""
        outcomes: list[str] = []
        for id in {**self._anchors, **self._past}:
            outcomes += self._merge(id)
        return outcomes

    def _merge(self, id: str) -> list[str]:
        gone = self._purged.get(id, "")
        rows = [*self._store.anchors.history(id)]
        ours = {anchor.key: anchor for anchor in self._store.anchors.of(id)}
        before = {key: anchor.copy() for key, anchor in ours.items()}
        here = when_gone(rows)
        for key, anchor in ours.items():
            told_anchor(anchor, here.get(key, ""))
        past_here = {tuple(row.values()) for row in rows}
        past = past_here | self._past.get(id, set())
        past = {state for state in past if _left_at(state) > gone}
        whole = dict(ours)
        for theirs in self._anchors.get(id, ()):
            mine = whole.get(theirs.key)
            whole[theirs.key] = theirs.copy() if mine is None else _joined(mine, theirs)
        taken = when_gone(dict(zip(_FIELDS, state, strict=True)) for state in past)
        whole = {key: anchor for key, anchor in whole.items()
                 if anchor.created_at > max(gone, taken.get(key, ""))}  # fmt: skip
        if whole != before or past != past_here:
            self._rewrite(id, whole, past)
        return [_outcome(before.get(theirs.key), whole.get(theirs.key), theirs)
                for theirs in self._anchors.get(id, ())]  # fmt: skip

    def _rewrite(self, id: str, anchors: dict[AnchorKey, Anchor], past: set[State]) -> None:
        """Writes the anchors of a node as they are to be, with no other history than this:
        what a store keeps by itself would name this moment."""
        self._store.anchors.delete_node(id)
        for state in sorted(past, key=lambda state: (_left_at(state), state)):
            self._store.anchors.add_history(dict(zip(_FIELDS, state, strict=True)), 1)
        for anchor in anchors.values():
            self._store.anchors.put(anchor)


def _joined(ours: Anchor, theirs: Anchor) -> Anchor:
    stands = (theirs if _judged(theirs) > _judged(ours) else ours).copy()
    stands.stamp = ours.stamp if (stands.hash, stands.root) == (ours.hash, ours.root) else ""
    return stands


def _judged(anchor: Anchor) -> State:
    return (anchor.created_at, anchor.verified_at, anchor.verdict, anchor.reason, anchor.hash,
            anchor.commit_id, anchor.root)  # fmt: skip


def _left_at(state: State) -> str:
    return state[_FIELDS.index("changed_at")]


def _outcome(before: Anchor | None, after: Anchor | None, theirs: Anchor) -> str:
    if after is None:
        return "kept"
    if before is None:
        return "added"
    if before == after:
        return "unchanged" if _judged(theirs) == _judged(before) else "kept"
    return "updated"
