"""Test the time limits of hooks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from wire import ROOT

STARTED = """
import os, sys, time
from _thread import start_new_thread
from pylore.cli.hooks import end_in_time
start_new_thread(end_in_time, (time.process_time() + {}, {}))
"""
SLOW = ["/bin/sh", "-c", "sleep 0.6; touch ran"]
PLUGIN = f"from pylore.system.plugins import PluginProcess as P\nP({SLOW}, b'', os.environ).read()"


@pytest.mark.parametrize(
    ("cpu", "wall", "code", "out", "why"),
    [
        (0.2, 600, "time.sleep(0.4)\nprint('here')", "here\n", ""),  # waiting costs no CPU
        (0.05, 600, "while True:\n    pass", "", "s of processor time"),
        (600, 0.05, "time.sleep(600)", "", "no answer within 0.05 s: the machine is busy"),
        (600, 0.3, PLUGIN, "", "no answer within 0.3 s"),
    ],
)
def test_hook_ends_at_a_limit(
    tmp_path: Path, cpu: float, wall: float, code: str, out: str, why: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTED.format(cpu, wall) + code],
        env={**os.environ, "PYTHONPATH": str(ROOT), "LORE_HOOK_DEBUG": "1"},
        text=True,
        capture_output=True,
        check=True,
        timeout=60,
        cwd=tmp_path,
    )
    time.sleep(0.6 if code == PLUGIN else 0)
    assert not (tmp_path / "ran").exists()
    assert done.stdout == out and why in done.stderr
