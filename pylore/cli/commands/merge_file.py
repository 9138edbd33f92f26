"""merge-file: no settings, no store, so that a merge of git's waits for little."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.errors import LoreError
from ...core.text import counted
from ...formats.merge_lines import merge_lines
from ...system.atomic_write import write_whole
from ...terminal.output import note

_MOST_NAMED = 20


def merge_file(base: str, ours: str, theirs: str, path: str | None, **options: object) -> None:
    name = path or ours
    try:
        merged = merge_lines(_lines(base), _lines(ours), _lines(theirs))
    except LoreError as error:
        raise LoreError(f"{name}: {error}: nothing was merged; mend it, then merge again") from None
    write_whole(ours, merged.lines)
    if merged.back:
        more = len(merged.back) - _MOST_NAMED
        named = ", ".join(f"'{id}'" for id in merged.back[:_MOST_NAMED])
        named += f" and {more} more" if more > 0 else ""
        note(f"{name}: deleted for good on one side, edited after that on the other one, "
             f"and so back again: {named}")  # fmt: skip
    for id in merged.conflicts[:_MOST_NAMED]:
        note(f"{name}: '{id}' was changed on both sides: the newer version wins")
    more = len(merged.conflicts) - _MOST_NAMED
    if more > 0:
        note(
            f"{name}: {counted(more, 'more record was', 'more records were')} changed on both sides"
        )


def _lines(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            yield from file
    except OSError as error:
        raise LoreError(f"{path} cannot be read ({error.strerror})") from None
