"""A block of lines in a file of somebody else's, between marks, that can be taken out again.

What was in the file comes out as it was, byte for byte. A block is known by its key, so that
two projects of one repository have a block each.
"""

from __future__ import annotations

BEGIN, END = "# >>> lore >>>", "# <<< lore <<<"

_OWN = "# This file came with it, and goes with it if nothing else is in it."
_UNENDED = "# The line before had no end."

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def block_key(put: str, take: str, what: str) -> str:
    """The key of the blocks that one command puts in and another takes out, for ``what``."""
    return f"Put here by '{put}', and taken out by '{take}', for {what}"


def with_block(
    text: str | None, key: str, lines: Sequence[str], *, head: str = "", first: bool = False
) -> str:
    """The text with this block: in the place of the one that it has, else at its end.

    Args:
        text: what the file has; None where there is no file.
        key: what the block is for, of one line, which stands in it.
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
    if _OWN in notes[:1]:
        return None if rest.strip("\n") == head else "\n".join(_noted(_OWN, [*before, *after]))
    if _UNENDED in notes[:1] and after == [""]:
        return rest.removesuffix("\n")
    if _UNENDED in notes[:1] and after[0] == BEGIN:
        return "\n".join([*before, *_noted(_UNENDED, after)])
    return rest


def without_any_block(text: str) -> str:
    """The text without what is between marks, whoever has put it there."""
    kept, lines = [], text.split("\n")
    while lines:
        line = lines.pop(0)
        if line == BEGIN and END in lines:
            lines = lines[lines.index(END) + 1 :]
        else:
            kept.append(line)
    return "\n".join(kept)


def _noted(note: str, lines: list[str]) -> list[str]:
    """Lines whose first block has this note from now on; as they are where there is none."""
    at = lines.index(BEGIN) + 2 if BEGIN in lines[:-1] else 0
    return [*lines[:at], note, *lines[at:]] if at and lines[at : at + 1] != [note] else lines


def _block(key: str, notes: Sequence[str], lines: Sequence[str]) -> list[str]:
    return [BEGIN, f"# {key}", *notes, *lines, END]


def _find(lines: Sequence[str], key: str) -> tuple[int, int] | None:
    """Return the first and the last line of the block of this key.

    A block without an end of its own is none: it would reach into the next one.
    """
    for number, line in enumerate(lines[:-1]):
        if line == BEGIN and lines[number + 1] == f"# {key}":
            for end in range(number + 2, len(lines)):
                if lines[end] == END:
                    return number, end
                if lines[end] == BEGIN:
                    break
    return None
