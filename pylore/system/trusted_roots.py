"""The folders outside a store's own project that this user has anchored records to.

A store apart from any project keeps the folder of each anchor with it. A store or an
export may come from somebody else, and name any folder of this machine: only those are
looked into that are in this list, a file in the user's own state folder with one a line.
"""

from __future__ import annotations

import os

from .files import note


def is_known(root: str) -> bool:
    """Return whether this user has anchored a record to the folder ``root``, a real path."""
    return root in _roots()


def remember(root: str) -> None:
    """Add a folder to the list, if it is not there. Where that cannot be written, it is not."""
    if not root or "\n" in root or root in _roots():
        return
    path = _file()
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(root + "\n")


def _roots() -> frozenset[str]:
    note(_file())
    try:
        with open(_file(), encoding="utf-8") as file:
            return frozenset(file.read().split("\n")[:-1])
    except (OSError, UnicodeDecodeError):
        return frozenset()


def _file() -> str:
    state = os.environ.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        state = os.path.expanduser("~/.local/state")
    return os.path.join(state, "lore", "roots")
