"""Merge records, links and anchors of a second store or a file into this store.

The latest value of each field wins, and earlier values become past; the latest declaration wins. A
purge deletes all earlier values. Rows that a store derives are not merged.
"""

from __future__ import annotations

from operator import attrgetter

from ..core.model import Anchor, Edge, Node
from ..core.stamps import (
    BASE,
    Stamped,
    clock,
    conflicts,
    count_reads,
    forgotten,
    has_history,
    is_after,
    is_later,
    latest,
    same,
)
from ..core.times import now
from ..store.changes import owners, thing_of
from .conflicts import Conflict, conflicts_of, fate_notes
from .undo import put, take_away

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..core.model import EdgeKey
    from ..core.stamps import Thing, Value
    from ..indexing.indexer import Index
    from ..store import Store

_CONTENT: dict[type, Callable[[Thing], object]] = {
    Node: attrgetter(*Node.FIELDS),
    Edge: attrgetter(*(name for name in Edge.FIELDS if name != "invalidated_at")),
    Anchor: attrgetter(*(name for name in Anchor.FIELDS if name != "stamp")),
}


def _is_equal(one: Thing, other: Thing) -> bool:
    content = _CONTENT[type(one)]
    return content(one) == content(other)


class Merge:
    """Merge one source; the caller holds a transaction, and all is written after ``finish``.

    ``index`` queues the nodes that come in. ``prefer`` (``ours`` or ``theirs``) decides conflicts:
    the values of that side get a new stamp, so they win everywhere. ``by_hand``: a person may have
    edited the lines, so a value that differs under the same stamp is an edit of now.

    Results: ``conflicts``; ``fates``, records by the keys of ``fate_notes``; ``brought``, added or
    changed links; ``new_nodes``; ``joined``, things that now differ from both sides.
    """

    def __init__(
        self, store: Store, index: Index, *, prefer: str = "", by_hand: bool = False
    ) -> None:
        self.conflicts: list[Conflict] = []
        self.fates: dict[str, list[str]] = {
            name: [] for name in ("back", "purged", "kept", "edited", "proposed")
        }
        self.brought: set[EdgeKey] = set()
        self.new_nodes: set[str] = set()
        self.joined: set[str] = set()
        self._store = store
        self._changes = store.changes
        self._index = index
        self._prefer = prefer
        self._by_hand = by_hand
        self._purged = self._changes.purged()
        self._purged_before = {*self._purged}
        self._gone = self._changes.deleted()
        self._seen: dict[str, set[str]] = {}
        """Changes that the other side has seen, by record."""
        self._passed: dict[str, set[str]] = {}
        """Earlier changes of a record that are new here: without the other side's past, only their
        last values are here."""
        self._past: dict[str, list[tuple[str, Value]]] = {}
        # of the things that are taken together:
        self._held: dict[str, Thing] = {}
        self._former: dict[str, list[tuple[str, Value]]] = {}
        self._known: dict[str, list[str]] = {}
        self._rows: list[Thing] = []
        self._made: list[Thing] = []
        self._changed: list[Node] = []
        self._edits: list[Thing] = []

    # --- records, links and anchors

    def take(self, told: Sequence[tuple[Thing, Sequence[str]]]) -> list[str]:
        """Merge things of the other side, each once, with stamps of the changes that they have
        seen.

        Return for each ``added``, ``updated``, ``kept`` (the stored state is later) or
        ``unchanged``.
        """
        rows = [row for row, _ in told]
        things = [*map(thing_of, rows)]
        nodes = self._store.nodes.get_many([row.id for row in rows if isinstance(row, Node)])
        edges = self._store.edges.get_many([row.key for row in rows if isinstance(row, Edge)])
        anchors = [self._store.anchors.get(row.key) for row in rows if isinstance(row, Anchor)]
        held: list[Thing] = [*nodes.values(), *edges.values(), *filter(None, anchors)]
        self._held = {thing_of(row): row for row in held}
        changed = [
            thing
            for thing, row in zip(things, rows, strict=True)
            if thing not in self._held or not _is_equal(self._held[thing], row)
        ]
        self._former = {thing: [] for thing in changed}
        for thing, field, value in self._changes.former(changed):
            self._former[thing].append((field, value))
        self._known = self._changes.seen(changed)
        states = [self._take(thing, *one) for thing, one in zip(things, told, strict=True)]
        self._write()
        return states

    def _take(self, thing: str, theirs: Thing, was: Sequence[str]) -> str:
        ours, gone = self._held.get(thing), self._gone_at(thing)
        if thing not in self._former:
            self._note_seen(thing, was, gone)
            return "unchanged"
        if clock(theirs) <= gone:
            return "kept"
        whole = Stamped.of(theirs).after(gone)
        mine = Stamped.of(ours) if ours is not None else None
        seen_here = mine.stamps() if mine is not None else set()
        if isinstance(theirs, Node):
            seen_here.update(value[0] for _, value in self._former[thing])
            seen_here.update(self._known.get(thing, ()), self._seen.get(thing, ()))
            stamps = whole.stamps()
            if earlier := stamps - {max(stamps)} - seen_here:
                self._passed[thing] = earlier
            self._note_seen(thing, was, gone)
        if ours is None or mine is None:
            return self._add(thing, theirs, whole, gone)
        return self._meet(ours, mine, seen_here, theirs, whole, {*was, *whole.stamps()})

    def _add(self, thing: str, theirs: Thing, whole: Stamped, gone: str) -> str:
        if thing in self._purged_before:
            self.fates["back"].append(thing)
        former = self._former[thing]
        if theirs.stamps or former or gone:
            both = whole.with_values(one for one in former if one[0] != BASE)
            theirs = both.to_row(theirs)
            self._changes.take_back(thing, both.fields.items())
            self._changes.leave(thing, whole.left_for(both), None)
        self._settle(theirs, None)
        if isinstance(theirs, Node):
            self.new_nodes.add(thing)
        self._made += [theirs] * has_history(theirs)
        return "added"

    def _meet(
        self,
        stored: Thing,
        ours: Stamped,
        seen_here: set[str],
        given: Thing,
        theirs: Stamped,
        seen_there: set[str],
    ) -> str:
        edited: dict[str, str] = {}
        if self._by_hand:
            theirs = theirs if given.stamps else theirs.seen_as(ours)
            edited = theirs.edited(ours)
            theirs = theirs.having({name: ours.at(name)[1] for name in edited})
        if not has_history(stored) and not has_history(given):
            both = theirs if is_later(given, stored) else ours
        else:
            both = ours.joined(theirs)
            if isinstance(stored, Node):
                both = self._decided(stored.id, both, ours, seen_here, theirs, seen_there)
            thing = thing_of(stored)
            self._changes.replace(thing, ours.left_for(both))
            self._changes.leave(thing, theirs.left_for(both), None)
        row = both.to_row(stored)
        if not isinstance(stored, Anchor):
            count_reads(row, stored, given)  # type: ignore[arg-type]
        self._settle(row, stored)
        if edited:
            self._edits.append(both.having(edited).to_row(row))
            return "updated"
        if both != ours and both != theirs:
            self.joined.add(thing_of(row))
        if same(stored, row):
            return "unchanged" if same(stored, given) else "kept"
        return "updated"

    def _decided(
        self,
        id: str,
        both: Stamped,
        ours: Stamped,
        seen_here: set[str],
        theirs: Stamped,
        seen_there: set[str],
    ) -> Stamped:
        """Return the joined values as the preferred side decides; note the fields in conflict."""
        found = conflicts(ours, seen_here, theirs, seen_there)
        turned = [name for name, stands in found.items() if self._prefer not in ("", stands)]
        if turned:
            stamp = self._changes.stamp(both.last())
            side = ours if self._prefer == "ours" else theirs
            values = {
                **{name: both.at(name)[1] for name in both.kind.anew},
                **{name: side.at(name)[1] for name in turned},
            }
            both = both.with_values((name, (stamp, value)) for name, value in values.items())
            found |= dict.fromkeys(turned, self._prefer)
        self.conflicts += conflicts_of(id, found)
        return both

    def _settle(self, row: Thing, stored: Thing | None) -> None:
        """Queue a row if the stored row differs."""
        if stored is not None and _is_equal(stored, row):
            return
        self._rows.append(row)
        if stored is None or not same(stored, row):
            if isinstance(row, Node):
                self._changed.append(row)
            elif isinstance(row, Edge):
                self.brought.add(row.key)

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        if self._made:
            self._changes.add(self._made)
        self._store.nodes.settle([row for row in rows if isinstance(row, Node)])
        self._store.edges.settle([row for row in rows if isinstance(row, Edge)])
        for row in rows:
            if isinstance(row, Anchor):
                self._store.anchors.settle(row)
        for row in self._edits:
            if isinstance(row, Node):
                row.updated_at = now()
                self._changed.append(row)
            put(self._store, row)
        for node in self._changed:
            self._index.add(node)
        self._changed, self._edits, self._made = [], [], []

    def _gone_at(self, thing: str) -> str:
        """Return when the last of the records that a thing hangs on was deleted for good."""
        return max(self._gone.get(id, "") for id in owners(thing))

    def _note_seen(self, thing: str, stamps: Sequence[str], gone: str) -> None:
        if stamps:
            self._seen.setdefault(thing, set()).update(s for s in stamps if is_after(s, gone))

    # --- the past

    def past(self, row: Thing, values: Iterable[tuple[str, Value]]) -> None:
        """Merge former values of the thing with the key of ``row``."""
        thing = thing_of(row)
        gone = self._gone_at(thing)
        self._past.setdefault(thing, []).extend(one for one in values if is_after(one[1][0], gone))

    def _take_past(self, thing: str, values: list[tuple[str, Value]]) -> None:
        """Store former values; of a thing that came after its past, some may be current."""
        ours = self._store.thing(thing)
        self._changes.drop_seen(thing, {value[0] for _, value in values})
        if ours is not None:
            mine = Stamped.of(ours)
            both = mine.with_values(one for one in values if one[0] != BASE)
            self._changes.replace(thing, mine.left_for(both))
            if both != mine:
                self._settle(both.to_row(ours), ours)
            values = [one for one in values if one[0] == BASE or one[1] != both.at(one[0])]
        self._changes.leave(thing, values, None)

    # --- declarations and purges

    def type(self, name: str, at: str, description: str) -> None:
        """Merge a type's declaration."""
        known = self._store.types.all().get(name)
        ours = self._store.types.declared().get(name, ("", ""))
        if known is None or (at, description) > ours:
            self._store.types.declare(name, description, at)

    def relation(self, name: str, at: str, declared: tuple[float, float, str]) -> None:
        """Merge a relation's declaration: time, (weight, backward weight, description)."""
        known = self._store.relations.all().get(name)
        ours = self._store.relations.declared().get(name, ("", declared))
        if known is None or (at, declared) > ours:
            self._store.relations.declare(name, *declared, at=at)

    def purge(self, id: str, at: str) -> None:
        """Delete all values of a record up to a time, for good."""
        if at <= self._purged.get(id, ""):
            return
        self._index.flush()
        self._purged[id] = at
        self._gone[id] = max(at, self._gone.get(id, ""))
        node = self._store.nodes.get(id)
        rows: list[Thing] = [node] if node is not None else []
        with self._store.whole(id):
            rows += [
                *self._store.edges.of(id, forgotten=True),
                *self._store.anchors.of(id, gone=True),
            ]
            self._store.edges.delete_node(id)
            self._store.anchors.delete_node(id)
            kept = [(row, rest) for row in rows if (rest := Stamped.of(row).after(at)).stamps()]
            if node is not None:
                lives = bool(kept) and kept[0][0] is node
                self.fates["kept" if lives else "purged"].append(id)
                if not lives:
                    take_away(self._store, node)
            self._changes.purge(id, at)
        self._seen[id] = {one for one in self._seen.get(id, ()) if is_after(one, at)}
        for row, rest in kept:
            self.joined.add(thing_of(row))
            self._settle(rest.to_row(row), None)
        self._write()

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
            both = ours.joined(forgotten(at))
            self._changes.replace(id, ours.left_for(both))
            self._settle(both.to_row(node), node)
            self._write()
            lives = not both.at("invalidated_at")[1]
            self.fates["edited" if lives else "proposed"].append(id)
        self._changes.propose_purge(id, at)

    def finish(self) -> None:
        """Write the past of all things, and the changes that were seen elsewhere.

        A purge may have come after them.
        """
        for thing, values in self._past.items():
            gone = self._gone_at(thing)
            self._take_past(thing, [one for one in values if is_after(one[1][0], gone)])
        self._write()
        self._index.flush()
        if self._past or self._seen:
            self._store.remotes.send_again(self._past.keys() | self._seen.keys())
        for thing, stamps in self._passed.items():
            known, gone = {one[1][0] for one in self._past.get(thing, ())}, self._gone_at(thing)
            passed = {stamp for stamp in stamps - known if is_after(stamp, gone)}
            self._changes.add_seen(thing, sorted(passed))
        for thing, stamps in self._seen.items():
            held = {value[0] for _, _, value in self._changes.former([thing])}
            held.update(self._changes.seen([thing]).get(thing, ()))
            node = self._store.nodes.get(thing)
            held |= Stamped.of(node).stamps() if node is not None else set()
            self._changes.add_seen(thing, sorted({*latest(stamps | held)} - held))

    def notes(self, forgotten: Sequence[str] = ()) -> list[str]:
        """Return notes on the fates, and on records that are ``forgotten`` although a line by hand
        has them."""
        return fate_notes({**self.fates, "forgotten": forgotten})
