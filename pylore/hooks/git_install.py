"""lore's lines in two hooks of git: what is known before a commit, what is learned after one."""

from __future__ import annotations

import os

from ..system.hook_blocks import HookBlocks, shell_quoted
from ..system.project_tree import ProjectTree
from ..system.projects import SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..system.hook_blocks import Done

GIT = "git"
"""The name that git has among the agents."""

HOOKS = ("pre-commit", "post-commit")


class GitHooks:
    """The two hooks of the repository that a project lies in."""

    def __init__(self, project: str) -> None:
        """Raises LoreError without git, or outside of a repository with a work tree."""
        self._tree = ProjectTree(project)
        self._blocks = HookBlocks(self._tree, "lore hook install git", "lore hook uninstall git")

    def install(self) -> Iterator[Done]:
        """Puts the lines in, or brings them up to date; what is done to each hook."""
        for name in HOOKS:
            yield self._blocks.put(name, hook_lines(name, self._tree.below))

    def uninstall(self) -> Iterator[Done]:
        """Take them out, and nothing else."""
        for name in HOOKS:
            done = self._blocks.take(name, hook_lines(name, self._tree.below))
            if done is not None:
                yield done

    def preview(self) -> str:
        """The lines, each hook under its file."""
        return "".join(
            f"{self._tree.hook(name)}:\n" + "".join(f"  {line}\n" for line in lines)
            for name in HOOKS
            for lines in [hook_lines(name, self._tree.below)]
        )

    def installed(self) -> list[str]:
        """The files of hooks that have them."""
        return [self._tree.hook(name) for name in HOOKS if self._blocks.are_in(name)]


def hook_lines(name: str, below: str) -> list[str]:
    """What a hook does; it fails in nothing, and where there is no lore it does nothing.

    git is asked here, where its variables say which index and which repository it means. On the
    stdin of ``lore hook run`` are texts that each end with NUL: the way to the project, then for
    ``post-commit`` the commit's name and message, then the files.
    """
    folder = shell_quoted("./" + below)
    shared = shell_quoted("./" + os.path.normpath(os.path.join(below, SHARED)))
    prefix = shell_quoted("" if below == "." else f"{below}/")
    options = "--name-only -z --no-renames --no-ext-diff --no-color"
    if name == "pre-commit":
        asked = [f"git diff --cached {options}"]
    else:
        asked = [
            "git log -1 --no-show-signature --no-color --encoding=UTF-8 --format=%H%n%B HEAD",
            r"printf '\0'",
            f"git diff-tree --root --no-commit-id -r {options} HEAD",
        ]
    return [
        f"if command -v lore >/dev/null 2>&1 && [ -d {shared} ]; then",
        f"  {{ printf '%s\\0' {prefix}",
        *(f"    {line}" for line in asked),
        "  } 2>/dev/null |",
        f"    (cd {folder} && LORE_DIR= lore hook run {name} --client git >&2) || :",
        "fi",
    ]
