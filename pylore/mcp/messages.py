"""JSON-RPC 2.0 as MCP's stdio transport has it: a message a line, in and out."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.json import dumps, parse_any_object, require_storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

LONGEST_LINE = 4_000_000
"""Bytes of a message: a client that sends a longer one has lost its way."""

_LONGEST_METHOD = 200
"""Characters of a method's name that an error repeats."""


class ProtocolError(Exception):
    """What a client is answered that has sent what no server could answer."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Message:
    """A request, or a notification, which has no ``id`` and is not answered."""

    __slots__ = ("cancelled", "id", "is_request", "method", "params")

    def __init__(self, method: str, params: dict[str, Any], id: str | int | None) -> None:
        self.method = method
        self.params = params
        self.id = id
        self.is_request = id is not None
        self.cancelled = False


class BadLine:
    """A line that is not a message; ``id`` is the one it has, if that can be told."""

    __slots__ = ("error", "id")

    def __init__(self, error: ProtocolError, id: str | int | None = None) -> None:
        self.error = error
        self.id = id


def read_message(line: bytes) -> Message | BadLine | None:
    """Return what stands on a line; None where it is empty, or an answer to what was never
    asked."""
    if not line.strip():
        return None
    try:
        return _message(parse_any_object(line, LONGEST_LINE))
    except LoreError as error:
        return _bad_line(error)


def read_batch(line: bytes) -> list[Message | BadLine] | BadLine:
    """Return the messages of a line that is a list."""
    try:
        items = parse_any_object(b'{"items":%b}' % line.strip(), LONGEST_LINE + 20)["items"]
    except LoreError as error:
        return _bad_line(error)
    if not items:
        return BadLine(ProtocolError(INVALID_REQUEST, "the list is empty"))
    read = [_message(item) if isinstance(item, dict) else _NO_OBJECT for item in items]
    return [message for message in read if message is not None]


def _bad_line(error: LoreError) -> BadLine:
    said = str(error)
    code = INVALID_REQUEST if said.startswith("not a JSON object") else PARSE_ERROR
    return BadLine(ProtocolError(code, f"the line: {said}"))


def _message(fields: dict[str, Any]) -> Message | BadLine | None:
    id = fields.get("id")
    known = id if _is_id(id) and _unstorable(id) == "" else None
    method = fields.get("method")
    if method is None and ("result" in fields or "error" in fields):
        return None
    wrong = _what_is_wrong(fields) or _unstorable(fields)
    if wrong:
        return BadLine(ProtocolError(INVALID_REQUEST, wrong), known)
    params = fields.get("params")
    if params is not None and not isinstance(params, dict):
        if "id" not in fields:
            return None
        return BadLine(ProtocolError(INVALID_PARAMS, "'params' is not an object"), known)
    return Message(str(method), params or {}, known)


_NO_OBJECT = BadLine(ProtocolError(INVALID_REQUEST, "not a JSON object"))


def _what_is_wrong(fields: dict[str, Any]) -> str:
    if fields.get("jsonrpc") != "2.0":
        return "'jsonrpc' is not \"2.0\""
    if not isinstance(fields.get("method"), str):
        return "'method' is not a text"
    if "id" in fields and not _is_id(fields["id"]):
        return "'id' is not a text or a whole number"
    return ""


def _unstorable(value: object) -> str:
    try:
        require_storable(value)
    except LoreError as error:
        return str(error)
    return ""


def _is_id(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def result_line(id: str | int | None, result: dict[str, Any]) -> str:
    """Return the answer to a request, as a line."""
    return _line({"jsonrpc": "2.0", "id": id, "result": result})


def error_line(id: str | int | None, error: ProtocolError) -> str:
    """Return what is wrong with a request, as a line; without an ``id`` where none could be
    read."""
    said: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        said["data"] = error.data
    answer: dict[str, Any] = {"jsonrpc": "2.0"}
    if id is not None:
        answer["id"] = id
    answer["error"] = said
    return _line(answer)


def _line(answer: dict[str, Any]) -> str:
    """JSON on a line that is one to every reader: some end theirs at these two as well."""
    return dumps(answer).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029") + "\n"


def unknown_method(method: str) -> ProtocolError:
    """There is no such method."""
    return ProtocolError(METHOD_NOT_FOUND, f"unknown method '{method[:_LONGEST_METHOD]}'")
