"""Merge files of lines: git's merge driver, and files with conflict markers.

The states of both files are merged in a store in memory, by the rules for stores
(``records.merge``); the past is the union of the lines of the past, without purged values. So the
order of files has no effect, with history in all files or in some.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import LoreError
from ..core.json import loads, parse_object
from ..core.stamps import Stamped, is_after
from ..core.times import LONG_AGO
from ..core.vocabulary import DECLARED_WEIGHT
from ..records.merge import Merge
from ..store import scratch_store
from ..store.changes import owners, thing_of
from .export import export_lines
from .lines import (
    MARKERS,
    PAST,
    is_whole,
    key_of,
    key_row,
    line_of,
    past_fields,
    past_from,
    value_of,
    whole_row,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..core.model import Node
    from ..core.stamps import Thing, Value
    from ..store import Store
    from .lines import Fields, Key

    Lines = dict[Key, dict[str, Any]]
    """The lines of a file, as ``line_of`` writes them, by key; each with ``_parsed``."""

_STATES = ("id", "from_id", "anchor_of")
_DECLARED = ("declare_type", "declare_relation")
_ORDER = (*_DECLARED, "purged", *_STATES, *PAST, "")
"""Kinds of lines in the order of an export; the last are lines by hand, and of unknown kinds."""
_LONGEST = 1 << 40
"""Maximum bytes of a line: git, too, has the files in memory."""


def marker_of(line: bytes) -> bytes:
    """Return the conflict marker that a line is; empty for other lines.

    >>> marker_of(b"<<<<<<< HEAD\\n"), marker_of(b"=======\\r\\n"), marker_of(b"{}")
    (b'<<<<<<<', b'=======', b'')
    """
    is_marker = line[:7] in MARKERS and line[7:8] in (b"", b" ", b"\r", b"\n")
    return line[:7] if is_marker else b""


def both_sides(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of both sides of conflicts, and an empty line for each other line: line
    numbers are unchanged."""
    is_base = False
    for line in lines:
        mark = marker_of(line)
        if mark:
            is_base = mark == b"|||||||"
        yield b"\n" if mark or is_base else line


class MergedLines(NamedTuple):
    """The lines of a merge, and the ids of the records that both sides changed."""

    lines: list[str]
    conflicts: list[str]


def merge_files(
    base: Iterable[bytes], ours: Iterable[bytes], theirs: Iterable[bytes]
) -> MergedLines:
    """Return the lines of both sides, each thing once, in the order of an export.

    Raises:
        LoreError: invalid line; the message names file and line.
    """
    before, *sides = _read("base", base), _read("ours", ours), _read("theirs", theirs)
    both = _union(sides, before)
    purged = {key[1]: max(lines.values()) for key, lines in both.items() if key[0] == "purged"}
    easy = [
        key
        for key, lines in both.items()
        if len(lines) == 1 and key[0] in _STATES and purged.keys().isdisjoint(key[1:3])
    ]
    found = [(key, line) for key in easy for line in both.pop(key)]
    found += [
        (key, line)
        for key, lines in both.items()
        if key[0] in PAST
        for line in _past(lines.values(), purged)
    ]
    found += [
        (key, max(lines, key=lambda line: lines[line]))
        for key, lines in both.items()
        if key[0] in _DECLARED
    ]
    found += [(key, key[1]) for key in both if not key[0]]
    with scratch_store() as store, store.faults, store.transaction():
        merge = Merge(store, _NoIndex())  # type: ignore[arg-type]
        for id, at in purged.items():
            merge.purge(id, at)
        _take(store, merge, both, before)
        for line in export_lines(store):
            key = key_of(loads(line))
            found += [(key, line)] * (key[0] in (*_STATES, "purged"))
    found.sort(key=lambda one: (_ORDER.index(one[0][0]), one[0]))
    conflicts = sorted({conflict.id for conflict in merge.conflicts})
    return MergedLines([line for _, line in found], conflicts)


