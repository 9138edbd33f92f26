"""A record, link or anchor as a JSON line and back; the past of each, too.

The fields of each kind and the rules for them are in ``core.lines``.
"""

from __future__ import annotations

import json
import re
from copy import copy

from ..anchors.project import fault_of
from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.json import canonical, harmless, parse_object
from ..core.lines import ANCHOR, CHOICES, DAYS_AHEAD, EDGE, LARGEST, NODE, STAMP, TIME
from ..core.model import Anchor, Edge, Node
from ..core.stamps import BASE, DATA, KINDS, PLACE, TAG, Stamped, canonical_object
from ..core.text import clean_tags
from ..core.times import days_ahead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.stamps import Thing, Value

    Fields = dict[str, Any]
    Key = tuple[str, ...]
    """The kind of a line, then the ids and names that tell its thing from others."""

_TIME, _STAMP = re.compile(TIME), re.compile(STAMP)
_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_RULES_OF = {Node: NODE, Edge: EDGE, Anchor: ANCHOR}
_NAMES = {"ended_at": "invalidated_at"}
"""Fields of a row that lines call otherwise."""

READS = ("accessed_at", "access_count")
"""Fields that no state of a record or a link is told by."""

EDGE_KEY = ("from_id", "to_id", "relation")
_PLACE_OF_ANCHOR = ("kind", "path", "detail")


def parsed(line: bytes, longest: int) -> Fields:
    """Return the object on one line of at most so many bytes.

    Raises:
        LoreError: the line has none, or is a marker of a merge that git could not do.
    """
    if line.startswith(_MARKERS):
        raise LoreError("a merge conflict: run 'lore sync', or merge both with 'lore merge-file'")
    try:
        return parse_object(line, longest)
    except LoreError as error:
        if line.endswith(b"\n") or not str(error).startswith("not JSON"):
            raise
        raise LoreError(f"{error}, and the file ends in it: half a line") from None


def line_of(fields: Fields) -> str:
    """Return one line, without characters that a terminal obeys."""
    return harmless(json.dumps(fields, ensure_ascii=False)) + "\n"


# --- fields by their rules


def _text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise LoreError(f"{name} is not a string")
    return value


def _fraction(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LoreError(f"{name} is not a number")
    if not 0 <= value <= 1:  # nor is one that is infinite or no number
        raise LoreError(f"{name} is not from 0 to 1")
    return float(value)


def _count(value: Any, name: str) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise LoreError(f"{name} is not a whole number")
    if value is not None and not 0 <= value <= LARGEST:
        raise LoreError(f"{name} is out of range")
    return value


def _tags(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, (str, list, tuple)) or not all(isinstance(tag, str) for tag in value):
        raise LoreError(f"{name} is not a list of strings")
    return clean_tags(value)


def _object(value: Any, name: str) -> str:
    if value is None:
        return "{}"
    if not isinstance(value, dict):
        raise LoreError(f"{name} is not a JSON object")
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise LoreError(f"{name} has a number that is too large") from None


def _moment(value: Any, name: str) -> str | None:
    """Return a time, by which states are put in order: an invalid one would stand for ever."""
    text = _text(value, name)
    if text and not _TIME.fullmatch(text):
        raise LoreError(f"{name} '{text}' is not a time: give it as 2026-01-31T12:00:00Z")
    if text > days_ahead(DAYS_AHEAD):
        raise LoreError(f"{name} '{text}' is more than a day ahead of this machine's clock: "
                        "set the clock that is wrong")  # fmt: skip
    return text or None


def _stamps(value: Any, name: str) -> str:
    """Return the stamps of fields as a row has them; empty where all are as they were at first."""
    if value == {}:
        return ""
    if not isinstance(value, dict) or not all(
        one == "" or _is_stamp(one) for one in value.values()
    ):
        raise LoreError(f"{name} is not an object of stamps of changes")
    for stamp in {*value.values()}:
        _moment(stamp.partition(" ")[0], name)
    return canonical({BASE: "", **value})


def _is_stamp(value: object) -> bool:
    return isinstance(value, str) and bool(_STAMP.fullmatch(value))


def _seen(value: Any, name: str) -> list[str]:
    if value is not None and not (isinstance(value, list) and all(map(_is_stamp, value))):
        raise LoreError(f"{name} is not a list of stamps of changes")
    return value or []


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "text": _text, "string": _text, "fraction": _fraction, "count": _count, "tags": _tags,
    "object": _object, "moment": _moment, "stamps": _stamps, "seen": _seen,
}  # fmt: skip
_OPTIONAL = ("category", "file", "accessed_at")
"""Texts of which an empty one is None."""


