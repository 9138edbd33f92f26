"""Asking git about a work tree so that nothing of the repository's own is run.

Only plumbing that reads the index and objects is called: no hook, filter, pager,
file-system monitor or external diff of the repository's config has a part in that.
"""

from __future__ import annotations

import os
import subprocess

from ..errors import LoreError

_COMMAND = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false",
            "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")  # fmt: skip


def git(folder: str, *words: str) -> bytes | None:
    """What a git command prints, run in ``folder``; None where it fails or git is missing."""
    process = start(folder, *words)
    return None if process is None else finish(process)


def start(folder: str, *words: str) -> subprocess.Popen[bytes] | None:
    """The same, begun; None where git is missing."""
    # A hook that calls lore has these set to its own repository and index.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ["LC_ALL"] = "C"
    try:
        return subprocess.Popen(
            [*_COMMAND, *words], cwd=folder, env=environ, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return None


def finish(process: subprocess.Popen[bytes]) -> bytes | None:
    """What a command that was begun has printed; None where it failed."""
    out, _ = process.communicate()
    return out if process.returncode == 0 else None


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
        ("diff-files", "--name-only", "--relative", "-z"),
        ("ls-files", "-z", "--others", "--exclude-standard"),
    )
    found: set[str] = set()
    for words in questions:
        found.update(names(git(folder, *words) or b""))
    return found


def names(out: bytes) -> list[str]:
    """The paths of ``-z`` output."""
    return [os.fsdecode(name) for name in out.split(b"\0") if name]
