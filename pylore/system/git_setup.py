"""What git is told of lore in one repository: an attribute, a merge driver, and lines in hooks.

All of it is written because a person says so, never by what came with a clone. Of hooks that
are there, lore's lines become a part if they are scripts of a shell; what they do and return
stays.
"""

from __future__ import annotations

import os
import subprocess

from ..core.errors import LoreError
from .atomic_write import write_whole
from .git_process import SILENT, environment
from .marked_block import with_block, without_block
from .programs import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Done = tuple[str, str, str]
    """(file or key, ``added``, ``updated``, ``unchanged``, ``removed`` or ``left``, why)"""

DRIVER = "merge.lore.driver"
SETTINGS = {
    "merge.lore.name": "lore: by record and edge",
    DRIVER: "lore merge-file %O %A %B --path %P",
}
HOOKS = ("post-merge", "post-checkout", "post-rewrite", "post-commit", "pre-commit")
"""The hooks that lines are put into, if these are wanted."""

_ATTRIBUTES, _NEEDS = ".gitattributes", "merge=lore"
_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "mksh", "zsh")
_SHEBANG = "#!/bin/sh"
_LARGEST_HOOK = 1 << 20
_LEAVING = ("exit", "exec")
"""Words of a script that may end before its last line."""


class Repository:
    """The repository that a project lies in; ``file`` is what merges, from the project."""

    def __init__(self, project: str, file: str) -> None:
        """Raises LoreError without git, or outside of a repository with a work tree."""
        self.project = os.path.realpath(project)
        self.file = file
        self.top = ""
        self.top = self._said("rev-parse", "--show-toplevel")
        if not self.top:
            raise LoreError(f"{project}: is not a git repository: run this in one")
        self.below = os.path.relpath(self.project, os.path.realpath(self.top))

    def install(self, *, hooks: bool) -> Iterator[Done]:
        """Writes what is not there yet; what is done to each file."""
        yield self._edit(self._attributes, self._with_attribute, "updated")
        for key, value in SETTINGS.items():
            yield self._configure(key, value)
        for name in HOOKS if hooks else ():
            yield self._add_to_hook(name)

    def uninstall(self) -> Iterator[Done]:
        """Takes out what ``install`` has written, and nothing else."""
        yield self._edit(self._attributes, lambda text: self._without(text, ""), "removed")
        needed = self._is_needed()
        for key, value in SETTINGS.items():
            if needed:
                yield key, "left", f"{needed} still names it"
            elif self._said("config", "--local", "--get", key) == value:
                self._ask("config", "--local", "--unset", key)
                yield key, "removed", ""
            else:
                yield key, "unchanged", ""
        for name in HOOKS:
            if os.path.lexists(self._hook(name)):
                yield self._edit(
                    self._hook(name), lambda text: self._without(text, _SHEBANG), "removed"
                )

    def is_ignored(self) -> bool:
        """Whether git is told to ignore the file."""
        path = os.path.join(self.project, self.file)
        return self._ask("check-ignore", "-q", "--", path).returncode == 0

    # --- the attribute and the driver

    @property
    def _attributes(self) -> str:
        return os.path.join(self.project, _ATTRIBUTES)

    def _with_attribute(self, text: str | None) -> str:
        return with_block(text, self._key, [f"{self.file} {_NEEDS}"])

    def _is_needed(self) -> str:
        """The file of attributes that names the driver for another project of this repository."""
        listed = self._said(
            "ls-files", "-z", "--cached", "--others", "--", f":(glob)**/{_ATTRIBUTES}"
        )
        for name in filter(None, listed.split("\0")):
            try:
                text = _read(os.path.join(self.top, name)) or ""
            except _Left:
                continue
            if any(_NEEDS in line.split()[1:] for line in text.split("\n")):
                return name
        return ""

    def _configure(self, key: str, value: str) -> Done:
        old = self._said("config", "--local", "--get", key)
        if old == value:
            return key, "unchanged", ""
        if old:
            return key, "left", f"it is '{old}' already"
        done = self._ask("config", "--local", key, value)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise LoreError(f"{key}: git says '{said}': check the config of the repository")
        return key, "added", ""

    # --- hooks

    def _hook(self, name: str) -> str:
        folder = os.path.join(self.top, self._said("rev-parse", "--git-path", "hooks"))
        return os.path.join(os.path.realpath(folder), name)

    def _add_to_hook(self, name: str) -> Done:
        path = self._hook(name)
        if "\n" in self.below:
            return path, "left", f"the name of the folder {self.below!r} has a line break"
        if not os.path.lexists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            done = self._edit(path, lambda text: self._with_hook(text, name), "updated")
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(path, 0o777 & ~umask)
            return done
        if not os.access(path, os.X_OK):
            return path, "left", "it is not executable, so git does not run it"
        return self._edit(path, lambda text: self._with_hook(text, name), "updated")

    def _with_hook(self, text: str | None, name: str) -> str:
        if text is not None and not _is_shell(text):
            raise _Left("it is not a script of a shell")
        theirs = self._without(text, _SHEBANG)
        ends = any(word.strip(";&|(){}") in _LEAVING for word in (theirs or "").split())
        lines = _hook_lines(name, self.below, self.file)
        if theirs is not None and not ends:
            lines = ["lore_status=$?", *lines, '(exit "$lore_status")']
        return with_block(text, self._key, lines, head=_SHEBANG, first=ends)

    @property
    def _key(self) -> str:
        return shell_quoted(self.below)

    def _without(self, text: str | None, head: str) -> str | None:
        return None if text is None else without_block(text, self._key, head=head)

    # --- files and git

    def _edit(self, path: str, change: Callable[[str | None], str | None], verb: str) -> Done:
        try:
            old = _read(path)
            new = change(old)
        except _Left as why:
            return path, "left", str(why)
        if new == old:
            return path, "unchanged", ""
        if new is None:
            os.unlink(path)
            return path, "removed", ""
        write_whole(path, [new])
        return path, "added" if old is None else verb, ""

    def _said(self, *words: str) -> str:
        done = self._ask(*words)
        return "" if done.returncode else os.fsdecode(done.stdout).removesuffix("\n")

    def _ask(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Runs a command of git that starts no other program, under the person's own config."""
        git = find_program("git")
        if git is None:
            raise LoreError("git is not installed: install it, then try again")
        folder = self.top or self.project
        return subprocess.run(
            [git, "-C", folder, *words], env=environment(), stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=SILENT,
        )  # fmt: skip


class _Left(Exception):
    """A file stays as it is, and why."""


def shell_quoted(text: str) -> str:
    """A word of a shell that stands for this text alone.

    >>> shell_quoted("it's")
    "'it'\\\\''s'"
    """
    return "'" + text.replace("'", "'\\''") + "'"


def _hook_lines(name: str, below: str, file: str) -> list[str]:
    """What a hook does; it fails in nothing, and where there is no lore it does nothing."""

    def place(path: str) -> str:
        return shell_quoted("./" + os.path.normpath(os.path.join(below, path)))

    folder, shared = place(""), place(file)
    store = place(os.path.join(os.path.dirname(file), "search.db"))

    def sync(*options: str) -> str:
        words = " ".join((*options, "--quiet", "--text"))
        return f"(cd {folder} && LORE_DIR= LORE_SCOPE= lore sync {words} </dev/null >&2)"

    lines = [f"if command -v lore >/dev/null 2>&1 && [ -f {store} ]; then"]
    git = "git --literal-pathspecs"
    if name == "post-commit":
        return [
            *lines,
            "  case $(git log --walk-reflogs -1 --format=%gs HEAD 2>/dev/null) in",
            "    cherry-pick* | revert*) # which run no other hook",
            f"      {git} diff-tree --quiet HEAD~1 HEAD -- {shared} 2>/dev/null ||",
            f"        {sync('--in')} 2>/dev/null || : ;;",
            "  esac",
            "fi",
        ]
    if name != "pre-commit":
        return [*lines, f"  {sync('--in')} || :", "fi"]
    return [
        *lines,
        f"  if {{ {git} diff-index --quiet HEAD -- {shared} 2>/dev/null ||",
        f"    [ $? -ne 1 ] || {sync('--in')}; }} && # what a merge brought is no command to undo",
        f"    {sync()}; then",
        "    case ${GIT_INDEX_FILE-} in",
        "      *next-index-*) ;; # a commit of some files alone",
        f'      *) [ -z "$({git} ls-files -- {shared})" ] ||',
        f"        {git} add -- {shared} || : ;;",
        "    esac",
        "  fi",
        "fi",
    ]


def _is_shell(text: str) -> bool:
    """Whether the first line of a script names a shell."""
    if not text.startswith("#!"):
        return False
    names = [os.path.basename(word) for word in text.split("\n", 1)[0][2:].split()]
    if names and names[0] == "env":
        names = [name for name in names[1:] if not name.startswith("-") and "=" not in name]
    return bool(names) and names[0] in _SHELLS


def _read(path: str) -> str | None:
    """The text of a file; None where there is none."""
    if not os.path.lexists(path):
        return None
    if not os.path.isfile(path):
        raise _Left("it is not a plain file")
    with open(path, "rb") as file:
        held = file.read(_LARGEST_HOOK + 1)
    if len(held) > _LARGEST_HOOK:
        raise _Left("it is too long")
    try:
        return held.decode()
    except UnicodeDecodeError:
        raise _Left("it is not UTF-8") from None
