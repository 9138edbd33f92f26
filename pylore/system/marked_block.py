"""A block of lines in a file of somebody else's, between marks, that can be taken out again.

What was in the file comes out as it was, byte for byte. A block is known by its key, so that
two projects of one repository have a block each.
"""

from __future__ import annotations

BEGIN, END = "# >>> lore >>>", "# <<< lore <<<"

_OWN = "# This file came with it, and goes with it if nothing else is in it."
_UNENDED = "# The line before had no end."
_BY = "# Put here by 'lore sync --install', and taken out by 'lore sync --uninstall', for"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def with_block(
    text: str | None, key: str, lines: Sequence[str], *, head: str = "", first: bool = False
) -> str:
    """The text with this block: in the place of the one that it has, else at its end.

    Args:
        text: what the file has; None where there is no file.
        key: what the block is for, of one line.
        head: the first line of a file that is made for it.
        first: it comes after the line that names the program, where it is not there yet.
    """
    found = _find((text or "").split("\n"), key)
    if found is not None and text is not None:
        all, start, end = text.split("\n"), *found
        notes = [line for line in all[start + 2 : start + 4] if line in (_OWN, _UNENDED)]
        return "\n".join([*all[:start], *_block(key, notes, lines), *all[end + 1 :]])
    if text is None:
        return "\n".join([*([head] if head else []), *_block(key, [_OWN], lines), ""])
    if first:
        line, newline, rest = text.partition("\n")
        if newline and line.startswith("#!"):
            return "\n".join([line, *_block(key, [], lines), rest])
    unended = text != "" and not text.endswith("\n")
    notes = [_UNENDED] if unended else []
    return text + ("\n" if unended else "") + "\n".join([*_block(key, notes, lines), ""])


def without_block(text: str, key: str, *, head: str = "") -> str | None:
    """The text without the block of this key; None: the file is to go, it came with it."""
    lines = text.split("\n")
    found = _find(lines, key)
    if found is None:
        return text
    start, end = found
    notes = lines[start + 2 : start + 4]
    before, after = lines[:start], lines[end + 1 :]
    rest = "\n".join([*before, *after])
    if _OWN in notes[:1] and rest.strip("\n") == head:
        return None
    return rest.removesuffix("\n") if _UNENDED in notes[:1] and after == [""] else rest


def _block(key: str, notes: Sequence[str], lines: Sequence[str]) -> list[str]:
    return [BEGIN, f"{_BY} {key}", *notes, *lines, END]


def _find(lines: Sequence[str], key: str) -> tuple[int, int] | None:
    """The first and the last line of the block of this key."""
    for number, line in enumerate(lines[:-1]):
        if line == BEGIN and lines[number + 1] == f"{_BY} {key}":
            for end in range(number + 2, len(lines)):
                if lines[end] == END:
                    return number, end
    return None
