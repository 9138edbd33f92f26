"""Lines of an export as they are read: fields, nodes, anchors, states."""

from __future__ import annotations

import json
import re
from copy import copy

from ..anchors.project import fault_of
from ..core.errors import LoreError
from ..core.ids import check_id, is_seen, own
from ..core.json import canonical, dumps, harmless, parse_object
from ..core.lines import CHANGES, DAYS_AHEAD, EDGE, KINDS, LARGEST, NODE, STAMP, TIME, VERDICTS
from ..core.model import EDGE_HISTORY, Edge, Node
from ..core.stamps import BASE, DATA, DEFAULTS, PLACE, TAG, Stamped
from ..core.states import clock, count_no_reads, next_clock, same, set_clock
from ..core.text import clean_tags, counted
from ..core.times import days_ahead
from ..core.vocabulary import SOURCES, STATUSES
from ..graph.relations import fold
from ..records.canonical import (
    KEY,
    told_nodes,
    told_past,
    told_past_anchors,
    told_past_edges,
    when_gone,
)
from ..store.anchors import ANCHOR_HISTORY, Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any

    from ..core.model import EdgeKey
    from ..core.stamps import Value
    from ..store import Store


_TIME = re.compile(TIME)
_horizon = ""
"""The limit for times ahead, when it was last computed."""


def text(fields: dict[str, Any], name: str, default: str) -> str:
    """Return a string; empty for null."""
    value = fields.get(name, default)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise LoreError(f"{name} is not a string")
    return value


def choice(fields: dict[str, Any], name: str, default: str, choices: tuple[str, ...]) -> str:
    """Return one of these words."""
    value = text(fields, name, default)
    if value not in choices:
        raise LoreError(f"{name} '{value}' is not one of {', '.join(choices)}")
    return value


def number(fields: dict[str, Any], name: str, default: float) -> float:
    """Return a number from 0 to 1."""
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LoreError(f"{name} is not a number")
    if not 0 <= value <= 1:  # nor is one that is infinite or no number
        raise LoreError(f"{name} is not from 0 to 1")
    return float(value)


def whole_number(fields: dict[str, Any], name: str, default: int | None) -> int | None:
    """Return a whole number that JSON can carry, or None."""
    value = fields.get(name, default)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise LoreError(f"{name} is not a whole number")
    if value is not None and not 0 <= value <= LARGEST:
        raise LoreError(f"{name} is out of range")
    return value


def tags(fields: dict[str, Any], default: tuple[str, ...]) -> tuple[str, ...]:
    """Return a list of words."""
    value = fields.get("tags", default)
    if not isinstance(value, (str, list, tuple)) or not all(isinstance(tag, str) for tag in value):
        raise LoreError("tags is not a list of strings")
    return clean_tags(value)


def json_object(fields: dict[str, Any], name: str, default: str) -> str:
    """Return an object, as JSON text."""
    if name not in fields:
        return default
    value = fields[name]
    if value is None:
        return "{}"
    if not isinstance(value, dict):
        raise LoreError(f"{name} is not a JSON object")
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise LoreError(f"{name} has a number that is too large") from None


def moment(fields: dict[str, Any], name: str, default: str = "") -> str:
    """Return a time, by which states are put in order: one that is none would stand for ever."""
    value = text(fields, name, default)
    if value and not _TIME.fullmatch(value):
        raise LoreError(f"{name} '{value}' is not a time: give it as 2026-01-31T12:00:00Z")
    if _is_far(value):
        raise LoreError(f"{name} '{value}' is more than a day ahead of this machine's clock: "
                        "set the clock that is wrong")  # fmt: skip
    return value


def _is_far(value: str) -> bool:
    """Return whether a time is so far ahead that some clock is wrong."""
    global _horizon
    if value > _horizon:
        _horizon = days_ahead(DAYS_AHEAD)
    return value > _horizon


_OPTIONAL = ("detail", "root", "hash", "commit_id", "reason")


