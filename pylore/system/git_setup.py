"""Set up a repository: attributes, the merge driver, blocks in hooks."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from .atomic_write import write_whole
from .git_process import NO_HOOKS, run_git
from .json_settings import BACKUP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from subprocess import CompletedProcess

    Change = Callable[[str | None], str | None]
    """Changes a file's text; None is no file."""
    Done = tuple[str, str, str]
    """(file or key, ``added``, ``updated``, ``unchanged``, ``removed`` or ``left``, why)"""


BEGIN, END = "# >>> lore >>>", "# <<< lore <<<"

_OWN = "# This file came with it, and goes with it if nothing else is in it."
_UNENDED = "# The line before had no end."


def block_key(put: str, take: str, what: str) -> str:
    """Return the key of the blocks that one command puts in and another takes out, for ``what``."""
    return f"Put here by '{put}', and taken out by '{take}', for {what}"


def with_block(
    text: str | None, key: str, lines: Sequence[str], *, head: str = "", first: bool = False
) -> str:
    """Return the text with this block: in the place of the one that it has, else at its end.

    Args:
        text: what the file has; None where there is no file.
        key: what the block is for, of one line, which is in it.
        head: the first line of a file that is made for it.
        first: it comes after the line that names the program, where it is not there yet.
    """
    found = _find((text or "").split("\n"), key)
    if found is not None and text is not None:
        all, start, end = text.split("\n"), *found
        notes = [line for line in all[start + 2 : start + 4] if line in (_OWN, _UNENDED)]
        return "\n".join([*all[:start], *_block(key, notes, lines), *all[end + 1 :]])
    if text is None:
        return "\n".join([*([head] if head else []), *_block(key, [_OWN], lines), ""])
    if first:
        line, newline, rest = text.partition("\n")
        if newline and line.startswith("#!"):
            return "\n".join([line, *_block(key, [], lines), rest])
    unended = text != "" and not text.endswith("\n")
    notes = [_UNENDED] if unended else []
    return text + ("\n" if unended else "") + "\n".join([*_block(key, notes, lines), ""])


def without_block(text: str, key: str, *, head: str = "") -> str | None:
    """Return the text without the block of this key; None: the file is to go, it came with it."""
    lines = text.split("\n")
    found = _find(lines, key)
    if found is None:
        return text
    start, end = found
    notes = lines[start + 2 : start + 4]
    before, after = lines[:start], lines[end + 1 :]
    rest = "\n".join([*before, *after])
    if _OWN in notes[:1]:
        return None if rest.strip("\n") == head else "\n".join(_noted(_OWN, [*before, *after]))
    if _UNENDED in notes[:1] and after == [""]:
        return rest.removesuffix("\n")
    if _UNENDED in notes[:1] and after[0] == BEGIN:
        return "\n".join([*before, *_noted(_UNENDED, after)])
    return rest


def without_any_block(text: str) -> str:
    """Return the text without what is between marks, whoever has put it there."""
    kept, lines = [], text.split("\n")
    while lines:
        line = lines.pop(0)
        if line == BEGIN and END in lines:
            lines = lines[lines.index(END) + 1 :]
        else:
            kept.append(line)
    return "\n".join(kept)


def _noted(note: str, lines: list[str]) -> list[str]:
    """Return lines whose first block has this note from now on; as they are where there is none."""
    at = lines.index(BEGIN) + 2 if BEGIN in lines[:-1] else 0
    return [*lines[:at], note, *lines[at:]] if at and lines[at : at + 1] != [note] else lines


def _block(key: str, notes: Sequence[str], lines: Sequence[str]) -> list[str]:
    return [BEGIN, f"# {key}", *notes, *lines, END]


def _find(lines: Sequence[str], key: str) -> tuple[int, int] | None:
    """Return the first and the last line of the block of this key.

    A block without an end of its own is none: it would reach into the next one.
    """
    for number, line in enumerate(lines[:-1]):
        if line == BEGIN and lines[number + 1] == f"# {key}":
            for end in range(number + 2, len(lines)):
                if lines[end] == END:
                    return number, end
                if lines[end] == BEGIN:
                    break
    return None


_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "mksh", "zsh")
_SHEBANG = "#!/bin/sh"
_LARGEST = 1 << 20
_LEAVING = ("exit", "exec")
"""Words of a script that may end before its last line."""


class Left(Exception):
    """A file stays as it is, and why."""


class HookBlocks:
    """Blocks of one command in the hooks of a work tree, for one project of it."""

    def __init__(self, tree: ProjectTree, put: str, take: str) -> None:
        """Keep ``put`` and ``take``, the commands that a person gives."""
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
        """Return whether a hook has any."""
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
    """Return a word of a shell that stands for this text alone.

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
    """Return the text of a file; None where there is none.

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
    """Return whether the first line of a script names a shell."""
    if not text.startswith("#!"):
        return False
    names = [os.path.basename(word) for word in text.split("\n", 1)[0][2:].split()]
    if names and names[0] == "env":
        names = [name for name in names[1:] if not name.startswith("-") and "=" not in name]
    return bool(names) and names[0] in _SHELLS


