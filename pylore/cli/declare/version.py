"""lore version."""

from __future__ import annotations

from ..declaration import Command

COMMAND = Command(
    "version",
    "",
    "which lore this is",
    hot="help:version_command",
)
