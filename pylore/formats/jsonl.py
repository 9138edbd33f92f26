"""JSON lines: the format of import, export and backup.

A line is one object, told by its fields: a node has ``id``, an edge ``from_id``,
a declared type ``declare_type``, a declared relation ``declare_relation``, a past
state of an edge ``history_of``, an anchor ``anchor_of`` (see ``anchorlines``). A node
needs ``id`` and ``type`` alone, an edge ``from_id``, ``to_id`` and ``relation``.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterator

from ..core.errors import LoreError, StoreError, nearest
from ..core.ids import check_id
from ..core.limits import record_line
from ..core.model import EDGE_HISTORY, Edge, Node, Record
from ..core.text import clean_tags
from ..core.times import now
from ..core.vocabulary import DECLARED_WEIGHT, RELATIONS, SOURCES, STATUSES, TYPES
from ..embed.ahead import Ahead
from ..graph.relations import fold, require_name
from ..indexing.indexer import Index, Waiting, texts_of
from ..system.json_encode import harmless
from ..system.json_lines import parse_object
from .anchorlines import anchor_lines, take_anchor, take_anchor_history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import IO, Any

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store


_IN_MEMORY = 8_000_000
"""Bytes of a pipe; more go to a file."""


class Imported(Record):
    """What an import did, as counts; ``notes`` are for people.

    ``skipped`` holds (place, what was wrong) of what was left out, ``dangling`` counts
    the edges of the store that lead nowhere, ``unresolved`` the links of documents that
    lead to nothing, ``invalidated`` the edges whose document no longer has the link,
    ``pruned`` the documents that were forgotten because their files are gone. ``kept`` counts
    what stayed as it was here, and ``conflicts`` what was changed on both sides since they
    last agreed: ``conflicting`` has the ids.
    """

    __slots__ = (
        "added", "conflicting", "conflicts", "dangling", "edges", "invalidated", "kept", "nodes",
        "notes", "pruned", "skipped", "unchanged", "unresolved", "updated",
    )  # fmt: skip

    def __init__(self) -> None:
        self.nodes = 0
        self.edges = 0
        self.added = 0
        self.updated = 0
        self.unchanged = 0
        self.invalidated = 0
        self.dangling = 0
        self.unresolved = 0
        self.kept = 0
        self.conflicts = 0
        self.pruned = 0
        self.conflicting: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def count(self, state: str) -> None:
        """Counts one write by its state."""
        setattr(self, state, getattr(self, state) + 1)


def import_lines(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    lines: Iterable[bytes],
    *,
    name: str = "",
    skip_bad: bool = False,
    new_relations: bool = False,
    new_types: bool = False,
    progress: Callable[[int], None] = lambda size: None,
) -> Imported:
    """Reads lines into the store, in one transaction; the same lines twice change nothing.

    Fields that a line does not have stay as they are. ``name`` is the file, for
    messages; ``progress`` hears how many bytes each line had, when it is read for its
    texts and when it is written.

    Raises:
        LoreError: a line is broken (its number is named) and ``skip_bad`` is not
            set; nothing is imported then.
    """
    ahead = Ahead(store, lambda: embedder)
    part = LineImport(
        store, settings, ahead, lines, name=name, skip_bad=skip_bad,
        new_relations=new_relations, new_types=new_types, progress=progress,
    )  # fmt: skip
    part.prepare()
    return ahead.settled(part.write, "import")


class LineImport:
    """One import of lines, in two steps: the store is locked for the second one alone.

    The fields are those of ``import_lines``.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        ahead: Ahead,
        lines: Iterable[bytes],
        *,
        name: str,
        skip_bad: bool,
        new_relations: bool,
        new_types: bool,
        progress: Callable[[int], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._longest = record_line(settings.max_text)
        self._ahead = ahead
        self._lines = lines
        self._name = name
        self._skip_bad = skip_bad
        self._new = (new_relations, new_types)
        self._progress = progress

    def prepare(self) -> None:
        """Reads all lines, those of a pipe for good, and embeds what is new in them."""
        if isinstance(self._lines, Iterator):
            self._lines = _set_aside(self._lines)
        for _, line in self._numbered():
            try:
                fields = parse_object(line, self._longest)
                if "id" in fields and "from_id" not in fields:
                    self._expect(fields)
            except LoreError:
                if not self._skip_bad:
                    return  # ``write`` comes to it too, and says where

    def write(self) -> Imported:
        """Writes what the lines say; the caller holds a transaction."""
        importer = _LineImporter(self._store, self._settings, self._ahead.given, *self._new)
        for number, line in self._numbered():
            try:
                importer.take(parse_object(line, self._longest))
            except StoreError:
                raise
            except LoreError as error:
                place = f"{self._name}: line {number}" if self._name else f"line {number}"
                if not self._skip_bad:
                    raise LoreError(
                        f"{place}: {error}: nothing was imported; "
                        "mend it, or leave such lines out with --skip-bad"
                    ) from None
                importer.result.skipped.append((place, str(error)))
        importer.finish()
        return importer.result

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        """The lines that say something, with their numbers."""
        for number, line in enumerate(self._lines, start=1):
            self._progress(len(line))
            if line.strip():
                yield number, line.removeprefix(BOM_UTF8) if number == 1 else line

    def _expect(self, fields: dict[str, Any]) -> None:
        id = check_id(_text(fields, "id", ""))
        old = self._store.nodes.get(id)
        node = _node_from(fields, old or Node(id, _text(fields, "type", id.partition("-")[0])))
        if old is None or not self._store.nodes.holds(node):
            self._ahead.prepare(texts_of(node))


def _set_aside(lines: Iterable[bytes]) -> Iterable[bytes]:
    """What can be read once alone, kept in a file without a name, so that a kill leaves none."""
    from tempfile import SpooledTemporaryFile

    kept = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
    kept.writelines(line if line.endswith(b"\n") else line + b"\n" for line in lines)
    return _KeptLines(kept)


class _KeptLines:
    """The lines of an open file, from the first one whenever they are asked for."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        return iter(self._file)


def export_lines(store: Store, types: Collection[str] = ()) -> Iterator[str]:
    """Everything in the store as JSON lines, sorted: the same store, the same lines.

    With ``types``, the nodes of these alone, with their anchors and all of their edges.
    """

    def kept(*ids: object) -> bool:
        return not types or any(str(id).partition("-")[0] in types for id in ids)

    for name, text in store.types.all().items():
        if TYPES.get(name) != text:
            yield _line({"declare_type": name, "description": text})
    for name, (weight, backward, text) in store.relations.all().items():
        if RELATIONS.get(name) != (weight, backward, text):
            yield _line(
                {
                    "declare_relation": name,
                    "weight": weight,
                    "backward_weight": backward,
                    "description": text,
                }
            )
    for node in store.nodes.all():
        if kept(node.id):
            fields = node.to_dict()
            fields["tags"] = list(node.tags)
            fields["data"] = json.loads(node.data)
            yield _line(_without_defaults(fields, _NODE_DEFAULTS))
    for edge in store.edges.all():
        if kept(edge.from_id, edge.to_id):
            fields = edge.to_dict()
            fields["metadata"] = json.loads(edge.metadata)
            yield _line(_without_defaults(fields, _EDGE_DEFAULTS))
    for state in store.edges.history():
        state["metadata"] = json.loads(str(state["metadata"]))
        key = [state.pop(name) for name in ("from_id", "to_id", "relation")]
        if kept(*key[:2]):
            yield _line({"history_of": key, **state})
    for fields in anchor_lines(store):
        if kept(fields.get("anchor_of") or fields.get("anchor_history_of")):
            yield _line(fields)


_NODE_DEFAULTS: dict[str, Any] = {
    "title": "", "body": "", "status": "confirmed", "source": "user_edit", "confidence": 1.0,
    "category": None, "tags": [], "file": None, "line_start": None, "line_end": None, "data": {},
    "accessed_at": None, "access_count": 0, "invalidated_at": None, "changed_at": None,
}  # fmt: skip
_EDGE_DEFAULTS: dict[str, Any] = {
    "source": "user_edit", "status": "confirmed", "metadata": {}, "accessed_at": None,
    "access_count": 0, "invalidated_at": None, "changed_at": None,
}  # fmt: skip


def _without_defaults(fields: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in fields.items()
        if name not in defaults or value != defaults[name]
    }


def _line(fields: dict[str, Any]) -> str:
    return harmless(json.dumps(fields, ensure_ascii=False)) + "\n"


class _LineImporter:
    """Writes parsed lines; indexes nodes in batches."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        embedder: Embedder | None,
        new_relations: bool,
        new_types: bool,
    ) -> None:
        self.result = Imported()
        self._store = store
        self._settings = settings
        self._waiting = Waiting(Index(store, embedder, self.result.notes))
        self._new_relations = new_relations
        self._new_types = new_types
        self._types = store.types.all()
        self._relations = set(store.relations.all())
        self._history: dict[int, int] = {}
        self._now = now()

    def take(self, fields: dict[str, Any]) -> None:
        """Writes one line, by its kind."""
        if "from_id" in fields:
            self._take_edge(fields)
        elif "id" in fields:
            self._take_node(fields)
        elif "declare_relation" in fields:
            self._take_relation(fields)
        elif "declare_type" in fields:
            self._take_type(fields)
        elif "history_of" in fields:
            self._take_history(fields)
        elif "anchor_of" in fields:
            self.result.count(take_anchor(self._store, fields, self._now))
        elif "anchor_history_of" in fields:
            same = hash(tuple(map(str, fields.items())))
            self._history[same] = self._history.get(same, 0) + 1
            take_anchor_history(self._store, fields, self._history[same])
        else:
            raise LoreError("neither a node (id) nor an edge (from_id)")

    def finish(self) -> None:
        """Indexes what is left and counts edges that lead nowhere."""
        self._waiting.flush()
        if self.result.edges:
            self.result.dangling = len(self._store.edges.dangling())

    def _take_node(self, fields: dict[str, Any]) -> None:
        id = check_id(_text(fields, "id", ""))
        type = _text(fields, "type", id.partition("-")[0])
        if type not in self._types:
            if not self._new_types:
                raise LoreError(f"unknown type '{type}'{nearest(type, list(self._types))}")
            self._take_type({"declare_type": type})
        if not id.startswith(type + "-"):
            raise LoreError(f"the id '{id}' is not of type {type}")
        old = self._store.nodes.get(id)
        node = _node_from(fields, old or Node(id, type))
        self._require_lengths(node)
        node.created_at = node.created_at or self._now
        if "updated_at" not in fields:
            node.updated_at = self._now
        state = self._store.nodes.put(node)
        self.result.nodes += 1
        self.result.count(state)
        if state != "unchanged":
            self._waiting.add(node)

    def _require_lengths(self, node: Node) -> None:
        texts = {"body": node.body, "title": node.title, "list of tags": " ".join(node.tags),
                 "data": node.data}  # fmt: skip
        for name, text in texts.items():
            if len(text.encode()) > self._settings.max_text:
                raise LoreError(f"the {name} of '{node.id}' is longer than max_text "
                                f"({self._settings.max_text} bytes)")  # fmt: skip

    def _take_edge(self, fields: dict[str, Any]) -> None:
        from_id, to_id = (
            check_id(_text(fields, "from_id", "")),
            check_id(_text(fields, "to_id", "")),
        )
        relation = fold(_text(fields, "relation", ""))
        if relation not in self._relations:
            weights = self._settings.edge_weights
            if not self._new_relations and relation not in weights:
                raise LoreError(f"unknown relation '{relation}'"
                                f"{nearest(relation, list(self._relations))}")  # fmt: skip
            weight = weights.get(relation, DECLARED_WEIGHT)
            self._take_relation({"declare_relation": relation, "weight": weight})
        if from_id == to_id:
            raise LoreError(f"'{from_id}' is linked to itself")
        old = self._store.edges.get(from_id, to_id, relation)
        edge = _edge_from(fields, old or Edge(from_id, to_id, relation))
        edge.created_at = edge.created_at or self._now
        self.result.edges += 1
        self.result.count(self._store.edges.put(edge))

    def _take_relation(self, fields: dict[str, Any]) -> None:
        name = require_name(_text(fields, "declare_relation", ""), "relation")
        weight = _number(fields, "weight", DECLARED_WEIGHT)
        self._store.relations.declare(
            name,
            weight,
            _number(fields, "backward_weight", weight),
            _text(fields, "description", ""),
        )
        self._relations.add(name)

    def _take_type(self, fields: dict[str, Any]) -> None:
        name = _text(fields, "declare_type", "")
        if not (name.isascii() and name.isalpha() and name.islower()):
            raise LoreError(f"'{name}' is not a valid name for a type: use lower-case letters")
        self._store.types.declare(name, _text(fields, "description", ""))
        self._types = self._store.types.all()

    def _take_history(self, fields: dict[str, Any]) -> None:
        key = fields["history_of"]
        if not isinstance(key, list) or len(key) != 3 or not all(isinstance(k, str) for k in key):
            raise LoreError("history_of is not a list [from, to, relation]")
        state: dict[str, object] = dict(zip(EDGE_HISTORY, key, strict=False))
        state["weight"] = _number(fields, "weight", 1.0)
        for name in ("source", "status", "invalidated_at", "change", "changed_at"):
            state[name] = _text(fields, name, "") or None
        state["metadata"] = _object(fields, "metadata", "{}")
        state["made_at"] = _text(fields, "made_at", "")
        if not all(state[name] for name in ("source", "status", "change", "changed_at")):
            raise LoreError("history_of lacks source, status, change or changed_at")
        # An edge can leave one state twice within a second: the nth such line is the nth row.
        same = hash(tuple(state.values()))
        self._history[same] = self._history.get(same, 0) + 1
        self._store.edges.add_history(state, self._history[same])


