"""The git work tree that a project lies in, and what its git says."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from .git_process import NO_HOOKS, run_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import CompletedProcess


class ProjectTree:
    """``top`` is the tree's folder, ``below`` the way from there to the project."""

    def __init__(self, project: str) -> None:
        """Raises LoreError without git, or outside of a repository with a work tree."""
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