def value_of(fields: Fields, name: str, rule: str, default: Any = None) -> Any:
    """Return a field of a line by a rule of ``core.lines``.

    Raises:
        LoreError: its value is invalid.
    """
    if fields.get(name) is None:
        return default
    if rule in CHOICES:
        value = _text(fields[name], name)
        if value not in CHOICES[rule]:
            raise LoreError(f"{name} '{value}' is not one of {', '.join(CHOICES[rule])}")
        return value
    value = _READERS[rule](fields[name], name)
    return None if name in _OPTIONAL and not value else value


def text(fields: Fields, name: str, default: str = "") -> str:
    """Return a string of a line; empty for null."""
    return _text(fields.get(name, default), name)


def required(fields: Fields, name: str) -> str:
    """Return a string of a line that must not be empty."""
    value = text(fields, name)
    if not value:
        raise LoreError(f"{name} is missing")
    return value


# --- rows


def row_from(fields: Fields, row: Thing) -> Any:
    """Return a row with the fields of a line; the other fields are as they were.

    Raises:
        LoreError: a field is invalid.
    """
    row = copy(row)
    for name, rule in _RULES_OF[type(row)].items():
        if name in fields:
            into = "ended_at" if isinstance(row, Edge) and name == "invalidated_at" else name
            value = value_of(fields, name, rule)
            setattr(row, into, getattr(type(row), into) if fields[name] is None else value)
    if isinstance(row, Edge):
        row.invalidated_at = row.ended_at
    for name in KINDS[type(row)].times:
        setattr(row, name, getattr(row, name) or "")
    if isinstance(row, Anchor) and (fault := fault_of(row)):
        raise LoreError(fault)
    return row


def whole_row(fields: Fields, row: Thing) -> Any:
    """Return the state that a line of an export has: a field that is missing has its default."""
    row = row_from(fields, row)
    if isinstance(row, Node):
        row.created_at = row.created_at or row.updated_at
    if isinstance(row, Anchor):
        row.verified_at = row.verified_at or row.created_at
    if row.stamps:
        Stamped.of(row).mark(row)
    return row


def anchor_key_from(fields: Fields, name: str) -> Anchor:
    """Return an anchor with the key of a line; ``name`` is the field of its node."""
    kind = value_of(fields, "kind", "kind", "")
    if not kind:
        raise LoreError("kind is missing")
    return Anchor(check_id(required(fields, name)), kind, required(fields, "path"),
                  text(fields, "detail"))  # fmt: skip


def seen_from(fields: Fields) -> list[str]:
    """Return the stamps of the changes that a record has seen (``was``)."""
    stamps: list[str] = value_of(fields, "was", "seen", [])
    return stamps


def fields_of(row: Thing, was: list[str] | None = None) -> Fields:
    """Return a row as a line has it; ``was`` are stamps of other changes that it has seen."""
    found: Fields = {}
    for name, value in row.to_dict().items():
        if name in ("stamp", "stamps") or (isinstance(row, Edge) and name == "invalidated_at"):
            continue
        if name in ("data", "metadata"):
            value = json.loads(json.dumps(json.loads(value), sort_keys=True))
        elif name == "tags":
            value = sorted(value)
        if value not in ("", None, {}, []) and value != getattr(type(row), name, ...):
            found[_NAMES.get(name, name)] = value
        elif name in (*EDGE_KEY, "id", "type", "kind", "path"):
            found[name] = value
    if isinstance(row, Anchor):
        found = {"anchor_of": found.pop("node_id"), **found}
    if row.stamps:
        found["stamps"] = json.loads(row.stamps)
    return {**found, "was": was} if was else found


# --- the past


def past_fields(thing: Thing, stamp: str, values: dict[str, str]) -> Fields:
    """Return what a thing has left of one change; values are JSON, empty for a default."""
    found: Fields = {**_past_key(thing), "stamp": stamp}
    defaults = KINDS[type(thing)].defaults
    parts: Fields = {"tags": [], "without": [], "data": {}, "lacked": []}
    for name, value in sorted(values.items()):
        if name == BASE:
            found["base"] = 1
        elif name.startswith(TAG):
            parts["tags" if value else "without"].append(name[len(TAG) :])
        elif name.startswith(DATA) and value:
            parts["data"][name[len(DATA) :]] = json.loads(value)
        elif name.startswith(DATA):
            parts["lacked"].append(name[len(DATA) :])
        elif name == "place":
            found.update(zip(PLACE, json.loads(value) if value else (None,) * 3, strict=True))
        else:
            default = {} if name == "metadata" else defaults[name]
            found[_NAMES.get(name, name)] = json.loads(value) if value else default
    return {**found, **{name: one for name, one in parts.items() if one}}


