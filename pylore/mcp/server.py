"""The server of the Model Context Protocol: methods, and lines on stdin and stdout."""

from __future__ import annotations

import os
import sys
import threading
from queue import Empty, Queue
from time import sleep

from .. import __version__
from .calls import (
    BY_NAME,
    INSTRUCTIONS,
    PROMPTS,
    RESOURCES,
    TEMPLATES,
    Answer,
    call,
    get_prompt,
    read_resource,
    tools,
)
from .messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LONGEST_LINE,
    UNSUPPORTED_VERSION,
    BadLine,
    Message,
    ProtocolError,
    error_line,
    read_batch,
    read_message,
    result_line,
    unknown_method,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from .current_store import CurrentStore

    Params = dict[str, Any]
    Result = dict[str, Any]

    Line = Message | BadLine | list[Message | BadLine]


MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
BATCHED = "2025-03-26"
"""The one version in which a line may be a list of messages."""

_PREFIX = "io.modelcontextprotocol/"
_INFO = {"name": "lore", "version": __version__}
_CAPABILITIES: dict[str, dict[str, Any]] = {"tools": {}, "resources": {}, "prompts": {}}
_DAY = 86_400_000
"""How many ms a client may keep a list: it is the same as long as the process lives."""


class McpServer:
    """What is answered to each request. ``write``: the tools that write are there too."""

    def __init__(self, current: CurrentStore, *, write: bool) -> None:
        self._current = current
        self._tools = tools(write=write)
        self.version = ""
        """What a client of the first era has agreed on; empty before."""
        self.after: Callable[[], object] | None = None
        """What is to be done once the answer to the last request is out."""

    def answer(self, message: Message) -> Result:
        """Return the result of one request.

        Raises:
            ProtocolError: the request is wrong, or there is no such method.
        """
        self.after = None
        if _is_modern(message.params):
            return self._modern(message)
        if message.method == "initialize":
            return self._initialize(message.params)
        if message.method == "ping":
            return {}
        if not self.version:
            raise ProtocolError(
                INVALID_PARAMS,
                f"'_meta' has no '{_PREFIX}protocolVersion', and nothing was initialized",
            )
        return self._do(message, annotated=self.version != LEGACY[-1])

    def _modern(self, message: Message) -> Result:
        meta = message.params["_meta"]
        asked = meta[f"{_PREFIX}protocolVersion"]
        if asked not in MODERN:
            raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version",
                                {"supported": [*MODERN], "requested": str(asked)})  # fmt: skip
        if not isinstance(meta.get(f"{_PREFIX}clientCapabilities"), dict):
            raise ProtocolError(INVALID_PARAMS, f"'_meta' has no '{_PREFIX}clientCapabilities'")
        if message.method == "server/discover":
            self.after = self._current.read_ahead
            result: Result = {
                "supportedVersions": [*MODERN],
                "capabilities": _CAPABILITIES,
                "instructions": INSTRUCTIONS,
            }
        else:
            result = self._do(message)
        result["resultType"] = "complete"
        result["_meta"] = {f"{_PREFIX}serverInfo": _INFO}
        kept = _KEPT.get(message.method)
        if kept is not None:
            result["ttlMs"], result["cacheScope"] = kept
        return result

    def _initialize(self, params: Params) -> Result:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise ProtocolError(INVALID_PARAMS, "'protocolVersion' is not a text")
        self.version = asked if asked in LEGACY else LEGACY[0]
        self.after = self._current.read_ahead
        return {
            "protocolVersion": self.version,
            "capabilities": _CAPABILITIES,
            "serverInfo": _INFO,
            "instructions": INSTRUCTIONS,
        }

    def _do(self, message: Message, *, annotated: bool = True) -> Result:
        params, method = message.params, message.method
        if method == "tools/call":
            return self._call(params)
        if method == "resources/read":
            return read_resource(self._current, params.get("uri"))
        if method == "prompts/get":
            return get_prompt(self._current, params.get("name"), params.get("arguments"))
        if method not in _LISTS:
            raise unknown_method(method)
        if params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, "'cursor' is not one that this server gave")
        if method == "tools/list":
            return {"tools": [tool.listed(annotated=annotated) for tool in self._tools]}
        field, rows = _LISTS[method]
        return {field: rows}

    def _call(self, params: Params) -> Result:
        name = params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "'name' is not a text")
        tool = BY_NAME.get(name)
        if tool not in self._tools:
            only = " (the server runs without --write)" if tool else ""
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name[:60]}{only}")
        answer = call(self._current, name, params.get("arguments"))
        self.after = answer.after
        return _content(answer)


def _content(answer: Answer) -> Result:
    """Return a result: the first block is what the command prints, the second the notes beside
    it."""
    blocks = [{"type": "text", "text": answer.text}]
    if answer.notes:
        blocks.append({"type": "text", "text": "".join(f"lore: {n}\n" for n in answer.notes)})
    return {"content": blocks, "isError": answer.wrong}


def _is_modern(params: Params) -> bool:
    meta = params.get("_meta")
    if meta is not None and not isinstance(meta, dict):
        raise ProtocolError(INVALID_REQUEST, "'_meta' is not an object")
    return meta is not None and f"{_PREFIX}protocolVersion" in meta


_LISTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "tools/list": ("tools", []),
    "resources/list": ("resources", RESOURCES),
    "resources/templates/list": ("resourceTemplates", TEMPLATES),
    "prompts/list": ("prompts", PROMPTS),
}
_KEPT = {
    **dict.fromkeys(("server/discover", *_LISTS), (_DAY, "public")),
    "resources/read": (0, "private"),
}


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
