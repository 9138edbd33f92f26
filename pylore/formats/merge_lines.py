"""Merging files of lines: states, conflict markers, and what is said of conflicts."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from copy import copy

from ..core.errors import LoreError
from ..core.json import parse_object
from ..core.model import EDGE_HISTORY, Edge, Node, Past, Record
from ..core.states import (
    clock,
    greater,
    is_gone,
    is_kept,
    joined,
    latest,
    left,
    order,
    outcome,
    stands_again,
    state_name,
    told,
)
from ..core.text import counted
from ..core.vocabulary import RELATIONS, TYPES
from ..records.canonical import GONE
from ..records.canonical import edge_of as past_edge_state
from .lines import (
    edge_from,
    line_of,
    names_of_states,
    past_edge,
    past_edge_fields,
    past_fields,
    past_node,
    text,
    whole_node,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ..core.states import Order
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
"""When and how a past state was left."""

NODE_FIELDS = (*Node.__slots__, "was")
EDGE_FIELDS = Edge.__slots__

_LONGEST = 1 << 40
"""Bytes of a line: git holds the files in memory, and so can we."""


class LineState:
    """A node or an edge of one line, parsed on demand.

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
        """Return the node or the edge."""
        return self._found()[0]

    @property
    def order(self) -> Order:
        """Return what it is compared by: ``states.order``."""
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
                    "'lore restore ID --at N' takes the other one"]  # fmt: skip


def _note(conflict: Conflict) -> str:
    stands = f"what is {_SIDES[conflict.stands]} stands"
    if conflict.file:
        return f"{conflict.id} was changed here and in {conflict.file}: {stands}"
    if not conflict.forgotten:
        return f"{conflict.id} was changed here and there: {stands}"
    edited = "ours" if conflict.forgotten == "theirs" else "theirs"
    where, other = _SIDES[conflict.forgotten], _SIDES[edited]
    if conflict.stands == edited:
        return f"{conflict.id} was forgotten {where}, and edited {other} after it: {stands}"
    return f"{conflict.id} was edited {other}, and forgotten {where} after it: {stands}"


