"""A record as stamped values: one value a field, each with the stamp of the change that made it.

A stamp is ``CLOCK MACHINE``: the time of a change, later than all that its record had seen (a
hybrid logical clock), and ten hexadecimal digits of the store that made it. They are compared
as text. Fields that a record has had from the beginning share one stamp, its ``base``; that of a
record that nobody has changed is not written down, since it follows from what the record says
(``states.state_name``).

Joining takes, for each field, the later value, and so does not depend on the order or the
grouping of what is joined, nor on how often. A tag, and each entry of ``data``, is a field of
its own. See Shapiro et al., Conflict-free Replicated Data Types (2011), and Kulkarni et al.,
Logical Physical Clocks (2014).
"""

from __future__ import annotations

from copy import copy

from .json import canonical, dumps, loads
from .model import Node
from .states import set_clock, state_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    Value = tuple[str, str]
    """(stamp, value as JSON; empty: the default of its field)"""

BASE = "*"
"""The name of all fields that are not named."""

DEFAULTS: dict[str, object] = {
    "title": "", "body": "", "status": "confirmed", "source": "user_edit", "confidence": 1.0,
    "category": None, "invalidated_at": None, "created_at": "", "updated_at": "",
}  # fmt: skip
TIMES = ("created_at", "updated_at")
ANEW = ("updated_at", "invalidated_at")
"""Fields that each change states anew: what was edited lives, where it was forgotten before."""
PLACE = ("file", "line_start", "line_end")
TAG, DATA = "tags.", "data."

_LAST = "f" * 10
"""The machine of what no machine has said: it comes after all others."""

MACHINES = 16
"""Number of machines whose latest stamps a record is told with: a store that is further behind is
taken to be merely old, and not to have changed on its own."""


class Stamped:
    """The values of a record: ``base`` is the stamp of each field that ``fields`` does not have,
    which is at its default then; a value that says just that is left out of ``fields``."""

    __slots__ = ("base", "fields")

    def __init__(self, base: str, fields: dict[str, Value]) -> None:
        self.base = base
        self.fields = {name: one for name, one in fields.items() if one != (base, "")}

    @classmethod
    def of(cls, node: Node) -> Stamped:
        """Return the values of a node, with their stamps."""
        stamps: dict[str, str] = loads(node.stamps) if node.stamps else {}
        base = stamps.pop(BASE, "") if stamps else state_name(node)
        last = max([base, *(one for name, one in stamps.items() if name not in ANEW)])
        stamps = {**dict.fromkeys(ANEW, last), **stamps}
        values = values_of(node)
        fields = {name: (stamps.get(name, base), value) for name, value in values.items()}
        fields |= {name: (one, "") for name, one in stamps.items() if name not in values}
        if not base:  # times that only fill their columns
            fields = {name: value for name, value in fields.items()
                      if value[0] or name not in TIMES}  # fmt: skip
        return cls(base, fields)

    def at(self, name: str) -> Value:
        """Return the value of a field, and its stamp."""
        return self.fields.get(name, (self.base, ""))

    def implies(self, value: Value) -> bool:
        """Return whether a value is the default of a field that is not named."""
        return value == (self.base, "")

    def joined(self, other: Stamped) -> Stamped:
        """Return the later value of each field."""
        base = max(self.base, other.base)
        names = {*self.fields, *other.fields}
        return Stamped(base, {name: max(self.at(name), other.at(name)) for name in names})

    def seen_as(self, before: Stamped) -> Stamped:
        """Return these values as changes of those before, where a line that has no stamps says them
        with the time of those: somebody has edited it by hand."""
        if self.base.partition(" ")[0] != before.base.partition(" ")[0]:
            return self
        fields = {name: (before.base if stamp == self.base else stamp, value)
                  for name, (stamp, value) in self.fields.items()}  # fmt: skip
        return Stamped(before.base, fields)

    def edited(self, before: Stamped) -> dict[str, str]:
        """Return the values that are other ones than before with the same stamp, by field: no lore
        has written them."""
        names = {*self.fields, *before.fields} - {*TIMES}
        pairs = ((name, self.at(name), before.at(name)) for name in names)
        return {name: one[1] for name, one, old in pairs if one[0] == old[0] and one != old}

    def having(self, values: dict[str, str]) -> Stamped:
        """Return these values with others in place of some, with the stamps that these have."""
        fields = {**self.fields, **{name: (self.at(name)[0], v) for name, v in values.items()}}
        return Stamped(self.base, fields)

    def left_for(self, other: Stamped) -> list[tuple[str, Value, bool]]:
        """Return (field, value, whether it is implied) of what does not stand any more in another
        state; where the base does not, all that is not named is ``BASE``."""
        found = [(name, self.at(name), self.implies(self.at(name)))
                 for name in {*self.fields, *other.fields}
                 if self.at(name)[0] and self.at(name) != other.at(name)]  # fmt: skip
        if self.base and self.base != other.base:
            found.append((BASE, (self.base, ""), False))
        return sorted(found)

    def after(self, purged: str) -> Stamped:
        """Return what was said after a time."""
        if not purged or is_after(self.base, purged):
            return self
        kept = {name: one for name, one in self.fields.items() if is_after(one[0], purged)}
        return Stamped("", kept)

    def stamps(self) -> set[str]:
        """Return the stamps of all values."""
        return {self.base, *(stamp for stamp, _ in self.fields.values())} - {""}

    def is_same(self, other: Stamped) -> bool:
        """Return whether two have the same values of the same changes."""
        return (self.base, self.fields) == (other.base, other.fields)

    def is_empty(self) -> bool:
        """Return whether nothing is said."""
        return not self.stamps()

    def to_node(self, node: Node) -> Node:
        """Return a copy of a node that has these values, and their stamps."""
        node = copy(node)
        for name, default in DEFAULTS.items():
            setattr(node, name, _read(self.at(name)[1], default))
        place: Any = _read(self.at("place")[1], (None, None, None))
        node.file, node.line_start, node.line_end = place
        said = sorted((name, one[1]) for name, one in self.fields.items() if one[1])
        node.tags = tuple(name[len(TAG) :] for name, _ in said if name.startswith(TAG))
        data = {name[len(DATA) :]: loads(value) for name, value in said
                if name.startswith(DATA)}  # fmt: skip
        node.data = dumps(data) if data else "{}"
        at = max(self.stamps(), default="").partition(" ")[0]
        node.updated_at = node.updated_at or at
        node.created_at = node.created_at or node.updated_at
        self.mark(node)
        return node

    def mark(self, node: Node) -> None:
        """Give a node that has these values their stamps."""
        set_clock(node, max(self.stamps(), default="").partition(" ")[0])
        named = {name: one[0] for name, one in self.fields.items() if one[0] != self.base}
        last = max([self.base, *(one for name, one in named.items() if name not in ANEW)])
        for name in ANEW:
            named.pop(name, "")
            if self.at(name)[0] != last:
                named[name] = self.at(name)[0]
        is_new = not named and self.base == state_name(node)
        node.stamps = "" if is_new else dumps({BASE: self.base, **dict(sorted(named.items()))})


