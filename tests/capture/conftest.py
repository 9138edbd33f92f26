"""A log of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import move_home


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the log, which is not there yet."""
    move_home(monkeypatch, tmp_path / "home")
    return tmp_path / "home/state/lore/events.jsonl"