def _node_from(fields: dict[str, Any], node: Node) -> Node:
    node.title = _text(fields, "title", node.title)
    node.body = _text(fields, "body", node.body)
    node.status = _choice(fields, "status", node.status, STATUSES)
    node.source = _choice(fields, "source", node.source, SOURCES)
    node.confidence = _number(fields, "confidence", node.confidence)
    node.tags = _tags(fields, node.tags)
    node.data = _object(fields, "data", node.data)
    node.access_count = _count(fields, "access_count", node.access_count) or 0
    node.line_start = _count(fields, "line_start", node.line_start)
    node.line_end = _count(fields, "line_end", node.line_end)
    for name in ("category", "file", "accessed_at", "invalidated_at", "changed_at"):
        setattr(node, name, _text(fields, name, getattr(node, name) or "") or None)
    for name in ("created_at", "updated_at"):
        setattr(node, name, _text(fields, name, getattr(node, name)))
    return node


def _edge_from(fields: dict[str, Any], edge: Edge) -> Edge:
    edge.weight = _number(fields, "weight", edge.weight)
    edge.source = _choice(fields, "source", edge.source, SOURCES)
    edge.status = _choice(fields, "status", edge.status, STATUSES)
    edge.metadata = _object(fields, "metadata", edge.metadata)
    edge.access_count = _count(fields, "access_count", edge.access_count) or 0
    edge.created_at = _text(fields, "created_at", edge.created_at)
    edge.accessed_at = _text(fields, "accessed_at", edge.accessed_at or "") or None
    edge.invalidated_at = _text(fields, "invalidated_at", "") or None
    edge.changed_at = _text(fields, "changed_at", "") or None
    return edge


