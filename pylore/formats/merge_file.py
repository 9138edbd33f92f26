"""Merge files of lines: git's merge driver, and the files that git left with conflict markers."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import NamedTuple

from ..core.errors import LoreError
from ..core.json import parse_object
from ..core.model import Anchor, Edge, Node
from ..core.stamps import Stamped, conflicts, count_reads, is_after, latest
from ..core.times import LONG_AGO
from ..core.vocabulary import DECLARED_WEIGHT
from ..store.changes import SEPARATOR, row_of_thing
from .lines import (
    anchor_key_from,
    edge_key_from,
    fields_of,
    is_whole,
    key_of,
    line_of,
    past_fields,
    past_from,
    seen_from,
    text,
    whole_row,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..core.stamps import Thing
    from .lines import Fields, Key

_BEGIN, _BASE, _MIDDLE, _END = (mark * 7 for mark in (b"<", b"|", b"=", b">"))
_LONGEST = 1 << 40
"""Bytes of a line: git holds the files in memory, and so can we."""
_STATES = ("id", "from_id", "anchor_of")
_PAST = ("state_of", "history_of", "anchor_history_of")
_DECLARATIONS = ("declare_type", "declare_relation")


def marker_of(line: bytes) -> bytes:
    """Return the conflict marker that a line is; empty for other lines.

    >>> marker_of(b"<<<<<<< HEAD\\n"), marker_of(b"=======\\r\\n"), marker_of(b"{}")
    (b'<<<<<<<', b'=======', b'')
    """
    mark = line[:7]
    whole = mark in (_BEGIN, _BASE, _MIDDLE, _END) and line[7:8] in (b"", b" ", b"\r", b"\n")
    return mark if whole else b""


def both_sides(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of both sides of conflicts, an empty one for each other line: the lines keep
    their numbers."""
    before = False
    for line in lines:
        mark = marker_of(line)
        if mark:
            before = mark == _BASE
        yield b"\n" if mark or before else line


class MergedLines(NamedTuple):
    """The lines of a merge, the ids of the records that both sides had changed, and of those that
    one side had deleted for good and the other one has edited after that."""

    lines: list[str]
    conflicts: list[str]
    back: list[str]


class _State(NamedTuple):
    """A thing as a line has it, its values, and the stamps of other changes that it has seen.

    ``fields`` are those of the line; a newer lore may have written some that are unknown here.
    """

    row: Any
    values: Stamped
    was: list[str]
    fields: Fields

    def seen(self) -> set[str]:
        return {*self.was, *self.values.stamps()}


class _File:
    """The lines of one file, of both sides of its conflicts; ``plain`` are those by hand, and those
    of unknown kinds. ``known`` are states that were read from other files, by line.

    Raises:
        LoreError: a line is not one of an export; the file and the line are named.
    """

    def __init__(
        self, name: str, lines: Iterable[bytes], known: dict[bytes, tuple[Key, _State]]
    ) -> None:
        self.states: dict[Key, list[_State]] = {}
        self.past: dict[Key, set[tuple[str, str, str]]] = {}
        self.purged: dict[str, str] = {}
        self.declared: dict[Key, Fields] = {}
        self.plain: set[str] = set()
        for number, line in enumerate(both_sides(lines), start=1):
            line = line.removeprefix(BOM_UTF8) if number == 1 else line
            if line in known:
                self.states.setdefault(known[line][0], []).append(known[line][1])
            elif line.strip():
                try:
                    fields = parse_object(line, _LONGEST)
                    key = key_of(fields)
                    if key[0] in _STATES and is_whole(fields):
                        row = whole_row(fields, _key_row(fields))
                        known[line] = key, _State(row, Stamped.of(row), seen_from(fields), fields)
                        self.states.setdefault(key, []).append(known[line][1])
                    else:
                        self._add(key, fields)
                except LoreError as error:
                    raise LoreError(f"{name}: line {number}: {error}") from None

    def _add(self, key: Key, fields: Fields) -> None:
        """Add a line that has no state."""
        if key[0] == "purged" and isinstance(fields.get("at"), str):
            self.purged[key[1]] = max(fields["at"], self.purged.get(key[1], ""))
        elif key[0] in _DECLARATIONS:
            self.declared[key] = max(fields, self.declared.get(key, fields), key=_declared)
        elif key[0] in _PAST:
            values = {(stamp, name, value) for name, (stamp, value) in past_from(fields)[1]}
            self.past.setdefault(key, set()).update(values)
        else:
            self.plain.add(line_of(fields))


def _key_row(fields: Fields) -> Thing:
    if "from_id" in fields:
        return Edge(*edge_key_from(fields))
    if "anchor_of" in fields:
        return anchor_key_from(fields, "anchor_of")
    id = text(fields, "id")
    return Node(id, text(fields, "type", id.partition("-")[0]))


def merge_files(
    base: Iterable[bytes], ours: Iterable[bytes], theirs: Iterable[bytes]
) -> MergedLines:
    """Return the lines of both sides, each thing once, in the order of an export.

    Raises:
        LoreError: a line of a file is not one of an export; the message names both.
    """
    known: dict[bytes, tuple[Key, _State]] = {}
    files = [("base", base), ("ours", ours), ("theirs", theirs)]
    merge = _Merge(*(_File(name, lines, known) for name, lines in files))
    return MergedLines([*merge.lines()], sorted(merge.conflicts), merge.back)


