"""A home with private files, and a hostile project in it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

import pytest
from commands import Done, run_here
from new_stores import store_folder

ROOT = Path(__file__).resolve().parents[2]
LORE = str(ROOT / "lore.sh")

MARKERS = {".bashrc": "alias a=b\n", ".ssh/id": "a key\n", "notes/keep.txt": "keep\n"}


class Planted:
    """``home`` with private files, and ``project``, a clone in a folder of ``home``."""

    markers: ClassVar[dict[str, str]] = MARKERS
    """Private files of the home, with texts."""

    def __init__(self, folder: Path) -> None:
        self.home = (folder / "home").resolve()
        self.project = self.home / "projects/clone"
        self.temporary = folder / "tmp"
        for name, text in self.markers.items():
            self.put(self.home / name, text)
        (self.project / ".git").mkdir(parents=True, exist_ok=True)
        self.temporary.mkdir(exist_ok=True)
        self.environ = {key: value for key, value in os.environ.items() if key[:5] != "LORE_"}
        self.environ |= {
            "HOME": str(self.home),
            "PWD": str(self.project),
            "TMPDIR": str(self.temporary),
            "NO_COLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
            self.environ[f"XDG_{kind}_HOME"] = str(folder / kind.lower())

    @property
    def store(self) -> Path:
        """The folder of the project's store."""
        return store_folder(self.environ["XDG_DATA_HOME"], self.project)

    @staticmethod
    def put(path: Path, text: str | bytes) -> Path:
        """Write a file; make the folders."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def path(self, name: str) -> Path:
        """``~/x`` in the home, anything else in the project."""
        return self.home / name[2:] if name.startswith("~/") else self.project / name

    def clear(self, name: str) -> Path:
        """Return the free path of a file; make the folder."""
        file = self.path(name)
        if file.is_symlink() or file.is_file():
            file.unlink()
        elif file.is_dir():
            shutil.rmtree(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def plant(self, links: str) -> None:
        """``a -> ~/.bashrc; b -> a``: links, ``~/`` being the home."""
        for link in filter(None, map(str.strip, links.split(";"))):
            name, _, target = link.partition(" -> ")
            self.clear(name).symlink_to(self.path(target) if target[:2] == "~/" else target)

    def run(self, *words: str, **environ: str) -> Done:
        """Run a command in the project, in this process."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.project)
            for name in os.environ.keys() - self.environ.keys():
                patch.delenv(name)
            for name, text in {**self.environ, **environ}.items():
                patch.setenv(name, text)
            return run_here(words)

    def lore(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project, in a separate process."""
        return subprocess.run(
            [LORE, *words],
            cwd=self.project,
            env={**self.environ, **environ},
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def outside(self) -> dict[str, str]:
        """Return path and content of all files in the home outside the project."""
        found = {}
        for folder, folders, files in os.walk(self.home):
            if Path(folder) == self.project:
                folders.clear()
                continue
            for name in (*folders, *files):
                path = Path(folder, name)
                found[str(path)] = _sum(path)
        return found


def _sum(path: Path) -> str:
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
