"""A text in a person's editor."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

import click

from ..core.errors import LoreError
from ..system.files import make_private_folder, state_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def edited(text: str) -> Iterator[str]:
    """Yield the text that a person edited; a LoreError in the block keeps and names the file."""
    folder = os.path.join(state_folder(), "drafts")
    make_private_folder(folder)
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".md", dir=folder, delete=False) as file:
        file.write(f"{text}\n")
    try:
        click.edit(filename=file.name)
        yield Path(file.name).read_text("utf-8").rstrip("\n")
    except (LoreError, click.ClickException, UnicodeDecodeError, OSError) as error:
        raise LoreError(f"{error}; the text is kept in {file.name}") from None
    os.unlink(file.name)
