"""Lines of an export as they are read: fields, nodes, anchors, states."""

from __future__ import annotations

import json
import re

from ..anchors.project_paths import fault_of
from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.limits import DAYS_AHEAD
from ..core.line_grammar import CHANGES, EDGE, KINDS, LARGEST, NODE, STATE, TIME, VERDICTS
from ..core.model import EDGE_HISTORY, Edge, Node, Past
from ..core.states import clock
from ..core.text import clean_tags, counted, fact_sentence
from ..core.times import days_ahead
from ..core.vocabulary import SOURCES, STATUSES, THING_IDS
from ..indexing.indexer import embedded_text
from ..records.canonical import told_anchor, told_anchors, told_past_anchors, when_gone
from ..store.anchor import ANCHOR_HISTORY, Anchor
from ..system.json_lines import parse_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ..core.model import EdgeKey
    from ..embed.prefetch import Ahead
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
    for anchor in told_anchors(store):
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
    anchor.created_at = old.created_at if old else at
    told_anchor(anchor, gone)
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
_NAME = re.compile(STATE)
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
    return node


def names_of_states(fields: dict[str, Any]) -> list[str]:
    """Return the names of the states that a node has been in (``was``)."""
    names = fields.get("was")
    if names is None:
        return []
    if not isinstance(names, list) or not all(
        isinstance(name, str) and _NAME.fullmatch(name) for name in names
    ):
        raise LoreError("was is not a list of names of states")
    return names


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
    edge.created_at = moment(fields, "created_at", edge.created_at)
    return edge


def past_node(fields: dict[str, Any]) -> Past:
    """Return a state that a node has left."""
    id = check_id(text(fields, "state_of", ""))
    fields = {**fields, "changed_at": fields.get("made_at"), "left_at": fields.get("changed_at")}
    node = node_from(fields, Node(id, id.partition("-")[0]))
    node.updated_at = moment(fields, "updated_at")
    node.changed_at = clock(node)
    change, changed_at = text(fields, "change", ""), moment(fields, "left_at")
    if not (node.changed_at and change and changed_at):
        raise LoreError("state_of lacks made_at, change or changed_at")
    return Past(node, change, changed_at, None)


def past_edge(fields: dict[str, Any]) -> dict[str, object]:
    """Return a state that an edge has left, with the fields of ``EDGE_HISTORY``."""
    key = fields["history_of"]
    if not isinstance(key, list) or len(key) != 3 or not all(isinstance(k, str) for k in key):
        raise LoreError("history_of is not a list [from, to, relation]")
    state: dict[str, object] = dict(zip(EDGE_HISTORY, key, strict=False))
    state["weight"] = number(fields, "weight", 1.0)
    for name in ("source", "status"):
        state[name] = text(fields, name, "") or None
    state["metadata"] = json_object(fields, "metadata", "{}")
    state["invalidated_at"] = moment(fields, "invalidated_at") or None
    state["change"] = text(fields, "change", "") or None
    state["changed_at"] = moment(fields, "changed_at") or None
    made_at = moment(fields, "made_at")
    state["made_at"] = max(made_at, str(state["invalidated_at"] or "")) if made_at else ""
    if not all(state[name] for name in ("source", "status", "change", "changed_at")):
        raise LoreError("history_of lacks source, status, change or changed_at")
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


def notes_of_proposed(ids: Sequence[str]) -> list[str]:
    """Return what is to be said of records that were forgotten since a file has their purge."""
    if not ids:
        return []
    if len(ids) == 1:
        id = ids[0]
        return [f"{id} was deleted for good elsewhere, and is forgotten here: 'lore forget "
                f"--purge {id}' deletes it, 'lore restore {id}' brings it back"]  # fmt: skip
    more = ", …" if len(ids) > _NAMED else ""
    return [f"{len(ids)} records were deleted for good elsewhere, and are forgotten here "
            f"({', '.join(ids[:_NAMED])}{more}): 'lore forget --purge --proposed' deletes them, "
            "'lore undo' brings them back"]  # fmt: skip


def notes_of_forgotten(ids: Sequence[str]) -> list[str]:
    """Return what is to be said of lines by hand for what is forgotten."""
    if not ids:
        return []
    them = "it" if len(ids) == 1 else "them"
    return [
        f"{_listed(ids, 'is', 'are')} forgotten and {'stays' if len(ids) == 1 else 'stay'} so: "
        f"'lore restore {ids[0] if len(ids) == 1 else 'ID'}' brings {them} back"
    ]


def notes_of_loose(keys: Sequence[EdgeKey]) -> list[str]:
    """Return what is to be said of links that came in and have an end that is no more."""
    if not keys:
        return []
    what = counted(len(keys), "link leads", "links lead")
    from_id, to_id, relation = keys[0]
    return [
        f"{what} to what was forgotten or deleted for good ({from_id} {relation} {to_id}): "
        "'lore restore ID' brings back what was forgotten"
    ]


def _listed(ids: Sequence[str], one: str, many: str) -> str:
    """Return the first of the ids and how many more there are, with the verb."""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"{', '.join(ids[:_NAMED])}{more} {one if len(ids) == 1 else many}"


BATCH = 1000
"""Facts that are examined together."""


class FactsAhead:
    """Titles of things and edges between them, in any order. A sentence that comes out
    otherwise, or is not foreseen, is embedded later."""

    def __init__(self, store: Store, ahead: Ahead) -> None:
        self._store = store
        self._ahead = ahead
        self._titles: dict[str, str] = {}
        self._facts: list[tuple[str, str, str]] = []

    def node(self, fields: dict[str, Any]) -> None:
        """Learn the title of a thing."""
        id, title = fields.get("id"), fields.get("title")
        if isinstance(id, str) and isinstance(title, str) and id.startswith(THING_IDS):
            self._titles[id] = title

    def edge(self, fields: dict[str, Any]) -> None:
        """Learn what is stated by an edge."""
        ends = fields.get("from_id"), fields.get("to_id")
        if not all(isinstance(id, str) and id.startswith(THING_IDS) for id in ends):
            return
        if fields.get("invalidated_at") or fields.get("source") == "system":
            return
        metadata = fields.get("metadata")
        said = metadata.get("predicate") if isinstance(metadata, dict) else None
        predicate = said if isinstance(said, str) and said.strip() else fields.get("relation")
        self._facts.append((str(ends[0]), str(predicate), str(ends[1])))

    def prepare(self) -> None:
        """Embed the sentences that the store has not got."""
        for start in range(0, len(self._facts), BATCH):
            facts = self._facts[start : start + BATCH]
            ends = {id for one, _, other in facts for id in (one, other)}
            known = self._store.nodes.briefs([*ends - self._titles.keys()])
            titles = self._titles | {id: str(row[1]) for id, row in known.items()}
            sentences = (
                fact_sentence(titles[one], predicate, titles[other])
                for one, predicate, other in facts if one in titles and other in titles
            )  # fmt: skip
            subjects = [*dict.fromkeys(one for one, _, _ in facts)]
            held = {text for _, text in self._store.facts.passages(subjects).values()}
            self._ahead.prepare(embedded_text("", text) for text in sentences if text not in held)
        self._facts = []
