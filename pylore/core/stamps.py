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

from bisect import bisect_right

from .ids import sha256
from .json import canonical, dumps, loads
from .model import Anchor, Edge, Node, Record
from .vocabulary import CODE_TYPES, SOURCES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import TypeVar

    Value = tuple[str, str]
    """(stamp, value as JSON; empty: the default of the field)"""

    Thing = Node | Edge | Anchor
    State = TypeVar("State", bound=Node | Edge | Anchor)

BASE = "*"
"""The name of all fields that are not named."""

PLACE = ("file", "line_start", "line_end")
TAG, DATA = "tags.", "data."

NOBODY = "f" * 10
"""The machine of changes that a purge proposes; it sorts after all machines."""


class FieldsOf:
    """The stamped fields of nodes, edges or anchors.

    Attributes:
        defaults: field to its default.
        end: the field that holds when the thing was ended.
        times: fields of which a change alone makes no other state.
        reset: fields that each change sets again: an edit revives an ended thing.
        hashed: fields that a new thing's stamp is made from.
        local: fields of one machine alone, which no shared file has.
    """

    def __init__(self, kind: type, fields: str, *, end: str, hashed: str, local: str = "") -> None:
        self.defaults: dict[str, object] = {name: getattr(kind, name) for name in fields.split()}
        self.end = end
        self.times = [name for name in self.defaults if name.endswith("_at") and name != end]
        self.reset = [name for name in (end, "updated_at") if name in self.defaults]
        self.hashed, self.local = hashed.split(), local.split()


NODE = FieldsOf(
    Node,
    "title body status source confidence category invalidated_at created_at updated_at",
    end="invalidated_at",
    hashed="title body status source confidence category tags file line_start line_end data",
)
EDGE = FieldsOf(
    Edge,
    "weight source status metadata ended_at created_at",
    end="ended_at",
    hashed="weight source status metadata",
)
ANCHOR = FieldsOf(
    Anchor,
    "root hash commit_id verdict reason gone_at created_at verified_at",
    end="gone_at",
    hashed="root",
    local="verdict reason verified_at commit_id",
)
KINDS: dict[type, FieldsOf] = {Node: NODE, Edge: EDGE, Anchor: ANCHOR}

# --- fields on the lines of an export, which ``formats.lines`` reads

TIME = (
    r"(?!9999)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?Z?)?"
)
STAMP = f"{TIME} [0-9a-f]{{10}}"
LARGEST = (1 << 53) - 1
"""Largest whole number that each reader of JSON keeps."""
DAYS_AHEAD = 1
"""Days by which a time of other machines may be ahead of this machine's clock."""
_FIELDS = {
    "text": "title body category file root hash commit_id reason",
    "moment": "created_at updated_at accessed_at invalidated_at verified_at gone_at",
    "fraction": "confidence weight",
    "line": "line_start line_end",
    "object": "data metadata",
    "count": "access_count",
}
RULES = {name: rule for rule, names in _FIELDS.items() for name in names.split()}
RULES |= {name: name for name in ("status", "source", "verdict", "tags", "stamps")}
"""The rule of each field of records, links and anchors."""
CHOICES = {
    "status": STATUSES,
    "source": SOURCES,
    "kind": ("file", "glob", "hash", "symbol", "lines", "rule"),
    "verdict": ("valid", "drifted", "relocated", "violated", "invalid"),
}
"""Rules that are a choice of words."""

# --- values


