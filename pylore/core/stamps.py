"""Records, links and anchors as stamped values: each field with the stamp of its last change.

A stamp is ``TIME MACHINE``: the time of a change, later than every change that the thing had seen
(a hybrid logical clock), and ten hexadecimal digits of the store that made it. Stamps are compared
as text. Fields that a thing has had from the beginning share one stamp, its ``base``; the base of
a thing that nobody has changed is not written down, because it follows from the fields
(``first_stamp``).

A join takes the later value of each field, so it does not depend on the order or the grouping of
the joined states, nor on how often it is done. A tag, and each entry of ``data``, is a field of
its own. See Shapiro et al., Conflict-free Replicated Data Types (2011), and Kulkarni et al.,
Logical Physical Clocks (2014).
"""

from __future__ import annotations

from copy import copy

from .ids import sha256
from .json import canonical, dumps, loads
from .model import Anchor, Edge, Node
from .times import later
from .vocabulary import CODE_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any, TypeVar

    Value = tuple[str, str]
    """(stamp, value as JSON; empty: the default of the field)"""

    Thing = Node | Edge | Anchor
    State = TypeVar("State", bound=Node | Edge | Anchor)

BASE = "*"
"""The name of all fields that are not named."""

PLACE = ("file", "line_start", "line_end")
TAG, DATA = "tags.", "data."

NOBODY = "f" * 10
"""The machine of a change that no machine made: it comes after all others."""

MACHINES = 16
"""Number of machines whose latest stamps a record is exported with: a store that is further behind
is taken to be old, and not to have changed on its own."""

_DIGITS = 10


