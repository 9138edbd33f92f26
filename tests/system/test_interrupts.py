"""Test that signals end programs, at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pylore.system import programs
from pylore.system.plugins import PluginProcess
from pylore.system.programs import Tidying


@pytest.fixture
def deaf() -> Iterator[None]:
    """As in a command, which an interrupt ends."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("deaf")
def test_signal_during_start_ends_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    popen, started = subprocess.Popen, []

    def interrupted(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*words, **options))
        os.kill(os.getpid(), signal.SIGINT)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    monkeypatch.setattr(programs, "interrupts", [])
    with Tidying(), pytest.raises(KeyboardInterrupt):
        PluginProcess(["/bin/sleep", "300"], b"", os.environ, 300)
    assert started[0].returncode == -signal.SIGKILL


def test_program_runs_in_a_separate_session() -> None:
    with PluginProcess(["/bin/sh", "-c", "ps -o sid= -p $$; echo $$"], b"", os.environ) as process:
        session, own = process.read().split()
    assert session == own


def test_other_threads_run_cleanup() -> None:
    done: list[str] = []

    def tidy() -> None:
        with Tidying():
            done.append("within")

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        thread = threading.Thread(target=tidy)
        thread.start()
        thread.join()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done == ["within"]