def anchor_lines(store: Store, *, history: bool = True) -> Iterator[dict[str, Any]]:
    """Yield every anchor, then what all of them have left, as fields of a line."""
    for anchor in store.anchors.all():
        fields = anchor.to_dict()
        del fields["stamp"]
        for name in _OPTIONAL:
            if not fields[name]:
                del fields[name]
        yield {"anchor_of": fields.pop("node_id"), **fields}
    if history:
        for state in told_past_anchors(store):
            yield {"anchor_history_of": state.pop("node_id"), **state}


def anchor_from(store: Store, fields: dict[str, Any], at: str) -> Anchor:
    """Return the anchor of one line; one that does not say when it was made is made at ``at``.

    Raises:
        LoreError: a field is missing, or is not what it should be.
    """
    anchor = Anchor(check_id(_text(fields, "anchor_of")), _one_of(fields, "kind", KINDS),
                    _text(fields, "path"))  # fmt: skip
    for name in _OPTIONAL:
        setattr(anchor, name, _text(fields, name, required=False))
    anchor.verdict = _one_of({"verdict": "valid", **fields}, "verdict", VERDICTS)
    anchor.created_at = moment(fields, "created_at")
    anchor.verified_at = moment(fields, "verified_at") or anchor.created_at
    fault = fault_of(anchor)
    if fault:
        raise LoreError(fault)
    if not anchor.created_at:
        _made_now(store, anchor, at)
    return anchor


def _made_now(store: Store, anchor: Anchor, at: str) -> None:
    """Fill in the times of an anchor that was written by hand: of one that is there, its own."""
    old = next((one for one in store.anchors.of(anchor.node_id) if one.key == anchor.key), None)
    said = (*_OPTIONAL, "verdict")
    same = old is not None and all(getattr(old, name) == getattr(anchor, name) for name in said)
    gone = when_gone(store.anchors.history(anchor.node_id)).get(anchor.key, "")
    anchor.created_at = old.created_at if old else next_clock(gone, at)
    anchor.verified_at = anchor.verified_at or (old.verified_at if old and same else at)


def past_anchor_from(fields: dict[str, Any]) -> dict[str, str]:
    """Return what one line says that an anchor has left; raises as ``anchor_from``."""
    state = {"node_id": check_id(_text(fields, "anchor_history_of"))}
    for name in ANCHOR_HISTORY[1:]:
        state[name] = _text(fields, name, required=name not in ("detail", "reason"))
    _one_of(state, "kind", KINDS)
    _one_of(state, "verdict", VERDICTS)
    _one_of(state, "change", CHANGES)
    moment(state, "changed_at")
    return state


def _text(fields: dict[str, Any], name: str, *, required: bool = True) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise LoreError(f"{name} is not a string")
    if required and not value:
        raise LoreError(f"an anchor lacks its {name}")
    return value


def _one_of(fields: dict[str, Any], name: str, choices: tuple[str, ...]) -> str:
    value = _text(fields, name)
    if value not in choices:
        raise LoreError(f"{name} '{value}' is not one of {', '.join(choices)}")
    return value


_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_STAMP = re.compile(STAMP)
_NAMED = 10


_RULES: dict[str, Callable[[dict[str, Any], str], object]] = {
    "status": lambda fields, name: choice(fields, name, "", STATUSES),
    "source": lambda fields, name: choice(fields, name, "", SOURCES),
    "moment": lambda fields, name: moment(fields, name) or None,
    "text": lambda fields, name: text(fields, name, "") or None,
    "lines": lambda fields, name: text(fields, name, ""),
    "count": lambda fields, name: whole_number(fields, name, None),
    "times": lambda fields, name: whole_number(fields, name, 0) or 0,
    "fraction": lambda fields, name: number(fields, name, 1.0),
    "tags": lambda fields, name: tags(fields, ()),
    "object": lambda fields, name: json_object(fields, name, "{}"),
}
_OF_NODES = {**NODE, "title": "lines", "body": "lines", "access_count": "times"}
_NODE_FIELDS = {name: _RULES[rule] for name, rule in _OF_NODES.items()}
_EDGE_FIELDS = {name: _RULES[rule] for name, rule in {**EDGE, "access_count": "times"}.items()}


