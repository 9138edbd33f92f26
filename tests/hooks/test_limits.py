"""A hook is bounded by the processor time that it takes, and says why it was silent."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import Lore
from wire import ROOT

from pylore.cli import hooks

STARTED = """
import os, sys, time
from _thread import start_new_thread
from pylore.cli.hooks import end_in_time
"""
HANGING = 60


def child(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process with a limit; its exit code is 0."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run([sys.executable, "-c", STARTED + code], env=environ, text=True,
                          capture_output=True, check=True, timeout=HANGING)  # fmt: skip


def test_waiting_takes_no_processor_time() -> None:
    # it sleeps for twice the limit, however long that takes
    code = """
start_new_thread(end_in_time, (time.process_time() + 0.2, 600))
time.sleep(0.4)
print("here")
"""
    assert child(code).stdout == "here\n"


def why_silent(code: str, folder: Path) -> str:
    log = folder / "log"
    assert child(code, LORE_HOOK_DEBUG=str(log)).stdout == ""
    return log.read_text()


def test_a_hook_ends_after_its_processor_time(tmp_path: Path) -> None:
    code = """
start_new_thread(end_in_time, (time.process_time() + 0.05, 600))
while True:
    pass
"""
    assert "s of processor time" in why_silent(code, tmp_path)


def test_a_hook_that_waits_for_ever_ends(tmp_path: Path) -> None:
    code = "start_new_thread(end_in_time, (600, 0.05)); time.sleep(600)"
    assert "no answer within 0.05 s: the machine is busy" in why_silent(code, tmp_path)


def test_a_hook_answers_after_four_seconds_of_waiting(lore: Lore) -> None:
    lore("add", "task", "Let people log out at once")
    lore("trust")
    words = ["hook", "run", "session-start", "--client", "claude"]
    code = f"from pylore.cli.main import run; run({words})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=-1,
        stdout=-1, text=True,
    )  # fmt: skip
    time.sleep(4)
    assert "Let people log out" in process.communicate("{}", timeout=HANGING)[0]


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lore", "hook-run", "prompt", "--client", "claude"])


@pytest.mark.usefixtures("words")
def test_the_reason_goes_to_a_file_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "hooks.log"
    monkeypatch.setenv("LORE_HOOK_DEBUG", str(log))
    for _ in range(2):
        hooks.say_why("nothing new\x1b[1m\nbears on it")
    assert log.stat().st_mode & 0o777 == 0o600
    lines = log.read_text().splitlines()
    assert len(lines) == 2
    assert lines[0].endswith(" hook-run prompt --client claude: nothing new?[1m bears on it")
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("words")
def test_a_file_that_cannot_be_written_is_said_on_stderr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LORE_HOOK_DEBUG", f"{tmp_path}/")
    hooks.say_why("nothing new")
    assert f"lore: {tmp_path}/: " in capsys.readouterr().err


def test_without_the_variable_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LORE_HOOK_DEBUG", raising=False)
    hooks.say_why("nothing new")
    assert capsys.readouterr().err == ""
