"""Make the store of a project, find it after a move, adopt or remove stores of missing projects."""

from __future__ import annotations

import os
from contextlib import suppress

from ..core.errors import LoreError
from . import files
from .files import ProjectFolder, make_private_folder, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def renewed(project: ProjectFolder, *, make: bool = False) -> str:
    """Return the store of a project, and renew the outdated record. Without a
    store return an empty text, or ``make`` one.

    A repository that was moved keeps its store. A copy (``cp -R``, a backup, an archive) has
    another inode and no store while the original is at its recorded place, or else is taken for
    the original, but is not trusted: an archive may be anybody's.
    """
    from .atomic_write import alone

    if not project.data or not project.inode:
        return ""
    with alone(project.key):
        store = project.bound()  # by a second process, meanwhile
        token = "" if store else _owned(project)
        if token:
            with suppress(OSError, LoreError):  # read-only: the next command finds it the same way
                _bind(project, token)
        elif make and not store:
            token = os.urandom(10).hex()
            make_private_folder(project.path_of(token))
            _bind(project, token)
    return store or (token and project.path_of(token))


def _owned(project: ProjectFolder) -> str:
    """Return the token of the project's store if the record does not name it; empty without."""
    token = project.token() if project.git else ""
    if token and _belongs(project, token):
        return token
    plain = ProjectFolder(project.folder, "", "", project.data)  # may be older than the repository
    token, _, rest = files.link_text(plain.path_of(files.FOLDERS, plain.inode)).partition(" ")
    is_same = files.is_token(token) and rest.partition(" ")[0] == _time_made(plain.key)
    return token if is_same and os.path.isdir(plain.path_of(token)) else ""


def _belongs(project: ProjectFolder, token: str) -> bool:
    store = project.path_of(token)
    recorded = files.recorded_project(store)
    if recorded is None:
        return False
    original, inode = recorded
    if inode == project.inode:
        return True
    if original.key != project.key and original.token() == token:
        return False
    with suppress(OSError):
        files.trust(store, trusted=False)
    return not files.is_trusted(store)


def claim(folder: str) -> str:
    """Return the folder of the store of the project in ``folder``; make and bind it if needed.
    Raise LoreError without a project, or for a project of a different user."""
    return renewed(_project(folder), make=True)


def former(folder: str) -> tuple[str, str]:
    """Return token and an empty text for the store of an earlier project of this folder; in a copy
    of a repository token and place of the original. Return empty texts without either."""
    project = _project(folder)
    own, token = renewed(project), project.token()
    recorded = files.recorded_project(project.path_of(token)) if token else None
    place = recorded[0].place if recorded else ""
    if place and place != project.place and project.path_of(token) != own:
        return token, place
    here = {
        os.lstat(f"{store}/{files.RECORD}").st_mtime_ns: store
        for _, place, store in stores()
        if place == project.place and store != own
    }
    newest = here[max(here)] if here else ""
    return os.path.basename(newest), ""


def stores() -> Iterator[tuple[str, str, str]]:
    """Yield token, place of the project and folder of each store, in order of places."""
    folder = f"{user_folder('XDG_DATA_HOME', '.local/share')}/projects"
    tokens = filter(files.is_token, os.listdir(folder) if os.path.isdir(folder) else ())
    found = [(files.project_of(f"{folder}/{token}"), token) for token in tokens]
    for place, token in sorted(found):
        if os.path.isfile(f"{folder}/{token}/{files.STORE}"):
            yield token, place, f"{folder}/{token}"


def is_gone(store: str) -> bool:
    """Return True if a store's project is missing or has a new store."""
    recorded = files.recorded_project(store)
    if recorded is None or not os.path.isdir(recorded[0].place):
        return True
    project = recorded[0]
    return (project.token() or _owned(project)) != os.path.basename(store)


def adopt(word: str, folder: str) -> tuple[str, str]:
    """Give the store of a missing project (by token or place) to the project in ``folder``,
    untrusted, under a new token. Return the folder of that store and of the project's former one,
    which is kept, or empty. Raise LoreError as ``gone_store``, or if ``folder`` has no project."""
    from .atomic_write import alone

    project, (_, _, source) = _project(folder), gone_store(word)
    own, token = renewed(project), os.urandom(10).hex()
    with alone(project.key):
        files.trust(source, trusted=False)
        if project.git:
            _write_token(project, token)
        os.rename(source, project.path_of(token))
        _bind(project, token)
    return project.path_of(token), own


def gone_store(word: str) -> tuple[str, str, str]:
    """Return token, place and folder of the store of a missing project, by token or place; raise
    LoreError unless there is exactly one."""
    word = os.path.realpath(word) if "/" in word else word  # a folder need not exist
    found = [one for one in stores() if word in one[:2]]
    gone = [one for one in found if is_gone(one[2])]
    if not found:
        raise LoreError(f"{word}: has no store: see 'lore store list'")
    if not gone:
        raise LoreError(f"{found[0][1]}: the project still exists: move or delete it first")
    if len(gone) > 1:
        tokens = " or ".join(token for token, _, _ in gone)
        raise LoreError(f"{word}: had several stores: name {tokens}")
    return gone[0]


def _project(folder: str) -> ProjectFolder:
    data = user_folder("XDG_DATA_HOME", ".local/share")
    project = files.find_project(os.path.realpath(folder), data)
    if project is None:
        raise LoreError(f"{folder}: no project: run 'lore init' there")
    if not project.inode:
        why = "belongs to a different user, so it gets no store"
        raise LoreError(f"{project.key}: {why}: choose a folder with LORE_DIR")
    return project


def _bind(project: ProjectFolder, token: str) -> None:
    """Let a project's key lead to a store, and the store confirm it."""
    if project.git and project.token() != token:
        try:
            _write_token(project, token)
        except LoreError:  # read-only
            project = ProjectFolder(project.folder, "", "", project.data)
    if not project.git:
        make_private_folder(project.path_of(files.FOLDERS))
        text = f"{token} {_time_made(project.key)} {project.changed}"
        _put_link(project.path_of(files.FOLDERS, project.inode), text)
    _put_link(project.path_of(token, files.RECORD), project.record)


def _write_token(project: ProjectFolder, token: str) -> None:
    from .atomic_write import write_whole

    path = os.path.join(project.git, files.TOKENS)
    if os.path.islink(path) or not os.path.isfile(path):  # an archive may bring any
        with suppress(OSError):
            os.unlink(path)
    line = f"{token}{project.below}"
    others = [one for one in project.lines() if one[len(token) :] != project.below]
    write_whole(path, [os.fsencode("\n".join([line, *others, ""]))], private=True)


def _put_link(path: str, text: str) -> None:
    beside = f"{path}.{os.getpid()}"
    os.symlink(text, beside)
    os.replace(beside, path)


def _time_made(path: str) -> str:
    """Return the time when a folder was made, as text; empty if the system does not record that."""
    from subprocess import run

    from .programs import find_program

    made = getattr(os.stat(path), "st_birthtime", None)  # not on Linux
    program = find_program("stat") if made is None else None
    if program is None:
        return str(made or "")
    done = run([program, "-c", "%.9W", "--", path], capture_output=True, text=True, check=False)
    return done.stdout.strip()
