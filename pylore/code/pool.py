"""Several processes that work for this one, and that end when this one does."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import recv_handle, send_handle
from tempfile import TemporaryFile
from typing import IO, Any, Generic, TypeVar, cast

from ..core.errors import LoreError
from ..system.bug_log import BugElsewhere, report_of

J = TypeVar("J")
R = TypeVar("R")

MOST_HELD = 64
"""Results that wait for one before them; with so many, no more jobs are given out."""

AHEAD = 3
"""Jobs for each worker that are given out: one that it does, and more for who is done first."""


class Workers(Generic[J, R]):
    """Processes that have inherited everything by forking, and must touch no store.

    Each has a pipe to this process. That is its life line: when this process dies, however
    it does, the workers read its end and leave. A result comes in a file without a name, so
    that no worker waits until it is read.
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

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()

    def _next(self, pipe: Connection) -> tuple[int, J]:
        """Return, in a worker, the number of a job and the job."""
        raise NotImplementedError

    def _serve(self, pipe: Connection) -> None:
        for other in self._pipes:
            other.close()
        while True:
            try:
                self._answer(pipe, *self._next(pipe))
            except (EOFError, OSError, KeyboardInterrupt):
                os._exit(0)

    def _answer(self, pipe: Connection, number: int, job: J) -> None:
        try:
            result = self._work(job)
        except Exception as error:
            # A bug: where it happened belongs into the log.
            pipe.send((number, BugElsewhere, report_of(error)))
            return
        with TemporaryFile() as file:
            try:
                pickle.dump(result, file, pickle.HIGHEST_PROTOCOL)
                file.seek(0)
            except OSError as error:
                text = f"{error.strerror}: make room, or set TMPDIR"
                pipe.send((number, LoreError, f"a temporary file cannot be written: {text}"))
                return
            pipe.send((number, None, ""))
            send_handle(pipe, file.fileno(), None)

    @staticmethod
    def _take(pipe: Connection) -> tuple[int, IO[bytes]]:
        """Return the number of a job that a worker has done, and the file with its result."""
        try:
            number, wrong, text = pipe.recv()
            if not wrong:
                return number, os.fdopen(recv_handle(pipe), "rb")
        except EOFError:
            raise _died() from None
        raise wrong(text)

    @staticmethod
    def _read(file: IO[bytes]) -> R:
        with file:
            return cast("R", pickle.load(file))


def _died() -> LoreError:
    return LoreError("a process that read files has died: run it again")


class Pool(Workers[J, R]):
    """``with Pool(work, 4) as pool: for result in pool.run(jobs): …``, in the jobs' order."""

    def __init__(self, work: Callable[[J], R], count: int) -> None:
        context = get_context("fork")
        self._jobs, self._give = context.Pipe(duplex=False)
        self._turn = context.Lock()
        super().__init__(work, count)
        self._jobs.close()

    def __enter__(self) -> Pool[J, R]:
        return self

    def _serve(self, pipe: Connection) -> None:
        self._give.close()
        super()._serve(pipe)

    def _next(self, _: Connection) -> tuple[int, J]:
        with self._turn:
            return cast("tuple[int, J]", self._jobs.recv())

    def run(self, jobs: Iterable[J]) -> Iterator[R]:
        """Yield the result of each job; one that is done before its turn is held until then.

        Raises:
            LoreError: a worker died, or had no room for its result.
        """
        rest = enumerate(jobs)
        held: dict[int, IO[bytes]] = {}
        given = turn = 0
        while True:
            while given - turn - len(held) < AHEAD * len(self._pipes) and len(held) < MOST_HELD:
                job = next(rest, None)
                if job is None:
                    break
                self._send(job)
                given += 1
            if turn in held:
                yield self._read(held.pop(turn))
                turn += 1
            elif turn == given:
                return
            else:
                held.update(map(self._take, cast("list[Connection]", wait(self._pipes))))

    def _send(self, job: tuple[int, J]) -> None:
        try:
            self._give.send(job)
        except BrokenPipeError:
            raise _died() from None


class Team(Workers[J, R]):
    """Workers that each go on from where they were: the n-th always has the n-th job."""

    def __enter__(self) -> Team[J, R]:
        return self

    def _next(self, pipe: Connection) -> tuple[int, J]:
        return 0, pipe.recv()

    def each(self, jobs: Sequence[J], meanwhile: Callable[[], object]) -> list[R]:
        """Return the first worker's answer to the first job, and so on, when all are there.

        Raises:
            LoreError: a worker died, or had no room for its result.
        """
        for pipe, job in zip(self._pipes, jobs, strict=True):
            pipe.send(job)
        meanwhile()
        return [self._read(self._take(pipe)[1]) for pipe in self._pipes]