class MergedLines(Record):
    """The lines of a merge, the ids of the nodes that both sides had changed, and of those that
    one side had deleted for good and the other one has edited after that.
    """

    __slots__ = ("back", "conflicts", "lines")

    def __init__(self, lines: list[str], conflicts: list[str], back: list[str]) -> None:
        self.lines = lines
        self.conflicts = conflicts
        self.back = back


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
    def __init__(self, base: LinesOfFile, sides: tuple[LinesOfFile, LinesOfFile]) -> None:
        self.conflicts: set[str] = set()
        self.back: list[str] = []
        self._base = base
        self._sides = sides
        self._states = _gathered(*(side.states for side in sides))
        self._others = _gathered(*(side.others for side in sides))
        self._purged = {key[1]: max(str(one["at"]) for one in lines)
                        for key, lines in self._of(self._others, "purged")}  # fmt: skip
        self._names: dict[str, set[str]] = {}
        self._tells_past = any(key[0] in ("state_of", "history_of") for key in self._states)

    def parts(self) -> Iterator[Iterable[str]]:
        """Yield the lines, by kind."""
        yield self._types()
        yield self._relations()
        yield (line_of({"purged": id, "at": at}) for id, at in sorted(self._purged.items()))
        yield [*self._nodes()]
        yield [*self._edges()]
        yield self._past("state_of")
        yield self._past("history_of")
        yield self._anchors()
        yield self._anchor_history()
        yield sorted(self._plain())

    @staticmethod
    def _of(found: dict[Key, list[Any]], kind: str) -> list[tuple[Key, list[Any]]]:
        """Return what there is of a kind of lines, by its key."""
        return sorted((key, values) for key, values in found.items() if key[0] == kind)

    def _gone(self, *ids: str) -> str:
        """Return when the last of these nodes was deleted for good; nothing where none was."""
        return max(self._purged.get(id, "") for id in ids)

    # --- what is

    def _nodes(self) -> Iterator[str]:
        for (_, id), every in self._of(self._states, "id"):
            gone = self._gone(id)
            if not gone and (line := _on_both_sides(every)):
                yield line
                continue
            states = [one for one in every if clock(one.state) > gone]
            if not states:
                continue
            best, whole = _standing(states, gone)
            if gone and self._is_back(id):
                self.back.append(id)
            for one in states:
                self._note(id, one, best)
            self._keep(("state_of", id), states)
            names = {name for one in states for name in one.fields.get("was") or ()}
            names |= {state_name(one.state) for one in states}
            names = {name for name in names if name.partition(" ")[0] > gone}
            fields = _with_state(best.fields, whole, NODE_FIELDS)
            fields.pop("was", None)
            was = latest(names - {state_name(whole)})
            yield line_of({**fields, "was": was} if was else fields)

    def _is_back(self, id: str) -> bool:
        """Return whether a side had deleted a node for good, and did not have it again."""
        return any(("purged", id) in side.others and ("id", id) not in side.states
                   for side in self._sides)  # fmt: skip

    def _note(self, id: str, one: LineState, best: LineState) -> None:
        """Name a conflict, where a state was no change from another one."""
        base = {state_name(before.state) for before in self._base.states.get(("id", id), ())}
        known = [*(best.fields.get("was") or ()), *base]
        was = one.fields.get("was") or ()
        if one.order != best.order and outcome(one.state, was, best.state, known) == "conflict":
            self.conflicts.add(id)

    def _edges(self) -> Iterator[str]:
        for (_, *key), every in self._of(self._states, "from_id"):
            gone = self._gone(*key[:2])
            line = _on_both_sides(every)
            if not gone and line and "invalidated_at" not in line:
                yield line
                continue
            states = [one for one in every if not _is_gone(one, gone)]
            states += self._standing_again(key[:2], states)
            if states:
                best, whole = _standing(states, gone)
                self._keep(("history_of", *key), states)
                yield line_of(_with_state(best.fields, whole, EDGE_FIELDS))

    def _standing_again(self, ends: list[str], states: Sequence[LineState]) -> list[LineState]:
        """Return the states that follow from those of an edge whose ends have lived later."""
        ended = [one for one in states if one.state.invalidated_at]
        names = [self._names_of(id) for id in ends] if ended else []
        found = []
        for one in ended:
            again = stands_again(one.state, *names)
            if again is not None:
                fields = {**one.fields, "changed_at": again.changed_at}
                del fields["invalidated_at"]
                found.append(LineState(fields, state=again))
        return found

    def _names_of(self, id: str) -> set[str]:
        """Return the names of all states of a node that the files know."""
        if id not in self._names:
            nodes = self._states.get(("id", id), [])
            names = {name for one in nodes for name in one.fields.get("was") or ()}
            names |= {
                state_name(one.state) for one in (*nodes, *self._states.get(("state_of", id), ()))
            }
            gone = self._gone(id)
            self._names[id] = {name for name in names if name.partition(" ")[0] > gone}
        return self._names[id]

    # --- what was

    def _keep(self, key: Key, states: Sequence[LineState]) -> None:
        """Keep the states that do not stand: each was left for the next one known."""
        if not self._tells_past:
            return
        past = self._states.get(key, [])
        known = {one.order for one in past}
        every = {one.order: one.state for one in (*past, *states)}
        names = sorted(every)
        for name, after in zip(names, names[1:], strict=False):
            state = every[name]
            if name not in known and is_kept(state):
                self._states.setdefault(key, []).append(_left_state(state, clock(every[after])))

    def _past(self, kind: str) -> Iterator[str]:
        for (_, *about), states in self._of(self._states, kind):
            gone = self._gone(*about[:2]) if kind == "history_of" else self._gone(*about)
            found: dict[Any, Fields] = {}
            for one in states:
                if not _is_gone(one, gone):
                    at, change = left(*(one.fields[name] for name in LEFT))
                    fields = {**one.fields, "change": change, "changed_at": at}
                    old = found.setdefault(one.order, fields)
                    found[one.order] = min(old, fields, key=lambda line: [line[n] for n in LEFT])
            yield from (line_of(found[name]) for name in sorted(found))
        for fields in self._dated(kind):
            if fields["changed_at"] > self._gone(*fields[kind][:2]):
                yield line_of(fields)

    def _dated(self, kind: str) -> list[Fields]:
        """Return history of a kind that has no time of its own but for when it was left."""
        lines = {line for side in self._sides for line in side.dated}
        return [fields for fields in map(json.loads, sorted(lines)) if kind in fields]

    # --- what else there is

    def _types(self) -> Iterator[str]:
        for (_, name), lines in self._of(self._others, "declare_type"):
            default = TYPES.get(name)
            yield line_of(_greatest(lines, lambda one: one.get("description", ""), default))

    def _relations(self) -> Iterator[str]:
        for (_, name), lines in self._of(self._others, "declare_relation"):
            yield line_of(_greatest(lines, _weights, RELATIONS.get(name)))

    def _anchors(self) -> Iterator[str]:
        taken: dict[Key, str] = {}
        for fields in self._dated("anchor_history_of"):
            if fields["change"] in GONE:
                key = anchor_key(fields, "anchor_history_of")
                taken[key] = max(fields["changed_at"], taken.get(key, ""))
        for whole, lines in self._of(self._others, "anchor_of"):
            key = whole[1:]
            stands: Fields = max(lines, key=_judged)
            made = str(stands.get("created_at") or "")
            if not made or made > max(self._gone(key[0]), taken.get(key, "")):
                yield line_of(stands)

    def _anchor_history(self) -> Iterator[str]:
        for fields in sorted(self._dated("anchor_history_of"), key=_when_left):
            if fields["changed_at"] > self._gone(fields["anchor_history_of"]):
                yield line_of(fields)

    def _plain(self) -> set[str]:
        """Return what both have, and what one has and the file before has not."""
        ours, theirs = (side.plain for side in self._sides)
        return (ours & theirs) | ((ours | theirs) - self._base.plain)


