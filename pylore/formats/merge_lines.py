"""Merging files of lines: states, conflict markers, and what is said of conflicts."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from copy import copy
from typing import NamedTuple

from ..core.errors import LoreError
from ..core.json import parse_object
from ..core.model import Edge, Node
from ..core.stamps import Stamped, conflicts, is_after, latest
from ..core.states import clock, count_no_reads, count_reads, order
from ..core.text import counted
from ..core.times import LONG_AGO
from ..core.vocabulary import DECLARED_WEIGHT
from ..records.canonical import GONE
from ..records.canonical import edge_of as past_edge_state
from .lines import (
    edge_fields,
    edge_from,
    line_of,
    node_fields,
    past_edge,
    past_edge_fields,
    past_fields,
    past_values,
    stamps_seen,
    text,
    whole_node,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ..records.merge import Conflict

    Fields = dict[str, Any]
    Key = tuple[str, ...]


_BEGIN, _BASE, _MIDDLE, _END = (mark * 7 for mark in (b"<", b"|", b"=", b">"))


def marker_of(line: bytes) -> bytes:
    """Return the marker that a line is, or nothing: no line of JSON begins as one.

    >>> marker_of(b"<<<<<<< HEAD\\n"), marker_of(b"=======\\r\\n"), marker_of(b"{}")
    (b'<<<<<<<', b'=======', b'')
    """
    mark = line[:7]
    whole = mark in (_BEGIN, _BASE, _MIDDLE, _END) and line[7:8] in (b"", b" ", b"\r", b"\n")
    return mark if whole else b""


def both_sides(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of both sides, without the markers and without what stood there before.

    A line that is left out becomes an empty one, so that the lines keep their numbers.
    """
    before = False
    for line in lines:
        mark = marker_of(line)
        if mark:
            before = mark == _BASE
        yield b"\n" if mark or before else line


EDGE_KEY = ("from_id", "to_id", "relation")
LEFT = ("changed_at", "change")
"""When and how the place of an anchor was left."""

NODE_FIELDS = frozenset((*Node.FIELDS, "was"))
EDGE_FIELDS = frozenset(Edge.FIELDS)

_LONGEST = 1 << 40
"""Bytes of a line: git holds the files in memory, and so can we."""


class LinesOfFile:
    """The lines of one file by kind; raises LoreError for one that no export has.

    Conflict markers are passed over: there both sides count.
    """

    def __init__(self, name: str, lines: Iterable[bytes]) -> None:
        self.lines: dict[Key, list[tuple[Fields, bytes]]] = {}
        """Lines that say something of one thing, by its ``key_of``."""
        self.plain: set[str] = set()
        """Lines without a time: written by hand, or of a kind that is not known here."""
        self.name = name
        for fields, key, raw in parsed(name, lines):
            if key[0] and fields.get(_TIMES.get(key[0], key[0])):
                self.lines.setdefault(key, []).append((fields, raw))
            else:
                self.plain.add(line_of(fields))


