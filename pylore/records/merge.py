"""Merge the records, links and anchors of another store or a file into this store.

The latest value of each field wins, and the others become its past; of declarations the latest
wins. A purge deletes all values that are not later. Rows that a store derives are not merged.
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
from .undo import take_away

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..core.model import EdgeKey
    from ..core.stamps import Thing, Value
    from ..indexing.indexer import Waiting
    from ..store import Store

_BATCH = 500
"""Rows that are written together."""

_ROWS: dict[type, Callable[[Thing], object]] = {
    Node: attrgetter(*Node.FIELDS),
    Edge: attrgetter(*(name for name in Edge.FIELDS if name != "invalidated_at")),
    Anchor: attrgetter(*(name for name in Anchor.FIELDS if name != "stamp")),
}


class Merge:
    """One merge; the caller holds a transaction, and all is in the store after ``finish``.

    Args:
        waiting: indexes the nodes that come in.
        prefer: ``ours`` or ``theirs`` decides conflicts in place of the rule: that side's value is
            stated again with a new stamp, so it stands wherever it comes to.
        by_hand: a person may have edited the lines without a lore; a value that differs under the
            same stamp is an edit of now.

    Attributes:
        conflicts: the records that both sides had changed.
        purges: (id, True if it was edited after that) of what was deleted for good elsewhere.
        proposed: records that are forgotten because a file says that they were deleted for good.
        edited: records that a file says were deleted for good, and that were edited after that.
        back: records that were deleted for good here, and edited elsewhere after that.
        brought: links that were added or changed.
        new_nodes: records that were not here before.
        joined: things that are now neither as they were here nor as a line says.
    """

    def __init__(
        self, store: Store, waiting: Waiting, *, prefer: str = "", by_hand: bool = False
    ) -> None:
        self.conflicts: list[Conflict] = []
        self.purges: list[tuple[str, bool]] = []
        self.proposed: list[str] = []
        self.edited: list[str] = []
        self.back: list[str] = []
        self.brought: set[EdgeKey] = set()
        self.new_nodes: set[str] = set()
        self.joined: set[str] = set()
        self._store = store
        self._changes = store.changes
        self._waiting = waiting
        self._prefer = prefer
        self._by_hand = by_hand
        self._purged = self._changes.purged()
        self._purged_before = {*self._purged}
        self._gone = self._changes.deleted()
        self._ours: dict[str, Thing | None] = {}
        self._with_past: set[str] = set()
        self._written: dict[str, Thing] = {}
        self._changed: dict[str, Node] = {}
        self._made: list[Thing] = []
        self._seen: dict[str, set[str]] = {}
        self._passed: dict[str, set[str]] = {}
        self._past: dict[str, list[tuple[str, Value]]] = {}
        self._keys: dict[str, Thing] = {}

    # --- records, links and anchors

    def prefetch(self, rows: Sequence[Thing]) -> None:
        """Read the stored rows of things that ``take`` gets next."""
        self.write()
        nodes = self._store.nodes.get_many([row.id for row in rows if isinstance(row, Node)])
        edges = self._store.edges.get_many([row.key for row in rows if isinstance(row, Edge)])
        anchors = {row.key: self._store.anchors.get(row.key)
                   for row in rows if isinstance(row, Anchor)}  # fmt: skip
        self._ours = {thing_of(row): None for row in rows}
        for held in (nodes, edges, anchors):
            self._ours |= {thing_of(row): row for row in held.values() if row is not None}
        new = [thing for thing, row in self._ours.items() if row is None]
        self._with_past = {thing for thing, *_ in self._changes.former(new)} if new else set()

    def take(self, theirs: Thing, was: Sequence[str] = ()) -> str:
        """Take a thing as the other side has it; ``was`` has stamps of changes that it has seen.

        Return ``added``, ``updated``, ``kept`` (the stored state is later) or ``unchanged``.
        """
        thing = thing_of(theirs)
        gone = self._gone_at(thing)
        ours = self._our(theirs)
        row_of = _ROWS[type(theirs)]
        if ours is not None and row_of(ours) == row_of(theirs):
            self._note_seen(thing, was, gone)
            return "unchanged"
        if clock(theirs) <= gone:
            return "kept"
        whole = Stamped.of(theirs).after(gone)
        mine = Stamped.of(ours) if ours is not None else None
        seen_here = mine.stamps() if mine is not None else set()
        if isinstance(theirs, Node):
            if theirs.stamps or mine is not None:
                seen_here |= self._known(thing)
            if theirs.stamps:
                self._note_parents(thing, whole, seen_here)
            self._note_seen(thing, was, gone)
        if ours is None or mine is None:
            return self._add(thing, theirs, whole)
        return self._meet(ours, mine, seen_here, theirs, whole, {*was, *whole.stamps()})

    def _add(self, thing: str, theirs: Thing, whole: Stamped) -> str:
        if thing in self._purged_before:
            self.back.append(thing)
        former: list[tuple[str, Value]] = []
        if self._has_past(thing):
            former = [(field, value) for _, field, value in self._changes.former([thing])]
        if theirs.stamps or former or self._gone_at(thing):
            both = whole.with_values((name, one) for name, one in former if name != BASE)
            theirs = both.to_row(theirs)
            self._changes.take_back(thing, both.fields.items())
            self._changes.leave(thing, whole.left_for(both), None)
        self._settle(theirs, None)
        if isinstance(theirs, Node):
            self.new_nodes.add(thing)
        self._made += [theirs] * has_history(theirs)
        return "added"

    def _meet(
        self, stored: Thing, ours: Stamped, seen_here: set[str], given: Thing, theirs: Stamped,
        seen_there: set[str],
    ) -> str:  # fmt: skip
        edited: dict[str, str] = {}
        if self._by_hand:
            theirs = theirs if given.stamps else theirs.seen_as(ours)
            edited = theirs.edited(ours)
            theirs = theirs.having({name: ours.at(name)[1] for name in edited})
        if not has_history(stored) and not has_history(given):
            both = theirs if is_later(given, stored) else ours
        else:
            both = self._decided(stored, ours, seen_here, theirs, seen_there)
            thing = thing_of(stored)
            self._changes.replace(thing, ours.left_for(both))
            self._changes.leave(thing, theirs.left_for(both), None)
        row = both.to_row(stored)
        if not isinstance(stored, Anchor):
            count_reads(row, stored, given)  # type: ignore[arg-type]
        self._settle(row, stored)
        if edited:
            return self._edit(both.having(edited).to_row(row))
        if not both.is_same(ours) and not both.is_same(theirs):
            self.joined.add(thing_of(row))
        if same(stored, row):
            return "unchanged" if same(stored, given) else "kept"
        return "updated"

    def _decided(
        self, stored: Thing, ours: Stamped, seen_here: set[str], theirs: Stamped,
        seen_there: set[str],
    ) -> Stamped:  # fmt: skip
        """Return the values that stand; note the fields of a record that both sides changed."""
        both = ours.joined(theirs)
        found = conflicts(ours, seen_here, theirs, seen_there) if isinstance(stored, Node) else {}
        turned = [name for name, stands in found.items() if self._prefer not in ("", stands)]
        if turned:
            stamp = self._changes.stamp(both.last())
            side = ours if self._prefer == "ours" else theirs
            values = {**{name: both.at(name)[1] for name in both.kind.anew},
                      **{name: side.at(name)[1] for name in turned}}  # fmt: skip
            both = both.with_values((name, (stamp, value)) for name, value in values.items())
            found |= dict.fromkeys(turned, self._prefer)
        if isinstance(stored, Node):
            self.conflicts += conflicts_of(stored.id, ours, theirs, found)
        return both

    def _edit(self, row: Thing) -> str:
        """Write a thing that somebody has edited by hand as a change of this moment."""
        self.write()
        if isinstance(row, Node):
            row.updated_at = now()
            state = self._store.nodes.put(row)
            self._waiting.add(row)
            return state
        if isinstance(row, Edge):
            return self._store.edges.put(row)
        return self._store.anchors.put(row)

    def _settle(self, row: Thing, stored: Thing | None) -> None:
        """Have a row written where it differs from the one in the store."""
        thing = thing_of(row)
        if stored is not None and _ROWS[type(row)](stored) == _ROWS[type(row)](row):
            return
        self._written[thing] = row
        is_changed = stored is None or not same(stored, row)
        if isinstance(row, Node) and is_changed:
            self._changed[thing] = row
        elif isinstance(row, Edge) and is_changed:
            self.brought.add(row.key)
        if len(self._written) >= _BATCH:
            self.write()

    def _our(self, row: Thing) -> Thing | None:
        """Return a thing as it is here, or is going to be written."""
        thing = thing_of(row)
        if thing in self._written:
            return self._written[thing]
        if thing not in self._ours:
            self._ours[thing] = self._store.thing(thing)
        return self._ours[thing]

    def _gone_at(self, thing: str) -> str:
        """Return when the last of the records that a thing hangs on was deleted for good."""
        return max(self._gone.get(id, "") for id in owners(thing))

    def _has_past(self, thing: str) -> bool:
        if thing not in self._ours:
            return next(self._changes.former([thing]), None) is not None
        return thing in self._with_past

    # --- the past

    def past(self, thing: Thing, values: Iterable[tuple[str, Value]]) -> None:
        """Take values that a thing has left on the other side; of the row its key counts."""
        gone = self._gone_at(thing_of(thing))
        kept = [one for one in values if is_after(one[1][0], gone)]
        self._past.setdefault(thing_of(thing), []).extend(kept)
        self._keys[thing_of(thing)] = thing

    def _known(self, id: str) -> set[str]:
        """Return the stamps of the changes that a record has seen, here or in lines before."""
        return self._seen_here(id) | self._seen.get(id, set())

    def _seen_here(self, id: str) -> set[str]:
        stamps = {value[0] for _, _, value in self._changes.former([id])}
        return stamps.union(self._changes.seen([id]).get(id, ()))

    def _note_parents(self, thing: str, theirs: Stamped, seen_here: set[str]) -> None:
        """Note stamps of earlier changes that are new here.

        Other values of these changes are known only if the past is imported, too.
        """
        stamps = theirs.stamps()
        self._passed[thing] = stamps - {max(stamps)} - seen_here

    def _note_seen(self, thing: str, stamps: Sequence[str], gone: str) -> None:
        if stamps:
            self._seen.setdefault(thing, set()).update(s for s in stamps if is_after(s, gone))

    def _take_past(self, row: Thing, values: list[tuple[str, Value]]) -> None:
        """Keep the values that a thing has left elsewhere; of a thing that came after its past,
        one of them may stand."""
        thing, ours = thing_of(row), self._our(row)
        self._changes.drop_seen(thing, {value[0] for _, value in values})
        self._changes.leave(thing, [one for one in values if one[0] == BASE], None)
        values = [one for one in values if one[0] != BASE]
        if ours is None:
            self._changes.leave(thing, values, None)
            return
        mine = Stamped.of(ours)
        both = mine.with_values(values)
        if not both.is_same(mine):
            self._changes.replace(thing, mine.left_for(both))
            self._settle(both.to_row(ours), ours)
        self._changes.leave(thing, [one for one in values if one[1] != both.at(one[0])], None)

    # --- declarations and purges

    def type(self, name: str, at: str, description: str) -> None:
        """Take a type that was declared on the other side, and when."""
        known = self._store.types.all().get(name)
        ours = self._store.types.declared().get(name, ("", ""))
        if known is None or (at, description) > ours:
            self._store.types.declare(name, description, at)

    def relation(self, name: str, at: str, declared: tuple[float, float, str]) -> None:
        """Take a relation of the other side: when, (weight, backward weight, description)."""
        known = self._store.relations.all().get(name)
        ours = self._store.relations.declared().get(name, ("", declared))
        if known is None or (at, declared) > ours:
            self._store.relations.declare(name, *declared, at=at)

    def purge(self, id: str, at: str) -> None:
        """Delete all that was said of a record up to a time, for good."""
        if at <= self._purged.get(id, ""):
            return
        self.flush()
        self._purged[id] = at
        self._gone[id] = max(at, self._gone.get(id, ""))
        node = self._store.nodes.get(id)
        with self._store.whole(id):
            kept = _after(at, [*self._store.edges.of(id, forgotten=True),
                               *self._store.anchors.of(id, gone=True)])  # fmt: skip
            self._store.edges.delete_node(id)
            self._store.anchors.delete_node(id)
            if node is not None:
                rest = Stamped.of(node).after(at)
                self.purges.append((id, bool(rest.stamps())))
                if rest.stamps():
                    kept.append(rest.to_row(node))
                else:
                    take_away(self._store, node)
            self._changes.purge(id, at)
        self._ours.clear()
        self._seen[id] = {one for one in self._seen.get(id, ()) if is_after(one, at)}
        for row in kept:
            self.joined.add(thing_of(row))
            self._settle(row, None)
        self.flush()

    def propose_purge(self, id: str, at: str) -> None:
        """Forget a record that a file, which anybody may write, says was deleted for good.

        A person here deletes it for good, or brings it back.
        """
        if at <= self._gone.get(id, ""):
            return
        self.flush()
        self._gone[id] = at
        node = self._store.nodes.get(id)
        if node is not None and node.invalidated_at is None:
            ours = Stamped.of(node)
            both = ours.joined(forgotten(at))
            self._changes.replace(id, ours.left_for(both))
            self._settle(both.to_row(node), node)
            lives = not both.at("invalidated_at")[1]
            (self.edited if lives else self.proposed).append(id)
        self._changes.propose_purge(id, at)

    # --- writing

    def flush(self) -> None:
        """Write and index what was received so far."""
        self.write()
        self._waiting.flush()

    def write(self) -> None:
        """Write what was received so far; other changes of the store come after this."""
        if self._made:
            self._changes.add(self._made)
        rows = [*self._written.values()]
        self._store.nodes.settle([row for row in rows if isinstance(row, Node)])
        self._store.edges.settle([row for row in rows if isinstance(row, Edge)])
        for row in rows:
            if isinstance(row, Anchor):
                self._store.anchors.settle(row)
        for node in self._changed.values():
            self._waiting.add(node)
            self._store.edges.note_ends(node.id)
        self._written, self._ours, self._changed, self._made = {}, {}, {}, []

    def finish(self) -> None:
        """Write the rest, and the past of all things."""
        self.flush()
        for thing, values in self._past.items():
            self._take_past(self._keys[thing], values)
        self.flush()
        if self._past or self._seen:
            self._store.remotes.send_again(self._past.keys() | self._seen.keys())
        for thing, stamps in self._passed.items():
            known = {value[0] for _, value in self._past.get(thing, ())}
            self._changes.add_seen(thing, sorted(stamps - known))
        for thing, stamps in self._seen.items():
            held = self._seen_here(thing)
            node = self._store.nodes.get(thing)
            held |= Stamped.of(node).stamps() if node is not None else set()
            self._changes.add_seen(thing, sorted({*latest(stamps | held)} - held))

    def notes(self, forgotten: Sequence[str] = ()) -> list[str]:
        """Return notes on the records that the merge purged, forgot or brought back, and on those
        that are ``forgotten`` although a line by hand has them."""
        kept = [id for id, lives in self.purges if lives]
        purged = [id for id, lives in self.purges if not lives]
        return fate_notes({
            "back": self.back, "purged": purged, "kept": kept, "edited": self.edited,
            "proposed": self.proposed, "forgotten": forgotten,
        })  # fmt: skip


def _after(at: str, rows: Iterable[Edge | Anchor]) -> list[Thing]:
    """Return the rows with what was said of them after a time; those without are left out."""
    kept = [(row, Stamped.of(row).after(at)) for row in rows]
    return [values.to_row(row) for row, values in kept if values.stamps()]
