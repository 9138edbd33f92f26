"""Files that are written whole, and never through a link that leaves the project."""

from __future__ import annotations

import fcntl
import os
from errno import EEXIST

from ..core.errors import LoreError
from .files import require_no_store
from .programs import Tidying
from .project_files import real_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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


_MARK = ".lore-"
"""Between the name of a file and the process that writes it, in the name it has until then."""

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_whole(path: str, lines: Iterable[str], *, private: bool = False) -> None:
    """Put a file of these lines at ``path``: whoever reads it has the old one or the new one.

    What is there and is not a plain file (a pipe, a device) is written into; of a link within
    the project (see ``real_place``), what it leads to is replaced. ``private``: nobody
    else may read it.

    Raises:
        LoreError: it cannot be written, is a store, or a link on the way leads out of the
            project; what was there is as it was.
    """
    write_bytes(path, _encoded(lines), private=private)


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    for line in lines:
        yield line.encode()


def write_bytes(path: str, parts: Iterable[bytes], *, private: bool = False) -> None:
    """Write bytes, like ``write_whole``. The parts are read once the file is open.

    Raises:
        LoreError: as ``write_whole``.
    """
    require_no_store(path)
    try:
        if _is_open_file(path):
            with open(path, "wb") as out:
                out.writelines(parts)
            return
        with Tidying():
            _write(real_place(path), parts, private)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: nothing was written") from None


class NewFile:
    """``with NewFile(place) as beside``: an empty file for this user alone, to be filled by its
    name. At the end of the block it is on the disk, at ``place``, a path without
    links; where the block fails, nothing is left of it.

    ``instead``: it replaces what is there. Raises FileExistsError if not, and something is;
    OSError where it cannot be made.
    """

    def __init__(self, place: str, *, instead: bool = True) -> None:
        self._folder, self._name = os.path.split(place)
        self._instead = instead
        self._beside = f".{self._name[:50]}{_MARK}{os.getpid()}"
        self._tidying = Tidying()
        self._parent = self._number = -1

    def __enter__(self) -> str:
        self._parent = _open_folder(self._folder)
        _remove_abandoned(self._parent)
        self._tidying.__enter__()
        try:
            self._number = os.open(self._beside, _NEW, 0o600, dir_fd=self._parent)
            os.fchmod(self._number, 0o600)
        except BaseException:
            self._close()
            raise
        hold(self._number)
        return os.path.join(self._folder, self._beside)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                os.fsync(self._number)
                self._put()
                sync_folder(self._folder)
        finally:
            _remove(self._parent, self._beside)  # where it has its place, there is none
            self._close()

    def _put(self) -> None:
        parent = self._parent
        if not self._instead:
            try:
                os.link(self._beside, self._name, src_dir_fd=parent, dst_dir_fd=parent)
                return
            except FileExistsError:
                raise
            except OSError:  # a file system without links
                if not _is_free(parent, self._name):
                    raise FileExistsError(EEXIST, os.strerror(EEXIST), self._name) from None
        os.replace(self._beside, self._name, src_dir_fd=parent, dst_dir_fd=parent)

    def _close(self) -> None:
        for number in (self._number, self._parent):
            if number >= 0:
                os.close(number)
        self._number = self._parent = -1
        self._tidying.__exit__()


def sync_folder(folder: str) -> None:
    """Let what has a new name in a folder have it after a power cut too, where that can be."""
    try:
        number = os.open(folder or ".", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(number)
    except OSError:
        return
    finally:
        os.close(number)


def _is_free(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return True
    return False


def _is_open_file(path: str) -> bool:
    """Return whether this names a file that the process has open: a link by its nature."""
    folder, name = os.path.split(path)
    if path in ("/dev/stdout", "/dev/stderr"):
        return True
    of_process = folder.startswith("/proc/") and folder.endswith("/fd") and ".." not in folder
    return name.isdigit() and (folder == "/dev/fd" or of_process)


def _write(place: str, parts: Iterable[bytes], private: bool) -> None:
    """Write to a path without links; one that appeared meanwhile is not followed."""
    folder, name = os.path.split(place)
    parent = _open_folder(folder)
    try:
        if _is_plain(parent, name):
            _replace(parent, name, parts, private)
        else:
            number = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            with open(number, "wb") as out:
                out.writelines(parts)
    finally:
        os.close(parent)


def _open_folder(folder: str) -> int:
    """Return a folder by its real path, held step by step, so that no link can get between."""
    number = os.open("/", _FOLDER)
    for part in filter(None, folder.split("/")):
        try:
            following = os.open(part, _FOLDER, dir_fd=number)
        finally:
            os.close(number)
        number = following
    return number


def _is_plain(parent: int, name: str) -> bool:
    """Return whether a plain file has this name, or nothing."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o170000 == 0o100000
    except FileNotFoundError:
        return True


def _replace(parent: int, name: str, parts: Iterable[bytes], private: bool) -> None:
    _remove_abandoned(parent)
    beside = f".{name[:50]}{_MARK}{os.getpid()}"  # a letter may have four of 255 bytes
    number = os.open(beside, _NEW, 0o600 if private else 0o666, dir_fd=parent)
    try:
        with open(number, "wb") as out:
            hold(number)
            mode = 0o600 if private else _mode_of(parent, name)
            if mode is not None:
                os.fchmod(number, mode)
            out.writelines(parts)
            out.flush()
            os.fsync(number)
        os.replace(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        _remove(parent, beside)
        raise


def _mode_of(parent: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o7777
    except FileNotFoundError:
        return None


def _remove_abandoned(parent: int) -> None:
    """Take away what processes that were killed here had begun to write."""
    try:
        number = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=parent)
    except OSError:  # it may be entered and not read
        return
    names = os.listdir(number)
    os.close(number)
    for name in names:
        before, mark, process = name.rpartition(_MARK)
        if mark and before.startswith(".") and abandoned(name, process, parent):
            _remove(parent, name)


def _remove(parent: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except OSError:
        return