def forgotten(at: str) -> Stamped:
    """Return that a record was forgotten at a time, by nobody: all that somebody says later stands
    before it, and after a purge of that time nothing is left of it."""
    return Stamped("", {name: (f"{at} {_LAST}", canonical(at)) for name in ANEW})


def is_forgotten_by_nobody(node: Node) -> bool:
    """Return whether a node is forgotten, and nobody has said so."""
    if node.invalidated_at is None or not node.stamps:
        return False
    return Stamped.of(node).at("invalidated_at")[0].endswith(_LAST)


def values_of(node: Node) -> dict[str, str]:
    """Return the values of a node as JSON, without those that are the default of their field."""
    found: dict[str, object] = {
        name: getattr(node, name) for name, default in DEFAULTS.items()
        if getattr(node, name) != default
    }  # fmt: skip
    place = [getattr(node, name) for name in PLACE]
    if place != [None, None, None]:
        found["place"] = place
    found |= {TAG + tag: True for tag in node.tags}
    if node.data != "{}":
        found |= {DATA + name: value for name, value in loads(node.data).items()}
    return {name: canonical(value) for name, value in found.items()}


def _read(value: str, default: object) -> object:
    return loads(value) if value else default


def is_after(stamp: str, purged: str) -> bool:
    """Return whether a change was made after a time.

    >>> is_after("2026-01-31T12:00:00Z 7bcd922640", "2026-01-31T12:00:00Z")
    False
    """
    return stamp.partition(" ")[0] > purged


def changed(before: Stamped, node: Node, stamp: str) -> dict[str, Value]:
    """Give a node this stamp on all fields in which it differs from its values before, and return
    these values of the fields; none: it differs in nothing but when it was updated."""
    now = values_of(node)
    was = {name: before.at(name) for name in {*before.fields, *now}
           if before.at(name)[1] != now.get(name, "")}  # fmt: skip
    if not was.keys() - {"updated_at"}:
        return {}
    was |= {name: before.at(name) for name in ANEW}
    fields = {**before.fields, **{name: (stamp, now.get(name, "")) for name in was}}
    Stamped(before.base, fields).mark(node)
    return was


# --- which changes a record has seen


def latest(stamps: Iterable[str]) -> list[str]:
    """Return the last stamp of each machine, of the latest machines; the latest stamp last."""
    found: dict[str, str] = {}
    for stamp in sorted(stamps):
        found[stamp.partition(" ")[2]] = stamp
    return sorted(found.values())[-MACHINES:]


def has_seen(known: Collection[str], stamp: str) -> bool:
    """Return whether whoever has seen these changes has seen this one."""
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
        if mine[1] == other[1] or name in TIMES:
            continue
        if not (mine[0] and other[0]):
            continue  # one side does not say it
        if name == "invalidated_at" and mine[1] and other[1]:
            continue  # forgotten on both sides
        if mine > other and not has_seen(seen_here, other[0]):
            found[name] = "ours"
        elif other > mine and not has_seen(seen_there, mine[0]):
            found[name] = "theirs"
    return found


# --- the states that a record has been in


def states(now: Stamped, former: Iterable[tuple[str, Value]]) -> list[tuple[str, Stamped]]:
    """Return the states of a record, each with the stamp of the change that made it, as they follow
    from its values and those that it has left (field, value); the last one is as it is now."""
    known: dict[str, set[Value]] = {name: {one} for name, one in now.fields.items()}
    for name, one in former:
        known.setdefault(name, set()).add(one)
    bases = sorted({now.base, *(stamp for stamp, _ in known.pop(BASE, ()))} - {""})
    found = []
    for stamp in sorted({*bases, *(one[0] for some in known.values() for one in some)}):
        base = max((one for one in bases if one <= stamp), default="")
        fields = {name: max([(base, ""), *(one for one in some if one[0] <= stamp)])
                  for name, some in known.items()}  # fmt: skip
        found.append((stamp, Stamped(base, fields)))
    return found
