"""What a JSON line says, checked: a node, an edge, or a state that one of them has left."""

from __future__ import annotations

import re

from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.line_grammar import EDGE, NODE, STATE
from ..core.model import EDGE_HISTORY, Edge, Node, Past
from ..core.states import clock
from ..core.text import counted
from ..core.vocabulary import SOURCES, STATUSES
from ..system.json_lines import parse_object
from .linefields import choice, json_object, moment, number, tags, text, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..store.protocols import EdgeKey

_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_NAME = re.compile(STATE)
_NAMED = 10


def _text(fields: dict[str, Any], name: str) -> str:
    return text(fields, name, "")


def _text_or_none(fields: dict[str, Any], name: str) -> str | None:
    return text(fields, name, "") or None


def _moment_or_none(fields: dict[str, Any], name: str) -> str | None:
    return moment(fields, name) or None


def _status(fields: dict[str, Any], name: str) -> str:
    return choice(fields, name, "", STATUSES)


def _source(fields: dict[str, Any], name: str) -> str:
    return choice(fields, name, "", SOURCES)


def _fraction(fields: dict[str, Any], name: str) -> float:
    return number(fields, name, 1.0)


def _line_number(fields: dict[str, Any], name: str) -> int | None:
    return whole_number(fields, name, None)


def _times(fields: dict[str, Any], name: str) -> int:
    return whole_number(fields, name, 0) or 0


def _object(fields: dict[str, Any], name: str) -> str:
    return json_object(fields, name, "{}")


def _tags(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    return tags(fields, ())


_RULES: dict[str, Callable[[dict[str, Any], str], object]] = {
    "status": _status, "source": _source, "moment": _moment_or_none, "text": _text_or_none,
    "count": _line_number, "fraction": _fraction, "tags": _tags, "object": _object,
}  # fmt: skip
_NODE_FIELDS = {
    **{name: _RULES[rule] for name, rule in NODE.items()},
    "title": _text, "body": _text, "access_count": _times,
}  # fmt: skip
_EDGE_FIELDS = {**{name: _RULES[rule] for name, rule in EDGE.items()}, "access_count": _times}


def parsed(line: bytes, longest: int) -> dict[str, Any]:
    """The object on one line of at most so many bytes.

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
    """What is wrong with a line of a kind that is not known."""
    found = "neither a node (id) nor an edge (from_id)"
    if not fields:
        return found
    from .. import __version__

    first = next(iter(fields))
    return f"{found}, nor what else lore {__version__} knows ('{first:.40}'): from a newer lore?"


def is_whole(fields: dict[str, Any]) -> bool:
    """Whether the line of a node is a whole state, and no edit by hand."""
    return bool(fields.get("updated_at"))


def whole_node(fields: dict[str, Any], type: str) -> Node:
    """The state that a line of an export has: what it does not say has its default."""
    node = node_from(fields, Node(text(fields, "id", ""), type))
    node.updated_at = moment(fields, "updated_at")
    node.created_at = node.created_at or node.updated_at
    return node


def names_of_states(fields: dict[str, Any]) -> list[str]:
    """The names of the states that a node has been in (``was``)."""
    names = fields.get("was")
    if names is None:
        return []
    if not isinstance(names, list) or not all(
        isinstance(name, str) and _NAME.fullmatch(name) for name in names
    ):
        raise LoreError("was is not a list of names of states")
    return names


def node_from(fields: dict[str, Any], node: Node) -> Node:
    """A node with what a line says of it, and the rest as it is."""
    for name in fields:
        if name in _NODE_FIELDS:
            setattr(node, name, _NODE_FIELDS[name](fields, name))
    node.created_at = text(fields, "created_at", node.created_at)
    return node


def edge_from(fields: dict[str, Any], edge: Edge) -> Edge:
    """An edge with what a line says of it; without a time of its end it stands."""
    edge.invalidated_at = edge.changed_at = None
    for name in fields:
        if name in _EDGE_FIELDS:
            setattr(edge, name, _EDGE_FIELDS[name](fields, name))
    edge.created_at = moment(fields, "created_at", edge.created_at)
    return edge


def past_node(fields: dict[str, Any]) -> Past:
    """A state that a node has left."""
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
    """A state that an edge has left, with the fields of ``EDGE_HISTORY``."""
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
    """What is to be said of lines by hand for what is forgotten."""
    if not ids:
        return []
    them = "it" if len(ids) == 1 else "them"
    return [
        f"{_listed(ids, 'is', 'are')} forgotten and {'stays' if len(ids) == 1 else 'stay'} so: "
        f"'lore restore {ids[0] if len(ids) == 1 else 'ID'}' brings {them} back"
    ]


def notes_of_loose(keys: Sequence[EdgeKey]) -> list[str]:
    """What is to be said of links that came in and have an end that is no more."""
    if not keys:
        return []
    what = counted(len(keys), "link leads", "links lead")
    from_id, to_id, relation = keys[0]
    return [
        f"{what} to what was forgotten or deleted for good ({from_id} {relation} {to_id}): "
        "'lore restore ID' brings back what was forgotten"
    ]


def _listed(ids: Sequence[str], one: str, many: str) -> str:
    """The first of the ids and how many more there are, with the verb."""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"{', '.join(ids[:_NAMED])}{more} {one if len(ids) == 1 else many}"
