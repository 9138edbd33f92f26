"""The history of a repository as a stream: which files each commit changed.

Paths are today's: a file that was renamed counts under the name that it has now.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...system.git import LOG, Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_START = "\x01"  # no letter of a change's kind, so it tells a commit from a change
_FORM = f"{_START}%H %ct"
_FORM_WITH_MESSAGE = f"{_FORM}%n%B"


@dataclass
class Commit:
    """One commit that is not a merge; ``paths`` are relative to the project."""

    hash: str
    time: int
    """Seconds since 1970, UTC."""
    paths: list[str]
    message: str = ""
    """Where it was asked for."""


class History:
    """Reads commits, newest first, and learns the renames on the way.

    A name means the file that has it, until the commit that renamed another file away
    from it comes by: what is older is about that other one. On a branch beside the
    rename the old name still turns up earlier; ``today`` puts such names right.
    """

    def __init__(self, git: Git, since: str = "", *, messages: bool = False) -> None:
        self._git = git
        self._since = since
        self._form = _FORM_WITH_MESSAGE if messages else _FORM
        self._renamed: dict[str, str] = {}
        self._existing = frozenset(git.fields("ls-tree", "-r", "-z", "--name-only", "HEAD"))

    def count(self) -> int:
        """How many commits there are to read, about; 0 where git does not say."""
        since = [f"--since={self._since}"] if self._since else []
        said = self._git.ask("rev-list", "--count", "--no-merges", *since, "HEAD", "--") or ""
        return int(said) if said.isdigit() else 0

    def commits(self) -> Iterator[Commit]:
        """The commits, newest first, each path as far as the renames so far lead.

        Raises:
            LoreError: git cannot read the history.
        """
        # How alike two files are is told by their contents, of which a partial clone lacks some.
        alike = "-M100%" if self._git.is_partial() else "-M"
        options = ["-z", "--no-merges", "--name-status", alike, "--relative", *LOG]
        if self._since:
            options.append(f"--since={self._since}")
        words = self._git.fields("log", *options, f"--format={self._form}", "HEAD", "--")
        commit = None
        for word in words:
            word = word.lstrip("\n")
            if word.startswith(_START):
                if commit is not None:
                    yield commit
                head, _, message = word[1:].partition("\n")
                hash, _, time = head.partition(" ")
                commit = Commit(hash, int(time) if time.isdigit() else 0, [], message)
            elif word and commit is not None:
                path = next(words, "")
                if word[0] in "RC":
                    path = self._follow(path, next(words, ""), moved=word[0] == "R")
                else:
                    path = self._renamed.get(path, path)
                commit.paths.append(path)
        if commit is not None:
            yield commit

    def _follow(self, old: str, new: str, *, moved: bool) -> str:
        name = self._renamed.get(new, new)
        if moved:
            self._renamed[old] = name
        return name

    def today(self, path: str) -> str | None:
        """The name that a file of an old commit has now; None where it is gone."""
        seen = set()
        while path not in self._existing:
            seen.add(path)
            path = self._renamed.get(path, path)
            if path in seen:
                return None
        return path
