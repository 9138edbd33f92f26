"""Make the store of a project, find it after a move, adopt or remove that of another project."""

from __future__ import annotations

import fcntl
import os
import sys
from contextlib import contextmanager, suppress

from ..core.errors import LoreError
from .files import STORE, make_private_folder, user_folder
from .projects import (
    FOLDERS,
    MOST_TOKENS,
    RECORD,
    TOKENS,
    ProjectFolder,
    find_project,
    is_store_name,
    is_trusted,
    link_text,
    readable,
    recorded,
    revoke,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_UNKNOWN = "-"
_NOBODY = "0:0"
"""Device and inode in the record of a store whose project has adopted another."""


def renewed(project: ProjectFolder, *, make: bool = False) -> str:
    """Return the store of a project whose record is out of date, and renew the record. Without a
    store return an empty text, or ``make`` one.

    A repository that was moved keeps its store. In a copy (``cp -R``, a backup, an archive) the git
    folder has another inode. While the original is at its recorded place, the copy has no store.
    Otherwise it is taken for the original, but is not trusted: an archive may be anybody's.
    """
    if not project.data or not project.inode:
        return ""
    with _alone(project.key):
        store = project.bound()
        if store:
            return store  # by another process, meanwhile
        name = next(_owned(project), "")
        if name:
            with suppress(OSError):  # read-only: the next command finds it the same way
                _bind(project, name)
        elif make:
            name = _new_name(project)
            make_private_folder(project.path_of(name))
            _bind(project, name)
    return name and project.path_of(name)


def _owned(project: ProjectFolder) -> Iterator[str]:
    """Yield names of stores that belong to a project, though their records do not say so."""
    if project.git:
        names = [name for name in project.names() if os.path.isdir(project.path_of(name))]
        names.sort(key=lambda name: recorded(project.path_of(name))[0] != project.inode)
        yield from (name for name in names if _belongs(project, name))
        # The store may be older than the repository, or the git folder read-only.
        yield from filter(None, [os.path.basename(_store(_without_git(project)))])
        return
    made = _time_made(project.key)
    here = [store for _, place, store in stores(project.data) if place == project.place]
    before = [recorded(store)[0] for store in here] if made != _UNKNOWN else []
    for inode in (project.inode, *(one for one in before if _is_renumbered(one, project))):
        name, _, rest = link_text(project.path_of(FOLDERS, inode)).partition(" ")
        is_same = is_store_name(name) and rest.partition(" ")[0] == made
        if is_same and os.path.isdir(project.path_of(name)):
            yield name


def _belongs(project: ProjectFolder, name: str) -> bool:
    inode, place = recorded(project.path_of(name))
    if inode == project.inode:
        return True
    is_copy = place != project.place and _is_there(project.data, place, name)
    if is_copy or inode == _NOBODY:
        return False
    if _is_renumbered(inode, project):
        return True
    with suppress(OSError):
        revoke(project.path_of(name))
    return not is_trusted(project.path_of(name))


def _is_renumbered(inode: str, project: ProjectFolder) -> bool:
    """Return True if only the device is another: some file systems number it at each mount."""
    return inode.rpartition(":")[2] == project.inode.rpartition(":")[2]


def claim(folder: str) -> str:
    """Return the folder of the store of the project in ``folder``; make and bind it if needed.
    Raise LoreError if there is no project, or it belongs to another user.
    """
    return renewed(_project(folder), make=True)


def former(folder: str) -> tuple[str, str]:
    """Return name, and nothing, of the store of an earlier project of this folder; in a copy of a
    repository name and place of the original's. Both are empty if there is none.
    """
    project = _project(folder)
    own = _store(project)
    named = [name for name in project.names() if _has_store(project.path_of(name))]
    here = [name for name, place, _ in stores(project.data) if place == project.place]
    found = [name for name in (*here, *named) if project.path_of(name) != own]
    newest = max(found, key=lambda name: os.lstat(project.path_of(name, RECORD)).st_mtime_ns,
                 default="")  # fmt: skip
    place = newest and recorded(project.path_of(newest))[1]
    return newest, place if place != project.place else ""


def stores(data: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield name, place of the project and folder of each store, in order of places."""
    folder = f"{data or _data()}/projects"
    try:
        names = [name for name in os.listdir(folder) if is_store_name(name)]
    except OSError:
        return
    found = [(recorded(f"{folder}/{name}")[1], name) for name in names]
    for place, name in sorted(found):
        if _has_store(f"{folder}/{name}"):
            yield name, place, f"{folder}/{name}"


def is_gone(name: str, place: str, store: str) -> bool:
    """Return True if the project of a store is not at its place any more, or has another store."""
    is_left = recorded(store)[0] == _NOBODY
    return is_left or not os.path.isdir(place) or not _is_there(_data(), place, name)


def adopt(name: str, folder: str) -> tuple[str, str]:
    """Give the store of a project that is gone (by its name, or the project's place) to the project
    in ``folder``, untrusted, under a new token. The project's own store is kept, as one of a
    project that is gone.

    Return the adopted store's folder, and that of the project's former store, empty if it had none.
    Raise LoreError as ``gone_store``, or if ``folder`` has no project.
    """
    project, (_, _, source) = _project(folder), gone_store(name)
    own, name = _store(project), _new_name(project)
    with _alone(project.key):
        revoke(source)
        _forget_folder(source)
        os.rename(source, project.path_of(name))
        if own:
            _put_link(f"{own}/{RECORD}", f"{_NOBODY} {project.place}")
        _bind(project, name)
    return project.path_of(name), own


def remove(store: str) -> None:
    """Delete the folder of a store."""
    from shutil import rmtree

    _forget_folder(store)
    rmtree(store)


def gone_store(word: str) -> tuple[str, str, str]:
    """Return name, place and folder of the store of a project that is gone, by the store's name or
    the project's place; raise LoreError unless there is exactly one.
    """
    found = [one for one in stores() if word in one[:2]]
    gone = [one for one in found if is_gone(*one)]
    if not found:
        raise LoreError(f"{word}: has no store: see 'lore store list'")
    if not gone:
        raise LoreError(f"{found[0][1]}: the project is still there: move or delete it first")
    if len(gone) > 1:
        names = " or ".join(name for name, _, _ in gone)
        raise LoreError(f"{word}: has had more than one store: name {names}")
    return gone[0]


# --- how a store and a project know each other


def _data() -> str:
    return user_folder("XDG_DATA_HOME", ".local/share")


def _project(folder: str) -> ProjectFolder:
    project = find_project(os.path.realpath(folder), _data())
    if project is None or not project.data:
        raise LoreError(f"{folder}: no project, or no data folder: run 'lore init' there")
    if not project.inode:
        raise LoreError(f"{project.key}: belongs to another user, and gets no store of yours: "
                        "choose a folder with LORE_DIR")  # fmt: skip
    return project


def _has_store(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, STORE))


def _is_there(data: str, place: str, name: str) -> bool:
    """Return True if the project at a place leads to the store of this name."""
    top = place
    while top:
        below = place.removeprefix(top)
        for git in (f"{top}/.git", top):  # top: a bare repository
            if name in ProjectFolder(place, git, below, data).names():
                return True
        top = top.rpartition("/")[0]
    return os.path.basename(_store(ProjectFolder(place, "", "", data))) == name


def _store(project: ProjectFolder) -> str:
    return project.bound() or renewed(project)


def _without_git(project: ProjectFolder) -> ProjectFolder:
    return ProjectFolder(project.folder, "", "", project.data)


def _new_name(project: ProjectFolder) -> str:
    return f"{readable(project.place)}-{os.urandom(10).hex()}"


def _bind(project: ProjectFolder, name: str) -> None:
    """Let a project's key lead to a store, and the store confirm it."""
    store = project.path_of(name)
    if project.git:
        try:
            if name not in project.names():
                _add_name(project, name)
        except (OSError, LoreError):  # read-only
            project = _without_git(project)
    if recorded(store)[0] != project.inode:
        _forget_folder(store)
    if not project.git:
        make_private_folder(project.path_of(FOLDERS))
        text = f"{name} {_time_made(project.key)} {project.changed}"
        _put_link(project.path_of(FOLDERS, project.inode), text)
    _put_link(os.path.join(store, RECORD), f"{project.inode} {project.place}")


def _add_name(project: ProjectFolder, name: str) -> None:
    from .atomic_write import write_whole

    path = os.path.join(project.git, TOKENS)
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        os.unlink(path)
    lines = [f"{line}\n" for line in (*project.lines(), f"{name}{project.below}")]
    while len(os.fsencode("".join(lines))) > MOST_TOKENS:
        del lines[0]
    write_whole(path, lines, private=True)


def _forget_folder(store: str) -> None:
    """Take away the symlink that leads from a folder without git to a store."""
    inode, name = recorded(store)[0], os.path.basename(store)
    path = os.path.join(os.path.dirname(store), FOLDERS, inode)
    if inode and link_text(path).partition(" ")[0] == name:
        os.unlink(path)


def _put_link(path: str, text: str) -> None:
    beside = f"{path}.{os.getpid()}"
    os.symlink(text, beside)
    os.replace(beside, path)


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Let no other process make or adopt a store for the same project meanwhile."""
    number = -1
    with suppress(OSError):  # a folder that may not be read, or a file system without locks
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(number, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if number >= 0:
            os.close(number)


_NO_FOLDER, _WANT_TIME_MADE, _SECONDS_AT, _NANOSECONDS_AT = -100, 0x800, 80, 88
"""Of ``statx(2)``: AT_FDCWD, STATX_BTIME, and offsets of ``stx_btime`` in ``struct statx``."""


def _time_made(path: str) -> str:
    """Return the time when a folder was made, as text; ``_UNKNOWN`` if no system call says."""
    made = getattr(os.stat(path), "st_birthtime", None)
    if made is not None:
        return repr(made)
    if sys.platform != "linux":
        return _UNKNOWN
    import ctypes

    statx = getattr(ctypes.CDLL(None), "statx", None)
    found = ctypes.create_string_buffer(256)
    if statx is None or statx(_NO_FOLDER, os.fsencode(path), 0, _WANT_TIME_MADE, found) != 0:
        return _UNKNOWN
    data = found.raw
    seconds = int.from_bytes(data[_SECONDS_AT : _SECONDS_AT + 8], sys.byteorder)
    nanoseconds = int.from_bytes(data[_NANOSECONDS_AT : _NANOSECONDS_AT + 4], sys.byteorder)
    is_known = int.from_bytes(data[:4], sys.byteorder) & _WANT_TIME_MADE
    return f"{seconds}.{nanoseconds:09}" if is_known and seconds else _UNKNOWN
