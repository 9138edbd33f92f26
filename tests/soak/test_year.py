"""The moved clock of ``year.sh``, which itself runs for minutes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from soak.year.clock import Clock, missing

_DAY = 86_400
_ASK = (
    "import os, time; open('new', 'w').close()\nfor name in ('new', 'old'):\n"
    "    print(int(time.time() - os.stat(name).st_mtime + 0.5))"
)


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_files_age_with_the_clock(tmp_path: Path) -> None:
    clock = Clock(tmp_path, -30 * _DAY)
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "old").touch()
    clock.advance(2 * _DAY, folder)
    done = subprocess.run(
        [sys.executable, "-I", "-c", _ASK],
        cwd=folder,
        env={**os.environ, **clock.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    new, old = map(int, done.stdout.split())
    assert new < 60 and 2 * _DAY <= old < 2 * _DAY + 60
    assert clock.offset == -28 * _DAY
    assert abs(clock.now - time.time() + 28 * _DAY) < 60
