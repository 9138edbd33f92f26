"""What git is told of lore's file in one repository: an attribute, a merge driver, lines in hooks.

All of it is written because a person says so, never by what came with a clone.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError
from .hook_blocks import HookBlocks, Left, put_block, read_file, shell_quoted, take_block
from .marked_block import with_block, without_block
from .project_tree import ProjectTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .hook_blocks import Done

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
        """Raises LoreError without git, or outside of a repository with a work tree."""
        self.file = file
        self._tree = ProjectTree(project)
        self._blocks = HookBlocks(self._tree, "lore sync --install", "lore sync --uninstall")

    def install(self, *, hooks: bool) -> Iterator[Done]:
        """Writes what is not there yet; what is done to each file."""
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
        """Whether git is told to ignore the file."""
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
        """The file of attributes that names the driver for another project of this repository."""
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
    """What a hook does; it fails in nothing, and where there is no lore it does nothing."""

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
