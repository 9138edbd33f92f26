"""Convert records, links, anchors and their past to JSON lines and back.

The fields of each kind and the rules for them are in ``core.stamps``.
"""

from __future__ import annotations

import json
import re
from datetime import date

from ..anchors.project import fault_of
from ..core import stamps
from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.json import canonical, dumps, harmless, loads
from ..core.model import Anchor, Edge, Node
from ..core.text import clean_tags
from ..core.times import LONG_AGO, ago
from ..graph.relations import DECLARED_WEIGHT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.stamps import Thing, Value

    Fields = dict[str, Any]

STATES: dict[str, type] = {"id": Node, "from_id": Edge, "anchor_of": Anchor}
"""First fields of lines with the state of a thing."""
PAST: dict[str, type] = {"state_of": Node, "history_of": Edge, "anchor_history_of": Anchor}
"""First fields of lines with past values of a thing."""
DECLARED = ("declare_type", "declare_relation")

READS = ("accessed_at", "access_count")  # fields without stamps
KINDS = (*DECLARED, "purged", *STATES, *PAST)
"""First fields of lines, in the order of an export."""
_NAMES: dict[type | None, tuple[str, ...]] = {
    Edge: ("to_id", "relation"),
    Anchor: ("kind", "path", "detail"),
}
"""Fields that identify a thing, after the first."""
_TOMORROW = ago(-stamps.DAYS_AHEAD)  # as the process began
_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


def marker_of(line: bytes) -> bytes:
    """Return the conflict marker of git that a line is; empty for other lines.

    >>> marker_of(b"<<<<<<< HEAD\\n"), marker_of(b"=======\\r\\n"), marker_of(b"{}")
    (b'<<<<<<<', b'=======', b'')
    """
    return line[:7] if line[:7] in _MARKERS and line[7:8] in b" \r\n" else b""


def line_of(fields: Fields) -> str:
    """Return a line without control characters."""
    return harmless(json.dumps(fields, ensure_ascii=False)) + "\n"


# --- values by their rules; a reader returns None for an invalid value


def _matching(pattern: str) -> Callable[[Any], str | None]:
    match = re.compile(pattern).fullmatch
    return lambda value: value if isinstance(value, str) and match(value) else None


_stamp = _matching(stamps.STAMP)
_time = _matching(f"(?:{stamps.TIME})?")


def _moment(value: Any) -> str | None:
    text = _time(value)
    try:
        return text if not text or date.fromisoformat(text[:10]) else None
    except ValueError:  # as 2026-02-30
        return None


def _tags(value: Any) -> tuple[str, ...] | None:
    is_text = isinstance(value, (str, list)) and all(isinstance(tag, str) for tag in value)
    return clean_tags(value) if is_text else None


def _fraction(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None


def _whole(value: Any) -> int | None:
    is_whole = type(value) in (int, float) and 0 <= value <= stamps.LARGEST and value == int(value)
    return int(value) if is_whole else None


def _stamps(value: Any) -> str | None:
    """Return the stamps of fields as a row has them; empty for an unchanged row."""
    if not isinstance(value, dict) or not all(one == "" or _stamp(one) for one in value.values()):
        return None
    return canonical({stamps.BASE: "", **value}) if value else ""


_RULES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "text": ("a string", lambda value: value if isinstance(value, str) else None),
    "fraction": ("a number from 0 to 1", _fraction),
    "count": (f"a whole number up to {stamps.LARGEST}", _whole),
    "line": (f"a whole number from 1 to {stamps.LARGEST}", lambda value: _whole(value) or None),
    "tags": ("a list of strings", _tags),
    "object": ("a JSON object", lambda value: dumps(value) if isinstance(value, dict) else None),
    "moment": ("a time: give it as 2026-01-31T12:00:00Z", _moment),
    "stamp": ("the stamp of a change", _stamp),
    "stamps": ("an object of stamps", _stamps),
    **{
        name: (f"one of {', '.join(words)}", _matching("|".join(words)))
        for name, words in stamps.CHOICES.items()
    },
}


