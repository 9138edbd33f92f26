"""``make fuzz``: inputs of all kinds, by the number or by the minute."""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

from mutator import as_sample
from session import Trial, run

MEMORY = 1 << 30
"""The most bytes of address space that any input may take the process to."""

STACK = 1 << 20
"""Bytes of a thread's: those that a server leaves waiting would take all of it."""


def main() -> None:
    """Prints a line a kind, then each fault with its input; exit code 1 if there are any."""
    asked = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    asked.add_argument("--inputs", type=int, default=1_000_000)
    asked.add_argument("--minutes", type=float, default=0, help="stop then; 0: when all are done")
    asked.add_argument("--seed", type=int, default=int(time.time()))
    given = asked.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    threading.stack_size(STACK)
    print(f"the same again: make fuzz N={given.inputs} SEED={given.seed}", flush=True)
    deadline = time.monotonic() + 60 * given.minutes if given.minutes else float("inf")
    with tempfile.TemporaryDirectory() as folder:
        trials = run(Path(folder), given.seed, given.inputs, deadline=deadline)
    for trial in trials:
        say(trial)
    faults = [fault for trial in trials for fault in trial.faults.values()]
    for fault in faults:
        print(f"\n{fault.trace}\nadd to tests/fuzz/corpus/{fault.kind}.jsonl:\n"
              f"{as_sample(fault.data)}")  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{sum(trial.tried for trial in trials)} inputs, {len(faults)} kinds of fault, "
          f"{peak} MB at most")  # fmt: skip
    sys.exit(bool(faults))


def say(trial: Trial) -> None:
    """One line on what was tried."""
    print(f"{trial.kind.name:12} {trial.tried:8} inputs {trial.seconds:7.1f} s, the slowest "
          f"{trial.slowest:.3f} s, {len(trial.faults)} kinds of fault")  # fmt: skip


if __name__ == "__main__":
    main()