def _union(sides: Sequence[Lines], before: Lines) -> Lines:
    """Return the lines of both sides, but for lines that the other side has changed or dropped."""
    both: Lines = {}
    for key in {**sides[0], **sides[1]}:
        old = before.get(key, {}).keys()
        some = [side.get(key, {}) for side in sides]
        fresh = [lines for lines in some if lines and not lines.keys() <= old]
        if key[0] or not old or all(some):  # a line by hand that a side has removed
            both[key] = fresh[0] if old and len(fresh) == 1 else {**some[0], **some[1]}
    return both


def _read(name: str, lines: Iterable[bytes]) -> Lines:
    """Return the lines of a file; of lines by hand and of unknown kinds the key is the line."""
    found: Lines = {}
    for number, line in enumerate(both_sides(lines), start=1):
        line = line.removeprefix(BOM_UTF8) if number == 1 else line
        if line.strip():
            try:
                fields = parse_object(line, _LONGEST)
                key, text = key_of(fields), line_of(fields)
                parsed = _parsed(key[0], fields)
            except LoreError as error:
                raise LoreError(f"{name}: line {number}: {error}") from None
            found.setdefault(key if parsed else ("", text), {})[text] = parsed
    return found


def _parsed(kind: str, fields: Fields) -> Any:
    if kind in _STATES and is_whole(fields):
        return whole_row(fields, key_row(fields)), value_of(fields, "was", "seen", [])
    if kind in PAST:
        return past_from(fields)
    at = value_of(fields, "at", "moment", "")
    if kind in _DECLARED:
        weight = value_of(fields, "weight", "fraction", DECLARED_WEIGHT)
        backward = value_of(fields, "backward_weight", "fraction", weight)
        return at or LONG_AGO, weight, backward, value_of(fields, "description", "text", "")
    return at if kind == "purged" else None


class _NoIndex:
    def add(self, node: Node) -> None: ...

    def flush(self) -> None: ...


def _take(store: Store, merge: Merge, both: Lines, before: Lines) -> None:
    """Merge the lines with states into a store that has the purges."""
    rounds: dict[int, list[tuple[Thing, list[str]]]] = {}
    for key, lines in both.items():
        if key[0] in _STATES:
            _declare(store, key)
            rows = [row for row, _ in lines.values()]
            for row, _ in before.get(key, {}).values():
                rows = _edited(rows, row)
            for number, (_, was) in enumerate(lines.values()):
                rounds.setdefault(number, []).append((rows[number], was))
    for states in rounds.values():  # the lines of a thing one by one
        merge.take(states)
    merge.finish()


def _past(
    lines: Iterable[tuple[Thing, list[tuple[str, Value]]]], purged: dict[str, str]
) -> Iterator[str]:
    """Yield the past of a thing as lines: one for each change, further ones if a field has several
    values under the same stamp."""
    found: dict[str, dict[str, set[str]]] = {}
    for thing, values in lines:
        gone = max(purged.get(id, "") for id in owners(thing_of(thing)))
        for name, (stamp, value) in values:
            if is_after(stamp, gone):
                found.setdefault(stamp, {}).setdefault(name, set()).add(value)
    for stamp, some in sorted(found.items()):
        for column in zip_longest(*map(sorted, some.values())):
            left = {
                name: value for name, value in zip(some, column, strict=True) if value is not None
            }
            yield line_of(past_fields(thing, stamp, left))


def _declare(store: Store, key: Key) -> None:
    """Declare the types and the relation of a thing, which the store might not have."""
    if key[0] == "from_id":
        store.relations.declare(key[3], 1.0, 1.0, "")
    else:
        store.types.declare(key[1].partition("-")[0], "")


def _edited(rows: list[Thing], old: Thing) -> list[Thing]:
    """Return rows with edits by hand: values that differ from the base under the same stamp."""
    before = Stamped.of(old)
    states = [Stamped.of(row) for row in rows]
    states = [
        state if row.stamps else state.seen_as(before)
        for row, state in zip(rows, states, strict=True)
    ]
    edits = {name: value for state in states for name, value in state.edited(before).items()}
    for number, state in enumerate(states):
        same = {
            name: value for name, value in edits.items() if state.at(name)[0] == before.at(name)[0]
        }
        rows[number] = state.having(same).to_row(rows[number])
    return rows
