"""A config file with one setting changed: every other line, comment and the order stay.

What is an assignment here is what ``config`` takes for one, which has read the file before: it is
not wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import UsageError
from .config import assigned, item_at, value_end

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Place(NamedTuple):
    key: str
    line: int
    start: int
    end: int
    """End of the value in the line."""
    item: int = -1
    """Start of the item, in an array that is written as one."""


def with_setting(text: str, key: str, value: str) -> str:
    """Return ``text`` where ``key`` (``limit``, ``EDGE_WEIGHTS[calls]``) has this value.

    The last assignment of it is changed, which is the one that counts; without one a line is
    added.

    Raises:
        UsageError: a value that a config file cannot hold.

    >>> print(with_setting("limit=5  # few\\nfusion=rrf\\n", "limit", "20"), end="")
    limit=20  # few
    fusion=rrf
    """
    quoted = _quoted(key, value)
    lines = text.split("\n")
    found = [place for place in _places(lines) if place.key == key]
    if found:
        place = found[-1]
        line = lines[place.line]
        lines[place.line] = line[: place.start] + quoted + line[place.end :]
        return "\n".join(lines)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{end}{key}={quoted}\n"


def without_setting(text: str, key: str) -> str:
    """Return ``text`` without the assignments of ``key``; of an array without all of its elements.

    >>> print(without_setting("# few\\nlimit=5\\nfusion=rrf\\n", "limit"), end="")
    # few
    fusion=rrf
    """
    lines: list[str | None] = [*text.split("\n")]
    for place in reversed([*_places(text.split("\n"))]):
        if key not in (place.key, place.key.partition("[")[0]):
            continue
        line = lines[place.line] or ""
        if place.item < 0:
            lines[place.line] = None
        else:
            rest = line[: place.item].rstrip(" \t") + line[place.end :]
            lines[place.line] = rest if rest.strip() else None
    return "\n".join(line for line in lines if line is not None)


def _places(lines: list[str]) -> Iterator[_Place]:
    array = ""
    for number, line in enumerate(lines):
        at = 0
        if not array:
            name, sign, rest = assigned(line)
            at = len(line) - len(rest)
            if sign == "=":
                yield _Place(name, number, at, at + value_end(rest))
            if sign != "=(":
                continue
            array = name
        while item := item_at(line, at):
            key, start, end = item
            yield _Place(f"{array}[{key}]", number, start, end, at)
            at = end
        if line[at:].lstrip(" \t").startswith(")"):
            array = ""


def _quoted(key: str, value: str) -> str:
    if value.isprintable():
        for spelled in (value, f"'{value}'", f'"{value}"'):
            if value_end(spelled) == len(spelled) and (spelled != value or value[:1] not in "~'\""):
                return spelled
    raise UsageError(f"{key}: a config file cannot hold this value: leave out line ends and "
                     "control characters, and do not mix both kinds of quotes")  # fmt: skip
