"""Lines of lore's in the hooks of a repository, beside what is there.

Of hooks that are there the lines become a part if they are scripts of a shell; what they do
and return stays. Several commands have blocks in one file, each under its own key.
"""

from __future__ import annotations

import os

from .atomic_write import write_whole
from .json_settings import BACKUP
from .marked_block import block_key, with_block, without_any_block, without_block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .project_tree import ProjectTree

    Change = Callable[[str | None], str | None]
    """What becomes of a file's text; None stands for no file."""

    Done = tuple[str, str, str]
    """(file or key, ``added``, ``updated``, ``unchanged``, ``removed`` or ``left``, why)"""

_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "mksh", "zsh")
_SHEBANG = "#!/bin/sh"
_LARGEST = 1 << 20
_LEAVING = ("exit", "exec")
"""Words of a script that may end before its last line."""


class Left(Exception):
    """A file stays as it is, and why."""


class HookBlocks:
    """What one command has in the hooks of a work tree, for one project of it."""

    def __init__(self, tree: ProjectTree, put: str, take: str) -> None:
        """``put`` and ``take`` are the commands that a person gives."""
        self._tree = tree
        self.key = block_key(put, take, shell_quoted(tree.below))

    def put(self, name: str, lines: Sequence[str]) -> Done:
        """Put lines into a hook, or bring them up to date."""
        path = self._tree.hook(name)
        if "\n" in self._tree.below:
            return path, "left", f"the name of the folder {self._tree.below!r} has a line break"
        is_new = not os.path.lexists(path)
        if is_new:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        elif not os.access(path, os.X_OK):
            return path, "left", "it is not executable, so git does not run it"
        done = put_block(path, lambda text: self._with(text, lines), self._without)
        if is_new:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(path, 0o777 & ~umask)
        return done

    def take(self, name: str, lines: Sequence[str]) -> Done | None:
        """Take lines out of a hook again; return None where there is no such hook."""
        path = self._tree.hook(name)
        if not os.path.lexists(path):
            return None
        return take_block(path, lambda text: self._block_in(text, lines), self._without)

    def are_in(self, name: str) -> bool:
        """Whether a hook has any."""
        try:
            text = read_file(self._tree.hook(name))
        except Left:
            return False
        return self._without(text) != text

    def _with(self, text: str | None, lines: Sequence[str]) -> str:
        if text is not None and not _is_shell(text):
            raise Left("it is not a script of a shell")
        return self._block_in(text, lines)

    def _block_in(self, text: str | None, lines: Sequence[str]) -> str:
        theirs = self._without(text)
        ends = _may_end(without_any_block(theirs or ""))
        if theirs is not None and not ends:
            lines = ["lore_status=$?", *lines, '(exit "$lore_status")']
        return with_block(text, self.key, lines, head=_SHEBANG, first=ends)

    def _without(self, text: str | None) -> str | None:
        return None if text is None else without_block(text, self.key, head=_SHEBANG)


def shell_quoted(text: str) -> str:
    """A word of a shell that stands for this text alone.

    >>> shell_quoted("it's")
    "'it'\\\\''s'"
    """
    return "'" + text.replace("'", "'\\''") + "'"


def put_block(path: str, put: Change, take: Change) -> Done:
    """Put lore's block into a file, or bring it up to date. ``take`` takes it out again."""
    return _edit(path, put, put, take)


def take_block(path: str, put: Change, take: Change) -> Done:
    """Take lore's block out of a file; one that came with it goes with it."""
    return _edit(path, take, put, take)


def _edit(path: str, change: Change, put: Change, take: Change) -> Done:
    """Change a file. A block that is not word for word lore's stays in a copy of the file."""
    try:
        old = read_file(path)
        new = change(old)
        if new == old:
            return path, "unchanged", ""
        if old is not None and take(old) != old and put(old) != old:
            _keep_copy(path, old)
    except Left as why:
        return path, "left", str(why)
    if new is None:
        os.unlink(path)
        return path, "removed", ""
    write_whole(path, [new])
    return path, "added" if old is None else "removed" if change is take else "updated", ""


def _keep_copy(path: str, text: str) -> None:
    copy = path + BACKUP
    if read_file(copy) not in (None, text):
        raise Left(f"lore's lines were changed by hand, and {copy} is in the way: move that away")
    write_whole(copy, [text], private=True)


def read_file(path: str) -> str | None:
    """The text of a file; None where there is none.

    Raises:
        Left: it is no plain file of text.
    """
    if not os.path.lexists(path):
        return None
    if not os.path.isfile(path):
        raise Left("it is not a plain file")
    with open(path, "rb") as file:
        held = file.read(_LARGEST + 1)
    if len(held) > _LARGEST:
        raise Left("it is too long")
    try:
        return held.decode()
    except UnicodeDecodeError:
        raise Left("it is not UTF-8") from None


def _may_end(script: str) -> bool:
    return any(word.strip(";&|(){}") in _LEAVING for word in script.split())


def _is_shell(text: str) -> bool:
    """Whether the first line of a script names a shell."""
    if not text.startswith("#!"):
        return False
    names = [os.path.basename(word) for word in text.split("\n", 1)[0][2:].split()]
    if names and names[0] == "env":
        names = [name for name in names[1:] if not name.startswith("-") and "=" not in name]
    return bool(names) and names[0] in _SHELLS