def _gathered(*parts: dict[Key, list[Any]]) -> dict[Key, list[Any]]:
    found: dict[Key, list[Any]] = {}
    for part in parts:
        for key, values in part.items():
            found.setdefault(key, []).extend(values)
    return found


def _on_both_sides(states: Sequence[LineState]) -> str:
    """Return the line that both files have, if it is one and the same: most are, and need no
    reading."""
    one = states[0].raw
    if len(states) != 2 or states[1].raw != one or not one.endswith(b"}\n"):
        return ""
    return one.decode()


def _is_gone(one: LineState, purged: str) -> bool:
    """Return whether a state goes with what was deleted for good at this time: its node, or an
    end."""
    ended = one.state.invalidated_at or isinstance(one.state, Node)
    return is_gone(clock(one.state), ended, purged)


def _standing(states: Sequence[LineState], gone: str) -> tuple[LineState, Any]:
    """Return the line whose state stands, and that state with what no state alone says."""
    best = max(states, key=lambda one: (one.order, line_of(one.fields)))
    whole = copy(best.state)
    for one in states:
        whole = joined(whole, one.state)
    return best, told(whole, gone)


def _with_state(fields: Fields, state: Node | Edge, names: Iterable[str]) -> Fields:
    """Return the fields of a line with the times of this state, in the order of an export; what is
    not known here comes last.
    """
    times = ("created_at", "accessed_at", "access_count", "changed_at")
    whole = {**fields, **{name: getattr(state, name) for name in times}}
    order = [name for name in names if name in whole]
    order += [name for name in whole if name not in order]
    return {name: whole[name] for name in order if name not in times or whole[name]}


def _left_state(state: Node | Edge, at: str) -> LineState:
    """Return a state as one that a merge has left, when the state after it was made."""
    past = copy(state)
    past.changed_at = clock(state)
    if isinstance(past, Node):
        return LineState(past_fields(Past(past, "import", at, None)), state=past)
    known: Fields = {name: getattr(past, name, None) for name in EDGE_HISTORY}
    known |= {"change": "import", "changed_at": at, "made_at": clock(state)}
    return LineState(past_edge_fields(known), state=past)


def _weights(fields: Fields) -> tuple[Any, ...]:
    weight = float(fields.get("weight", 0.7))
    return weight, float(fields.get("backward_weight", weight)), fields.get("description", "")


def _greatest(lines: Sequence[Fields], said: Any, default: object) -> Fields:
    best = lines[0]
    for one in lines[1:]:
        if greater(said(one), said(best), default):
            best = one
    return best


def _judged(fields: Fields) -> list[str]:
    made = fields.get("created_at")
    verified, verdict = fields.get("verified_at") or made, fields.get("verdict", "valid")
    rest = (fields.get(name) for name in ("reason", "hash", "commit_id", "root"))
    return [str(value or "") for value in (made, verified, verdict, *rest)]


def _when_left(fields: Fields) -> list[str]:
    return [fields["anchor_history_of"], fields["changed_at"], *map(str, fields.values())]