class FieldsOf:
    """The fields of nodes, edges or anchors.

    Attributes:
        defaults: field to its default.
        end: the field that holds when the thing was ended.
        times: fields of which a change alone makes no other state.
        hashed: fields that a new thing's stamp is made from.
        local: fields of one machine alone, which no shared file has.
    """

    def __init__(
        self, defaults: dict[str, object], end: str, times: tuple[str, ...],
        hashed: tuple[str, ...], local: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.defaults = defaults
        self.end = end
        self.times = times
        self.hashed = hashed
        self.local = local
        self.anew = tuple(name for name in (end, "updated_at") if name in defaults)
        """Fields that each change states anew: an edit brings back a thing that was ended."""


NODE = FieldsOf(
    {"title": "", "body": "", "status": "confirmed", "source": "user_edit", "confidence": 1.0,
     "category": None, "invalidated_at": None, "created_at": "", "updated_at": ""},
    "invalidated_at", ("created_at", "updated_at"),
    ("title", "body", "status", "source", "confidence", "category", "tags", *PLACE, "data"),
)  # fmt: skip
EDGE = FieldsOf(
    {"weight": 1.0, "source": "user_edit", "status": "confirmed", "metadata": "{}",
     "ended_at": None, "created_at": ""},
    "ended_at", ("created_at",), ("weight", "source", "status", "metadata"),
)  # fmt: skip
ANCHOR = FieldsOf(
    {"root": "", "hash": "", "commit_id": "", "verdict": "valid", "reason": "", "gone_at": None,
     "created_at": "", "verified_at": ""},
    "gone_at", ("created_at", "verified_at"), ("root",),
    ("verdict", "reason", "verified_at", "commit_id"),
)  # fmt: skip
KINDS = {Node: NODE, Edge: EDGE, Anchor: ANCHOR}


class Stamped:
    """The values of a thing.

    ``base`` is the stamp of each field that ``fields`` lacks, which has its default then; a value
    that says just that is left out of ``fields``.
    """

    __slots__ = ("base", "fields", "kind")

    def __init__(self, base: str, fields: dict[str, Value], kind: FieldsOf = NODE) -> None:
        self.base = base
        self.fields = {name: one for name, one in fields.items() if one != (base, "")}
        self.kind = kind

    @classmethod
    def of(cls, row: Thing) -> Stamped:
        """Return the values of a row, with their stamps."""
        kind = KINDS[type(row)]
        stamps: dict[str, str] = loads(row.stamps) if row.stamps else {}
        base = stamps.pop(BASE, "") if stamps else first_stamp(row)
        last = max([base, *(one for name, one in stamps.items() if name not in kind.anew)])
        stamps = {**dict.fromkeys(kind.anew, last), **stamps}
        values = values_of(row)
        fields = {name: (stamps.get(name, base), value) for name, value in values.items()}
        fields |= {name: (one, "") for name, one in stamps.items() if name not in values}
        if not base:  # times that only fill their columns
            fields = {name: value for name, value in fields.items()
                      if value[0] or name not in kind.times}  # fmt: skip
        return cls(base, fields, kind)

    def at(self, name: str) -> Value:
        """Return the value of a field, and its stamp."""
        return self.fields.get(name, (self.base, ""))

    def _with(self, fields: dict[str, Value], base: str | None = None) -> Stamped:
        return Stamped(self.base if base is None else base, fields, self.kind)

    def joined(self, other: Stamped) -> Stamped:
        """Return the later value of each field."""
        names = {*self.fields, *other.fields}
        later_of = {name: max(self.at(name), other.at(name)) for name in names}
        return self._with(later_of, max(self.base, other.base))

    def with_values(self, values: Iterable[tuple[str, Value]]) -> Stamped:
        """Return these values joined with some of single fields."""
        fields = dict(self.fields)
        for name, value in values:
            fields[name] = max(value, fields.get(name, (self.base, "")))
        return self._with(fields)

    def seen_as(self, before: Stamped) -> Stamped:
        """Return these values, of a line without stamps, as changes of those before: a line with
        the time of the state before was edited by hand."""
        if self.base.partition(" ")[0] != before.base.partition(" ")[0]:
            return self
        fields = {name: (before.base if stamp == self.base else stamp, value)
                  for name, (stamp, value) in self.fields.items()}  # fmt: skip
        return self._with(fields, before.base)

    def edited(self, before: Stamped) -> dict[str, str]:
        """Return the values that differ under the same stamp, by field: no lore wrote them."""
        names = {*self.fields, *before.fields} - {*self.kind.times, *self.kind.local}
        pairs = ((name, self.at(name), before.at(name)) for name in names)
        return {name: one[1] for name, one, old in pairs if one[0] == old[0] and one != old}

    def having(self, values: dict[str, str]) -> Stamped:
        """Return these values with others in place of some, under the same stamps."""
        return self._with(
            {**self.fields, **{name: (self.at(name)[0], v) for name, v in values.items()}}
        )

    def left_for(self, other: Stamped) -> list[tuple[str, Value]]:
        """Return (field, value) of all that another state does not have any more; where it has
        another base, ``BASE`` stands for the fields that are not named."""
        found = [(name, self.at(name))
                 for name in {*self.fields, *other.fields}
                 if self.at(name)[0] and self.at(name) != other.at(name)]  # fmt: skip
        if self.base and self.base != other.base:
            found.append((BASE, (self.base, "")))
        return sorted(found)

    def after(self, purged: str) -> Stamped:
        """Return the values that were stated after a time."""
        if not purged or is_after(self.base, purged):
            return self
        kept = {name: one for name, one in self.fields.items() if is_after(one[0], purged)}
        return self._with(kept, "")

    def stamps(self) -> set[str]:
        """Return the stamps of all values."""
        return {self.base, *(stamp for stamp, _ in self.fields.values())} - {""}

    def last(self) -> str:
        """Return the time of the last change; empty if nothing is said."""
        return max(self.stamps(), default="").partition(" ")[0]

    def is_same(self, other: Stamped) -> bool:
        """Return True for two with the same values of the same changes."""
        return (self.base, self.fields) == (other.base, other.fields)

    def to_row(self, row: State) -> State:
        """Return a copy of a row that has these values, and their stamps."""
        row = copy(row)
        for name, default in self.kind.defaults.items():
            value = self.at(name)[1]
            if name == "metadata":
                setattr(row, name, value or default)
            else:
                setattr(row, name, loads(value) if value else default)
        if isinstance(row, Node):
            self._place(row)
        for name in self.kind.times:
            setattr(row, name, getattr(row, name) or self.last())
        self.mark(row)
        return row

    def _place(self, node: Node) -> None:
        """Give a node its place, tags and data."""
        place: Any = self.at("place")[1]
        node.file, node.line_start, node.line_end = loads(place) if place else (None, None, None)
        said = sorted((name, one[1]) for name, one in self.fields.items() if one[1])
        node.tags = tuple(name[len(TAG) :] for name, _ in said if name.startswith(TAG))
        data = {name[len(DATA) :]: loads(value) for name, value in said
                if name.startswith(DATA)}  # fmt: skip
        node.data = dumps(data) if data else "{}"

    def mark(self, row: Thing) -> None:
        """Give a row that has these values their stamps."""
        named = {name: one[0] for name, one in self.fields.items() if one[0] != self.base}
        anew = self.kind.anew
        last = max([self.base, *(one for name, one in named.items() if name not in anew)])
        for name in anew:
            named.pop(name, "")
            if self.at(name)[0] != last:
                named[name] = self.at(name)[0]
        is_new = not named and self.base == first_stamp(row)
        row.stamps = "" if is_new else dumps({BASE: self.base, **dict(sorted(named.items()))})

    def without(self, names: Collection[str]) -> Stamped:
        """Return the values of the other fields."""
        return self._with({n: one for n, one in self.fields.items() if n not in names})


def values_of(row: Thing) -> dict[str, str]:
    """Return the values of a row as JSON, without those that are the default of their field."""
    found = {name: getattr(row, name) for name, default in KINDS[type(row)].defaults.items()
             if getattr(row, name) != default}  # fmt: skip
    values = {name: canonical_object(value) if name == "metadata" else canonical(value)
              for name, value in found.items()}  # fmt: skip
    if isinstance(row, Node):
        place = [getattr(row, name) for name in PLACE]
        if place != [None, None, None]:
            values["place"] = canonical(place)
        values |= dict.fromkeys((TAG + tag for tag in row.tags), "true")
        if row.data != "{}":
            values |= {DATA + name: canonical(value) for name, value in loads(row.data).items()}
    return values


def local_fields(row: Thing) -> tuple[str, ...]:
    """Return the fields of one machine alone: of a file, its last fingerprint, too."""
    local = KINDS[type(row)].local
    return (*local, "hash") if isinstance(row, Anchor) and row.kind == "file" else local


def changed(before: Stamped, row: Thing, stamp: str) -> dict[str, Value]:
    """Give a row this stamp on all fields in which it differs from its values before.

    Return these values before by field; none where only times differ.
    """
    now = values_of(row)
    was = {name: before.at(name) for name in {*before.fields, *now}
           if before.at(name)[1] != now.get(name, "")}  # fmt: skip
    if not was.keys() - {*before.kind.times}:
        return {}
    if was.keys() - {*before.kind.times, *local_fields(row)}:
        was |= {name: before.at(name) for name in before.kind.anew}
    fields = {**before.fields, **{name: (stamp, now.get(name, "")) for name in was}}
    Stamped(before.base, fields, before.kind).mark(row)
    return was


# --- times and order


def clock(row: Thing) -> str:
    """Return the time of the last change of a row.

    >>> clock(Node("note-1", "note", updated_at="2026-01-31", invalidated_at="2026-02-01"))
    '2026-02-01'
    """
    return Stamped.of(row).last() if row.stamps else first_clock(row)


def first_clock(row: Thing) -> str:
    """Return the latest of the times of a row that nobody has changed."""
    made = row.updated_at if isinstance(row, Node) else row.created_at
    return max(made, getattr(row, KINDS[type(row)].end) or "")


def next_clock(before: str, at: str) -> str:
    """Return the time of a change that is made at ``at`` to a state of the time ``before``.

    >>> next_clock("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z")
    '2026-01-31T12:00:01Z'
    """
    return at if at > before else later(before)


def is_after(stamp: str, purged: str) -> bool:
    """Return True if a change was made after a time.

    >>> is_after("2026-01-31T12:00:00Z 7bcd922640", "2026-01-31T12:00:00Z")
    False
    """
    return stamp.partition(" ")[0] > purged


def first_stamp(row: Thing) -> str:
    """Return the stamp of a row that nobody has changed: its time, and the beginning of a hash of
    its fields.

    >>> first_stamp(Node("note-1", "note", body="a", updated_at="2026-01-31T12:00:00Z"))
    '2026-01-31T12:00:00Z 214600e710'
    """
    return f"{first_clock(row)} {_hash(row)[:_DIGITS]}"


def _hash(row: Thing) -> str:
    fields = [
        canonical_object(getattr(row, name)) if name in ("data", "metadata")
        else sorted(row.tags) if name == "tags" and isinstance(row, Node)
        else getattr(row, name)
        for name in KINDS[type(row)].hashed
    ]  # fmt: skip
    return sha256(dumps(fields).encode("utf-8", "replace")).hexdigest()


def canonical_object(text: str) -> str:
    """Return a JSON object in one form for all stores; a text that is none as it is."""
    if text == "{}":
        return text
    try:
        return canonical(loads(text))
    except ValueError:
        return text


def is_ended(row: Thing) -> bool:
    """Return True if somebody has ended or forgotten a thing."""
    return getattr(row, KINDS[type(row)].end) is not None


def same(one: Thing, other: Thing) -> bool:
    """Return True for two states that say the same, whenever they were made."""
    return is_ended(one) == is_ended(other) and _hash(one) == _hash(other)


def is_later(one: Thing, other: Thing) -> bool:
    """Return True if a row of the index of code is later than another one."""
    return (clock(one), _hash(one)) > (clock(other), _hash(other))


def is_indexed(row: Thing) -> bool:
    """Return True for a node that the index of code made: the repository has its history."""
    return isinstance(row, Node) and row.source == "file" and row.type in CODE_TYPES


def has_history(row: Thing) -> bool:
    """Return True if the values that a thing has left are kept: lore derives the others anew."""
    return not is_indexed(row) and not (isinstance(row, Edge) and row.source == "system")


def count_reads(row: Node | Edge, *others: Node | Edge) -> None:
    """Let a row have been read as often, and as lately, as the one of these that was most."""
    row.access_count = max(one.access_count for one in others)
    row.accessed_at = max(one.accessed_at or "" for one in others) or None


def forgotten(at: str) -> Stamped:
    """Return that a record was forgotten at a time, by nobody: each later change stands before it,
    and a purge of that time leaves nothing of it."""
    return Stamped("", {name: (f"{at} {NOBODY}", canonical(at)) for name in NODE.anew})


def is_forgotten_by_nobody(node: Node) -> bool:
    """Return True if a node is forgotten because a file proposed to purge it."""
    if node.invalidated_at is None or not node.stamps:
        return False
    return Stamped.of(node).at("invalidated_at")[0].endswith(NOBODY)


# --- which changes a record has seen


def latest(stamps: Iterable[str]) -> list[str]:
    """Return the last stamp of each machine, of the latest machines; the latest stamp last."""
    found: dict[str, str] = {}
    for stamp in sorted(stamps):
        found[stamp.partition(" ")[2]] = stamp
    return sorted(found.values())[-MACHINES:]


def has_seen(known: Collection[str], stamp: str) -> bool:
    """Return True if a side that has seen these changes has seen this one."""
    at, _, machine = stamp.partition(" ")
    for one in known:
        time, _, of = one.partition(" ")
        if of == machine and time >= at:
            return True
    return len(known) >= MACHINES and stamp < min(known)


def conflicts(
    ours: Stamped, seen_here: Collection[str], theirs: Stamped, seen_there: Collection[str]
) -> dict[str, str]:
    """Return the fields that were changed on both sides, and which side has the later value:
    ``ours`` or ``theirs``. ``seen_…`` are the stamps of all changes that each side has seen."""
    found = {}
    for name in {*ours.fields, *theirs.fields}:
        mine, other = ours.at(name), theirs.at(name)
        if mine[1] == other[1] or name in (*ours.kind.times, *ours.kind.local):
            continue
        if not (mine[0] and other[0]):
            continue  # one side does not say it
        if name == ours.kind.end and mine[1] and other[1]:
            continue  # ended on both sides
        if mine > other and not has_seen(seen_here, other[0]):
            found[name] = "ours"
        elif other > mine and not has_seen(seen_there, mine[0]):
            found[name] = "theirs"
    return found


# --- the states that a thing has been in


def states(now: Stamped, former: Iterable[tuple[str, Value]]) -> list[tuple[str, Stamped]]:
    """Return the states of a thing, each with the stamp of the change that made it.

    They follow from its values now and those that it has left (field, value); the last state is
    the one of now.
    """
    known: dict[str, set[Value]] = {name: {one} for name, one in now.fields.items()}
    for name, one in former:
        known.setdefault(name, set()).add(one)
    bases = sorted({now.base, *(stamp for stamp, _ in known.pop(BASE, ()))} - {""})
    found = []
    for stamp in sorted({*bases, *(one[0] for some in known.values() for one in some)}):
        base = max((one for one in bases if one <= stamp), default="")
        fields = {name: max([(base, ""), *(one for one in some if one[0] <= stamp)])
                  for name, some in known.items()}  # fmt: skip
        found.append((stamp, Stamped(base, fields, now.kind)))
    return found
