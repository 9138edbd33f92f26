"""A run over all kinds: so many inputs of each, from one seed, until the time is up."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from traceback import extract_tb, format_exc

from config_kind import Configs
from kinds import FrontMatterKind, Kind, Options, RulesKind
from mcp_kind import McpLines
from sdk_kind import SdkCalls
from store_kinds import JsonLines, MarkdownKind, Queries

KINDS: tuple[type[Kind], ...] = (
    Queries, Configs, JsonLines, MarkdownKind, FrontMatterKind, RulesKind, Options,
    McpLines, SdkCalls,
)  # fmt: skip

LONGEST = 20.0
"""Seconds of processor time that one input may take."""

ROUNDS = 100
"""The kinds take turns, so that each has its share when the time is up."""


class Fault:
    """An input that broke a promise; ``place`` is the same for those that do it in one way."""

    def __init__(self, kind: str, data: bytes, place: str, trace: str) -> None:
        self.kind, self.data, self.place, self.trace = kind, data, place, trace


class Trial:
    """One kind under trial: what was tried, in how many seconds, and the faults found."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.tried = 0
        self.seconds = 0.0
        self.slowest = 0.0
        self.faults: dict[str, Fault] = {}
        self._random = Random(f"{seed} {kind.name}")
        self._kept = list(kind.corpus)

    def go_on(self, until: int, deadline: float) -> None:
        """Tries inputs, the kept ones first, until so many have been tried in all."""
        while self.tried < until and time.monotonic() < deadline:
            size = min(self.kind.batch, until - self.tried)
            batch = [self._next() for _ in range(size)]
            started = time.monotonic()
            if not self._holds(batch) and size > 1:
                for data in batch:
                    self._holds([data])
            took = time.monotonic() - started
            self.seconds += took
            self.slowest = max(self.slowest, took / size)
            self.tried += size

    def _next(self) -> bytes:
        return self._kept.pop(0) if self._kept else self.kind.make(self._random)

    def _holds(self, batch: list[bytes]) -> bool:
        try:
            with bounded(LONGEST * len(batch)):
                self.kind.check(batch)
        except Exception as error:
            if len(batch) == 1:
                place = _place(error)
                self.faults.setdefault(place, Fault(self.kind.name, batch[0], place, format_exc()))
            return False
        return True


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Ends what takes more processor time than this with a ``TimeoutError``."""

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
    own = [frame for frame in frames if "pylore" in frame.filename] or frames
    said = str(error).split("\n")[0][:60] if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} {Path(own[-1].filename).name}:{own[-1].lineno} {said}"


def run(
    folder: Path,
    seed: int,
    inputs: int,
    *,
    deadline: float = float("inf"),
    kinds: Sequence[Callable[[Path], Kind]] = KINDS,
) -> list[Trial]:
    """Tries ``inputs`` in all, of each kind its share, or fewer at ``deadline``.

    That is a time of ``time.monotonic``. What is tried hangs on the seed alone, so the
    same seed finds the same.
    """
    with ExitStack() as stack:
        trials = []
        for number, make in enumerate(kinds):
            kind = make(folder / str(number))
            stack.callback(kind.close)
            trials.append(Trial(kind, seed))
        for turn in range(1, ROUNDS + 1):
            for trial in trials:
                wanted = inputs * trial.kind.share * turn / ROUNDS
                trial.go_on(round(wanted), deadline)
    return trials
