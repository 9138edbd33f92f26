"""A temporary home, so that the settings of the person who runs the tests have no effect."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pylore.cli.session import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def move_home(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Takes lore's variables out of the environment; home and the XDG folders become ``home``."""
    for name in [name for name in os.environ if name.startswith("LORE_")]:
        patch.delenv(name)
    for name in AGENTS:
        patch.delenv(name, raising=False)
    patch.setenv("HOME", str(home))
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
