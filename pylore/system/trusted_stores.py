"""The stores of projects that this user has said to be theirs, in the user's own state folder.

A ``.lore`` may come with a clone. It may be searched; programs write into it, and say what it
holds unasked, only once its user has said so. What is trusted is a file, not what stands in it,
since a clone brings that: its place, its number on the disk, and what no checkout can make again,
a word in an attribute of the file (Linux) or the time at which it came to be (macOS). A file's
number alone may be given out once more, right after the file has gone.
"""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError
from .atomic_write import write_whole
from .private_files import make_private_folder, user_folder

_ATTRIBUTE = b"user.lore.trust"
_WORD_BYTES = 16


def is_trusted(path: str) -> bool:
    """Whether this user trusts the store whose file this is."""
    line = _line(path)
    return bool(line) and line in _lines()


def trust(path: str) -> bool:
    """Adds the store to the list; whether it was not there.

    Raises:
        LoreError: the file cannot be told from another one in its place, or the list cannot
            be written.
    """
    if "\n" in path:
        raise LoreError(f"{path!r}: has the end of a line in its name: give it another name")
    if is_trusted(path):
        return False
    _mark(path)
    line, lines = _line(path), _lines()
    if not line:
        raise LoreError(f"{path}: this file system keeps nothing by which it could be told from "
                        "another one in its place: set LORE_DIR where you use it")  # fmt: skip
    _write([*(other for other in lines if _place(other) != _place(line)), line])
    return True


def revoke(path: str) -> bool:
    """Takes the store in this place off the list; whether it was there.

    Raises:
        LoreError: the list cannot be written.
    """
    lines, place = _lines(), os.path.realpath(path)
    kept = [line for line in lines if _place(line) != place]
    if len(kept) == len(lines):
        return False
    _write(kept)
    return True


def _mark(path: str) -> None:
    """Gives the file a word that no other one has; where that cannot be, it has none."""
    if sys.platform == "linux":
        try:
            os.setxattr(path, _ATTRIBUTE, os.urandom(_WORD_BYTES).hex().encode())
        except OSError:
            return


def _line(path: str) -> str:
    """What the list has of a file; empty where it cannot be told from another one."""
    try:
        status = os.stat(path)
        if sys.platform == "linux":
            word = os.getxattr(path, _ATTRIBUTE).decode("ascii", "replace")
        else:
            word = str(getattr(status, "st_birthtime", ""))
    except OSError:
        return ""
    if not word or " " in word or "\n" in word:
        return ""
    return f"{word} {status.st_dev}:{status.st_ino} {os.path.realpath(path)}"


def _place(line: str) -> str:
    return line.split(" ", 2)[-1]


def _lines() -> list[str]:
    try:
        with open(_file(), encoding="utf-8") as file:
            return [line for line in file.read().split("\n") if line.count(" ") >= 2]
    except (OSError, UnicodeDecodeError):
        return []


def _write(lines: list[str]) -> None:
    make_private_folder(os.path.dirname(_file()))
    write_whole(_file(), [f"{line}\n" for line in lines], private=True)


def _file() -> str:
    return os.path.join(user_folder("XDG_STATE_HOME", ".local/state"), "trusted")
