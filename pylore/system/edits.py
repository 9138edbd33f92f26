"""Edit files of other programs: a marked block in a text file, an entry in a JSON file.

The rest of a file stays, byte for byte where it can. A file that cannot be kept is refused.
"""

from __future__ import annotations

import json
import os
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError
from .atomic_write import alone, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Entry = dict[str, Any]
    Done = tuple[str, str, str]
    """(file or key, ``added``, ``updated``, ``unchanged``, ``removed`` or ``left``, why)"""

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


def with_block(text: str, key: str, lines: Sequence[str] | None) -> str:
    """Return the text with this block: in the place of an older one, below the line that names the
    program of a script, or at the end. Without lines (None) take the block out.
    """
    every = text.split("\n")
    at, end = _find(every, key)
    if lines is None:
        return "\n".join([*every[:at], *every[end:]])
    if not end:
        at = end = 1 if text.startswith("#!") else len(every) - (every[-1] == "")
    return "\n".join([*every[:at], BEGIN, f"# {key}", *lines, END, *every[end:]])


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


def change_block(path: str, key: str, lines: Sequence[str] | None, *, head: str = "") -> Done:
    """Put a block into a file, bring it up to date, or take it out (None). A new file begins with
    ``head``; a file with nothing else is deleted.
    """
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
    """Return a JSON file as it is after a change of its object: nothing of an empty one, None if
    nothing changes. Raise Left if it is not JSON that can be kept.
    """
    before = read_bytes(path)
    value = _parsed(before)
    change(value)
    if json.dumps(value) == json.dumps(_parsed(before)):  # the order of keys counts
        return None
    return _rendered(before, value) if value else b""


def change_json(path: str, change: Callable[[Entry], object], *, everywhere: bool = False) -> bool:
    """Let ``change`` change the object in a JSON file; return True if it did.

    A missing file is made, one with an empty object is deleted. Order, indentation and mode stay. A
    link is followed within its project, with ``everywhere`` wherever it leads. Raise LoreError if
    the file is not JSON that can be kept, or cannot be written.
    """
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
        raise LoreError(f"{place}: {error.strerror}: nothing was changed") from None
    except Left as why:
        raise LoreError(f"{path}: {why}: nothing was changed") from None
    return new is not None


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


def _rendered(before: bytes | None, value: Entry) -> bytes:
    """Return the object with the indentation and the last line's end of the file before."""
    text = (before or b"").decode()
    lines = [line for line in text.split("\n") if line.strip()]
    is_flat = len(lines) == 1 and lines[0].strip() != "{}"
    second = lines[1] if len(lines) > 1 else ""
    space = second[: len(second) - len(second.lstrip())]
    escaped = text.isascii() and "\\u" in text
    shown = json.dumps(value, indent=None if is_flat else space or _INDENT, ensure_ascii=escaped)
    return (shown + (text[len(text.rstrip()) :] if lines else "\n")).encode()