def parsed(line: bytes, longest: int) -> dict[str, Any]:
    """Return the object on one line of at most so many bytes.

    Raises:
        LoreError: it is none, or what git leaves of a merge that it could not do.
    """
    if line.startswith(_MARKERS):
        raise LoreError("a merge conflict: run 'lore sync', or merge both with 'lore merge-file'")
    try:
        return parse_object(line, longest)
    except LoreError as error:
        if line.endswith(b"\n") or not str(error).startswith("not JSON"):
            raise
        raise LoreError(f"{error}, and the file ends in it: half a line") from None


def unknown_kind(fields: dict[str, Any]) -> str:
    """Return what is wrong with a line of a kind that is not known."""
    found = "neither a node (id) nor an edge (from_id)"
    if not fields:
        return found
    from .. import __version__

    first = next(iter(fields))
    return f"{found}, nor what else lore {__version__} knows ('{first:.40}'): from a newer lore?"


def is_whole(fields: dict[str, Any]) -> bool:
    """Return whether the line of a node is a whole state, and no edit by hand."""
    return bool(fields.get("updated_at"))


def whole_node(fields: dict[str, Any], type: str) -> Node:
    """Return the state that a line of an export has: what it does not say has its default."""
    node = node_from(fields, Node(text(fields, "id", ""), type))
    node.updated_at = moment(fields, "updated_at")
    node.created_at = node.created_at or node.updated_at
    stamps = _stamps(fields)
    if stamps:
        node.stamps = dumps(stamps)
        Stamped.of(node).mark(node)
    return node


def stamps_seen(fields: dict[str, Any]) -> list[str]:
    """Return the stamps of the changes that a node has seen (``was``)."""
    names = fields.get("was")
    if names is None:
        return []
    if not isinstance(names, list) or not all(_is_stamp(name) for name in names):
        raise LoreError("was is not a list of stamps of changes")
    return names


def _is_stamp(value: object) -> bool:
    return isinstance(value, str) and bool(_STAMP.fullmatch(value))


def _stamps(fields: dict[str, Any]) -> dict[str, str]:
    """Return which change made which field; nothing where all are as they were at first."""
    stamps = fields.get("stamps")
    if stamps is None:
        return {}
    if not isinstance(stamps, dict) or not all(
        value == "" or _is_stamp(value) for value in stamps.values()
    ):
        raise LoreError("stamps is not an object of stamps of changes")
    for stamp in {*stamps.values()}:
        moment({"stamps": stamp.partition(" ")[0]}, "stamps")
    return {BASE: "", **stamps} if stamps else {}


def node_from(fields: dict[str, Any], node: Node) -> Node:
    """Return a node with what a line says of it, and the rest as it is."""
    for name in fields:
        if name in _NODE_FIELDS:
            setattr(node, name, _NODE_FIELDS[name](fields, name))
    node.created_at = text(fields, "created_at", node.created_at)
    return node


def edge_from(fields: dict[str, Any], edge: Edge) -> Edge:
    """Return an edge with what a line says of it; without a time of its end it stands."""
    edge.invalidated_at = edge.changed_at = None
    for name in fields:
        if name in _EDGE_FIELDS:
            setattr(edge, name, _EDGE_FIELDS[name](fields, name))
    edge.ended_at = edge.invalidated_at
    edge.created_at = moment(fields, "created_at", edge.created_at)
    set_clock(edge, clock(edge))
    return edge


