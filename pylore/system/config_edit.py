"""A config file with one setting changed: every other line, comment and the order stay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..core.errors import LoreError, UsageError
from .atomic_write import write_whole
from .config import is_plain, parse_line
from .files import make_private_folder, user_folder
from .project_files import real_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BROKEN = -1
"""Start of the value in a line that is not a plain assignment, and seems to be one."""


def users_file() -> str:
    """Return the path of the user's config file."""
    return os.path.join(user_folder("XDG_CONFIG_HOME", ".config"), "config")


def change_file(path: str, changes: Mapping[str, str | None]) -> bool:
    """Set keys in a config file, or remove them (None); return True if the file has changed."""
    before = after = text_of(path)
    for key, value in changes.items():
        after = with_setting(after, key, value)
    if after != before:
        make_private_folder(os.path.dirname(path))
        write_whole(path, [after])
    return after != before


def text_of(path: str) -> str:
    """Return the text of a config file; empty without a file. Raise LoreError unless UTF-8."""
    try:
        with open(real_place(path), encoding="utf-8-sig", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise LoreError(f"{path}: not UTF-8: convert it first") from None


def with_setting(text: str, key: str, value: str | None) -> str:
    """Return ``text`` where ``key`` (``limit``, ``EDGE_WEIGHTS[calls]``) has this value, or without
    the assignments of ``key``, or of all elements of an array (None).

    The last assignment, which counts, is changed; without one a line is added. Broken lines of this
    key go. Raise UsageError for a value that a config file cannot hold.

    >>> print(with_setting("limit=5  # few\\nlimit = 6\\n", "limit", "20"), end="")
    limit=20  # few
    """
    quoted = _quoted(key, value) if value is not None else None
    lines: list[str | None] = [*text.split("\n")]
    for number, name, start, end, item in reversed([*_places(text)]):
        if key != name and (value is not None or key != name.partition("[")[0]):
            continue
        line = lines[number] or ""
        if quoted is not None and start != _BROKEN:
            lines[number], quoted = line[:start] + quoted + line[end:], None
        elif value is None or start == _BROKEN:
            rest = line[:item].rstrip(" \t") + line[end:] if item >= 0 else ""
            lines[number] = rest if rest.strip() else None
    left = "\n".join(line for line in lines if line is not None)
    if quoted is None:
        return left
    return f"{left}{'' if not left or left.endswith(chr(10)) else chr(10)}{key}={quoted}\n"


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
    spellings = (*([value] if value[:1] not in ("~", "'", '"') else []), f"'{value}'", f'"{value}"')
    found = next(filter(is_plain, spellings), None) if value.isprintable() else None
    if found is None:
        raise UsageError(f"{key}: a config file cannot hold this value: leave out line ends and "
                         "control characters, and do not mix both kinds of quotes")  # fmt: skip
    return found
