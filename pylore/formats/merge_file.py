"""Merge files of lines: git's merge driver, and files with conflict markers.

States are joined by the rules for stores (``records.merge``); the past is the union of the lines of
the past, without purged values. So the order of files has no effect, with history in all files or
in some.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import LoreError
from ..core.json import parse_object
from ..core.model import Anchor, Node
from ..core.stamps import (
    Stamped,
    conflicts,
    count_reads,
    has_history,
    is_after,
    is_later,
    latest,
)
from .lines import (
    DECLARED,
    PAST,
    READS,
    STATES,
    declaration,
    fields_of,
    is_whole,
    key_of,
    line_of,
    marker_of,
    past_fields,
    past_from,
    row_of,
    value_of,
    whole_row,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..core.stamps import Thing, Value
    from .lines import Fields, Key

    Lines = dict[Key, dict[str, Any]]
    """The lines of a file, as ``line_of`` writes them, by key; each with ``_parsed``."""

_ORDER = (*DECLARED, "purged", *STATES, *PAST, "")
"""Kinds of lines in the order of an export; the last are lines by hand, and of unknown kinds."""
_LONGEST = 1 << 40
"""Maximum bytes of a line: git, too, has the files in memory."""


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
    found: list[tuple[Key, str]] = []
    in_conflict: set[str] = set()
    for key, lines in both.items():
        texts: Iterable[str] = lines
        gone = max((purged.get(id, "") for id in key[1:3]), default="")
        if key[0] in STATES and (len(lines) > 1 or gone):
            texts, is_conflict = _join(lines.values(), before.get(key, {}).values(), gone)
            in_conflict.update(key[1:2] if is_conflict else ())
        elif key[0] in PAST:
            texts = _past(lines.values(), gone)
        elif key[0] == "purged":
            texts = [line_of({"purged": key[1], "at": purged[key[1]]})]
        elif key[0] in DECLARED:
            texts = [max(lines, key=lines.__getitem__)]
        found += [(key, line) for line in texts]
    found.sort(key=lambda one: (_ORDER.index(one[0][0]), one[0]))
    return MergedLines([line for _, line in found], sorted(in_conflict))


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
                parsed = _parsed(key, fields)
            except LoreError as error:
                raise LoreError(f"{name}: line {number}: {error}") from None
            found.setdefault(key if parsed else ("", text), {})[text] = parsed
    return found


def _parsed(key: Key, fields: Fields) -> Any:
    kind = key[0]
    if kind in STATES and is_whole(fields):
        return whole_row(fields, row_of(key, fields)), value_of(fields, "was", "seen", [])
    if kind in PAST:
        row = row_of(key, fields)
        return row, past_from(fields, row)
    if kind in DECLARED:
        return declaration(fields)
    return value_of(fields, "at", "moment", "") if kind == "purged" else None


def _join(
    lines: Iterable[tuple[Any, list[str]]], before: Iterable[tuple[Any, object]], gone: str
) -> tuple[list[str], bool]:
    """Join the states of a thing; return the line, if any state is later than a purge of an owner,
    and True if the states are in conflict."""
    rows, seen, is_conflict = [row for row, _ in lines], set[str](), False
    for old, _ in before:
        rows = _edited(rows, old)
    row: Any = None
    for new, (_, was) in zip(rows, lines, strict=True):
        state = Stamped.of(new).after(gone)
        there = {*was, *state.stamps()}
        if gone and not state.stamps():
            continue
        if row is None:
            row, seen = state.to_row(new) if gone else new, there
            continue
        ours, both = Stamped.of(row), (row, new)
        if has_history(row) or has_history(new):
            is_conflict |= isinstance(row, Node) and bool(conflicts(ours, seen, state, there))
            row, seen = ours.joined(state).to_row(row), seen | there
        elif is_later(new, row):
            row = new
        if not isinstance(row, Anchor):
            count_reads(row, *both)
    if row is None:
        return [], False
    own = Stamped.of(row).stamps()
    known = latest({stamp for stamp in seen if is_after(stamp, gone)} | own)
    was = [stamp for stamp in known if stamp not in own and isinstance(row, Node)]
    left_out = READS if gone else ()  # reads before the purge are unknown
    fields = {name: one for name, one in fields_of(row, was).items() if name not in left_out}
    return [line_of(fields)], is_conflict


def _past(lines: Iterable[tuple[Thing, list[tuple[str, Value]]]], gone: str) -> Iterator[str]:
    """Yield the past of a thing after a purge as lines: one for each change, further ones if a
    field has several values under the same stamp."""
    found: dict[str, dict[str, set[str]]] = {}
    (thing, _), *_ = lines
    for name, (stamp, value) in (one for _, values in lines for one in values):
        if is_after(stamp, gone):
            found.setdefault(stamp, {}).setdefault(name, set()).add(value)
    for stamp, some in sorted(found.items()):
        for column in zip_longest(*map(sorted, some.values())):
            left = {
                name: value for name, value in zip(some, column, strict=True) if value is not None
            }
            yield line_of(past_fields(thing, stamp, left))


def _edited(rows: list[Thing], old: Thing) -> list[Thing]:
    """Return rows with edits by hand: values that differ from the base under the same stamp."""
    before = Stamped.of(old)
    states = [Stamped.of(row) if row.stamps else Stamped.of(row).seen_as(before) for row in rows]
    edits = {name: value for state in states for name, value in state.edited(before).items()}

    def with_edits(state: Stamped) -> Stamped:
        same = [name for name in edits if state.at(name)[0] == before.at(name)[0]]
        return state.having({name: edits[name] for name in same})

    return [with_edits(state).to_row(row) for row, state in zip(rows, states, strict=True)]
