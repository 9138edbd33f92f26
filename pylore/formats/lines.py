"""Convert records, links, anchors and their past to JSON lines and back.

The fields of each kind and the rules for them are in ``core.lines``.
"""

from __future__ import annotations

import json
import re
from copy import copy

from ..anchors.project import fault_of
from ..core.errors import LoreError
from ..core.ids import check_id, is_seen, own
from ..core.json import canonical, harmless, parse_object
from ..core.lines import ANCHOR, CHOICES, DAYS_AHEAD, EDGE, LARGEST, NODE, STAMP, TIME
from ..core.model import Anchor, Edge, Node
from ..core.stamps import BASE, DATA, KINDS, PLACE, TAG, Stamped, values_of
from ..core.text import clean_tags
from ..core.times import ago
from ..graph.relations import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.stamps import Thing, Value
    from ..store import Store

    Fields = dict[str, Any]
    Key = tuple[str, ...]
    """The kind of a line, then the ids and names that identify the thing."""

_TIME, _STAMP = re.compile(TIME), re.compile(STAMP)
MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_RULES_OF: dict[type, dict[str, str]] = {Node: NODE, Edge: EDGE, Anchor: ANCHOR}
_ATTRIBUTES = {"invalidated_at": "ended_at"}
"""Field of a line of an edge to the attribute of the edge."""

READS = ("accessed_at", "access_count")
"""Fields without stamps."""
PAST = ("state_of", "history_of", "anchor_history_of")
"""First fields of lines with the past of a node, an edge and an anchor."""

_EDGE_KEY = ("from_id", "to_id", "relation")
_ANCHOR_KEY = ("kind", "path", "detail")


def parsed(line: bytes, longest: int) -> Fields:
    """Return the object on a line of at most ``longest`` bytes.

    Raises:
        LoreError: not an object, or a conflict marker of git.
    """
    if line.startswith(MARKERS):
        raise LoreError("a merge conflict: run 'lore sync', or merge both with 'lore merge-file'")
    return parse_object(line, longest)


def line_of(fields: Fields) -> str:
    """Return a line without control characters."""
    return harmless(json.dumps(fields, ensure_ascii=False)) + "\n"


# --- values by their rules; a reader returns None for an invalid value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _tags(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, (str, list)) or not all(isinstance(tag, str) for tag in value):
        return None
    return clean_tags(value)


def _object(value: Any) -> str | None:
    try:
        is_object = isinstance(value, dict)
        return json.dumps(value, ensure_ascii=False, allow_nan=False) if is_object else None
    except ValueError:  # a number that JSON does not have
        return None


def _time(value: Any) -> str | None:
    return value if value == "" or (isinstance(value, str) and _TIME.fullmatch(value)) else None


def _whole(value: Any) -> int | None:
    is_whole = type(value) in (int, float) and 0 <= value <= LARGEST and value == int(value)
    return int(value) if is_whole else None


def _stamp(value: Any) -> str | None:
    return value if isinstance(value, str) and _STAMP.fullmatch(value) else None


def _stamps(value: Any) -> str | None:
    """Return the stamps of fields as a row has them; empty for an unchanged row."""
    if not isinstance(value, dict) or not all(one == "" or _stamp(one) for one in value.values()):
        return None
    return canonical({BASE: "", **value}) if value else ""


_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "text": ("a string", _text),
    "string": ("a string", _text),
    "fraction": (
        "a number from 0 to 1",
        lambda value: float(value) if type(value) in (int, float) and 0 <= value <= 1 else None,
    ),
    "count": (f"a whole number up to {LARGEST}", _whole),
    "line": (f"a whole number from 1 to {LARGEST}", lambda value: _whole(value) or None),
    "tags": ("a list of strings", _tags),
    "object": ("a JSON object", _object),
    "moment": ("a time: give it as 2026-01-31T12:00:00Z", _time),
    "stamp": ("the stamp of a change", _stamp),
    "stamps": ("an object of stamps", _stamps),
    "seen": (
        "a list of stamps",
        lambda value: value if isinstance(value, list) and all(map(_stamp, value)) else None,
    ),
}


