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
_ROWS = {"id": Node, "from_id": Edge, "anchor_of": Anchor}
_ORDER = ("declare_type", "declare_relation", "purged", *_ROWS,
          "state_of", "history_of", "anchor_history_of", "")  # fmt: skip
"""The kinds of lines, in the order of an export."""


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


def parsed(name: str, lines: Iterable[bytes]) -> Iterator[tuple[Fields, Key, bytes]]:
    """Yield the fields of each line of a file, its ``key_of``, and itself; of both sides of a
    conflict.

    Raises:
        LoreError: a line is not JSON, or lacks the names of its thing.
    """
    for number, line in enumerate(both_sides(lines), start=1):
        line = line.removeprefix(BOM_UTF8) if number == 1 else line
        if line.strip():
            try:
                fields = parse_object(line, _LONGEST)
                yield fields, key_of(fields), line
            except LoreError as error:
                raise LoreError(f"{name}: line {number}: {error}") from None


class MergedLines(NamedTuple):
    """The lines of a merge, the ids of the records that both sides had changed, and of those that
    one side had deleted for good and the other one has edited after that."""

    lines: list[str]
    conflicts: list[str]
    back: list[str]


class _File:
    """The lines of one file by key; lines by hand, and those of unknown kinds, are ``plain``."""

    def __init__(self, name: str, lines: Iterable[bytes]) -> None:
        self.name = name
        self.lines: dict[Key, list[tuple[Fields, bytes]]] = {}
        self.plain: set[str] = set()
        for fields, key, raw in parsed(name, lines):
            if key[0] and (is_whole(fields) if key[0] in _ROWS else _is_dated(fields)):
                self.lines.setdefault(key, []).append((fields, raw))
            else:
                self.plain.add(line_of(fields))

    def rows(self, key: Key) -> list[tuple[Any, list[str]]]:
        """Return the states that the lines about a thing have, with the stamps of other changes
        that they have seen.

        Raises:
            LoreError: a line is not one of an export.
        """
        try:
            return [(whole_row(fields, _key_row(fields)), seen_from(fields))
                    for fields, _ in self.lines.get(key, ())]  # fmt: skip
        except LoreError as error:
            raise LoreError(f"{self.name}: '{' '.join(key[1:])}': {error}") from None


def _is_dated(fields: Fields) -> bool:
    """Return True unless a purge lacks its time."""
    return "purged" not in fields or isinstance(fields.get("at"), str)


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
    merge = _Merge(_File("base", base), (_File("ours", ours), _File("theirs", theirs)))
    return MergedLines([*merge.lines()], sorted(merge.conflicts), merge.back)


