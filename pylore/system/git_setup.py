"""Set up a repository: attributes, the merge driver, blocks in hooks."""

from __future__ import annotations

import os
import re
from shlex import quote

from ..core.errors import LoreError
from .edits import Left, change_block, has_block, read_text
from .git_process import NO_HOOKS, run_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .edits import Done

_OF_A_SHELL = re.compile(r"#! *(\S*/env +(-\S+ +|\w+=\S* +)*)?(\S*/)?(ba|da|a|k|mk|z)?sh\s")
_SHEBANG = "#!/bin/sh\n"


class ProjectTree:
    """The work tree of a project, with blocks in hooks: the ``top`` folder, the path ``below`` to
    the project, the ``key`` of the blocks."""

    def __init__(self, project: str, put: str, take: str) -> None:
        """Keep the commands ``put`` and ``take``; raise LoreError without git, or a work tree."""
        self.project = os.path.realpath(project)
        self.top = ""
        self.top = self.read("rev-parse", "--show-toplevel")
        if not self.top:
            raise LoreError(f"{project}: is not a git repository: run this in one")
        self.below = os.path.relpath(self.project, os.path.realpath(self.top))
        self.key = (
            f"Put here by '{put}', and taken out by '{take}' with all changes in it, "
            f"for {'this repository' if self.below == os.curdir else quote(self.below)}"
        )

    def hook(self, name: str) -> str:
        """Return the file of a hook, wherever the config has them."""
        values = self.read("config", "-z", "--path", "--get-all", "core.hooksPath").split("\0")
        if values[-2:] != [NO_HOOKS, ""]:  # lore's option is last
            raise LoreError(f"{self.top}: git does not print core.hooksPath: correct its config")
        usual = os.path.join(self.read("rev-parse", "--git-common-dir"), "hooks")
        folder = values[-3] if len(values) > 2 else usual
        return os.path.join(os.path.realpath(os.path.join(self.top, folder)), name)

    def install_lines(self, lines: Mapping[str, Sequence[str]]) -> Iterator[Done]:
        """Put lines into hooks, by their names, or bring them up to date."""
        for path, wanted in ((self.hook(name), lines[name]) for name in lines):
            if why := self._fault(path):
                yield path, "left", why
                continue
            is_new = not os.path.exists(path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            done = change_block(path, self.key, wanted, head=_SHEBANG)
            if is_new:
                os.chmod(path, 0o755)
            yield done

    def _fault(self, path: str) -> str:
        """Return why a hook cannot get lines; empty if it can."""
        if "\n" in self.below:
            return f"the name of the folder {self.below!r} has a line break"
        try:
            text = read_text(path)
        except Left as why:
            return str(why)
        if text is None:
            return ""
        if not os.access(path, os.X_OK):
            return "it is not executable, so git does not run it"
        return "" if _OF_A_SHELL.match(text) else "it is not a script of a shell"

    def remove_lines(self, names: Iterable[str]) -> Iterator[Done]:
        """Remove the lines from the hooks that have them."""
        for path in filter(os.path.lexists, map(self.hook, names)):
            yield change_block(path, self.key, None, head=_SHEBANG)

    def hooks_with_lines(self, names: Iterable[str]) -> list[str]:
        """Return the files of the hooks that have lines."""
        return [path for path in map(self.hook, names) if has_block(path, self.key)]

    def read(self, *words: str) -> str:
        """Return the output of a git command; empty if it fails."""
        status, out, _ = run_git(self.top or self.project, *words)
        return "" if status else os.fsdecode(out).removesuffix("\n")


DRIVER = "merge.lore.driver"
PROGRAM = "lore merge-file %O %A %B --path %P || git merge-file %A %O %B"
"""Where lore fails or is missing, git merges by lines; sync reads the markers of a conflict."""
HOOKS = ("post-merge", "post-checkout", "post-rewrite", "pre-commit")
"""The hooks for lines, if these are wanted."""
_ATTRIBUTES, _NEEDS = ".gitattributes", "merge=lore"


class Repository(ProjectTree):
    """The repository of a project; git merges ``file``, a path from the project."""

    def __init__(self, project: str, file: str) -> None:
        super().__init__(project, "lore hook install merge", "lore hook install --remove merge")
        self.file = file
        self._attributes = os.path.join(self.project, _ATTRIBUTES)

    def install(self, *, hooks: bool) -> Iterator[Done]:
        """Write missing parts; yield the change of each file."""
        yield change_block(self._attributes, self.key, [f"{self.file} {_NEEDS}"])
        old = self._programs()
        if old and old[-1] != PROGRAM:
            yield DRIVER, "left", f"it is '{old[-1]}' already"
        else:
            self._configure("--replace-all", DRIVER, PROGRAM)
            yield DRIVER, "unchanged" if old else "added", ""
        lines = {name: _hook_lines(name, self.below, self.file) for name in HOOKS}
        yield from self.install_lines(lines if hooks else {})

    def uninstall(self) -> Iterator[Done]:
        """Remove everything that ``install`` has written."""
        yield change_block(self._attributes, self.key, None)
        needed = self.read(
            "grep", "--untracked", "-l", "-w", "-e", _NEEDS, "--", f":(glob)**/{_ATTRIBUTES}"
        )
        if PROGRAM not in self._programs():
            yield DRIVER, "unchanged", ""
        elif needed:
            yield DRIVER, "left", f"{needed.splitlines()[0]} still names it"
        else:
            self._configure("--unset-all", DRIVER, "^lore merge-file ")
            yield DRIVER, "removed", ""
        yield from self.remove_lines(HOOKS)

    def is_ignored(self) -> bool:
        """Return True if git ignores the file."""
        return self.read("check-ignore", "--", os.path.join(self.project, self.file)) != ""

    def _programs(self) -> list[str]:
        return self.read("config", "--local", "-z", "--get-all", DRIVER).split("\0")[:-1]

    def _configure(self, *words: str) -> None:
        status, _, errors = run_git(self.top, "config", "--local", *words)
        if status:
            said = errors.decode("utf-8", "replace").strip()
            raise LoreError(f"{DRIVER}: git reports '{said}': check the config of the repository")


_HOOK = """\
if command -v lore >/dev/null 2>&1 && [ -d {own} ]; then
  (cd {folder} && LORE_DIR= LORE_SCOPE= lore sync {options}--quiet --text </dev/null >&2) {then}
fi"""
_STAGE = """&&
    case ${{GIT_INDEX_FILE-}} in
      *next-index-*) ;; # a commit of some files alone
      *) [ -z "$({git} ls-files -- {shared})" ] || {git} add -- {shared}
        [ -z "$({git} ls-files -o --exclude-standard -- {shared})" ] ||
          echo "lore: to share it: git add" {shared} >&2 ;;
    esac || :"""


def _hook_lines(name: str, below: str, file: str) -> list[str]:
    """Return the lines of a hook; they always succeed, with or without lore."""

    def place(path: str) -> str:
        return quote("./" + os.path.normpath(os.path.join(below, path)))

    writes = name == "pre-commit"
    stage = _STAGE.format(git="git --literal-pathspecs", shared=place(file)) if writes else "|| :"
    return _HOOK.format(
        own=place(os.path.dirname(file)),
        folder=place(""),
        options="" if writes else "--in ",
        then=stage,
    ).split("\n")
