"""Several processes that work on jobs, and that end when this one does."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import recv_handle, send_handle
from tempfile import TemporaryFile
from traceback import format_exc
from typing import IO, Any, Generic, TypeVar, cast

from ..errors import LoreError

J = TypeVar("J")
R = TypeVar("R")

MOST_HELD = 64
"""Results that wait for one before them; with so many, no more jobs are given out."""

AHEAD = 2
"""Jobs that a worker has: one that it does, and one for when it is done with that."""


class Pool(Generic[J, R]):
    """``with Pool(work, 4) as pool: for result in pool.run(jobs): …``, in the jobs' order.

    A worker has inherited everything by forking and must touch no store. Its pipe is its
    life line: when this process dies, however it does, the workers read its end and leave.
    A result comes in a file without a name, so that no worker waits until it is read.
    """

    def __init__(self, work: Callable[[J], R], count: int) -> None:
        self._work = work
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        context = get_context("fork")
        for _ in range(count):
            ours, theirs = context.Pipe()
            self._pipes.append(ours)
            process = context.Process(target=self._serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)

    def __enter__(self) -> Pool[J, R]:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()

    def run(self, jobs: Iterable[J]) -> Iterator[R]:
        """The result of each job; one that is done before its turn is held until then.

        Raises:
            LoreError: a worker died, or had no room for its result.
        """
        rest = enumerate(jobs)
        busy: dict[Connection, deque[int]] = {pipe: deque() for pipe in self._pipes}
        held: dict[int, IO[bytes]] = {}
        turn = 0
        self._give(rest, busy, held)
        while any(busy.values()):
            for pipe in cast("list[Connection]", wait([p for p in busy if busy[p]])):
                held[busy[pipe].popleft()] = self._take(pipe)
            self._give(rest, busy, held)
            while turn in held:
                result = self._result(held.pop(turn))
                self._give(rest, busy, held)
                yield result
                turn += 1

    def each(self, jobs: Sequence[J], meanwhile: Callable[[], object]) -> list[R]:
        """The first worker's answer to the first job, and so on, when all are there.

        Raises:
            LoreError: a worker died, or had no room for its result.
        """
        for pipe, job in zip(self._pipes, jobs, strict=True):
            pipe.send(job)
        meanwhile()
        return [self._result(self._take(pipe)) for pipe in self._pipes]

    @staticmethod
    def _result(file: IO[bytes]) -> R:
        with file:
            return cast("R", pickle.load(file))

    @staticmethod
    def _give(
        rest: Iterator[tuple[int, J]], busy: dict[Connection, deque[int]],
        held: dict[int, IO[bytes]],
    ) -> None:  # fmt: skip
        """A job to each worker that has none, then one ahead to each."""
        for most in range(AHEAD):
            for pipe, numbers in busy.items():
                if len(numbers) <= most and len(held) < MOST_HELD:
                    number, job = next(rest, (-1, None))
                    if number < 0:
                        return
                    pipe.send(job)
                    numbers.append(number)

    @staticmethod
    def _take(pipe: Connection) -> IO[bytes]:
        """The file with the next result of a worker."""
        try:
            wrong, text = pipe.recv()
            if not wrong:
                return os.fdopen(recv_handle(pipe), "rb")
        except EOFError:
            raise LoreError("a process that read files has died: run it again") from None
        raise wrong(text)

    def _serve(self, pipe: Connection) -> None:
        for other in self._pipes:
            other.close()
        while True:
            try:
                self._answer(pipe, pipe.recv())
            except (EOFError, OSError, KeyboardInterrupt):
                os._exit(0)

    def _answer(self, pipe: Connection, job: J) -> None:
        try:
            result = self._work(job)
        except Exception:
            pipe.send((RuntimeError, format_exc()))  # a bug: its traceback belongs into the log
            return
        with TemporaryFile() as file:
            try:
                pickle.dump(result, file, pickle.HIGHEST_PROTOCOL)
                file.seek(0)
            except OSError as error:
                pipe.send((LoreError, f"a temporary file cannot be written: {error.strerror}: "
                                      "make room, or set TMPDIR"))  # fmt: skip
                return
            pipe.send((None, ""))
            send_handle(pipe, file.fileno(), None)