class ProjectTree:
    """``top`` is the tree's folder, ``below`` the way from there to the project."""

    def __init__(self, project: str) -> None:
        """Raise LoreError without git, or outside of a repository with a work tree."""
        self.project = os.path.realpath(project)
        self.top = ""
        self.top = self.said("rev-parse", "--show-toplevel")
        if not self.top:
            raise LoreError(f"{project}: is not a git repository: run this in one")
        self.below = os.path.relpath(self.project, os.path.realpath(self.top))

    def hook(self, name: str) -> str:
        """Return the file of a hook, wherever the config has them."""
        values = self.said("config", "-z", "--path", "--get-all", "core.hooksPath").split("\0")
        if values[-2:] != [NO_HOOKS, ""]:  # lore's own option comes last
            raise LoreError(f"{self.top}: git does not tell its core.hooksPath: mend its config")
        usual = os.path.join(self.said("rev-parse", "--git-common-dir"), "hooks")
        folder = values[-3] if len(values) > 2 else usual
        return os.path.join(os.path.realpath(os.path.join(self.top, folder)), name)

    def said(self, *words: str) -> str:
        """Return what a command of git prints; nothing where it fails."""
        done = self.ask(*words)
        return "" if done.returncode else os.fsdecode(done.stdout).removesuffix("\n")

    def ask(self, *words: str) -> CompletedProcess[bytes]:
        """Run a command of git that starts no other program, under the person's own config.

        Raises:
            LoreError: there is no git.
        """
        try:
            return run_git(self.top or self.project, *words)
        except FileNotFoundError:
            raise LoreError("git is not installed: install it, then try again") from None


DRIVER = "merge.lore.driver"
SETTINGS = {
    "merge.lore.name": "lore: by record and edge",
    DRIVER: "lore merge-file %O %A %B --path %P",
}
HOOKS = ("post-merge", "post-checkout", "post-rewrite", "post-commit", "pre-commit")
"""The hooks that lines are put into, if these are wanted."""

_ATTRIBUTES, _NEEDS = ".gitattributes", "merge=lore"


class Repository:
    """The repository that a project lies in; ``file`` is what merges, from the project."""

    def __init__(self, project: str, file: str) -> None:
        """Raise LoreError without git, or outside of a repository with a work tree."""
        self.file = file
        self._tree = ProjectTree(project)
        self._blocks = HookBlocks(self._tree, "lore sync --install", "lore sync --uninstall")

    def install(self, *, hooks: bool) -> Iterator[Done]:
        """Write what is not there yet; what is done to each file."""
        yield put_block(self._attributes, self._with_attribute, self._without_attribute)
        for key, value in SETTINGS.items():
            yield self._configure(key, value)
        for name in HOOKS if hooks else ():
            yield self._blocks.put(name, self._lines(name))

    def uninstall(self) -> Iterator[Done]:
        """Take out what ``install`` has written, and nothing else."""
        yield take_block(self._attributes, self._with_attribute, self._without_attribute)
        needed = self._is_needed()
        for key, value in SETTINGS.items():
            if needed:
                yield key, "left", f"{needed} still names it"
            else:
                yield self._forget(key, value)
        for name in HOOKS:
            done = self._blocks.take(name, self._lines(name))
            if done is not None:
                yield done

    def is_ignored(self) -> bool:
        """Return whether git is told to ignore the file."""
        path = os.path.join(self._tree.project, self.file)
        return self._tree.ask("check-ignore", "-q", "--", path).returncode == 0

    # --- the attribute and the driver

    @property
    def _attributes(self) -> str:
        return os.path.join(self._tree.project, _ATTRIBUTES)

    def _with_attribute(self, text: str | None) -> str:
        return with_block(text, self._blocks.key, [f"{self.file} {_NEEDS}"])

    def _without_attribute(self, text: str | None) -> str | None:
        return None if text is None else without_block(text, self._blocks.key)

    def _is_needed(self) -> str:
        """Return the file of attributes that names the driver for another project of this
        repository."""
        listed = self._tree.said(
            "ls-files", "-z", "--cached", "--others", "--", f":(glob)**/{_ATTRIBUTES}"
        )
        for name in filter(None, listed.split("\0")):
            try:
                text = read_file(os.path.join(self._tree.top, name)) or ""
            except Left:
                continue
            if any(_NEEDS in line.split()[1:] for line in text.split("\n")):
                return name
        return ""

    def _lines(self, name: str) -> list[str]:
        return _hook_lines(name, self._tree.below, self.file)

    def _configure(self, key: str, value: str) -> Done:
        old = self._values(key)
        if old == [value]:
            return key, "unchanged", ""
        if old:
            return key, "left", f"it is '{old[-1]}' already"
        self._change_config(key, value)
        return key, "added", ""

    def _forget(self, key: str, value: str) -> Done:
        old = self._values(key)
        if old == [value]:
            self._change_config("--unset", key)
            return key, "removed", ""
        if value in old:
            return key, "left", "it has several values"
        return key, "unchanged", ""

    def _values(self, key: str) -> list[str]:
        listed = self._tree.said("config", "--local", "-z", "--get-all", key)
        return listed.split("\0")[:-1]

    def _change_config(self, *words: str) -> None:
        done = self._tree.ask("config", "--local", *words)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise LoreError(f"{words[-1]}: git says '{said}': check the config of the repository")


def _hook_lines(name: str, below: str, file: str) -> list[str]:
    """Return what a hook does; it fails in nothing, and where there is no lore it does nothing."""

    def place(path: str) -> str:
        return shell_quoted("./" + os.path.normpath(os.path.join(below, path)))

    folder, shared = place(""), place(file)
    own = place(os.path.dirname(file))

    def sync(*options: str) -> str:
        words = " ".join((*options, "--quiet", "--text"))
        return f"(cd {folder} && LORE_DIR= LORE_SCOPE= lore sync {words} </dev/null >&2)"

    lines = [f"if command -v lore >/dev/null 2>&1 && [ -d {own} ]; then"]
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
