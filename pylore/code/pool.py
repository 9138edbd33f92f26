"""Several processes that work on jobs, and that end when this one does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from traceback import format_exc
from typing import Any, Generic, TypeVar, cast

from ..errors import LoreError

J = TypeVar("J")
R = TypeVar("R")


class Pool(Generic[J, R]):
    """``with Pool(work, 4) as pool: for result in pool.run(jobs): …``, in the order they end.

    A worker has inherited everything by forking and must touch no store. Its pipe is its
    life line: when this process dies, however it does, the workers read its end and leave.
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
        """The result of each job.

        Raises:
            LoreError: a worker died.
        """
        rest = iter(jobs)
        busy: list[Connection] = []
        for pipe in self._pipes:
            self._give(pipe, rest, busy)
        while busy:
            for pipe in cast("list[Connection]", wait(busy)):
                try:
                    failed, result = pipe.recv()
                except EOFError:
                    raise LoreError("a process that read files has died: run it again") from None
                if failed:
                    raise RuntimeError(result)  # a bug: its traceback belongs into the log
                busy.remove(pipe)
                self._give(pipe, rest, busy)
                yield result

    @staticmethod
    def _give(pipe: Connection, rest: Iterator[J], busy: list[Connection]) -> None:
        for job in rest:
            pipe.send(job)
            busy.append(pipe)
            return

    def _serve(self, pipe: Connection) -> None:
        for other in self._pipes:
            other.close()
        while True:
            try:
                job = pipe.recv()
            except (EOFError, OSError, KeyboardInterrupt):
                os._exit(0)
            try:
                answer: tuple[bool, object] = (False, self._work(job))
            except Exception:
                answer = (True, format_exc())
            try:
                pipe.send(answer)
            except (BrokenPipeError, KeyboardInterrupt):
                os._exit(0)
