"""A new log for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import move_home

from pylore.capture.event_log import event_file


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of today's log file."""
    move_home(monkeypatch, tmp_path / "home")
    return Path(event_file())
