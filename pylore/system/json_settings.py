"""Settings files of other programs, JSON, changed in place: strictly read, one backup, atomic.

What cannot be kept as it is (comments, a key that stands twice) is refused, so nothing is lost.
Taking a change back leaves the bytes that were there before it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from math import isfinite
from typing import Any

from ..core.errors import LoreError
from .atomic_write import write_bytes

BACKUP = ".lore-backup"
"""Suffix of a file's copy: the file before lore first changed it."""

_LONGEST = 5_000_000
_INDENT = 2
_TRIES = 5

Change = Callable[[dict[str, Any]], None]


def change_settings(
    path: str, change: Change, *, everywhere: bool = False, back: Change | None = None
) -> bool:
    """Let ``change`` change the object in a JSON file; whether it did.

    A file that is not there is made. Order, indentation and mode stay; of a link, what it leads
    to is changed: within its project, or with ``everywhere`` wherever that is. ``back`` is a
    change that this one takes back: then the file as it was before that comes back, byte for
    byte, where nobody has changed it in between.

    Raises:
        LoreError: the file is not JSON that can be kept, or cannot be written.
    """
    place = os.path.realpath(path) if everywhere else path
    for _ in range(_TRIES):
        before = _read(place)
        value = _parsed(path, before)
        after = _parsed(path, before)
        change(after)
        if _same(value, after):
            return False
        if _put(place, before, after, (back, change) if back else None):
            return True
    raise LoreError(f"{path}: is being written by another program: try again")


def settings_of(path: str) -> dict[str, Any]:
    """Return the object in a JSON file; empty where there is no file.

    Raises:
        LoreError: as ``change_settings``.
    """
    return _parsed(path, _read(path))


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            data = file.read(_LONGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: nothing was changed") from None
    if len(data) > _LONGEST:
        raise LoreError(f"{path}: is longer than {_LONGEST} bytes: nothing was changed")
    return data


def _parsed(path: str, data: bytes | None) -> dict[str, Any]:
    if data is None or not data.strip():
        return {}
    try:
        value = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_refuse,
                           parse_float=_finite)  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise LoreError(f"{path}: is not JSON that can be kept as it is ({error})") from None
    if not isinstance(value, dict):
        raise LoreError(f"{path}: is not a JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:60]} is too large a number")
    return number


def _same(one: Any, other: Any) -> bool:
    """Return whether they are equal, the order of keys included."""
    return json.dumps(one) == json.dumps(other)


def _rendered(before: bytes | None, value: dict[str, Any]) -> bytes:
    """Return the object as the file is written: with its indentation, and an end of the last
    line."""
    text = (before or b"{}\n").decode()
    indent: int | str = _INDENT
    for line in text.split("\n")[1:]:
        if line.strip():
            space = line[: len(line) - len(line.lstrip())]
            indent = space if space and line.lstrip().startswith('"') else _INDENT
            break
    escaped = text.isascii() and "\\u" in text
    rendered = json.dumps(value, indent=indent, ensure_ascii=escaped)
    return (rendered + ("\n" if text.endswith("\n") or not before else "")).encode()


def rendered(path: str, value: dict[str, Any]) -> str:
    """Return the object as it would be written into this file."""
    return _rendered(_read(path), value).decode()


def _put(
    place: str,
    before: bytes | None,
    after: dict[str, Any],
    there_and_back: tuple[Change, Change] | None,
) -> bool:
    """Write the new object if the file is still as it was read; return whether it was.

    The first change keeps a copy of the file. Where ``there_and_back`` leads from that copy to the
    new object, the copy takes its place. A file goes away only if ``there`` alone has made it.
    """
    folder = os.path.dirname(place) or "."
    copy = place + BACKUP
    try:
        os.makedirs(folder, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise LoreError(f"{place}: {error.strerror}: nothing was changed") from None
    try:
        flock(lock, LOCK_EX)
        if _read(place) != before:
            return False
        kept = _read(copy)
        if kept is None and there_and_back and before == _made_by(there_and_back[0]):
            os.unlink(place)
        elif kept is not None and there_and_back and _leads_to(copy, kept, there_and_back, after):
            write_bytes(place, [kept])
            os.unlink(copy)
        else:
            if kept is None and before is not None:
                write_bytes(copy, [before], private=True)
            write_bytes(place, [_rendered(before, after)])
        return True
    except OSError as error:
        raise LoreError(f"{place}: {error.strerror}: nothing was changed") from None
    finally:
        os.close(lock)


def _made_by(change: Change) -> bytes:
    """Return the file that a change makes where there is none."""
    value: dict[str, Any] = {}
    change(value)
    return _rendered(None, value)


def _leads_to(path: str, data: bytes, changes: tuple[Change, ...], value: dict[str, Any]) -> bool:
    """Return whether these changes lead from a file's object to a value."""
    try:
        old = _parsed(path, data)
        for change in changes:
            change(old)
    except LoreError:
        return False
    return _same(old, value)
