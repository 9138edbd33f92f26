"""The loop of the server: a thread reads lines, this one answers them in their order.

It ends when stdin does, or its reader or the process that started it is gone.
"""

from __future__ import annotations

import os
import sys
import threading
from queue import Empty, Queue
from time import sleep

from .messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LONGEST_LINE,
    BadLine,
    Message,
    ProtocolError,
    error_line,
    read_batch,
    read_message,
    result_line,
)
from .server import BATCHED, McpServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from .current_store import CurrentStore

    Line = Message | BadLine | list[Message | BadLine]

IDLE = 300.0
"""Seconds without a request after which the store is let go of."""

_MOST_WAITING = 1000
"""Lines that are read ahead."""

_LOOK_AT_PARENT = 1.0


def serve(
    current: CurrentStore,
    *,
    write: bool,
    report: Callable[[Exception], str],
    lines: BinaryIO | None = None,
    idle: float = IDLE,
) -> None:
    """Answers the lines of stdin on stdout until there are no more.

    ``report`` keeps what is known of a bug, and says where.

    Raises:
        BrokenPipeError: nobody reads the answers.
    """
    Loop(current, McpServer(current, write=write), report).run(lines or sys.stdin.buffer, idle)


class Loop:
    """What the reading thread and the answering one share."""

    def __init__(
        self, current: CurrentStore, server: McpServer, report: Callable[[Exception], str]
    ) -> None:
        self._current = current
        self._server = server
        self._report = report
        self._queue: Queue[Line | None] = Queue(_MOST_WAITING)
        self._lock = threading.Lock()
        self._waiting: list[Message] = []
        self._running: Message | None = None

    def run(self, lines: BinaryIO, idle: float = IDLE) -> None:
        """Answers until the lines end."""
        for task in (lambda: self._read(lines), _end_with_parent):
            threading.Thread(target=task, daemon=True).start()
        while True:
            try:
                line = self._queue.get(timeout=idle)
            except Empty:
                self._current.close()
                line = self._queue.get()
            if line is None:
                return
            self._send(self._answered(line))
            if self._server.after is not None:
                self._after()

    def _read(self, lines: BinaryIO) -> None:
        for raw in _lines(lines):
            line = self._parsed(raw)
            if isinstance(line, Message):
                if line.method == "notifications/cancelled":
                    self._cancel(line.params.get("requestId"))
                    continue
                if not line.is_request:
                    continue
                with self._lock:
                    self._waiting.append(line)
            if line is not None:
                self._queue.put(line)
        self._queue.put(None)

    def _parsed(self, raw: bytes | None) -> Line | None:
        if raw is None:
            said = f"the line is longer than {LONGEST_LINE} bytes"
            return BadLine(ProtocolError(INVALID_REQUEST, said))
        if raw.lstrip().startswith(b"["):
            return read_batch(raw)
        return read_message(raw)

    def _cancel(self, id: object) -> None:
        with self._lock:
            for message in (*self._waiting, *filter(None, [self._running])):
                if message.id == id:
                    message.cancelled = True
            if self._running is not None and self._running.cancelled:
                self._current.interrupt()

    def _answered(self, line: Line) -> str:
        if not isinstance(line, list):
            return self._one(line)
        if self._server.version != BATCHED:
            return error_line(None, ProtocolError(INVALID_REQUEST, "the line is not an object"))
        answers = [answer.rstrip("\n") for answer in map(self._one, line) if answer]
        return f"[{','.join(answers)}]\n" if answers else ""

    def _one(self, message: Message | BadLine) -> str:
        if isinstance(message, BadLine):
            return error_line(message.id, message.error)
        if not message.is_request:
            return ""
        with self._lock:
            if message in self._waiting:
                self._waiting.remove(message)
            self._running = message
        try:
            answer = self._result(message)
        finally:
            with self._lock:
                self._running = None
        return "" if message.cancelled else answer

    def _result(self, message: Message) -> str:
        if message.cancelled:
            return ""
        try:
            return result_line(message.id, self._server.answer(message))
        except ProtocolError as error:
            return error_line(message.id, error)
        except Exception as error:
            if message.cancelled:
                return ""
            return error_line(message.id, ProtocolError(INTERNAL_ERROR, self._report(error)))

    def _after(self) -> None:
        """What only records what was shown: no answer is lost where it cannot."""
        after, self._server.after = self._server.after, None
        try:
            if after is not None:
                after()
        except Exception as error:
            self._report(error)

    def _send(self, text: str) -> None:
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Each line; None in place of one that is too long."""
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
        yield None


def _end_with_parent() -> None:
    """Ends this process where the one that started it has ended and stdin is held by others."""
    parent = os.getppid()
    while os.getppid() == parent:
        sleep(_LOOK_AT_PARENT)
    os._exit(0)