class _Merge:
    def __init__(self, base: _File, sides: tuple[_File, _File]) -> None:
        self.conflicts: set[str] = set()
        self.back: list[str] = []
        self._base = base
        self._sides = sides
        keys = {key for side in sides for key in side.lines}
        self._keys = sorted(keys, key=lambda key: (_ORDER.index(key[0]), key))
        self._purged = {key[1]: max(text(one, "at") for one, _ in self._of(key))
                        for key in self._keys if key[0] == "purged"}  # fmt: skip

    def _of(self, key: Key) -> list[tuple[Fields, bytes]]:
        return [one for side in self._sides for one in side.lines.get(key, ())]

    def lines(self) -> Iterator[str]:
        """Yield the merged lines."""
        for key in self._keys:
            lines = self._of(key)
            if key[0] in _ROWS:
                yield from self._joined(key, lines)
            elif key[0] == "purged":
                yield line_of({"purged": key[1], "at": self._purged[key[1]]})
            elif key[0].startswith("declare_"):
                yield line_of(max((fields for fields, _ in lines), key=_declared))
            else:
                yield from self._past(lines, self._gone(key))
        ours, theirs = (side.plain for side in self._sides)
        yield from sorted((ours & theirs) | ((ours | theirs) - self._base.plain))

    def _gone(self, key: Key) -> str:
        """Return when the last of the records that a thing hangs on was deleted for good."""
        ids = key[1:3] if key[0] in ("from_id", "history_of") else key[1:2]
        return max(self._purged.get(id, "") for id in ids)

    def _joined(self, key: Key, lines: list[tuple[Fields, bytes]]) -> Iterator[str]:
        """Yield the line of a thing: the later value of each field."""
        gone = self._gone(key)
        if not gone and len(lines) == 2 and lines[0][1] == lines[1][1]:
            yield line_of(lines[0][0])
            return
        rows = [one for side in self._sides for one in side.rows(key)]
        states = [(row, Stamped.of(row).after(gone), was) for row, was in rows]
        states = [one for one in states if one[1].stamps()]
        if not states:
            return
        if gone and key[0] == "id" and self._is_back(key[1]):
            self.back.append(key[1])
        before = self._before(key) if len(states) > 1 else None
        whole, states = _joined_states(states, before)
        if key[0] == "id":
            self._note(key[1], states, before.stamps() if before else set())
        row = whole.to_row(states[0][0])
        if not isinstance(row, Anchor):
            count_reads(row, *(one for one, _, _ in states))
            if gone:
                row.accessed_at, row.access_count = None, 0
        seen = {stamp for _, one, was in states for stamp in (*was, *one.stamps())}
        own = whole.stamps()
        was = [
            one for one in latest({s for s in seen if is_after(s, gone)} | own) if one not in own
        ]
        yield line_of(
            {**fields_of(row, was if key[0] == "id" else None), **self._unknown(lines, row)}
        )

    def _before(self, key: Key) -> Stamped | None:
        """Return the values in the file that both sides have changed."""
        found = self._base.rows(key)
        return Stamped.of(found[0][0]) if found else None

    def _is_back(self, id: str) -> bool:
        """Return True if a side had deleted a record for good, and did not have it again."""
        return any(("purged", id) in side.lines and ("id", id) not in side.lines
                   for side in self._sides)  # fmt: skip

    def _note(self, id: str, states: list[tuple[Any, Stamped, list[str]]], base: set[str]) -> None:
        """Note a conflict: both sides have changed what the file before had, or one thing anew."""
        _, ours, was = states[0]
        for _, theirs, seen in states[1:]:
            here, there = (base | {*names, *one.stamps()} for names, one in
                           ((was, ours), (seen, theirs)))  # fmt: skip
            if conflicts(ours, here, theirs, there):
                self.conflicts.add(id)

    def _unknown(self, lines: list[tuple[Fields, bytes]], row: Thing) -> Fields:
        """Return fields that this lore does not know: a newer one may have written them."""
        known = {*row.FIELDS, "was", "anchor_of"}
        found: Fields = {}
        for fields, _ in sorted(lines, key=lambda one: line_of(one[0])):
            found.update((name, value) for name, value in fields.items() if name not in known)
        return found

    def _past(self, lines: list[tuple[Fields, bytes]], gone: str) -> Iterator[str]:
        """Yield what a thing has left on both sides, a line for each change."""
        found: dict[str, dict[str, set[str]]] = {}
        for fields, _ in lines:
            thing, values = past_from(fields)
            for name, (stamp, value) in values:
                if is_after(stamp, gone):
                    found.setdefault(stamp, {}).setdefault(name, set()).add(value)
        for stamp, of in sorted(found.items()):
            while of:
                first = {name: min(some) for name, some in of.items()}
                yield line_of(past_fields(thing, stamp, first))
                of = {name: some - {first[name]} for name, some in of.items() if len(some) > 1}


def _joined_states(
    states: list[tuple[Any, Stamped, list[str]]], before: Stamped | None
) -> tuple[Stamped, list[tuple[Any, Stamped, list[str]]]]:
    """Return the later value of each field of states; a value that differs from the one before
    under the same stamp was edited by hand, and stands."""
    if before is not None:
        states = [(row, one if row.stamps else one.seen_as(before), was)
                  for row, one, was in states]  # fmt: skip
    whole = states[0][1]
    for _, other, _ in states[1:]:
        whole = whole.joined(other)
    if before is not None:
        edited = {name: value for _, one, _ in states for name, value in one.edited(before).items()
                  if whole.at(name)[0] == before.at(name)[0]}  # fmt: skip
        whole = whole.having(edited)
    return whole, states


def _declared(fields: Fields) -> tuple[Any, ...]:
    weight = float(fields.get("weight", DECLARED_WEIGHT))
    backward = float(fields.get("backward_weight", weight))
    return str(fields.get("at") or LONG_AGO), weight, backward, fields.get("description", "")
