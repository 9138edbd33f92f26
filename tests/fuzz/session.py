"""``make fuzz``: inputs of all kinds, by the number or by the minute."""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from traceback import extract_tb, format_exc
from typing import NamedTuple

from config_kind import Configs
from kinds import FrontMatterKind, Kind, Options
from mcp_kind import McpLines
from mutator import as_sample
from store_kinds import JsonLines, MarkdownKind, Queries

KINDS: tuple[type[Kind], ...] = (Queries, Configs, JsonLines, MarkdownKind)
KINDS += (FrontMatterKind, Options, McpLines)

LONGEST = 20.0
"""Maximum processor seconds of an input."""
ROUNDS = 100
"""Turns of the kinds, so that shares are right at the deadline."""
MEMORY = 1 << 30
"""Maximum bytes of address space of the process."""
STACK = 1 << 20
"""Bytes of the stack of a thread: waiting threads of a server would take all memory."""


class Fault(NamedTuple):
    """An input that broke a promise."""

    kind: str
    data: bytes
    trace: str


class Trial:
    """Run a kind; ``faults`` has the first input of each place that raised."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.tried = 0
        self.slowest = 0.0
        self.faults: dict[str, Fault] = {}
        self._random = Random(f"{seed} {kind.name}")
        self._kept = list(kind.corpus)

    def go_on(self, until: int, deadline: float) -> None:
        """Try inputs, the corpus first, until ``until`` are done or the deadline has passed."""
        while self.tried < until and time.monotonic() < deadline:
            size = min(self.kind.batch, until - self.tried)
            batch = [
                self._kept.pop(0) if self._kept else self.kind.make(self._random)
                for _ in range(size)
            ]
            started = time.monotonic()
            if not self._holds(batch) and size > 1:
                for data in batch:
                    self._holds([data])
            self.slowest = max(self.slowest, (time.monotonic() - started) / size)
            self.tried += size

    def _holds(self, batch: list[bytes]) -> bool:
        try:
            with bounded(LONGEST * len(batch)):
                self.kind.check(batch)
        except Exception as error:
            if len(batch) == 1:
                fault = Fault(self.kind.name, batch[0], format_exc())
                self.faults.setdefault(_place(error), fault)
            return False
        return True


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise ``TimeoutError`` after this processor time."""

    def end(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds:g} seconds")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _place(error: Exception) -> str:
    frames = extract_tb(sys.exc_info()[2])
    frame = ([frame for frame in frames if "pylore" in frame.filename] or frames)[-1]
    message = str(error).split("\n")[0][:60] if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} {Path(frame.filename).name}:{frame.lineno} {message}"


def run(
    folder: Path,
    seed: int,
    inputs: int,
    *,
    deadline: float = float("inf"),
    kinds: Sequence[Callable[[Path], Kind]] = KINDS,
) -> list[Trial]:
    """Try ``inputs`` inputs, by share of the kinds, or fewer at ``deadline`` of
    ``time.monotonic``; the same seed gives the same inputs.
    """
    with ExitStack() as stack:
        trials = []
        for number, make in enumerate(kinds):
            kind = make(folder / str(number))
            stack.callback(kind.close)
            trials.append(Trial(kind, seed))
        for turn in range(1, ROUNDS + 1):
            for trial in trials:
                trial.go_on(round(inputs * trial.kind.share * turn / ROUNDS), deadline)
    return trials


def main() -> None:
    """Print a line a kind, then faults with inputs; exit with 1 after faults."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=0, help="stop then; 0: when all are done")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    threading.stack_size(STACK)
    print(f"the same again: make fuzz N={given.inputs} SEED={given.seed}", flush=True)
    deadline = time.monotonic() + 60 * given.minutes if given.minutes else float("inf")
    with tempfile.TemporaryDirectory() as folder:
        trials = run(Path(folder), given.seed, given.inputs, deadline=deadline)
    for trial in trials:
        print(
            f"{trial.kind.name:12} {trial.tried:8} inputs, the slowest {trial.slowest:.3f} s, "
            f"{len(trial.faults)} kinds of fault"
        )
    faults = [fault for trial in trials for fault in trial.faults.values()]
    for fault in faults:
        print(
            f"\n{fault.trace}\nadd to tests/fuzz/corpus/{fault.kind}.jsonl:\n"
            f"{as_sample(fault.data)}"
        )
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
