"""A signal ends what was started, whenever it comes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pylore.system.programs import Tidying, start_session


@pytest.fixture
def heeding() -> Iterator[None]:
    """Where a shell starts a process in the background, that is deaf to INT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeding")
def test_a_signal_while_a_program_is_being_started_ends_it_and_is_not_lost(tmp_path: Path) -> None:
    def interrupt() -> None:  # in the new process, before it is the program
        (tmp_path / "own").write_text(str(os.getpid()))
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(0.1)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        start_session(["/bin/sleep", "300"], preexec_fn=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "own").read_text()), 0)
    assert signal.getsignal(signal.SIGINT) is before


def test_without_a_signal_it_runs_in_a_session_of_its_own() -> None:
    with start_session(["/bin/sh", "-c", "exit 3"]) as process:
        assert os.getsid(process.pid) == process.pid
        assert process.wait() == 3


def test_a_thread_that_is_not_the_main_one_tidies_too() -> None:
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
