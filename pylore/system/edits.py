"""Edit files of other programs: a marked block in a text file, an entry in a JSON file.

The rest of a file stays, byte for byte where it can. A file that cannot be kept is refused.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError
from .atomic_write import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Entry = dict[str, Any]
    Done = tuple[str, str, str]
    """(file or key, ``added``, ``updated``, ``unchanged``, ``removed`` or ``left``, why)"""

BACKUP = ".lore-backup"
"""Suffix of a copy of a JSON file as it was before lore first changed it."""
BEGIN, END = "# >>> lore >>>", "# <<< lore <<<"
LONGEST = 5_000_000
"""Maximum size of a file that is edited, in bytes."""
_INDENT = 2


class Left(LoreError):
    """Why a file stays as it is."""


def read_bytes(path: str) -> bytes | None:
    """Return the content of a file; None if there is none. Raise Left if it is not plain, too
    long, or cannot be read.
    """
    try:
        # Non-blocking: a pipe without a writer would hold us up.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Left(error.strerror) from None
    with open(number, "rb") as file:
        if not S_ISREG(os.fstat(number).st_mode):
            raise Left("it is not a plain file")
        data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise Left(f"it is longer than {LONGEST} bytes")
    return data


def read_text(path: str) -> str | None:
    """Return the text of a file, as ``read_bytes``; it must be UTF-8."""
    data = read_bytes(path)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        raise Left("it is not UTF-8") from None


# --- marked blocks


def block_key(put: str, take: str, what: str) -> str:
    """Return the first line of a block, by the commands that put it in and take it out."""
    return f"Put here by '{put}', and taken out by '{take}' with all changes in it, for {what}"


def with_block(text: str, key: str, lines: Sequence[str]) -> str:
    """Return the text with this block: in the place of an older one, below the line that names the
    program of a script, or at the end."""
    every = text.split("\n")
    at, end = _find(every, key)
    if not end:
        at = end = 1 if text.startswith("#!") else len(every) - (every[-1] == "")
    return "\n".join([*every[:at], BEGIN, f"# {key}", *lines, END, *every[end:]])


def without_block(text: str, key: str) -> str:
    """Return the text without the block of this key."""
    every = text.split("\n")
    at, end = _find(every, key)
    return "\n".join([*every[:at], *every[end:]])


def _find(lines: Sequence[str], key: str) -> tuple[int, int]:
    """Return the slice of the block of this key; (0, 0) if there is none.

    A block without its own end does not count: it would reach into the next one.
    """
    for start in range(len(lines) - 1):
        if lines[start] == BEGIN and lines[start + 1] == f"# {key}":
            for end in range(start + 2, len(lines)):
                if lines[end] == END:
                    return start, end + 1
                if lines[end] == BEGIN:
                    break
    return 0, 0


def put_block(path: str, key: str, lines: Sequence[str], *, head: str = "") -> Done:
    """Put a block into a file, or bring it up to date; a new file begins with ``head``."""
    try:
        old = read_text(path)
        new = with_block(head if old is None else old, key, lines)
        if new != old:
            write_whole(path, [new.encode()])
    except Left as why:
        return path, "left", str(why)
    return path, "added" if old is None else "unchanged" if new == old else "updated", ""


def take_block(path: str, key: str, *, head: str = "") -> Done:
    """Take a block out of a file; a file with nothing else but ``head`` is deleted."""
    try:
        old = read_text(path) or ""
    except Left as why:
        return path, "left", str(why)
    new = without_block(old, key)
    if new == old:
        return path, "unchanged", ""
    if new.strip() in ("", head.strip()):
        os.unlink(path)
    else:
        write_whole(path, [new.encode()])
    return path, "removed", ""


def has_block(path: str, key: str) -> bool:
    """Return True if a file has a block of this key."""
    try:
        text = read_text(path) or ""
    except Left:
        return False
    return without_block(text, key) != text


# --- JSON


def json_with(path: str, change: Callable[[Entry], object]) -> bytes | None:
    """Return a JSON file as it is after a change of its object; None if nothing changes. Raise Left
    if it is not JSON that can be kept.
    """
    before = read_bytes(path)
    value = _parsed(before)
    change(value)
    return None if _same(value, _parsed(before)) else _rendered(before, value)


def change_json(path: str, change: Callable[[Entry], object], *, everywhere: bool = False) -> bool:
    """Let ``change`` change the object in a JSON file; return True if it did.

    A missing file is made. Order, indentation and mode stay; the first change keeps a backup. A
    link is followed within its project, with ``everywhere`` wherever it leads. Raise LoreError if
    the file is not JSON that can be kept, or cannot be written.
    """
    with _locked(path, everywhere) as place:
        new = json_with(place, change)
        if new is not None:
            _write(place, new)
    return new is not None


def restore_json(path: str, take: Callable[[Entry], bool], *, everywhere: bool = False) -> bool:
    """Let ``take`` take an entry out of the object in a JSON file; return True if it was there, as
    ``take`` does.

    The backup comes back if it differs by the entry alone; without one an empty file goes.
    """
    with _locked(path, everywhere) as place:
        before = read_bytes(place)
        value = _parsed(before)
        if not take(value):
            return False
        kept = read_bytes(place + BACKUP)
        if kept is not None and _differs_by_entry(kept, take, value):
            write_whole(place, [kept])
            os.unlink(place + BACKUP)
        elif kept is None and not value:
            os.unlink(place)
        else:
            _write(place, _rendered(before, value))
    return True


@contextmanager
def _locked(path: str, everywhere: bool) -> Iterator[str]:
    """Lock the folder of a file, for other commands of lore; yield the file's place."""
    place = os.path.realpath(path) if everywhere else path
    folder = os.path.dirname(place) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            flock(lock, LOCK_EX)
            yield place
        finally:
            os.close(lock)
    except OSError as error:
        raise LoreError(f"{place}: {error.strerror}: nothing was changed") from None
    except Left as why:
        raise LoreError(f"{path}: {why}: nothing was changed") from None


def _write(place: str, data: bytes) -> None:
    """Write a file; keep the one before, unless there is a backup."""
    before = read_bytes(place)
    if before is not None and not os.path.lexists(place + BACKUP):
        write_whole(place + BACKUP, [before], private=True)
    write_whole(place, [data])


def _differs_by_entry(kept: bytes, take: Callable[[Entry], bool], value: Entry) -> bool:
    """Return True if a backup is the value, and never had the entry."""
    try:
        old = _parsed(kept)
    except Left:
        return False
    return not take(old) and _same(old, value)


def _parsed(data: bytes | None) -> Entry:
    if data is None or not data.strip():
        return {}
    try:
        value = json.loads(data.decode(), object_pairs_hook=_once)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise Left(f"it is not JSON that can be kept as it is ({error})") from None
    if not isinstance(value, dict):
        raise Left("it is not a JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> Entry:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _same(one: Any, other: Any) -> bool:
    """Return True if they are equal, the order of keys included."""
    return json.dumps(one) == json.dumps(other)


def _rendered(before: bytes | None, value: Entry) -> bytes:
    """Return the object with the indentation and the last line's end of the file before."""
    text = (before or b"{}\n").decode()
    indent: int | str = _INDENT
    for line in text.split("\n")[1:]:
        if line.strip():
            space = line[: len(line) - len(line.lstrip())]
            indent = space if space and line.lstrip().startswith('"') else _INDENT
            break
    escaped = text.isascii() and "\\u" in text
    end = "\n" if text.endswith("\n") or not before else ""
    return (json.dumps(value, indent=indent, ensure_ascii=escaped) + end).encode()
