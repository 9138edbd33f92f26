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

MOST_HELD = 64
"""Results that wait for one before them; with so many, no more jobs are given out."""


class Pool(Generic[J, R]):
    """``with Pool(work, 4) as pool: for result in pool.run(jobs): …``, in the jobs' order.

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
        """The result of each job; one that is done before its turn is held until then.

        Raises:
            LoreError: a worker died.
        """
        rest = enumerate(jobs)
        idle = list(self._pipes)
        busy: dict[Connection, int] = {}
        held: dict[int, R] = {}
        turn = 0
        self._give(idle, rest, busy, held)
        while busy:
            for pipe in cast("list[Connection]", wait(list(busy))):
                held[busy.pop(pipe)] = self._take(pipe)
                idle.append(pipe)
            self._give(idle, rest, busy, held)
            while turn in held:
                yield held.pop(turn)
                turn += 1
            self._give(idle, rest, busy, held)

    @staticmethod
    def _give(
        idle: list[Connection], rest: Iterator[tuple[int, J]], busy: dict[Connection, int],
        held: dict[int, R],
    ) -> None:  # fmt: skip
        while idle and len(held) < MOST_HELD:
            number, job = next(rest, (-1, None))
            if number < 0:
                return
            pipe = idle.pop()
            pipe.send(job)
            busy[pipe] = number

    @staticmethod
    def _take(pipe: Connection) -> R:
        try:
            failed, result = pipe.recv()
        except EOFError:
            raise LoreError("a process that read files has died: run it again") from None
        if failed:
            raise RuntimeError(result)  # a bug: its traceback belongs into the log
        return cast("R", result)

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