def past_values(fields: dict[str, Any]) -> tuple[str, list[tuple[str, Value]]]:
    """Return what a node has left, its id and (field, value): ``stamp`` says which change made
    these, ``tags`` and ``without`` which tags there were and were not."""
    id = check_id(text(fields, "state_of", ""))
    stamp = fields.get("stamp")
    if not _is_stamp(stamp):
        raise LoreError("state_of lacks stamp, that of a change")
    moment({"stamp": str(stamp).partition(" ")[0]}, "stamp")
    node = node_from({**fields, "created_at": text(fields, "created_at", "")}, Node(id, ""))
    node.updated_at = moment(fields, "updated_at")
    found: dict[str, object] = {
        name: getattr(node, name) for name in DEFAULTS if name in fields
    }  # fmt: skip
    place = [getattr(node, name) for name in PLACE]
    if any(name in fields for name in PLACE):
        found["place"] = None if place == [None, None, None] else place
    found |= {TAG + tag: True for tag in node.tags}
    found |= {TAG + tag: None for tag in tags({"tags": fields.get("without", ())}, ())}
    values = []
    if fields.get("base"):
        values.append((BASE, (str(stamp), "")))
    tags({"tags": fields.get("lacked", ())}, ())  # which takes what is no list of texts for a fault
    data = {name: canonical(value) for name, value in json.loads(node.data).items()}
    data |= dict.fromkeys(_words(fields.get("lacked", ())), "")
    values += [(DATA + name, (str(stamp), value)) for name, value in sorted(data.items())]
    for name, value in sorted(found.items()):
        is_default = value is None or value == DEFAULTS.get(name, ...)
        values.append((name, (str(stamp), "" if is_default else canonical(value))))
    return id, values


def _words(value: str | list[str]) -> list[str]:
    return value.split() if isinstance(value, str) else value


def past_edge(fields: dict[str, Any]) -> dict[str, object]:
    """Return a state that an edge has left, with the fields of ``EDGE_STATE_TOLD``."""
    key = fields["history_of"]
    if not isinstance(key, list) or len(key) != 3 or not all(isinstance(k, str) for k in key):
        raise LoreError("history_of is not a list [from, to, relation]")
    state: dict[str, object] = dict(zip(EDGE_HISTORY, key, strict=False))
    state["weight"] = number(fields, "weight", 1.0)
    for name in ("source", "status"):
        state[name] = text(fields, name, "") or None
    state["metadata"] = json_object(fields, "metadata", "{}")
    state["invalidated_at"] = moment(fields, "invalidated_at") or None
    made_at = moment(fields, "made_at")
    state["created_at"] = moment(fields, "created_at") or made_at
    state["made_at"] = max(made_at, str(state["invalidated_at"] or "")) if made_at else ""
    if not all(state[name] for name in ("source", "status", "made_at")):
        raise LoreError("history_of lacks source, status or made_at")
    return state


def merge_notes(purges: Sequence[tuple[str, bool]], back: Sequence[str]) -> list[str]:
    """Return what is to be said of what was deleted elsewhere, or is ``back`` after that."""
    notes = []
    if back:
        what = _listed(back, "was", "were")
        notes.append(f"{what} deleted for good here, and edited elsewhere after that: back again")
    for id, lives in purges[:_NAMED]:
        after = ", and edited after that: it stays" if lives else ""
        notes.append(f"{id} was deleted for good elsewhere{after}")
    if len(purges) > _NAMED:
        notes.append(f"{len(purges) - _NAMED} more were deleted for good elsewhere")
    return notes


def notes_of_proposed(ids: Sequence[str], edited: Sequence[str]) -> list[str]:
    """Return what is to be said of records that were forgotten since a file has their purge, and
    of those that were ``edited`` after that."""
    notes = []
    if edited:
        one = edited[0]
        notes.append(f"{_listed(edited, 'was', 'were')} deleted for good elsewhere, and edited "
                     f"after that: others are told of the edits alone; 'lore restore {one}' tells "
                     f"all of it, 'lore forget --purge {one}' deletes it")  # fmt: skip
    if len(ids) == 1:
        id = ids[0]
        notes.append(f"{id} was deleted for good elsewhere, and is forgotten here: 'lore forget "
                     f"--purge {id}' deletes it, 'lore undo {id}' brings it back")  # fmt: skip
    elif ids:
        more = ", …" if len(ids) > _NAMED else ""
        notes.append(f"{len(ids)} records were deleted for good elsewhere, and are forgotten here "
                     f"({', '.join(ids[:_NAMED])}{more}): 'lore forget --purge --proposed' deletes "
                     "them, 'lore undo' brings them back")  # fmt: skip
    return notes