def parsed(name: str, lines: Iterable[bytes]) -> Iterator[tuple[Fields, Key, bytes]]:
    """Yield the fields of each line of a file, of both sides of a conflict, its ``key_of``, and
    itself.

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
    """Return what two lines have in common that speak of the same thing; its kind first.

    That is the field that lines of its kind are told by, and nothing for a kind that is not
    known here.

    >>> key_of({"id": "note-1", "title": "a"}), key_of({"purged": "note-1", "at": "2026-01-31"})
    (('id', 'note-1'), ('purged', 'note-1'))
    """
    kind = next((kind for kind in _KEYS if kind in fields), "")
    return (kind, *_KEYS[kind](fields)) if kind else (kind, line_of(fields))


def anchor_key(fields: Fields, name: str) -> Key:
    """Return what makes an anchor one anchor: its node, under this name, kind, path, detail."""
    return tuple(_text({"detail": "", **fields}, part) for part in (name, "kind", "path", "detail"))


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise LoreError(f"{name} is not a string")
    return value


def _named(name: str) -> Callable[[Fields], Key]:
    return lambda fields: (_text(fields, name),)


_TIMES = {"id": "updated_at", "from_id": "created_at"}
"""The time without which a line of a kind is one by hand."""


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
    "state_of": _named("state_of"),
    "history_of": _past_edge,
    "anchor_of": lambda fields: anchor_key(fields, "anchor_of"),
    "anchor_history_of": _anchor_past,
}
"""The field that a line is told by, to what makes two lines speak of the same thing."""


_NAMED = 10
_SIDES = {"ours": "here", "theirs": "there"}


def conflict_notes(conflicts: Sequence[Conflict]) -> list[str]:
    """Name the first ones, and how to see both states of one and to take the other one."""
    if not conflicts:
        return []
    notes = [_note(conflict) for conflict in conflicts[:_NAMED]]
    more = len(conflicts) - _NAMED
    rest = f"{more} more were changed on both sides; " if more > 0 else ""
    what = counted(len(conflicts), "conflict", "conflicts")
    return [*notes, f"{what}: {rest}'lore show ID --history' has both states, "
                    "'lore undo ID --at N' takes the other one"]  # fmt: skip


def _note(conflict: Conflict) -> str:
    stands = f"what is {_SIDES[conflict.stands]} stands"
    if conflict.file:
        return f"{conflict.id} was changed here and in {conflict.file}: {stands}"
    if not conflict.forgotten:
        return f"{conflict.id} was changed here and there{_in(conflict.fields)}: {stands}"
    edited = "ours" if conflict.forgotten == "theirs" else "theirs"
    where, other = _SIDES[conflict.forgotten], _SIDES[edited]
    if conflict.stands == edited:
        return f"{conflict.id} was forgotten {where}, and edited {other} after it: {stands}"
    return f"{conflict.id} was edited {other}, and forgotten {where} after it: {stands}"


def _in(fields: Sequence[str]) -> str:
    """Return which fields, for people: a tag and an entry of data by its name."""
    names = [name.replace("data.", "").replace("tags.", "tag ") for name in fields]
    return f" ({', '.join(names)})" if names else ""


class MergedLines(NamedTuple):
    """The lines of a merge, the ids of the nodes that both sides had changed, and of those that
    one side had deleted for good and the other one has edited after that.
    """

    lines: list[str]
    conflicts: list[str]
    back: list[str]


def merge_lines(
    base: Iterable[bytes], ours: Iterable[bytes], theirs: Iterable[bytes]
) -> MergedLines:
    """Return the lines of both sides, each record once, in the order of an export.

    Raises:
        LoreError: a line of a file is not one of an export; the message names both.
    """
    before = LinesOfFile("base", base)
    merge = _Merge(before, (LinesOfFile("ours", ours), LinesOfFile("theirs", theirs)))
    lines = [line for part in merge.parts() for line in part]
    return MergedLines(lines, sorted(merge.conflicts), merge.back)


class _Merge:
    """Unite what two files say: a file has of each thing what stands, and of the past what its
    lines say of it."""

    def __init__(self, base: LinesOfFile, sides: tuple[LinesOfFile, LinesOfFile]) -> None:
        self.conflicts: set[str] = set()
        self.back: list[str] = []
        self._base = base
        self._sides = sides
        self._keys: dict[str, list[Key]] = {}
        for key in sorted({key for side in sides for key in side.lines}):
            self._keys.setdefault(key[0], []).append(key)
        self._purged = {key[1]: max(str(one["at"]) for one, _ in self._of(key))
                        for key in self._keys.get("purged", ())}  # fmt: skip

    def parts(self) -> Iterator[Iterable[str]]:
        """Yield the lines, by kind."""
        for kind in ("declare_type", "declare_relation"):
            yield (line_of(max((one for one, _ in self._of(key)), key=_declared))
                   for key in self._keys.get(kind, ()))  # fmt: skip
        yield (line_of({"purged": id, "at": at}) for id, at in sorted(self._purged.items()))
        yield [*self._nodes()]
        yield [*self._edges()]
        yield self._past()
        yield self._past_edges()
        yield self._anchors()
        yield self._anchor_history()
        yield sorted(self._plain())

    def _of(self, key: Key) -> list[tuple[Fields, bytes]]:
        """Return the lines of both sides about one thing."""
        return [one for side in self._sides for one in side.lines.get(key, ())]

    def _read(self, key: Key, reader: Callable[[Fields], Any]) -> list[Any]:
        return [found for side in self._sides for found in _read(side, key, reader)]

    def _gone(self, *ids: str) -> str:
        """Return when the last of these nodes was deleted for good; nothing where none was."""
        return max(self._purged.get(id, "") for id in ids)

    # --- what is

    def _nodes(self) -> Iterator[str]:
        for key in self._keys.get("id", ()):
            id = key[1]
            gone = self._gone(id)
            if not gone and (line := _on_both_sides(self._of(key))):
                yield line
                continue
            every = self._read(key, _node)
            states = [(node, Stamped.of(node).after(gone), was) for node, was in every]
            states = [one for one in states if not one[1].is_empty()]
            if not states:
                continue
            if gone and self._is_back(id):
                self.back.append(id)
            before = self._before(id) if len(states) > 1 else Stamped("", {})
            states = [(node, one if node.stamps else one.seen_as(before), was)
                      for node, one, was in states]  # fmt: skip
            node, whole, _ = states[0]
            for other in states[1:]:
                whole = whole.joined(other[1])
            whole = whole.having({name: value for _, one, _ in states
                                  for name, value in one.edited(before).items()
                                  if whole.at(name)[0] == before.at(name)[0]})  # fmt: skip
            self._note(id, states, before.stamps())
            node = whole.to_node(node)
            count_reads(node, *(one for one, _, _ in states))
            if gone:
                count_no_reads(node)
            own = whole.stamps()
            seen = {stamp for _, one, was in states for stamp in (*was, *one.stamps())}
            seen = {stamp for stamp in seen if is_after(stamp, gone)}
            was = [one for one in latest(seen | own) if one not in own]
            yield line_of({**node_fields(node, was), **self._unknown(key, NODE_FIELDS)})

    def _before(self, id: str) -> Stamped:
        """Return the values in the file that both sides have changed; without one, none."""
        found = [Stamped.of(node) for node, _ in _read(self._base, ("id", id), _node)]
        return found[0] if found else Stamped("", {})

    def _is_back(self, id: str) -> bool:
        """Return whether a side had deleted a node for good, and did not have it again."""
        return any(("purged", id) in side.lines and ("id", id) not in side.lines
                   for side in self._sides)  # fmt: skip

    def _note(
        self, id: str, states: Sequence[tuple[Node, Stamped, list[str]]], base: set[str]
    ) -> None:
        """Name a conflict: both sides have changed what the file before had, or one thing anew."""
        _, ours, was = states[0]
        for _, theirs, seen in states[1:]:
            here, there = (base | {*names, *one.stamps()} for names, one in
                           ((was, ours), (seen, theirs)))  # fmt: skip
            if conflicts(ours, here, theirs, there):
                self.conflicts.add(id)

    def _edges(self) -> Iterator[str]:
        for key in self._keys.get("from_id", ()):
            gone = self._gone(*key[1:3])
            if not gone and (line := _on_both_sides(self._of(key))):
                yield line
                continue
            edges = [edge for edge in self._read(key, _edge) if clock(edge) > gone]
            if edges:
                best = copy(max(edges, key=order))
                count_reads(best, *edges)
                if gone:
                    count_no_reads(best)
                yield line_of({**edge_fields(best), **self._unknown(key, EDGE_FIELDS)})

    def _unknown(self, key: Key, known: frozenset[str]) -> Fields:
        """Return what lines say beside what this lore knows: a newer one may have written it."""
        found: Fields = {}
        for fields, _ in sorted(self._of(key), key=lambda one: line_of(one[0])):
            found.update((name, value) for name, value in fields.items() if name not in known)
        return found

    # --- what was

    def _past(self) -> Iterator[str]:
        for key in self._keys.get("state_of", ()):
            gone = self._gone(key[1])
            found: dict[str, dict[str, set[str]]] = {}
            for _, values in self._read(key, past_values):
                for name, (stamp, value) in values:
                    if is_after(stamp, gone):
                        found.setdefault(stamp, {}).setdefault(name, set()).add(value)
            for stamp, of in sorted(found.items()):
                yield from _lines_of_past(key[1], stamp, of)

    def _past_edges(self) -> Iterator[str]:
        for key in self._keys.get("history_of", ()):
            gone = self._gone(*key[1:3])
            found = {order(past_edge_state(one)): one for one in self._read(key, past_edge)
                     if str(one["made_at"]) > gone}  # fmt: skip
            yield from (line_of(past_edge_fields(found[name])) for name in sorted(found))

    # --- what else there is

    def _anchors(self) -> Iterator[str]:
        taken: dict[Key, str] = {}
        for fields in self._left():
            if fields["change"] in GONE:
                key = anchor_key(fields, "anchor_history_of")
                taken[key] = max(fields["changed_at"], taken.get(key, ""))
        for whole in self._keys.get("anchor_of", ()):
            key = whole[1:]
            stands: Fields = max((one for one, _ in self._of(whole)), key=_judged)
            made = str(stands.get("created_at") or "")
            if not made or made > max(self._gone(key[0]), taken.get(key, "")):
                yield line_of(stands)

    def _anchor_history(self) -> Iterator[str]:
        for fields in sorted(self._left(), key=_when_left):
            if fields["changed_at"] > self._gone(fields["anchor_history_of"]):
                yield line_of(fields)

    def _left(self) -> list[Fields]:
        """Return what anchors have left, each once."""
        lines = {line_of(one) for key in self._keys.get("anchor_history_of", ())
                 for one, _ in self._of(key)}  # fmt: skip
        return [*map(json.loads, sorted(lines))]

    def _plain(self) -> set[str]:
        """Return what both have, and what one has and the file before has not."""
        ours, theirs = (side.plain for side in self._sides)
        return (ours & theirs) | ((ours | theirs) - self._base.plain)


def _read(side: LinesOfFile, key: Key, reader: Callable[[Fields], Any]) -> list[Any]:
    """Return what the lines of one file say of one thing.

    Raises:
        LoreError: a line is not one of an export; the message has the file's name and its key.
    """
    try:
        return [reader(fields) for fields, _ in side.lines.get(key, ())]
    except LoreError as error:
        raise LoreError(f"{side.name}: '{' '.join(key[1:])}': {error}") from None


def _node(fields: Fields) -> tuple[Node, list[str]]:
    type = text(fields, "type", fields["id"].partition("-")[0])
    return whole_node(fields, type), stamps_seen(fields)


def _edge(fields: Fields) -> Edge:
    return edge_from(fields, Edge(*(fields[name] for name in EDGE_KEY)))


def _lines_of_past(id: str, stamp: str, of: dict[str, set[str]]) -> Iterator[str]:
    """Yield a line, and one more for each further value that one change has for a field."""
    while of:
        yield line_of(past_fields(id, stamp, {name: min(some) for name, some in of.items()}))
        of = {name: some - {min(some)} for name, some in of.items() if len(some) > 1}


def _on_both_sides(lines: Sequence[tuple[Fields, bytes]]) -> str:
    """Return the line that both files have, if it is one and the same: most are, and need no
    reading."""
    one = lines[0][1]
    if len(lines) != 2 or lines[1][1] != one or not one.endswith(b"}\n"):
        return ""
    return one.decode()


def _declared(fields: Fields) -> tuple[Any, ...]:
    weight = float(fields.get("weight", DECLARED_WEIGHT))
    backward = float(fields.get("backward_weight", weight))
    return str(fields.get("at") or LONG_AGO), weight, backward, fields.get("description", "")


def _judged(fields: Fields) -> list[str]:
    made = fields.get("created_at")
    verified, verdict = fields.get("verified_at") or made, fields.get("verdict", "valid")
    rest = (fields.get(name) for name in ("reason", "hash", "commit_id", "root"))
    return [str(value or "") for value in (made, verified, verdict, *rest)]


def _when_left(fields: Fields) -> list[str]:
    return [fields["anchor_history_of"], fields["changed_at"], *map(str, fields.values())]
