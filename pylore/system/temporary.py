"""Temporary folders that tell whose they are, so that those of killed processes can go.

The name has the process's number, and the process holds a lock for as long as it lives:
in another container the number says nothing, and the lock does.
"""

from __future__ import annotations

import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "lore-"


class TemporaryFolder:
    """``with TemporaryFolder() as path``: a folder for this user alone, gone at the end.

    Those that killed processes left go now. Raises OSError where none can be made.
    """

    def __init__(self) -> None:
        self._path = ""
        self._held = -1

    def __enter__(self) -> str:
        from tempfile import mkdtemp

        remove_abandoned_folders()
        self._path = mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
        self._held = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        hold(self._held)
        return self._path

    def __exit__(self, *_: object) -> None:
        from shutil import rmtree

        rmtree(self._path, ignore_errors=True)
        os.close(self._held)


def hold(number: int) -> None:
    """Say by an open file or folder that this process lives; where no lock can be, nothing."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return


def abandoned(name: str, process: str, parent: int | None = None) -> bool:
    """Return whether what ``process``, a number as text, made under this name has nobody any more.

    A link is nobody's, and so is what another user made.
    """
    if not (process.isascii() and process.isdigit() and len(process) < 20) or _lives(int(process)):
        return False
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        number = os.open(name, flags, dir_fd=parent)
    except OSError:
        return False
    try:
        if os.fstat(number).st_uid != os.geteuid():
            return False
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(number)
    return True


def remove_abandoned_folders() -> None:
    """Take away the temporary folders of processes that were killed; no link is followed."""
    for path in list(_abandoned_folders(os.environ.get("TMPDIR") or "/tmp")):
        from shutil import rmtree

        rmtree(path, ignore_errors=True)


def _abandoned_folders(folder: str) -> Iterator[str]:
    try:
        entries = os.scandir(folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            process, dash, rest = entry.name.removeprefix(PREFIX).partition("-")
            ours = entry.name.startswith(PREFIX) and dash and len(rest) == 8
            if ours and entry.is_dir(follow_symlinks=False) and abandoned(entry.path, process):
                yield entry.path


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