def value_of(fields: Fields, name: str, rule: str, default: Any = None) -> Any:
    """Return a field of a line by a rule of ``core.lines``; for null, the default.

    Raises:
        LoreError: invalid value, or a time more than a day ahead of this machine's clock, which
            would be the latest until that day.
    """
    given = fields.get(name)
    if given is None:
        return default
    if rule in CHOICES:
        if not isinstance(given, str) or given not in CHOICES[rule]:
            raise LoreError(f"{name} '{given}' is not one of {', '.join(CHOICES[rule])}")
        return given
    what, read = _READERS[rule]
    value = read(given)
    if value is None:
        raise LoreError(f"{name} is not {what}")
    times = given.values() if rule == "stamps" else (given,) if rule in ("moment", "stamp") else ()
    if max((time.partition(" ")[0] for time in times), default="") > ago(-DAYS_AHEAD):
        raise LoreError(
            f"{name} '{given}' is more than a day ahead of this machine's clock: set "
            "the clock that is wrong"
        )
    return value


def text(fields: Fields, name: str, default: str = "") -> str:
    """Return a string of a line."""
    return str(value_of(fields, name, "text", default))


# --- rows


def key_row(fields: Fields) -> Thing:
    """Return a row with the key of a line of a record, link or anchor, or of a past."""
    for name in ("anchor_of", "anchor_history_of"):
        if name in fields:
            id, kind = check_id(text(fields, name)), value_of(fields, "kind", "kind", "")
            if not kind or not text(fields, "path"):
                raise LoreError("kind or path of the anchor is missing")
            return Anchor(id, kind, text(fields, "path"), text(fields, "detail"))
    if "from_id" in fields or "history_of" in fields:
        return Edge(*edge_key_from(fields))
    id = check_id(text(fields, "id" if "id" in fields else "state_of"))
    return Node(id, text(fields, "type", id.partition("-")[0]))


def row_from(fields: Fields, row: Thing) -> Any:
    """Return a row with the fields of a line; the other fields are unchanged."""
    row = copy(row)
    for name, rule in _RULES_OF[type(row)].items():
        if name in fields:
            into = _ATTRIBUTES.get(name, name) if isinstance(row, Edge) else name
            value = value_of(fields, name, rule)
            setattr(row, into, getattr(type(row), into) if value in (None, "") else value)
    if isinstance(row, Edge):
        row.invalidated_at = row.ended_at
    for name in KINDS[type(row)].times:
        setattr(row, name, getattr(row, name) or "")
    if isinstance(row, Anchor) and (fault := fault_of(row)):
        raise LoreError(fault)
    return row


def whole_row(fields: Fields, row: Thing) -> Any:
    """Return the state on a line of an export: missing fields have defaults."""
    row = row_from(fields, row)
    if isinstance(row, Node):
        row.created_at = row.created_at or row.updated_at
    if isinstance(row, Anchor):
        row.verified_at = row.verified_at or row.created_at
    if row.stamps:
        Stamped.of(row).mark(row)
    return row


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
            found["invalidated_at" if name == "ended_at" else name] = value
        elif name in (*_EDGE_KEY, "id", "type", "kind", "path"):
            found[name] = value
    if isinstance(row, Anchor):
        found = {"anchor_of": found.pop("node_id"), **found}
    if row.stamps:
        found["stamps"] = json.loads(row.stamps)
    return {**found, "was": was} if was else found


# --- the past


def past_fields(thing: Thing, stamp: str, values: dict[str, str]) -> Fields:
    """Return the fields of a line with former values of a thing, from a single change.

    ``values`` maps fields to JSON, which is empty for a default.
    """
    if isinstance(thing, Node):
        key: Fields = {"state_of": thing.id}
    elif isinstance(thing, Edge):
        key = {"history_of": [*thing.key]}
    else:
        key = {
            "anchor_history_of": thing.node_id,
            "kind": thing.kind,
            "path": thing.path,
            "detail": thing.detail,
        }
    left = {name: json.loads(value) if value else None for name, value in sorted(values.items())}
    left |= {name: [left[name]] for name in values if name.startswith(DATA) and values[name]}
    return {**key, "stamp": stamp, "left": left}