def _past_key(thing: Thing) -> Fields:
    if isinstance(thing, Node):
        return {"state_of": thing.id}
    if isinstance(thing, Edge):
        return {"history_of": [*thing.key]}
    return {"anchor_history_of": thing.node_id, "kind": thing.kind, "path": thing.path,
            "detail": thing.detail}  # fmt: skip


def past_from(fields: Fields) -> tuple[Thing, list[tuple[str, Value]]]:
    """Return a row with the key of the thing of a line, and (field, value) of what it has left.

    ``stamp`` is that of the change that made the values, ``tags`` and ``without`` are the tags that
    there were and were not.

    Raises:
        LoreError: a field is missing or invalid.
    """
    thing = _past_thing(fields)
    stamp = fields.get("stamp")
    if not _is_stamp(stamp):
        raise LoreError("a line of the past lacks stamp, that of a change")
    _moment(str(stamp).partition(" ")[0], "stamp")
    kind = KINDS[type(thing)]
    row = row_from({name: value for name, value in fields.items() if name != "stamps"}, thing)
    found: dict[str, str] = {BASE: ""} if fields.get("base") else {}
    for name, default in kind.defaults.items():
        if _NAMES.get(name, name) in fields:
            value = getattr(row, name)
            text = canonical_object(value) if name == "metadata" else canonical(value)
            found[name] = "" if value == default else text
    if isinstance(row, Node):
        found |= _past_of_node(fields, row)
    return thing, [(name, (str(stamp), value)) for name, value in sorted(found.items())]


def _past_thing(fields: Fields) -> Thing:
    if "state_of" in fields:
        return Node(check_id(text(fields, "state_of")), "")
    if "anchor_history_of" in fields:
        return anchor_key_from(fields, "anchor_history_of")
    return Edge(*edge_key_from(fields))


def edge_key_from(fields: Fields) -> tuple[str, str, str]:
    """Return from, to and relation of a line of a link, or of its past."""
    key = fields.get("history_of", [fields.get(name) for name in EDGE_KEY])
    if not isinstance(key, list) or len(key) != 3 or not all(isinstance(k, str) for k in key):
        raise LoreError("a link is not [from, to, relation]")
    return (key[0], key[1], key[2])


def _past_of_node(fields: Fields, node: Node) -> dict[str, str]:
    found: dict[str, str] = {}
    if any(name in fields for name in PLACE):
        place = [getattr(node, name) for name in PLACE]
        found["place"] = "" if place == [None, None, None] else canonical(place)
    found |= dict.fromkeys((TAG + tag for tag in node.tags), "true")
    without = value_of(fields, "without", "tags", ())
    found |= dict.fromkeys((TAG + tag for tag in without), "")
    lacked = fields.get("lacked") or ()
    _tags(lacked, "lacked")
    lacked = lacked.split() if isinstance(lacked, str) else lacked
    data = json.loads(node.data).items()
    found |= {DATA + name: canonical(value) for name, value in data}
    return found | dict.fromkeys((DATA + name for name in lacked), "")


# --- which line is about which thing


def key_of(fields: Fields) -> Key:
    """Return the kind and the names that lines about the same thing have in common; of an unknown
    kind, the whole line.

    >>> key_of({"id": "note-1", "title": "a"}), key_of({"purged": "note-1", "at": "2026-01-31"})
    (('id', 'note-1'), ('purged', 'note-1'))
    """
    if "from_id" in fields or "history_of" in fields:
        return ("history_of" if "history_of" in fields else "from_id", *edge_key_from(fields))
    for name in ("anchor_of", "anchor_history_of"):
        if name in fields:
            return (name, *(text(fields, part) for part in (name, *_PLACE_OF_ANCHOR)))
    for name in ("id", "state_of", "purged", "declare_type", "declare_relation"):
        if name in fields:
            return (name, text(fields, name))
    return ("", line_of(fields))


def is_whole(fields: Fields) -> bool:
    """Return True for a line with a whole state; others are edits by hand."""
    return bool(fields.get("updated_at" if "id" in fields else "created_at"))


def unknown_kind(fields: Fields) -> str:
    """Return the message about a line of an unknown kind."""
    found = "neither a node (id) nor an edge (from_id)"
    if not fields:
        return found
    from .. import __version__

    first = next(iter(fields))
    return f"{found}, nor what else lore {__version__} knows ('{first:.40}'): from a newer lore?"
