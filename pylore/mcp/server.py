"""Methods of the protocol, in both of its eras.

Up to 2025-11-25 a client begins with ``initialize``, and the version holds for the process. From
2026-07-28 on every request names its version in ``_meta``, and nothing is remembered. A process
answers both: https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning.
"""

from __future__ import annotations

from .. import __version__
from .calls import Answer, call
from .messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    ProtocolError,
    unknown_method,
)
from .resources import INSTRUCTIONS, PROMPTS, RESOURCES, TEMPLATES, get_prompt, read_resource
from .tools import BY_NAME, tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .current_store import CurrentStore
    from .messages import Message

    Params = dict[str, Any]
    Result = dict[str, Any]

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
        """The result of one request.

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
    """What the command prints is the first block; the second is what stands beside it."""
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
