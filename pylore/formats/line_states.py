"""The lines of one export, sorted into what they speak of, without a store.

A line with its time is a whole state of a node or an edge; what it does not say is as in a
new one. A line without a time was written by hand, and says what is to be changed.
"""

from __future__ import annotations

from codecs import BOM_UTF8

from ..core.errors import LoreError
from ..core.model import Edge, Node
from ..core.states import order
from ..records.exchange import edge_of as past_edge_state
from ..system.json_lines import parse_object
from .conflict_markers import both_sides
from .linefields import text
from .lines_in import edge_from, names_of_states, past_edge, past_node, whole_node
from .lines_out import line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..core.states import Order

    Fields = dict[str, Any]
    Key = tuple[str, ...]

EDGE_KEY = ("from_id", "to_id", "relation")
LEFT = ("changed_at", "change")
"""When and how a past state was left."""

NODE_FIELDS = (*Node.__slots__, "was")
EDGE_FIELDS = Edge.__slots__

_LONGEST = 1 << 40
"""Bytes of a line: git holds the files in memory, and so can we."""


class LineState:
    """What one line says of a node or an edge; it is read when it is asked for.

    Raises:
        LoreError: the line is not one of an export; the message has the file's name and its key.
    """

    __slots__ = ("_place", "_read", "fields", "raw")

    def __init__(
        self, fields: Fields, raw: bytes = b"", place: str = "", state: Any = None
    ) -> None:
        self.fields = fields
        self.raw = raw
        self._place = place
        self._read: tuple[Any, Order] | None = None if state is None else (state, order(state))

    @property
    def state(self) -> Any:
        """The node or the edge."""
        return self._found()[0]

    @property
    def order(self) -> Order:
        """What it is compared by: ``states.order``."""
        return self._found()[1]

    def _found(self) -> tuple[Any, Order]:
        if self._read is None:
            kind, *key = key_of(self.fields)
            try:
                state = _STATES[kind][0](self.fields)
            except LoreError as error:
                raise LoreError(f"{self._place}: '{' '.join(key)}': {error}") from None
            self._read = state, order(state)
        return self._read


class LinesOfFile:
    """The lines of one file by kind; raises LoreError for one that no export has.

    Conflict markers are passed over: there both sides count.
    """

    def __init__(self, name: str, lines: Iterable[bytes]) -> None:
        self.states: dict[Key, list[LineState]] = {}
        """Of nodes and edges, as they are and as they were, by ``key_of``."""
        self.others: dict[Key, list[Fields]] = {}
        """Lines of which one stands for all with its ``key_of``."""
        self.dated: set[str] = set()
        """History that says when it was left alone, and not when it was made."""
        self.plain: set[str] = set()
        """Lines without a state: written by hand, or of a kind that is not known here."""
        for fields, key, raw in parsed(name, lines):
            kind = key[0]
            if kind in _STATES and fields.get(_STATES[kind][1]):
                self.states.setdefault(key, []).append(LineState(fields, raw, name))
            elif kind in ("anchor_history_of", "history_of"):
                self.dated.add(line_of(fields))
            elif kind in _STATES or not kind:
                self.plain.add(line_of(fields))
            else:
                self.others.setdefault(key, []).append(fields)


def parsed(name: str, lines: Iterable[bytes]) -> Iterator[tuple[Fields, Key, bytes]]:
    """The fields of each line of a file, of both sides of a conflict, its ``key_of``, and itself.

    Raises:
        LoreError: a line is not JSON, or lacks what its kind is told by.
    """
    for number, line in enumerate(both_sides(lines), start=1):
        line = line.removeprefix(BOM_UTF8) if number == 1 else line
        if line.strip():
            try:
                fields = parse_object(line, _LONGEST)
                yield fields, key_of(fields), line
            except LoreError as error:
                raise LoreError(f"{name}: line {number}: {error}") from None


def key_of(fields: Fields) -> Key:
    """What two lines have in common that speak of the same thing; its kind first.

    That is the field that lines of its kind are told by, and nothing for a kind that is not
    known here.

    >>> key_of({"id": "note-1", "title": "a"}), key_of({"purged": "note-1", "at": "2026-01-31"})
    (('id', 'note-1'), ('purged', 'note-1'))
    """
    kind = next((kind for kind in _KEYS if kind in fields), "")
    return (kind, *_KEYS[kind](fields)) if kind else (kind, line_of(fields))


def anchor_key(fields: Fields, name: str) -> Key:
    """What makes an anchor one anchor: its node, under this name, kind, path, detail."""
    return tuple(_text({"detail": "", **fields}, part) for part in (name, "kind", "path", "detail"))


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise LoreError(f"{name} is not a string")
    return value


def _named(name: str) -> Callable[[Fields], Key]:
    return lambda fields: (_text(fields, name),)


def _past(fields: Fields) -> Key:
    for name in LEFT:
        _text(fields, name)
    return (_text(fields, "state_of"),)


def _past_edge(fields: Fields) -> Key:
    return tuple(str(past_edge(fields)[name]) for name in EDGE_KEY)


def _purged(fields: Fields) -> Key:
    _text(fields, "at")
    return (_text(fields, "purged"),)


def _anchor_past(fields: Fields) -> Key:
    for name in LEFT:
        _text(fields, name)
    return anchor_key(fields, "anchor_history_of")


_KEYS: dict[str, Callable[[Fields], Key]] = {
    "from_id": lambda fields: tuple(_text(fields, name) for name in EDGE_KEY),
    "id": _named("id"),
    "declare_type": _named("declare_type"),
    "declare_relation": _named("declare_relation"),
    "purged": _purged,
    "state_of": _past,
    "history_of": _past_edge,
    "anchor_of": lambda fields: anchor_key(fields, "anchor_of"),
    "anchor_history_of": _anchor_past,
}
"""The field that a line is told by, to what makes two lines speak of the same thing."""


def _node(fields: Fields) -> Node:
    names_of_states(fields)
    return whole_node(fields, text(fields, "type", fields["id"].partition("-")[0]))


def _edge(fields: Fields) -> Edge:
    return edge_from(fields, Edge(*(fields[name] for name in EDGE_KEY)))


def _past_of_node(fields: Fields) -> Node:
    return past_node(fields).node


_STATES: dict[str, tuple[Callable[[Fields], Node | Edge], str]] = {
    "from_id": (_edge, "created_at"),
    "id": (_node, "updated_at"),
    "state_of": (_past_of_node, "made_at"),
    "history_of": (lambda fields: past_edge_state(past_edge(fields)), "made_at"),
}
"""Kinds of lines that are states: how they are read, and the time without which they are none."""
