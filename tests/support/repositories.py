"""Small git repositories for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

GIT_VARIABLES = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "n@example.org",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "n@example.org",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "maintenance.auto",
    "GIT_CONFIG_VALUE_0": "false",
}
"""Variables for git; automatic maintenance would double the time of a commit."""

ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", **GIT_VARIABLES}


@cache
def _made() -> TemporaryDirectory[str]:
    """Return an initialized repository to copy, which is faster than ``git init``."""
    folder = TemporaryDirectory()
    command = ["git", "init", "-q", "-b", "main", "--template=", folder.name]
    subprocess.run(command, check=True, env={**ENVIRONMENT, "HOME": folder.name})
    return folder


class Repository:
    """A git work tree with short methods to change it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self._seconds = 1_700_000_000
        if not os.path.lexists(root / ".git"):
            shutil.copytree(Path(_made().name, ".git"), root / ".git")

    def copy(self, root: Path) -> Repository:
        """Return a copy of this repository with the same clock."""
        shutil.copytree(self.root, root, symlinks=True)
        other = Repository(root)
        other._seconds = self._seconds
        return other

    def git(self, *words: str) -> str:
        """Run a git command and return stdout."""
        date = f"{self._seconds} +0000"
        done = subprocess.run(
            ["git", *words],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=True,
            env={
                **ENVIRONMENT,
                "HOME": str(self.root),
                "GIT_AUTHOR_DATE": date,
                "GIT_COMMITTER_DATE": date,
            },
        )
        return done.stdout.strip()

    def write(self, path: str, text: str) -> Path:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def commit(self, message: str = "change", **files: str) -> str:
        """Write files (``a`` is ``a.py``), commit everything, an hour later; return the hash."""
        for name, text in files.items():
            self.write(f"{name}.py", text)
        self._seconds += 3600
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        head = self.root / ".git/refs/heads/main"
        return head.read_text().strip() if head.exists() else self.git("rev-parse", "HEAD")
