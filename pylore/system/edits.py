"""Edit files: a marked block in a text file, an entry in a JSON file, a setting in a config file.

The other bytes of a file are preserved. Files that cannot be edited safely are refused.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError, UsageError
from .atomic_write import alone, write_whole
from .config import is_plain, parse_line
from .files import make_private_folder, user_folder
from .project_files import read_plain, real_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Entry = dict[str, Any]
    Done = tuple[str, str, str]
    """(file or key, ``added``, ``updated``, ``unchanged``, ``removed`` or ``left``, reason)"""

BEGIN, END = "# >>> lore >>>", "# <<< lore <<<"
LONGEST = 5_000_000
"""Maximum size of a file that is edited, in bytes."""
_INDENT = 2


class Left(LoreError):
    """The reason for leaving a file unchanged."""


def read_bytes(path: str) -> bytes | None:
    """Return the content of a file; None if it is missing. Raise Left if it is not plain, too long,
    or cannot be read."""
    try:
        return read_plain(os.path.realpath(path), LONGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Left(error.strerror) from None
    except LoreError as error:
        raise Left(f"it {error}") from None


def read_text(path: str) -> str | None:
    """Return the text of a file, as ``read_bytes``; it must be UTF-8."""
    data = read_bytes(path)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        raise Left("it is not UTF-8") from None


# --- marked blocks


def with_block(text: str, key: str, lines: Sequence[str] | None) -> str:
    """Return the text with this block: in place of an older block, after the shebang, or at the
    end. Without lines (None) remove the block."""
    every = text.split("\n")
    at, end = _find(every, key)
    if lines is None:
        return "\n".join([*every[:at], *every[end:]])
    if not end:
        at = end = 1 if text.startswith("#!") else len(every) - (every[-1] == "")
    return "\n".join([*every[:at], BEGIN, f"# {key}", *lines, END, *every[end:]])


def _find(lines: Sequence[str], key: str) -> tuple[int, int]:
    """Return the slice of the block with this key; (0, 0) without such a block. A block without an
    end is ignored, since it would reach into the next block."""
    lines = [line.removesuffix("\r") for line in lines]
    marks = [at for at, line in enumerate(lines) if line in (BEGIN, END)]
    for start, end in zip(marks, marks[1:], strict=False):
        if lines[start : start + 2] == [BEGIN, f"# {key}"] and lines[end] == END:
            return start, end + 1
    return 0, 0


def change_block(path: str, key: str, lines: Sequence[str] | None, *, head: str = "") -> Done:
    """Add, update or remove (None) a block of a file. A new file starts with ``head``; a file with
    only ``head`` is deleted."""
    try:
        old = read_text(path)
    except Left as why:
        return path, "left", str(why)
    text = head if old is None else old
    new = with_block(text, key, lines)
    if new == old or (old is None and lines is None):
        return path, "unchanged", ""
    if lines is None and new.strip() in ("", head.strip()):
        os.unlink(path)
    else:
        write_whole(path, [new.encode()])
    return path, "removed" if lines is None else "added" if old is None else "updated", ""


def has_block(path: str, key: str) -> bool:
    """Return True if a file has a block of this key."""
    try:
        return _find((read_text(path) or "").split("\n"), key) != (0, 0)
    except Left:
        return False


# --- JSON


def json_with(path: str, change: Callable[[Entry], object]) -> bytes | None:
    """Return the new content of a JSON file: empty for an empty object, None without changes. Raise
    Left for invalid JSON."""
    before = read_bytes(path)
    value = _parsed(before)
    change(value)
    if json.dumps(value) == json.dumps(_parsed(before)):  # the order of keys counts
        return None
    return _rendered(before, value) if value else b""


def change_json(path: str, change: Callable[[Entry], object], *, everywhere: bool = False) -> bool:
    """Let ``change`` change the object in a JSON file; return True if it did. A missing file is
    created, an empty object deletes the file. Order, indentation and mode are preserved. A link is
    followed within the project, with ``everywhere`` to any place. Raise LoreError for invalid JSON,
    or if the file cannot be written."""
    place = os.path.realpath(path) if everywhere else path
    try:
        os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
        with alone(os.path.dirname(place) or "."):
            new = json_with(place, change)
            if new:
                write_whole(place, [new])
            elif new is not None:
                os.unlink(place)
    except OSError as error:
        raise LoreError(f"{place}: {error.strerror}: it is unchanged") from None
    except Left as why:
        raise LoreError(f"{path}: {why}: it is unchanged") from None
    return new is not None


def _parsed(data: bytes | None) -> Entry:
    if data is None or not data.strip():
        return {}
    try:
        value = json.loads(data.decode(), object_pairs_hook=_once)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise Left(f"it is not JSON that can be preserved ({error})") from None
    if not isinstance(value, dict):
        raise Left("it is not a JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> Entry:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _rendered(before: bytes | None, value: Entry) -> bytes:
    text = (before or b"").decode()
    lines = [line for line in text.split("\n") if line.strip()]
    is_flat = len(lines) == 1 and lines[0].strip() != "{}"
    second = lines[1] if len(lines) > 1 else ""
    space = second[: len(second) - len(second.lstrip())]
    escaped = text.isascii() and "\\u" in text
    shown = json.dumps(value, indent=None if is_flat else space or _INDENT, ensure_ascii=escaped)
    return (shown + (text[len(text.rstrip()) :] if lines else "\n")).encode()


# --- config files

_BROKEN = -1
"""Start of the value in a line that is not a plain assignment, and seems to be one."""


def users_file() -> str:
    """Return the path of the user's config file, behind links: no clone has brought these."""
    return os.path.realpath(os.path.join(user_folder("XDG_CONFIG_HOME", ".config"), "config"))


def change_file(path: str, changes: Mapping[str, str | None]) -> bool:
    """Set keys in a config file, or remove them (None); return True if the file has changed. A file
    without any text left is deleted."""
    before = after = text_of(path)
    for key, value in changes.items():
        after = with_setting(after, key, value)
    if before and not after and not os.path.islink(path):
        os.unlink(path)
    elif after != before:
        make_private_folder(os.path.dirname(path))
        write_whole(path, [after])
    return after != before


def text_of(path: str) -> str:
    """Return the text of a config file; empty without a file. Raise LoreError unless UTF-8."""
    try:
        return (read_text(real_place(path)) or "").removeprefix("\ufeff")
    except Left as why:
        raise LoreError(f"{path}: {why}: correct the file first") from None


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
    """Yield each assignment: line number, key, and the positions of ``parse_line``."""
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
        hint = "leave out line ends and control characters, and do not mix both kinds of quotes"
        raise UsageError(f"{key}: a config file cannot hold this value: {hint}")
    return found
