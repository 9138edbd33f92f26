"""The git work tree that a project lies in, and what its git says."""

from __future__ import annotations

import os
import subprocess

from ..core.errors import LoreError
from .git_process import SILENT, environment
from .programs import find_program


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
        """The file of a hook, wherever the config has them."""
        folder = os.path.join(self.top, self.said("rev-parse", "--git-path", "hooks"))
        return os.path.join(os.path.realpath(folder), name)

    def said(self, *words: str) -> str:
        """What a command of git prints; nothing where it fails."""
        done = self.ask(*words)
        return "" if done.returncode else os.fsdecode(done.stdout).removesuffix("\n")

    def ask(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Runs a command of git that starts no other program, under the person's own config."""
        git = find_program("git")
        if git is None:
            raise LoreError("git is not installed: install it, then try again")
        folder = self.top or self.project
        return subprocess.run(
            [git, "-C", folder, *words], env=environment(), stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=SILENT,
        )  # fmt: skip
