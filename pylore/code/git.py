"""Asking git about a work tree so that nothing of the repository's own is run.

Only plumbing that reads the index and objects is called: no hook, filter, pager,
file-system monitor or external diff of the repository's config has a part in that.
"""

from __future__ import annotations

import os

from ..errors import LoreError

_COMMAND = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false",
            "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")  # fmt: skip


class Git:
    """A git command that runs in ``folder`` meanwhile; ``out`` waits for what it prints.

    ``subprocess`` is not imported for it: that alone takes longer than git does.
    """

    __slots__ = ("_pid", "_pipe")

    def __init__(self, folder: str, *words: str) -> None:
        # A hook that calls lore has these set to its own repository and index.
        environ = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        environ["LC_ALL"] = "C"
        self._pipe, theirs = os.pipe()
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, theirs, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        command = [*_COMMAND, "-C", folder, *words]
        try:
            self._pid = os.posix_spawnp("git", command, environ, file_actions=actions)
        except OSError:
            self._pid = 0
        os.close(theirs)

    def out(self) -> bytes | None:
        """What it has printed; None where it failed, or there is no git."""
        with open(self._pipe, "rb") as pipe:
            printed = pipe.read()
        if not self._pid:
            return None
        _, status = os.waitpid(self._pid, 0)
        return printed if status == 0 else None


def git(folder: str, *words: str) -> bytes | None:
    """What a git command prints; None where it fails or git is missing."""
    return Git(folder, *words).out()


def changed_since(folder: str, revision: str) -> set[str]:
    """Paths below ``folder``, relative to it, that differ from a revision or are not committed.

    Raises:
        LoreError: there is no such revision, or no git work tree.
    """
    known = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options",
                f"{revision}^{{commit}}")  # fmt: skip
    if known is None:
        raise LoreError(f"'{revision}' is no commit of the repository in {folder}: see 'git log'")
    commit = known.decode().strip()
    questions = (
        ("diff-tree", "-r", "--name-only", "--relative", "-z", "--no-renames", commit, "HEAD"),
        ("diff-index", "--cached", "--name-only", "--relative", "-z", "--no-renames", "HEAD"),
        ("ls-files", "-z", "--others", "--exclude-standard"),
    )
    found = _edited(folder)
    for words in questions:
        found.update(names(git(folder, *words) or b""))
    return found


def _edited(folder: str) -> set[str]:
    """Files that are not as they were when git last looked: by size and time.

    ``git diff-files`` would read some of them, through a filter of the repository.
    """
    import re

    place = git(folder, "rev-parse", "--absolute-git-dir")
    index = os.path.join(os.fsdecode((place or b"").rstrip(b"\n")), "index")
    known = git(folder, "ls-files", "--debug", "-z") or b""
    try:
        written = os.stat(index).st_mtime_ns
    except OSError:
        written = 0
    entry = re.compile(
        rb"([^\0]+)\0  ctime: \d+:\d+\n  mtime: (\d+):(\d+)\n[^\n]*\n[^\n]*\n  size: (\d+)[^\n]*\n"
    )
    found = set()
    for name, seconds, nanoseconds, size in entry.findall(known):
        path = os.fsdecode(name)
        time = int(seconds) * 1_000_000_000 + int(nanoseconds)
        try:
            status = os.lstat(os.path.join(folder, path))
        except OSError:
            continue
        # What was written in the same moment as the index may have changed after that.
        if (status.st_mtime_ns, status.st_size) != (time, int(size)) or time >= written:
            found.add(path)
    return found


def names(out: bytes) -> list[str]:
    """The paths of ``-z`` output."""
    return [name for name in os.fsdecode(out).split("\0") if name]