def past_from(fields: Fields) -> tuple[Thing, list[tuple[str, Value]]]:
    """Return a row with the key of the thing of a line, and (field, value) of the past."""
    thing, stamp = key_row(fields), value_of(fields, "stamp", "stamp", "")
    left = fields.get("left")
    if not stamp or not isinstance(left, dict):
        raise LoreError("a line of the past needs a stamp and the object 'left'")
    said: Fields = {"tags": [], "data": {}}
    for name, value in left.items():
        if name.startswith(TAG) and value:
            said["tags"].append(name[len(TAG) :])
        elif name.startswith(DATA) and isinstance(value, list):
            said["data"].update(dict.fromkeys([name[len(DATA) :]], *value[:1]))
        elif name == "place" and isinstance(value, list):
            said.update(zip(PLACE, value, strict=False))
        else:
            said["invalidated_at" if name == "ended_at" else name] = value
    values = values_of(row_from(said, thing))
    known = {*KINDS[type(thing)].defaults, BASE}
    parts = (TAG, DATA, "place") if isinstance(thing, Node) else ()
    names = sorted(name for name in left if name in known or name.startswith(parts))
    return thing, [(name, (stamp, values.get(name, ""))) for name in names]


# --- which line is about which thing


def edge_key_from(fields: Fields) -> tuple[str, str, str]:
    """Return from, to and relation of a line of a link, or of the past of a link."""
    key = fields.get("history_of", [fields.get(name) for name in _EDGE_KEY])
    if not isinstance(key, list) or len(key) != 3 or not all(isinstance(k, str) for k in key):
        raise LoreError("a link is not [from, to, relation]")
    return (key[0], key[1], key[2])


def key_of(fields: Fields) -> Key:
    """Return the kind and the names that lines about the same thing share; of an unknown kind, the
    line.

    >>> key_of({"id": "note-1", "title": "a"}), key_of({"purged": "note-1", "at": "2026-01-31"})
    (('id', 'note-1'), ('purged', 'note-1'))
    """
    if "from_id" in fields or "history_of" in fields:
        return ("history_of" if "history_of" in fields else "from_id", *edge_key_from(fields))
    for name in ("anchor_of", "anchor_history_of"):
        if name in fields:
            return (name, *(text(fields, part) for part in (name, *_ANCHOR_KEY)))
    for name in ("id", "state_of", "purged", "declare_type", "declare_relation"):
        if name in fields:
            return (name, text(fields, name))
    return ("", line_of(fields))


def is_whole(fields: Fields) -> bool:
    """Return True for a line with a full state; other lines are edits by hand."""
    return bool(fields.get("updated_at" if "id" in fields else "created_at"))


# --- the lines of an import under a scope

_OF_NODES = ("id", "state_of", "anchor_of", "anchor_history_of", "purged")


def scoped(store: Store, fields: Fields) -> list[Fields]:
    """Return a line as lines of the store's scope; empty for a line about a common record, which
    cannot be changed under a scope.

    Raises:
        LoreError: an id of a different scope.
    """
    if "from_id" in fields or "history_of" in fields:
        return _edge(store, fields)
    for name in _OF_NODES:
        if name in fields:
            id = text(fields, name)
            named = _id(store, id)
            return [] if named == id != own(id, store.scope) else [{**fields, name: named}]
    if "declare_type" in fields:
        return [] if text(fields, "declare_type") in store.types.all() else [fields]
    if "declare_relation" in fields:
        name = _required(store, text(fields, "declare_relation"))
        if name in store.relations.all():
            return []
        return [{**fields, "declare_relation": own(name, store.scope)}]
    return [fields]


def _edge(store: Store, fields: Fields) -> list[Fields]:
    from_id, to_id, name = edge_key_from(fields)
    ends, relation = [_id(store, from_id), _id(store, to_id)], fold(_required(store, name))
    known, named = store.relations.all(), own(relation, store.scope)
    is_own = any(end == own(end, store.scope) for end in ends)
    is_common = not is_own and relation != named and "from_id" in fields
    if is_common and store.edges.get(ends[0], ends[1], relation):
        return []
    lines: list[Fields] = []
    if not is_own or relation not in known:
        if relation in known and named not in known:
            weight, backward, _ = known[relation]
            lines = [
                {
                    "declare_relation": named,
                    "weight": weight,
                    "backward_weight": backward,
                    "description": "declared",
                }
            ]
        relation = named
    if "history_of" in fields:
        return [*lines, {**fields, "history_of": [*ends, relation]}]
    return [*lines, {**fields, "from_id": ends[0], "to_id": ends[1], "relation": relation}]


def _id(store: Store, id: str) -> str:
    """Return the id of a node in the store: unchanged if there is a common node."""
    named = own(_required(store, id), store.scope)
    return id if store.nodes.get(id) is not None else named


def _required(store: Store, name: str) -> str:
    if not is_seen(name, store.scope):
        raise LoreError(f"'{name}' belongs to a different scope: import it without a scope")
    return name
