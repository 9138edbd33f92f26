"""Time, processor time and memory of a process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from threading import Timer
from time import perf_counter

from places import BenchmarkError


@dataclass
class Spent:
    """Cost of a process, with all children it waited for.

    ``wall`` and ``cpu`` (user and system) are ms, ``rss`` the maximum memory of a process in MB,
    pages of mapped files included.
    """

    wall: float
    cpu: float
    rss: float


def run(words: list[str], environ: dict[str, str], patience: float = 600) -> Spent | None:
    """Run a command without output; return None if it takes more than ``patience`` seconds.

    Raises BenchmarkError if the command fails.
    """
    start, null = perf_counter(), subprocess.DEVNULL
    process = subprocess.Popen(words, env=environ, stdin=null, stdout=null, stderr=null)
    timer = Timer(patience, process.kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = (perf_counter() - start) * 1000
    timed_out = not timer.is_alive()
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)  # or it would be waited for again
    if timed_out:
        return None
    if process.returncode:
        raise BenchmarkError(f"exit code {process.returncode}: {' '.join(words)}")
    in_mb = 1e6 if sys.platform == "darwin" else 1e3
    return Spent(wall, (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss / in_mb)
