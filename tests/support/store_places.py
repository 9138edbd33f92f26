"""Where the store of a project is."""

from __future__ import annotations

import shutil
from pathlib import Path


def store_folder(data: Path | str, project: Path) -> Path:
    """Return the folder of a project's store below a data home."""
    return Path(f"{data}/lore/projects{str(project.resolve()).replace('/', '/+')}")


def copy_store(data: Path | str, project: Path, other: Path, to: Path | str = "") -> Path:
    """Give the store of a project to another project; return its folder."""
    folder = store_folder(to or data, other)
    folder.mkdir(parents=True, mode=0o700)
    for file in store_folder(data, project).iterdir():
        if file.is_file() and file.name != "trusted":
            shutil.copy2(file, folder)
    return folder
