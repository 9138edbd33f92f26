"""Agents with transcripts: readers and folders."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .claude import Claude
from .codex import Codex

if TYPE_CHECKING:
    from .recorder import Reader

TRANSCRIPTS: dict[str, type[Reader]] = {reader.source: reader for reader in (Claude, Codex)}


def transcript_folder(reader: type[Reader]) -> str:
    """Return the folder of an agent's transcripts."""
    variable, usual, below = reader.home
    base = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), usual)
    return os.path.join(base, below)
