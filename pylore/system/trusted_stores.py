"""The stores of projects that this user has said to be theirs, in the user's own state folder.

A ``.lore`` may come with a clone. It may be searched; programs write into it, and say what it
holds unasked, only once its user has said so. A store is known by its place, by its file's number
on the disk, and by a word that is kept in it: what a checkout puts in its place is another one.
"""

from __future__ import annotations

import os

from .atomic_write import write_whole
from .private_files import make_private_folder, user_folder

_WORD_BYTES = 16


def new_word() -> str:
    """A word for a store to keep, that no other has."""
    return os.urandom(_WORD_BYTES).hex()


def is_trusted(path: str, word: str) -> bool:
    """Whether this user trusts the store whose file is ``path`` and that keeps ``word``."""
    return bool(word) and _line(path, word) in _lines()


def trust(path: str, word: str) -> bool:
    """Adds the store to the list; whether it was not there.

    Raises:
        LoreError: the list cannot be written.
    """
    line, lines = _line(path, word), _lines()
    if line in lines:
        return False
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


def _line(path: str, word: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
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