class _Merge:
    def __init__(self, base: _File, ours: _File, theirs: _File) -> None:
        self.conflicts: set[str] = set()
        self.back: list[str] = []
        self._base = base
        self._sides = ours, theirs
        self._purged = ours.purged | {
            id: max(at, ours.purged.get(id, "")) for id, at in theirs.purged.items()
        }

    def lines(self) -> Iterator[str]:
        """Yield the merged lines."""
        ours, theirs = self._sides
        for key in sorted(ours.declared.keys() | theirs.declared.keys(), key=_order):
            found = (side.declared[key] for side in self._sides if key in side.declared)
            yield line_of(max(found, key=_declared))
        for id, at in sorted(self._purged.items()):
            yield line_of({"purged": id, "at": at})
        for key in sorted(ours.states.keys() | theirs.states.keys(), key=_order):
            yield from self._joined(key)
        for key in sorted(ours.past.keys() | theirs.past.keys(), key=_order):
            yield from self._past(key)
        yield from sorted((ours.plain & theirs.plain)
                          | ((ours.plain | theirs.plain) - self._base.plain))  # fmt: skip

    def _gone(self, key: Key) -> str:
        """Return when the last of the records that a thing hangs on was deleted for good."""
        ids = key[1:3] if key[0] in ("from_id", "history_of") else key[1:2]
        return max(self._purged.get(id, "") for id in ids)

    def _joined(self, key: Key) -> Iterator[str]:
        """Yield the line of a thing: the later value of each field."""
        gone = self._gone(key)
        found = [state for side in self._sides for state in side.states.get(key, ())]
        if not gone and len(found) == 2 and found[0] is found[1]:
            yield line_of(found[0].fields)
            return
        states = [state._replace(values=state.values.after(gone)) for state in found]
        states = [state for state in states if state.values.stamps()]
        if not states:
            return
        if gone and any(key[1] in side.purged and key not in side.states for side in self._sides):
            self.back += [key[1]] * (key[0] == "id")
        base = self._base.states.get(key, ())
        before = base[0].values if base and len(states) > 1 else None
        if before is not None:  # a line without stamps has those of the values that it repeats
            states = [state if state.row.stamps
                      else state._replace(values=state.values.seen_as(before))
                      for state in states]  # fmt: skip
        if key[0] == "id":
            self._note(key[1], states, before.stamps() if before else set())
        whole = _join(states, before)
        row = whole.to_row(states[0].row)
        if not isinstance(row, Anchor):
            count_reads(row, *(state.row for state in states))
            if gone:
                row.accessed_at, row.access_count = None, 0
        own = whole.stamps()
        seen = {stamp for state in states for stamp in state.seen() if is_after(stamp, gone)}
        was = [stamp for stamp in latest(seen | own) if stamp not in own]
        known = {*row.FIELDS, "was", "anchor_of"}
        more: Fields = {}
        for fields in sorted((state.fields for state in found), key=line_of):
            more.update((name, value) for name, value in fields.items() if name not in known)
        yield line_of({**fields_of(row, was if key[0] == "id" else None), **more})

    def _note(self, id: str, states: list[_State], base: set[str]) -> None:
        """Note a conflict: both sides have changed what the file before had, or one thing anew."""
        ours = states[0]
        for theirs in states[1:]:
            if conflicts(ours.values, base | ours.seen(), theirs.values, base | theirs.seen()):
                self.conflicts.add(id)

    def _past(self, key: Key) -> Iterator[str]:
        """Yield what a thing has left on both sides, a line for each change."""
        gone, thing = self._gone(key), row_of_thing(SEPARATOR.join(key[1:]))
        values = {value for side in self._sides for value in side.past.get(key, ())}
        found: dict[str, dict[str, list[str]]] = {}
        for stamp, name, value in sorted(values):
            if is_after(stamp, gone):
                found.setdefault(stamp, {}).setdefault(name, []).append(value)
        for stamp, of in found.items():
            for number in range(max(map(len, of.values()))):
                some = {name: told[number] for name, told in of.items() if number < len(told)}
                yield line_of(past_fields(thing, stamp, some))


def _join(states: list[_State], before: Stamped | None) -> Stamped:
    """Return the later value of each field of states; a value that differs from the one before
    under the same stamp was edited by hand, and stands."""
    whole = states[0].values
    for state in states[1:]:
        whole = whole.joined(state.values)
    if before is None:
        return whole
    edited = {name: value for state in states for name, value in state.values.edited(before).items()
              if whole.at(name)[0] == before.at(name)[0]}  # fmt: skip
    return whole.having(edited)


def _order(key: Key) -> tuple[int, Key]:
    """Return what sorts keys as an export does."""
    return (*_DECLARATIONS, *_STATES, *_PAST).index(key[0]), key


def _declared(fields: Fields) -> tuple[Any, ...]:
    weight = float(fields.get("weight", DECLARED_WEIGHT))
    backward = float(fields.get("backward_weight", weight))
    return str(fields.get("at") or LONG_AGO), weight, backward, fields.get("description", "")