def notes_of_forgotten(ids: Sequence[str]) -> list[str]:
    """Return what is to be said of lines by hand for what is forgotten."""
    if not ids:
        return []
    them = "it" if len(ids) == 1 else "them"
    return [
        f"{_listed(ids, 'is', 'are')} forgotten and {'stays' if len(ids) == 1 else 'stay'} so: "
        f"'lore undo {ids[0] if len(ids) == 1 else 'ID'}' brings {them} back"
    ]


def notes_of_loose(keys: Sequence[EdgeKey]) -> list[str]:
    """Return what is to be said of links that came in and have an end that is no more."""
    if not keys:
        return []
    what = counted(len(keys), "link leads", "links lead")
    from_id, to_id, relation = keys[0]
    return [
        f"{what} to what was forgotten or deleted for good ({from_id} {relation} {to_id}): "
        "'lore undo ID' brings back what was forgotten"
    ]


def notes_of_contested(edges: Sequence[Edge]) -> list[str]:
    """Return what is to be said of values that came in and stand beside another."""
    facts = [f"{edge.from_id} {edge.relation} {edge.to_id}" for edge in edges[:_NAMED]]
    notes = [f"{fact} stands beside another value, and the predicate has one: "
             f"'lore confirm {fact}' or another settles it" for fact in facts]  # fmt: skip
    if len(edges) > _NAMED:
        notes.append(f"{len(edges) - _NAMED} more stand beside another value")
    return notes


def _listed(ids: Sequence[str], one: str, many: str) -> str:
    """Return the first of the ids and how many more there are, with the verb."""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"{', '.join(ids[:_NAMED])}{more} {one if len(ids) == 1 else many}"


NODE_DEFAULTS: dict[str, Any] = {
    "title": "", "body": "", "status": "confirmed", "source": "user_edit", "confidence": 1.0,
    "category": None, "tags": [], "file": None, "line_start": None, "line_end": None, "data": {},
    "accessed_at": None, "access_count": 0, "invalidated_at": None, "changed_at": None,
    "stamps": "",
}  # fmt: skip
EDGE_DEFAULTS: dict[str, Any] = {
    "source": "user_edit", "status": "confirmed", "metadata": {}, "accessed_at": None,
    "access_count": 0, "invalidated_at": None, "changed_at": None,
}  # fmt: skip

READS = ("accessed_at", "access_count")
"""The fields that say who has read it, which no state of a record or a link is told by."""


def export_lines(
    store: Store, types: Collection[str] = (), *, history: bool = True, shared: bool = False
) -> Iterator[str]:
    """Yield everything in the store as JSON lines, sorted: the same knowledge, the same lines.

    With ``types``, the nodes of these alone, with their anchors and all of their edges;
    without ``history``, what is now and not what was. ``shared``: as others are told, without
    what they want deleted for good, as though it were.
    """
    deleted = store.history.deleted()
    gone = deleted if shared else store.history.purged()

    def kept(at: str, *ids: str) -> bool:
        if any(id in gone and at <= gone[id] for id in ids):
            return False
        return not types or any(id.partition("-")[0] in types for id in ids)

    for declared in declarations(store):
        yield line_of(declared)
    for id, at in deleted.items():
        if not types or id.partition("-")[0] in types:
            yield line_of({"purged": id, "at": at})
    for node, was in told_nodes(store, gone):
        if kept(clock(node), node.id):
            yield line_of(node_fields(node, was))
    for edge in store.edges.all():
        if kept(clock(edge), edge.from_id, edge.to_id):
            if edge.from_id in gone or edge.to_id in gone:
                count_no_reads(edge)
            yield line_of(edge_fields(edge))
    if history:
        for id, stamp, values in told_past(store):
            if kept(stamp.partition(" ")[0], id):
                yield line_of(past_fields(id, stamp, values))
        for state in told_past_edges(store):
            if kept(*(str(state[name]) for name in ("made_at", "from_id", "to_id"))):
                yield line_of(past_edge_fields(state))
    for fields in anchor_lines(store, history=history):
        if "anchor_of" in fields:
            is_kept = kept(fields["created_at"], fields["anchor_of"])
        else:
            is_kept = kept(fields["changed_at"], fields["anchor_history_of"])
        if is_kept:
            yield line_of(fields)


