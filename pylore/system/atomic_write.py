"""Write files so that a reader gets the old content or the new."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from stat import S_IMODE, S_ISREG
from tempfile import TemporaryDirectory

from ..core.errors import LoreError
from .files import is_of_store
from .programs import Tidying
from .project_files import real_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")
"""Files that this process has open: links by their nature."""
_LONGEST_NAME = 50
"""Characters of a file's name in a temporary name: each may have four of 255 bytes."""


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Make a folder for this user only, which is deleted at the end, or by an interrupt."""
    with Tidying(), TemporaryDirectory(prefix="lore-") as path:
        if path.encode(errors="ignore").decode() != path:  # ast-grep would find no symbol
            raise LoreError(f"{path!a}: is not UTF-8: set TMPDIR to a different folder")
        yield path


@contextmanager
def alone(folder: str) -> Iterator[None]:
    """Let no other process be in a block for the same folder meanwhile."""
    from fcntl import LOCK_EX, flock

    number = -1
    with suppress(OSError):  # a folder that may not be read, or a file system without locks
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        flock(number, LOCK_EX)
    try:
        yield
    finally:
        if number >= 0:
            os.close(number)


def write_whole(path: str, parts: Iterable[str | bytes], *, private: bool = False) -> None:
    """Write text or bytes to a temporary file, and let it replace the file at ``path``.

    A pipe or a device is written into. Of a link within the project (see ``real_place``) the
    target is replaced. Unless ``private`` a file keeps its mode. Raise LoreError if the file cannot
    be written, is a store, or a link leads out of the project; what was there is unchanged.
    """
    if is_of_store(os.path.realpath(path)):
        advice = "name another file ('lore store backup' copies a store, 'lore export' its text)"
        raise LoreError(f"{path}: is a file of a store: {advice}")
    try:
        with Tidying():
            if path.startswith(_STREAMS):
                _write(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC), parts)
            else:
                _write_place(real_place(path), parts, private=private)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: not written") from None


@contextmanager
def new_file(place: str, *, instead: bool = True) -> Iterator[str]:
    """Yield the path of an empty private file; at the end sync it and move it to ``place``, a path
    without links. If the block fails it is deleted. Raise FileExistsError if there is a
    file, and ``instead`` is false."""
    with Tidying(), _beside(place, 0o600, instead=instead) as (_, path):
        yield path
    with suppress(OSError):  # the new name survives a power cut, if the file system can
        number = os.open(os.path.dirname(place) or ".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _write_place(place: str, parts: Iterable[str | bytes], *, private: bool) -> None:
    mode = os.lstat(place).st_mode if os.path.lexists(place) else 0
    if mode and not S_ISREG(mode):
        _write(os.open(place, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC), parts)
        return
    with _beside(place, 0o600 if private else 0o666) as (number, _):
        if mode or private:
            os.fchmod(number, 0o600 if private else S_IMODE(mode))
        _write(os.dup(number), parts)


def _write(number: int, parts: Iterable[str | bytes]) -> None:
    with open(number, "wb") as out:
        out.writelines(part.encode() if isinstance(part, str) else part for part in parts)


@contextmanager
def _beside(place: str, mode: int, *, instead: bool = True) -> Iterator[tuple[int, str]]:
    folder, name = os.path.split(place)
    beside = os.path.join(folder, f".{name[:_LONGEST_NAME]}.lore-{os.urandom(6).hex()}")
    number = os.open(beside, _NEW, mode)
    try:
        yield number, beside
        os.fsync(number)
        if not instead:
            try:
                os.link(beside, place)
                return
            except FileExistsError:
                raise
            except OSError:  # a file system without links
                os.close(os.open(place, _NEW, 0o600))
        os.replace(beside, place)
    finally:
        os.close(number)
        with suppress(OSError):  # after the move there is no such file
            os.unlink(beside)
