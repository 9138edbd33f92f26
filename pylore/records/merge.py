"""Merge records, links and anchors of a second store or a file into this store; name conflicts.

The latest value of each field wins, and earlier values become past; the latest declaration wins. A
purge deletes all earlier values. Rows that a store derives are not merged.
"""

from __future__ import annotations

from ..core.json import canonical
from ..core.model import Anchor, Edge, Node, Row
from ..core.stamps import (
    BASE,
    Stamped,
    conflicts,
    content,
    count_reads,
    forgotten,
    has_history,
    is_after,
    is_later,
    local_fields,
)
from ..core.times import now
from ..store.changes import SEEN, owners, thing_of
from .undo import purge_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.model import EdgeKey
    from ..core.stamps import Thing, Value
    from ..indexing.indexer import Index
    from ..store import Store

    Side = tuple[Stamped, set[str]]
    """(values, stamps of all changes that were seen)"""


class Conflict(Row):
    """Fields of a record that were changed on both sides.

    ``stands`` is the side with the later values, ``ours`` or ``theirs``; the past has the earlier
    values. ``file`` is set if the other side is a document's file.
    """

    id: str
    stands: str
    file: str = ""
    fields: tuple[str, ...] = ()


class Merge:
    """Merge one source; the caller holds a transaction, and calls ``finish`` at the end.

    ``index`` queues the nodes that come in. ``prefer`` (``ours`` or ``theirs``) decides conflicts:
    the values of that side get a new stamp, so they win everywhere. ``by_hand``: a person may have
    edited the lines, so a value that differs under the same stamp is an edit of now.

    Results: ``conflicts``; ``outcomes``, (``purged``, ``kept``, …, id) of records that were purged
    or forgotten here or elsewhere; ``brought``, added or changed links; ``new_nodes``; ``joined``,
    things that now differ from both sides.
    """

    def __init__(self, store: Store, index: Index, prefer: str = "", by_hand: bool = False) -> None:
        self.conflicts: list[Conflict] = []
        self.outcomes: list[tuple[str, str]] = []
        self.brought: set[EdgeKey] = set()
        self.new_nodes: set[str] = set()
        self.joined: set[str] = set()
        self._store = store
        self._changes = store.changes
        self._index = index
        self._prefer = prefer
        self._by_hand = by_hand
        self._purged_before = self._changes.purged()
        self._gone = self._changes.deleted()
        # Things with changes that the hubs lack.
        self._again: set[str] = set()

    # --- records, links and anchors

    def take(self, given: Sequence[tuple[Thing, Sequence[str]]]) -> list[str]:
        """Merge things of the other side, each once, with stamps of the changes that they have
        seen. Return ``added``, ``updated``, ``kept`` (the stored state is later) or ``unchanged``
        of each.
        """
        rows = {thing_of(row): (row, {*was}) for row, was in given}
        held = self._store.held([row for row, _ in given])
        equal = {thing for thing, (row, _) in rows.items() if _is_equal(held.get(thing), row)}
        asked = [thing for thing, (_, was) in rows.items() if was or thing not in equal]
        seen = self._changes.seen(asked)
        states = {thing: "unchanged" if thing in equal else "kept" for thing in rows}
        joined: list[tuple[Thing, Thing | None]] = []
        for thing in asked:
            (row, was), gone, stored = rows[thing], self._gone_at(thing), held.get(thing)
            if stored is None and not (gone or was or row.stamps or thing in seen):
                states[thing] = "added"  # no values to join
                joined.append((row, None))
                continue
            theirs = Stamped.of(row).after(gone)
            ours = Stamped("", {}, theirs.kind) if stored is None else Stamped.of(stored)
            if stored is None and thing in seen:  # the past of a thing may arrive first
                former = [one[1:] for one in self._changes.former([thing]) if one[1] != BASE]
                ours = ours.with_values(former)
            here, there = seen.get(thing, set()) | ours.stamps(), theirs.stamps()
            if isinstance(row, Node):
                self._log(thing, was, there, here, gone)
            if thing not in equal and there:
                both, states[thing] = self._join(stored, row, (ours, here), (theirs, was | there))
                joined.append((both, stored))
        new = [row for row, stored in joined if stored is None]
        self.new_nodes.update(row.id for row in new if isinstance(row, Node))
        self._changes.add([*filter(has_history, new)])
        self._write(joined)
        return [*states.values()]

    def _log(self, thing: str, was: set[str], there: set[str], here: set[str], gone: str) -> None:
        """Log the changes of a record of which only later values have arrived."""
        passed = was.union(sorted(there)[:-1]) - here
        if new := sorted(stamp for stamp in passed if is_after(stamp, gone)):
            self._changes.log(thing, [(SEEN, (stamp, "")) for stamp in new], None)
            self._again |= {thing} if was.intersection(new) else set()

    def _join(self, stored: Thing | None, new: Thing, here: Side, there: Side) -> tuple[Thing, str]:
        """Join the values of both sides; return the row and the state."""
        thing, ours, theirs = thing_of(new), here[0], there[0]
        edited: dict[str, Value] = {}
        if self._by_hand and stored is not None:
            theirs = theirs if new.stamps else theirs.rebased_on(ours)
            edited = theirs.edited(ours.without(local_fields(stored)))
            theirs = theirs.replaced({name: ours.at(name) for name in edited})
        if stored is not None and not (has_history(stored) or has_history(new)):
            both = theirs if is_later(new, stored) else ours
            row = both.to_row(stored)
        else:
            both = ours.joined(theirs)
            if isinstance(stored, Node):
                both = self._decided(thing, both, here, (theirs, there[1]))
            self._changes.log(thing, theirs.lost_to(both), None)
            if edited:
                times = {"updated_at": canonical(now())} if isinstance(stored, Node) else {}
                both = self._stated(both, {name: one[1] for name, one in edited.items()} | times)
            row = self._changes.replace(stored or new, ours, both)
        if both not in (theirs, ours):
            self.joined.add(thing)
        if stored is None:
            if ours.fields:
                self._changes.delete_former(thing, both.fields.items())
            if thing in self._purged_before:
                self.outcomes.append(("back", thing))
            return row, "added"
        if not isinstance(row, Anchor):
            count_reads(row, stored, new)  # type: ignore[arg-type]
        if content(stored) != content(row):
            return row, "updated"
        return row, "unchanged" if content(stored) == content(new) else "kept"

    def _decided(self, id: str, both: Stamped, here: Side, there: Side) -> Stamped:
        """Return the joined values as the preferred side decides; note the fields in conflict."""
        found = conflicts(*here, *there)
        if turned := [name for name in found if self._prefer not in ("", found[name])]:
            side = here[0] if self._prefer == "ours" else there[0]
            both = self._stated(both, {name: side.at(name)[1] for name in turned})
            found |= dict.fromkeys(turned, self._prefer)
        for stands in sorted({*found.values()}):
            fields = sorted(name for name in found if found[name] == stands)
            self.conflicts.append(Conflict(id, stands, fields=(*fields,)))
        return both

    def _stated(self, state: Stamped, values: Mapping[str, str]) -> Stamped:
        """Return a state with these values as a change of now."""
        stamp = self._changes.stamp(state.last())
        values = {**{name: state.at(name)[1] for name in state.kind.reset}, **values}
        return state.with_values((name, (stamp, value)) for name, value in values.items())

    def _write(self, rows: Sequence[tuple[Thing, Thing | None]]) -> None:
        """Write and index the rows that differ from the stored row, second."""
        new = [(row, stored) for row, stored in rows if not _is_equal(stored, row)]
        self._store.settle([row for row, _ in new])
        for row, stored in new:
            if stored is None or content(stored) != content(row):
                if isinstance(row, Node):
                    self._index.add(row)
                elif isinstance(row, Edge):
                    self.brought.add(row.key)

    # --- seen changes and the past

    def _gone_at(self, thing: str) -> str:
        """Return when the last of the records that a thing hangs on was deleted for good."""
        return max(self._gone.get(id, "") for id in owners(thing))

    def past(self, row: Thing, values: Iterable[tuple[str, Value]]) -> None:
        """Merge former values of the thing with the key of ``row``; some may be current."""
        thing = thing_of(row)
        gone, stored = self._gone_at(thing), self._store.thing(thing)
        left = [one for one in values if is_after(one[1][0], gone)]
        self._changes.delete_former(thing, [(SEEN, (value[0], "")) for _, value in left])
        if stored is not None:
            ours = Stamped.of(stored)
            both = ours.with_values(one for one in left if one[0] != BASE)
            if both != ours:
                self._write([(self._changes.replace(stored, ours, both), stored)])
            left = [one for one in left if one[0] == BASE or one[1] != both.at(one[0])]
        self._changes.log(thing, left, None)
        self._again.add(thing)

    def finish(self) -> None:
        """Index new nodes; send things again that have newly known changes."""
        self._index.flush()
        if self._again:
            self._store.remotes.send_again(self._again)

    # --- purges

    def purge(self, id: str, at: str) -> None:
        """Delete all values of a record up to a time, for good."""
        if at <= self._changes.purged([id]).get(id, ""):
            return
        self._index.flush()
        self._gone[id] = max(at, self._gone.get(id, ""))
        was_here = self._store.nodes.get(id) is not None
        kept = purge_node(self._store, id, at)
        if was_here:
            lives = any(isinstance(row, Node) for row in kept)
            self.outcomes.append(("kept" if lives else "purged", id))
        self.joined.update(map(thing_of, kept))
        self._write([(row, None) for row in kept])

    def propose_purge(self, id: str, at: str) -> None:
        """Forget a record that a file, which anybody may write, says was deleted for good.

        A person here deletes or restores the record.
        """
        if at <= self._gone.get(id, ""):
            return
        self._gone[id] = at
        node = self._store.nodes.get(id)
        if node is not None and node.invalidated_at is None:
            ours = Stamped.of(node)
            row = self._changes.replace(node, ours, ours.joined(forgotten(at)))
            self._write([(row, node)])
            lives = row.invalidated_at is None
            self.outcomes.append(("edited" if lives else "proposed", id))
        self._changes.propose_purge(id, at)


def _is_equal(one: Thing | None, other: Thing) -> bool:
    # a store derives these fields of links and anchors
    derived = {} if isinstance(one, Node) else {"invalidated_at": None, "stamp": ""}
    return one is not None and one.to_dict() | derived == other.to_dict() | derived
