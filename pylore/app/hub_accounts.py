"""Accounts of how states were left that a pull makes by itself, and that others lack.

A state in the history says when and how it was left, and of two accounts of one state the lesser
one counts everywhere. Whoever merges a later state into a store gives an account of the one that
it leaves, which need not be that of whoever wrote the later one: there may have been one between.
Such an account is told, so that all stores end with the same one.
"""

from __future__ import annotations

import json

from ..formats.lines_out import line_of, past_edge_fields, past_fields
from ..formats.part_of_store import PartOfStore
from ..records.exchange import told_past, told_past_edges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ..store import Store
    from ..store.protocols import EdgeKey

_AT_ONCE = 1000

Accounts = dict[str, set[str]]
"""Of an id the lines of its past."""


class AccountsMade:
    """What the store tells of the past of what ``lines`` are about, before they are merged."""

    def __init__(self, store: Store, lines: Iterable[str]) -> None:
        self._store = store
        self._lines = frozenset(lines)
        named = [json.loads(line) for line in self._lines]
        ids = [fields["id"] for fields in named if isinstance(fields.get("id"), str)]
        self._ids = [*store.nodes.get_many(ids)]
        keys = {(fields["from_id"], fields["to_id"], fields["relation"])
                for fields in named if "from_id" in fields}  # fmt: skip
        self._keys = [key for key in sorted(keys) if store.edges.get(*key)]
        self._of_nodes = self._node_accounts()
        self._of_edges = self._edge_accounts()

    def nodes(self) -> list[str]:
        """The records that have accounts now which neither were there nor came with the lines."""
        now = self._node_accounts()
        return [id for id in self._ids if self._has_more(now.get(id), self._of_nodes.get(id))]

    def edges(self) -> list[EdgeKey]:
        """The same of links."""
        now = self._edge_accounts()
        return [key for key in self._keys if self._has_more(now[key], self._of_edges[key])]

    def _has_more(self, now: Collection[str] | None, before: Collection[str] | None) -> bool:
        return any(line not in (before or ()) and line not in self._lines for line in now or ())

    def _node_accounts(self) -> Accounts:
        found: Accounts = {}
        for start in range(0, len(self._ids), _AT_ONCE):
            part = PartOfStore(self._store, self._ids[start : start + _AT_ONCE])
            for past in told_past(part):  # type: ignore[arg-type]
                found.setdefault(past.node.id, set()).add(line_of(past_fields(past)).rstrip("\n"))
        return found

    def _edge_accounts(self) -> dict[EdgeKey, set[str]]:
        found: dict[EdgeKey, set[str]] = {key: set() for key in self._keys}
        for state in told_past_edges(_SomeEdges(self._store, self._keys)):  # type: ignore[arg-type]
            key = (str(state["from_id"]), str(state["to_id"]), str(state["relation"]))
            found[key].add(line_of(past_edge_fields(state)).rstrip("\n"))
        return found


class _SomeEdges:
    """What ``told_past_edges`` reads of a store, of some edges."""

    def __init__(self, store: Store, keys: Iterable[EdgeKey]) -> None:
        self.history = store.history
        self.edges = _PastOf(store, keys)


class _PastOf:
    def __init__(self, store: Store, keys: Iterable[EdgeKey]) -> None:
        self._store = store
        self._keys = keys

    def history(self) -> Iterator[dict[str, object]]:
        for key in self._keys:
            yield from self._store.edges.history(key)
