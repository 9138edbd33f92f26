"""A config file with one setting changed: every other line, comment and the order stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import UsageError
from .config import parse_line, value_end

if TYPE_CHECKING:
    from collections.abc import Iterator

_BROKEN = -1
"""Start of the value in a line that is not a plain assignment, and seems to be one."""


def with_setting(text: str, key: str, value: str) -> str:
    """Return ``text`` where ``key`` (``limit``, ``EDGE_WEIGHTS[calls]``) has this value.

    The last assignment of it is changed, which is the one that counts; without one a line is
    added. Broken lines of this key go.

    Raises:
        UsageError: a value that a config file cannot hold.

    >>> print(with_setting("limit=5  # few\\nlimit = 6\\n", "limit", "20"), end="")
    limit=20  # few
    """
    quoted = _quoted(key, value)
    lines: list[str | None] = [*text.split("\n")]
    found = [place for place in _places(text) if place[1] == key]
    plain = [place for place in found if place[2] != _BROKEN]
    for number, *_ in found:
        if number not in [place[0] for place in plain]:
            lines[number] = None
    if plain:
        number, _, start, end, _ = plain[-1]
        line = lines[number] or ""
        lines[number] = line[:start] + quoted + line[end:]
        return _joined(lines)
    left = _joined(lines)
    return f"{left}{'' if not left or left.endswith(chr(10)) else chr(10)}{key}={quoted}\n"


def without_setting(text: str, key: str) -> str:
    """Return ``text`` without the assignments of ``key``; of an array without all of its elements.

    >>> print(without_setting("# few\\nlimit=5\\nfusion=rrf\\n", "limit"), end="")
    # few
    fusion=rrf
    """
    lines: list[str | None] = [*text.split("\n")]
    for number, name, _, end, item in reversed([*_places(text)]):
        if key not in (name, name.partition("[")[0]):
            continue
        line = lines[number] or ""
        rest = line[:item].rstrip(" \t") + line[end:] if item >= 0 else ""
        lines[number] = rest if rest.strip() else None
    return _joined(lines)


def _joined(lines: list[str | None]) -> str:
    return "\n".join(line for line in lines if line is not None)


def _places(text: str) -> Iterator[tuple[int, str, int, int, int]]:
    """Yield each assignment: number of the line, key, and what ``parse_line`` says of it."""
    array = ""
    for number, line in enumerate(text.split("\n")):
        parsed = parse_line(line.removesuffix("\r"), array)
        if parsed is not None:
            values, array = parsed
            for value in values:
                yield number, *value
        elif not array and "=" in line:
            yield number, line.partition("=")[0].strip(), _BROKEN, _BROKEN, _BROKEN


def _quoted(key: str, value: str) -> str:
    if value.isprintable():
        for spelled in (value, f"'{value}'", f'"{value}"'):
            if value_end(spelled, 0) == len(spelled) and (
                spelled != value or value[:1] not in ("~", "'", '"')
            ):
                return spelled
    raise UsageError(f"{key}: a config file cannot hold this value: leave out line ends and "
                     "control characters, and do not mix both kinds of quotes")  # fmt: skip