class Stamped(Record):
    """The values of a thing. Fields that ``fields`` lacks have their default, and the stamp
    ``base``."""

    FIELDS = ("base", "fields")

    def __init__(self, base: str, fields: dict[str, Value], kind: FieldsOf = NODE) -> None:
        self.base = base
        self.fields = {name: one for name, one in fields.items() if one != (base, "")}
        self.kind = kind

    @classmethod
    def of(cls, row: Thing) -> Stamped:
        """Return the values of a row, with their stamps."""
        kind = KINDS[type(row)]
        stamps: dict[str, str] = loads(row.stamps or "{}") or {BASE: first_stamp(row)}
        base = stamps.pop(BASE, "")
        last = max([base, *(one for name, one in stamps.items() if name not in kind.reset)])
        stamps = {**dict.fromkeys(kind.reset, last), **stamps}
        values = values_of(row)
        names = stamps.keys() | values
        fields = {name: (stamps.get(name, base), values.get(name, "")) for name in names}
        filled = () if base else kind.times  # without a stamp they only fill their columns
        fields = {name: one for name, one in fields.items() if one[0] or name not in filled}
        return cls(base, fields, kind)

    def at(self, name: str) -> Value:
        """Return stamp and value of a field."""
        return self.fields.get(name, (self.base, ""))

    def _with(self, fields: dict[str, Value], base: str | None = None) -> Stamped:
        return Stamped(self.base if base is None else base, fields, self.kind)

    def joined(self, other: Stamped) -> Stamped:
        """Return the later value of each field."""
        names = {*self.fields, *other.fields}
        fields = {name: max(self.at(name), other.at(name)) for name in names}
        return self._with(fields, max(self.base, other.base))

    def with_values(self, values: Iterable[tuple[str, Value]]) -> Stamped:
        """Return these values joined with some of single fields; several may be of a field."""
        fields = dict(self.fields)
        for name, value in values:
            fields[name] = max(value, fields.get(name, (self.base, "")))
        return self._with(fields)

    def rebased_on(self, before: Stamped) -> Stamped:
        """Return the values of a line without stamps as changes of a state: a line with the time of
        that state was edited by hand."""
        if self.base.partition(" ")[0] != before.base.partition(" ")[0]:
            return self
        base = {self.base: before.base}
        fields = {name: (base.get(one[0], one[0]), one[1]) for name, one in self.fields.items()}
        return self._with(fields, before.base)

    def edited(self, before: Stamped) -> dict[str, Value]:
        """Return the values that differ under the same stamp, by field: no lore wrote them."""
        names = {*self.fields, *before.fields} - {*self.kind.times, *self.kind.local}
        pairs = ((name, self.at(name), before.at(name)) for name in names)
        return {name: one for name, one, old in pairs if one[0] == old[0] and one != old}

    def replaced(self, fields: dict[str, Value]) -> Stamped:
        """Return these values, but for some fields, even if earlier."""
        return self._with({**self.fields, **fields})

    def lost_to(self, other: Stamped) -> list[tuple[str, Value]]:
        """Return (field, value) of each value that a second state lacks. If the bases differ,
        ``BASE`` means the unnamed fields."""
        found = {name: self.at(name) for name in {*self.fields, *other.fields}}
        left = [(name, one) for name, one in found.items() if one[0] and one != other.at(name)]
        if self.base and self.base != other.base:
            left.append((BASE, (self.base, "")))
        return sorted(left)

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
        """Return the time of the last change; empty without any."""
        return max(self.stamps(), default="").partition(" ")[0]

    def to_row(self, row: State) -> State:
        """Return a copy of a row that has these values, and their stamps."""
        row = row.copy()  # type: ignore[assignment]
        for name, default in self.kind.defaults.items():
            value = self.at(name)[1]
            setattr(row, name, loads(value) if value and name != "metadata" else value or default)
        if isinstance(row, Node):
            place = self.at("place")[1]
            row.file, row.line_start, row.line_end = loads(place) if place else (None, None, None)
            row.tags = (*self._entries(TAG),)
            row.data = dumps({name: loads(one) for name, one in self._entries(DATA).items()})
        for name in self.kind.times:
            setattr(row, name, getattr(row, name) or self.last())
        self.mark(row)
        return row

    def _entries(self, kind: str) -> dict[str, str]:
        values = sorted((name, value) for name, (_, value) in self.fields.items() if value)
        return {name[len(kind) :]: value for name, value in values if name.startswith(kind)}

    def mark(self, row: Thing) -> None:
        """Give a row that has these values their stamps."""
        named = {name: one[0] for name, one in self.fields.items() if one[0] != self.base}
        again = {name: self.at(name)[0] for name in self.kind.reset}
        named = {name: one for name, one in named.items() if name not in again}
        last = max([self.base, *named.values()])
        named |= {name: one for name, one in again.items() if one != last}
        is_new = not named and self.base == first_stamp(row)
        row.stamps = "" if is_new else dumps({BASE: self.base, **dict(sorted(named.items()))})

    def without(self, names: Collection[str]) -> Stamped:
        """Return the values of the other fields."""
        return self._with({n: one for n, one in self.fields.items() if n not in names})


def values_of(row: Thing) -> dict[str, str]:
    """Return the values of a row as JSON, without the defaults of their fields."""
    values = {}
    for name, default in KINDS[type(row)].defaults.items():
        if (value := getattr(row, name)) != default:
            values[name] = canonical_object(value) if name == "metadata" else canonical(value)
    if isinstance(row, Node):
        place = [getattr(row, name) for name in PLACE]
        if place != [None, None, None]:
            values["place"] = canonical(place)
        values |= dict.fromkeys((TAG + tag for tag in row.tags), "true")
        if row.data != "{}":
            values |= {DATA + name: canonical(value) for name, value in loads(row.data).items()}
    return values


def local_fields(row: Thing) -> list[str]:
    """Return the fields that no shared file has, as the last fingerprint of a file."""
    local = KINDS[type(row)].local
    return [*local, "hash"] if isinstance(row, Anchor) and row.kind == "file" else local


def changed(before: Stamped, row: Thing, stamp: str) -> dict[str, Value]:
    """Stamp the fields in which a row differs from former values, and return the latter by field.
    If only times differ, stamp no field."""
    now = values_of(row)
    old = {name: before.at(name) for name in {*before.fields, *now}}
    was = {name: one for name, one in old.items() if one[1] != now.get(name, "")}
    others = was.keys() - {*before.kind.times}
    if not others:
        return {}
    if others - {*local_fields(row)}:
        was |= {name: before.at(name) for name in before.kind.reset}
    fields = {**before.fields, **{name: (stamp, now.get(name, "")) for name in was}}
    Stamped(before.base, fields, before.kind).mark(row)
    return was


# --- times and order