class Line:
    """A line of an export.

    ``kind`` is the field that names the kind, empty for an unknown kind; ``names`` are the ids and
    names that lines about the same thing share, ``type`` is the type of a thing's row.
    """

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self.kind = next((name for name in fields if name in KINDS), "")
        self.type = STATES.get(self.kind) or PAST.get(self.kind)
        names = (self.kind, *_NAMES.get(self.type, ())) if self.kind else ()
        self.names = [self.text(name) for name in names]

    def value(self, name: str, rule: str, default: Any = None) -> Any:
        """Return a field by a rule of ``core.stamps``; for null, the default. Raise LoreError for
        an invalid value, or a time more than a day ahead of this machine's clock, which would be
        the latest until that day."""
        given = self.fields.get(name)
        if given is None:
            return default
        what, read = _RULES[rule]
        value = read(given)
        if value is None:
            raise LoreError(f"{name} {given!r:.60} is not {what}")
        if rule in ("moment", "stamp", "stamps"):
            last = max(given.values() if isinstance(given, dict) else (given,), default="")
            if last > _TOMORROW and last > ago(-stamps.DAYS_AHEAD):
                why = "is more than a day ahead of this machine's clock: set the wrong clock"
                raise LoreError(f"{name} {given!r:.60} {why}")
        return value

    def text(self, name: str, default: str = "") -> str:
        """Return a string."""
        return str(self.value(name, "text", default))

    def declaration(self) -> tuple[str, tuple[float, float, str]]:
        """Return time and (weight, backward weight, description) of a declared type or relation."""
        weight = self.value("weight", "fraction", DECLARED_WEIGHT)
        backward = self.value("backward_weight", "fraction", weight)
        at = self.value("at", "moment") or LONG_AGO
        return at, (weight, backward, self.text("description"))

    def thing(self) -> Thing:
        """Return a row with the names of a line with a state or the past of a thing."""
        first, *names = self.names
        if self.type is Edge:
            return Edge(first, names[0], names[1])
        if self.type is Node:
            return Node(check_id(first), self.text("type", first.partition("-")[0]))
        if not self.value("kind", "kind") or not names[1]:
            raise LoreError("kind or path of the anchor is missing")
        return Anchor(check_id(first), *names)

    @property
    def is_whole(self) -> bool:
        """True for a full state of a thing; other lines are edits by hand."""
        return bool(self.fields.get("updated_at" if self.type is Node else "created_at"))

    def onto(self, row: Thing) -> Any:
        """Return a row with the fields of the line; the other fields are unchanged."""
        row = row.copy()
        for name, rule in stamps.RULES.items():
            if name in self.fields and hasattr(row, name):
                is_end = isinstance(row, Edge) and name == "invalidated_at"
                into, value = "ended_at" if is_end else name, self.value(name, rule)
                setattr(row, into, getattr(type(row), into) if value in (None, "") else value)
        if isinstance(row, Edge):
            row.invalidated_at = row.ended_at
        if isinstance(row, Anchor) and (fault := fault_of(row)):
            raise LoreError(fault)
        return row

    def state(self, row: Thing) -> Any:
        """Return a row with the full state of the line: missing fields have defaults."""
        row = self.onto(row)
        if isinstance(row, Node):
            row.created_at = row.created_at or row.updated_at
        if isinstance(row, Anchor):
            row.verified_at = row.verified_at or row.created_at
        if row.stamps:
            stamps.Stamped.of(row).mark(row)
        return row

    def seen(self) -> list[str]:
        """Return the stamps of other changes that a state has seen."""
        was = self.fields.get("was") or []
        if not isinstance(was, list) or not all(map(_stamp, was)):
            raise LoreError("was is not a list of stamps")
        return was

    def past(self, thing: Thing) -> list[tuple[str, Value]]:
        """Return (field, value) of former values of a thing."""
        stamp, left = self.value("stamp", "stamp", ""), self.fields.get("left")
        if not stamp or not isinstance(left, dict):
            raise LoreError("a line of the past needs a stamp and the object 'left'")
        said: Fields = {"tags": [], "data": {}}
        for name, value in left.items():
            if name.startswith(stamps.TAG) and value:
                said["tags"].append(name[len(stamps.TAG) :])
            elif name.startswith(stamps.DATA) and isinstance(value, list):
                said["data"].update(dict.fromkeys([name[len(stamps.DATA) :]], *value[:1]))
            elif name == "place" and isinstance(value, list):
                said.update(zip(stamps.PLACE, value, strict=False))
            else:
                said["invalidated_at" if name == "ended_at" else name] = value
        values = stamps.values_of(Line(said).onto(thing))
        known = {*stamps.KINDS[type(thing)].defaults, stamps.BASE}
        parts = (stamps.TAG, stamps.DATA, "place") if isinstance(thing, Node) else ()
        names = sorted(name for name in left if name in known or name.startswith(parts))
        return [(name, (stamp, values.get(name, ""))) for name in names]


# --- fields of lines


def fields_of(row: Thing, was: list[str] | None = None) -> Fields:
    """Return a row as a line has it; ``was`` are stamps of other changes that it has seen."""
    left_out = ("stamp", "stamps", *(("invalidated_at",) if isinstance(row, Edge) else ()))
    found: Fields = {}
    for name, value in row.to_dict().items():
        if name in left_out or value in ("", None, getattr(type(row), name, None)):
            continue
        if name in ("data", "metadata"):
            value = loads(stamps.canonical_object(value))
        elif name == "tags":
            value = sorted(value)
        found[_WRITTEN.get(name, name)] = value
    if row.stamps:
        found["stamps"] = loads(row.stamps)
    return {**found, "was": was} if was else found


_WRITTEN = {"ended_at": "invalidated_at", "node_id": "anchor_of"}  # attribute to field of a line


def past_fields(thing: Thing, stamp: str, values: dict[str, str]) -> Fields:
    """Return former values of a thing, from a single change, as a line has them.

    ``values`` maps fields to JSON, which is empty for a default.
    """
    kind = next(kind for kind, type in PAST.items() if isinstance(thing, type))
    names = [thing.id] if isinstance(thing, Node) else thing.key
    left = {name: loads(value) if value else None for name, value in sorted(values.items())}
    left |= {name: [left[name]] for name in values if name.startswith(stamps.DATA) and values[name]}
    key = zip((kind, *_NAMES.get(type(thing), ())), names, strict=True)
    return {**dict(key), "stamp": stamp, "left": left}
