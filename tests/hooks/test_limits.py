"""Test the time limits of hooks."""

from __future__ import annotations

import os
import subprocess
import sys

from wire import ROOT

STARTED = """
import os, sys, time
from _thread import start_new_thread
from pylore.cli.hooks import end_in_time
"""
HANGING = 60


def child(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process with a limit."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        [sys.executable, "-c", STARTED + code],
        env=environ,
        text=True,
        capture_output=True,
        check=True,
        timeout=HANGING,
    )


def test_waiting_costs_no_processor_time() -> None:
    # sleep for twice the limit
    code = """
start_new_thread(end_in_time, (time.process_time() + 0.2, 600))
time.sleep(0.4)
print("here")
"""
    assert child(code).stdout == "here\n"


def why_silent(code: str) -> str:
    done = child(code, LORE_HOOK_DEBUG="1")
    assert done.stdout == ""
    return done.stderr


def test_hook_ends_after_processor_time() -> None:
    code = """
start_new_thread(end_in_time, (time.process_time() + 0.05, 600))
while True:
    pass
"""
    assert "s of processor time" in why_silent(code)


def test_a_hook_that_waits_for_ever_ends() -> None:
    code = "start_new_thread(end_in_time, (600, 0.05)); time.sleep(600)"
    assert "no answer within 0.05 s: the machine is busy" in why_silent(code)