def clock(row: Thing) -> str:
    """Return the time of the last change of a row."""
    return Stamped.of(row).last() if row.stamps else first_clock(row)


def first_clock(row: Thing) -> str:
    """Return the latest of the times of a row that has no stamps."""
    made = row.updated_at if isinstance(row, Node) else row.created_at
    return max(made, getattr(row, KINDS[type(row)].end) or "")


def is_after(stamp: str, purged: str) -> bool:
    """Return True if a stamp is later than a time."""
    return stamp.partition(" ")[0] > purged


def first_stamp(row: Thing) -> str:
    """Return the stamp of a row without changes: a time, and digits of a hash of it.

    >>> first_stamp(Node("note-1", "note", body="a", updated_at="2026-01-31T12:00:00Z"))
    '2026-01-31T12:00:00Z 214600e710'
    """
    return f"{first_clock(row)} {_hash(row)[: len(NOBODY)]}"


def _hash(row: Thing) -> str:
    fields = {name: getattr(row, name) for name in KINDS[type(row)].hashed}
    objects = fields.keys() & {"data", "metadata"}
    fields |= {name: canonical_object(fields[name]) for name in objects}
    if isinstance(row, Node):
        fields["tags"] = sorted(row.tags)
    return sha256(dumps([*fields.values()]).encode("utf-8", "replace")).hexdigest()


def canonical_object(text: str) -> str:
    """Return a JSON object in canonical form; any other text unchanged."""
    try:
        return canonical(loads(text))
    except ValueError:
        return text


def is_ended(row: Thing) -> bool:
    """Return True for an ended edge or anchor, or a forgotten node."""
    return getattr(row, KINDS[type(row)].end) is not None


def content(row: Thing) -> tuple[bool, str]:
    """Return a digest that equal states share, regardless of times."""
    return is_ended(row), _hash(row)


def is_later(one: Thing, other: Thing) -> bool:
    """Return True if a row of the code index is later than a second row."""
    return (clock(one), _hash(one)) > (clock(other), _hash(other))


def is_indexed(row: Thing) -> bool:
    """Return True for a node of the code index: the repository has the history."""
    return isinstance(row, Node) and row.source == "file" and row.type in CODE_TYPES


def has_history(row: Thing) -> bool:
    """Return True if former values are stored; of derived things they are not."""
    return not is_indexed(row) and not (isinstance(row, Edge) and row.source == "system")


def count_reads(row: Node | Edge, *others: Node | Edge) -> None:
    """Set count and time of accesses to the maximum of these rows."""
    row.access_count = max(one.access_count for one in others)
    row.accessed_at = max(one.accessed_at or "" for one in others) or None


def forgotten(at: str) -> Stamped:
    """Return the values of a record that a purge proposes to forget at a time. Later changes win,
    and a purge of that time deletes them."""
    return Stamped("", {name: (f"{at} {NOBODY}", canonical(at)) for name in NODE.reset})


# --- which changes a record has seen


def latest(stamps: Iterable[str]) -> list[str]:
    """Return the last stamp of each machine, the latest stamp last; no empty stamp, which a value
    has that was never changed."""
    known = sorted(filter(None, stamps))
    return sorted({stamp.partition(" ")[2]: stamp for stamp in known}.values())


def conflicts(
    ours: Stamped, seen_here: Collection[str], theirs: Stamped, seen_there: Collection[str]
) -> dict[str, str]:
    """Return the fields that were changed on both sides, and the side with the later value:
    ``ours`` or ``theirs``. ``seen_…`` are the stamps of all changes that each side has seen."""
    found = {}
    for name in {*ours.fields, *theirs.fields} - {*ours.kind.times, *ours.kind.local}:
        mine, other = ours.at(name), theirs.at(name)
        ended_both = name == ours.kind.end and mine[1] and other[1]
        if mine[1] == other[1] or ended_both or not (mine[0] and other[0]):
            continue
        side, seen = ("ours", seen_here) if mine > other else ("theirs", seen_there)
        stamp = min(mine, other)[0]
        machine = stamp.partition(" ")[2]
        if not any(one >= stamp and one.endswith(machine) for one in seen):
            found[name] = side
    return found


# --- the states that a thing has been in


def states(now: Stamped, former: Iterable[tuple[str, Value]]) -> list[tuple[str, Stamped]]:
    """Return the states of a thing, each with the stamp of the change to that state. They
    follow from present and former values (field, value); the last state is the present one."""
    known: dict[str, set[Value]] = {name: {one} for name, one in now.fields.items()}
    for name, one in former:
        known.setdefault(name, set()).add(one)
    bases = sorted({"", now.base, *(stamp for stamp, _ in known.pop(BASE, ()))})
    values = {name: [("", ""), *sorted(some)] for name, some in known.items()}
    found = []
    for stamp in sorted({*bases[1:], *(one[0] for some in known.values() for one in some)}):
        base, until = bases[bisect_right(bases, stamp) - 1], (stamp, "\U0010ffff")
        fields = {
            name: max((base, ""), some[bisect_right(some, until) - 1])
            for name, some in values.items()
        }
        found.append((stamp, Stamped(base, fields, now.kind)))
    return found
