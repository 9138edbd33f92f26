"""Merge files of lines: git's merge driver, and files with conflict markers.

States are joined by the rules for stores (``records.merge``); the past is the union of the lines of
the past, without purged values. So the order of files has no effect, with history in all files or
in some.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..core.json import parse_object
from ..core.model import Anchor, Node
from ..core.stamps import Stamped, conflicts, count_reads, has_history, is_after, latest
from .lines import DECLARED, KINDS, PAST, STATES, Line, fields_of, line_of, marker_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Key = tuple[str, ...]
    """The kind and the names of a line; of lines by hand and of unknown kinds, the line."""
    Lines = dict[Key, dict[str, Any]]
    """The lines of a file by key, each with the value of ``_parsed``."""
    Parse = Callable[[bytes], tuple[Key, str, Any]]


def both_sides(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of both sides of conflicts, and an empty line for each other line: line
    numbers are unchanged."""
    is_base, last = False, b""
    for line in lines:
        if mark := marker_of(line):
            is_base, last = (last, mark) == (b"<<<<<<<", b"|||||||"), mark
        yield b"\n" if mark or is_base else line


def merge_files(
    base: Iterable[bytes], ours: Iterable[bytes], theirs: Iterable[bytes]
) -> tuple[list[str], list[str]]:
    """Return the lines of both sides, each thing once, in the order of an export, and the ids of
    the records that both sides changed.

    Raises:
        LoreError: invalid line; the message names file and line.
    """
    files = {"base": base, "ours": ours, "theirs": theirs}
    parse = cache(_parsed)  # most lines are in each file
    before, *sides = (_read(name, lines, parse) for name, lines in files.items())
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
            texts = sorted(line for line, stamp in lines.items() if is_after(stamp, gone))
        elif key[0] == "purged":
            texts = [line_of({"purged": key[1], "at": purged[key[1]]})]
        elif key[0] in DECLARED:
            texts = [max(lines, key=lines.__getitem__)]
        found += [(key, line) for line in texts]
    order = (*KINDS, "")  # last, lines by hand and of unknown kinds
    found.sort(key=lambda one: (order.index(one[0][0]), one[0]))
    return [line for _, line in found], sorted(in_conflict)


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


def _read(name: str, lines: Iterable[bytes], parse: Parse) -> Lines:
    found: Lines = {}
    for number, raw in enumerate(both_sides(lines), start=1):
        try:
            if raw.strip():
                key, text, value = parse(raw)
                found.setdefault(key, {})[text] = value
        except LoreError as error:
            raise LoreError(f"{name}: line {number}: {error}") from None
    return found


def _parsed(raw: bytes) -> tuple[Key, str, Any]:
    """Return the key of a line, the line as ``line_of`` writes it, and the value."""
    line = Line(parse_object(raw, len(raw)))  # git, too, has the files in memory
    text = line_of(line.fields)
    value: Any = None
    if line.kind in STATES and line.is_whole:
        value = line.state(line.thing()), line.seen()
    elif line.kind in PAST:
        value = line.past(line.thing()) and line.fields["stamp"]
    elif line.kind in DECLARED:
        value = line.declaration()
    elif line.kind == "purged":
        value = line.value("at", "moment", "")
    return (line.kind, *line.names) if value else ("", text), text, value


def _join(
    lines: Iterable[tuple[Any, list[str]]], before: Iterable[tuple[Any, object]], gone: str
) -> tuple[list[str], bool]:
    """Join the states of a thing; return the line, if any state is later than a purge of an owner,
    and True if the states are in conflict. Values that differ from the base under the same stamp
    are edits by hand."""
    old = next((Stamped.of(row) for row, _ in before), None)
    sides: list[tuple[Any, Stamped, set[str]]] = []
    edits: dict[str, tuple[str, str]] = {}
    for row, was in lines:
        state = Stamped.of(row)
        if old is not None:
            state = state if row.stamps else state.rebased_on(old)
            edits |= state.edited(old)
        state = state.after(gone)
        if state.stamps() or not gone:
            sides.append((row, state, {*was, *state.stamps()}))
    if not sides:
        return [], False
    (row, both, seen), *others = sides
    is_record = isinstance(row, Node) and any(has_history(one) for one, *_ in sides)
    is_conflict = False
    for _, theirs, there in others:
        is_conflict |= is_record and bool(conflicts(both, seen, theirs, there))
        both, seen = both.joined(theirs), seen | there
    both = both.replaced({name: one for name, one in edits.items() if one[0] == both.at(name)[0]})
    row = both.to_row(row)
    if not isinstance(row, Anchor):  # reads before a purge are unknown
        count_reads(row, *[Node("", "")] if gone else [one for one, *_ in sides])
    own = both.stamps()
    known = latest({stamp for stamp in seen if is_after(stamp, gone)} | own)
    was = [stamp for stamp in known if stamp not in own and is_record]
    return [line_of(fields_of(row, was))], is_conflict
