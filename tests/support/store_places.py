"""The store of a project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pylore.system.stores import claim


def store_folder(data: Path | str, project: Path) -> Path:
    """Return the folder of a project's store in a data home; create the store if needed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(data))
        (project / ".lore").mkdir(exist_ok=True)
        return Path(claim(str(project)))


def copy_store(data: Path | str, project: Path, other: Path, to: Path | str = "") -> Path:
    """Copy the store of a project to a second project; return the folder."""
    folder = store_folder(to or data, other)
    for file in store_folder(data, project).glob("search.db*"):
        shutil.copy2(file, folder)
    return folder