def declarations(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the types and relations that were declared in a store, as fields of a line."""
    for name, (at, text) in store.types.declared().items():
        yield {"declare_type": name, "description": text, "at": at}
    for name, (at, (weight, backward, text)) in store.relations.declared().items():
        weights = {"weight": weight, "backward_weight": backward}
        yield {"declare_relation": name, **weights, "description": text, "at": at}


def node_fields(node: Node, was: list[str]) -> dict[str, Any]:
    """Return a node as a line has it; ``was`` has the stamps of other changes that it has seen."""
    fields = _without_defaults(_plain(node.to_dict()), NODE_DEFAULTS)
    if node.stamps:
        fields["stamps"] = json.loads(node.stamps)
    return {**fields, "was": was} if was else fields


def edge_fields(edge: Edge) -> dict[str, Any]:
    """Return an edge as a line has it: it ended when somebody ended it."""
    edge = copy(edge)
    edge.invalidated_at = edge.ended_at
    set_clock(edge, clock(edge))
    fields = edge.to_dict()
    del fields["ended_at"]
    return _without_defaults(_plain(fields), EDGE_DEFAULTS)


def past_fields(id: str, stamp: str, values: dict[str, str]) -> dict[str, Any]:
    """Return what a node has left of one change; values are JSON, empty for a default."""
    said: dict[str, Any] = {}
    tags: dict[bool, list[str]] = {True: [], False: []}
    data: dict[str, Any] = {}
    lacked: list[str] = []
    for name, value in sorted(values.items()):
        if name == BASE:
            said["base"] = 1
        elif name.startswith(TAG):
            tags[bool(value)].append(name[len(TAG) :])
        elif name.startswith(DATA):
            if value:
                data[name[len(DATA) :]] = json.loads(value)
            else:
                lacked.append(name[len(DATA) :])
        elif name == "place":
            place = json.loads(value) if value else (None, None, None)
            said.update(zip(PLACE, place, strict=True))
        else:
            said[name] = json.loads(value) if value else DEFAULTS[name]
    parts = {"tags": tags[True], "without": tags[False], "data": data, "lacked": lacked}
    return {"state_of": id, "stamp": stamp, **said, **{n: one for n, one in parts.items() if one}}


def past_edge_fields(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state that an edge has left."""
    fields = _plain(state)
    key = [fields.pop(name) for name in KEY]
    return {"history_of": key, **fields}


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    fields = dict(fields)
    if "tags" in fields:
        fields["tags"] = sorted(fields["tags"])
    for name in ("data", "metadata"):
        text = fields.get(name, "{}")
        if text != "{}":
            fields[name] = json.loads(json.dumps(json.loads(text), sort_keys=True))
        elif name in fields:
            fields[name] = {}
    return fields


def _without_defaults(fields: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in fields.items()
        if name not in defaults or value != defaults[name]
    }


def line_of(fields: dict[str, Any]) -> str:
    """Return one line, with nothing in it that a terminal obeys."""
    return harmless(json.dumps(fields, ensure_ascii=False)) + "\n"


_OF_A_NODE = ("id", "state_of", "anchor_of", "anchor_history_of")
_FOREIGN = "belongs to another scope: import it under that one, or under none"


class ScopedLines:
    """The lines of one import. Each is seen first (``see``), and then told (``told``)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._own: set[str] = set()
        self._common: set[str] = set()

    def see(self, fields: dict[str, Any]) -> None:
        """Learn from the line of a node whether that is to belong to the scope."""
        id = text(fields, "id", "")
        old = self._store.nodes.get(id)
        if old is None:
            self._own.add(id)
            return
        if is_whole(fields):
            is_same = same(whole_node(fields, old.type), old)
        else:
            is_same = self._store.nodes.holds(node_from(fields, copy(old)))
        (self._common if is_same else self._own).add(id)

    def told(self, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what a line says under the scope, as lines; none where that is known as common.

        Raises:
            LoreError: it belongs to another scope.
        """
        if "from_id" in fields:
            return [*self._edge(fields)]
        if "history_of" in fields:
            return [*self._past_edge(fields)]
        if "declare_relation" in fields:
            name = self._required(text(fields, "declare_relation", ""))
            known = name in self._store.relations.all()
            return [] if known else [{**fields, "declare_relation": self._named(name)}]
        if "declare_type" in fields:
            return [] if text(fields, "declare_type", "") in self._store.types.all() else [fields]
        if "purged" in fields:
            id = self._required(text(fields, "purged", ""))
            known = id in self._store.history.purged([id])
            return [] if known else [{**fields, "purged": self._named(id)}]
        for name in _OF_A_NODE:
            if name in fields:
                id = self._required(text(fields, name, ""))
                named = self._id(id)
                is_common = named == id and id != self._named(id)
                return [] if is_common else [{**fields, name: named}]
        return [fields]

    def _edge(self, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        from_id, to_id = (self._id(text(fields, name, "")) for name in ("from_id", "to_id"))
        relation = fold(self._required(text(fields, "relation", "")))
        old = self._store.edges.get(from_id, to_id, relation)
        if old is not None and same(edge_from(fields, copy(old)), old):
            return
        yield from self._with_relation(fields, relation, [from_id, to_id])

    def _past_edge(self, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        key = fields["history_of"]
        if not isinstance(key, list) or len(key) != 3 or not all(isinstance(k, str) for k in key):
            yield fields  # which is refused as it is
            return
        ends = [self._id(id) for id in key[:2]]
        relation = self._required(key[2])
        scoped = self._relation_of(relation, ends)
        if scoped == relation and not any(end == self._named(end) for end in (*ends, relation)):
            return
        yield {**fields, "history_of": [*ends, scoped]}

    def _with_relation(
        self, fields: dict[str, Any], relation: str, ends: list[str]
    ) -> Iterator[dict[str, Any]]:
        known = self._store.relations.all()
        scoped = self._relation_of(relation, ends)
        if scoped != relation and scoped not in known and relation in known:
            weight, backward, _ = known[relation]
            yield {"declare_relation": scoped, "weight": weight, "backward_weight": backward,
                   "description": "declared"}  # fmt: skip
        yield {**fields, "from_id": ends[0], "to_id": ends[1], "relation": scoped}

    def _relation_of(self, relation: str, ends: list[str]) -> str:
        """Return the relation of an edge between these: it says whose that is where no end does,
        and where nobody else has it."""
        if relation in self._store.relations.all() and any(end == self._named(end) for end in ends):
            return relation
        return self._named(relation)

    def _id(self, id: str) -> str:
        """Return what a node is called here: as it is where it is common."""
        self._required(id)
        named = self._named(id)
        if id == named or id in self._own or id in self._common:
            return id if id in self._common else named
        get = self._store.nodes.get
        return named if get(named) is not None or get(id) is None else id

    def _named(self, name: str) -> str:
        return own(name, self._store.scope)

    def _required(self, name: str) -> str:
        if not is_seen(name, self._store.scope):
            raise LoreError(f"'{name}' {_FOREIGN}")
        return name