# --- one field each: its value, or what is there already; LoreError where the kind is wrong


def _text(fields: dict[str, Any], name: str, default: str) -> str:
    value = fields.get(name, default)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise LoreError(f"{name} is not a string")
    return value


def _choice(fields: dict[str, Any], name: str, default: str, choices: tuple[str, ...]) -> str:
    value = _text(fields, name, default)
    if value not in choices:
        raise LoreError(f"{name} '{value}' is none of {', '.join(choices)}")
    return value


def _number(fields: dict[str, Any], name: str, default: float) -> float:
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LoreError(f"{name} is not a number")
    if not 0 <= value <= 1:  # nor is one that is infinite or no number
        raise LoreError(f"{name} is not from 0 to 1")
    return float(value)


def _count(fields: dict[str, Any], name: str, default: int | None) -> int | None:
    value = fields.get(name, default)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise LoreError(f"{name} is not a whole number")
    if value is not None and not 0 <= value < 1 << 53:
        raise LoreError(f"{name} is out of range")
    return value


def _tags(fields: dict[str, Any], default: tuple[str, ...]) -> tuple[str, ...]:
    value = fields.get("tags", default)
    if not isinstance(value, (str, list, tuple)) or not all(isinstance(tag, str) for tag in value):
        raise LoreError("tags is not a list of strings")
    return clean_tags(value)


def _object(fields: dict[str, Any], name: str, default: str) -> str:
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
