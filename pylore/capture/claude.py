"""Claude Code: ``~/.claude/projects/<project>/<session>.jsonl``, an object a line.

A line has a ``type``; lines of ``user`` and ``assistant`` carry a message of the model's
interface, whose content is a text or blocks. A tool's call is a block of the assistant's, its
result one of the user's. What the program puts in itself stands in lines of the user's, too:
it is told from what a person typed by flags and by how its text begins.
"""

from __future__ import annotations

import json
import re

from .recorder import AgentReading, ToolCall, is_whole, joined, text
from .shell import written_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_USED = frozenset((b"user", b"assistant", b"queue-operation", b"attachment", b"message"))
_TYPE = b'"type":"'
_THOUGHT = b'"content":[{"type":"thinking"'
_BLOCKS_BESIDE = (b'"type":"text"', b'"type":"tool_use"')

_ASIDES = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|new-diagnostics"
    r"|user-prompt-submit-hook|session-start-hook)\b[^>]*>(.*?)</\1>\s*",
    re.DOTALL,
)
_OF_THE_PROGRAM = re.compile(
    r"</?(?:command-|local-command-|bash-|task-notification|agent-notification|user-memory-input|teammate-message"
    r"|system-|tool_use_error|tick)"
    r"|\[Request interrupted|Operation stopped by hook|\w* hook feedback:"
    r"|This session is being continued from a previous conversation"
    r"|Caveat: The messages below were generated|Implement the following plan:"
    r"|The user wants to clarify these questions|Base directory for this skill:|\[Image: "
)
_REFUSED = "The user doesn't want to proceed with this tool use"
_TOLD = "the user said:\n"
_NOT_THEIRS = "\n\nNote: The user's next message"
_EDITS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
_SEARCHES = frozenset(("Grep", "Glob", "WebSearch", "WebFetch", "ToolSearch", "LS"))
_SAID_BY = ("command", "pattern", "query", "url", "description", "skill")
_PATHS = ("file_path", "notebook_path", "path")


class Claude(AgentReading):
    """Reads lines of one transcript; ``skipped`` counts those that say nothing here, by type."""

    source = "claude"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._queue: list[str] = []
        self._last_queued = ""

    def read(self, line: bytes, number: int) -> None:
        """One line.

        Raises:
            ValueError: it is no JSON object.
        """
        start = line.find(_TYPE)
        kind = line[start + 8 : line.find(b'"', start + 8)] if start >= 0 else b""
        if kind and kind not in _USED and b'"type": "' not in line[:start]:
            if is_whole(line):
                self._skip(kind.decode("ascii", "replace"))
                self.known += 1
                return
        elif _THOUGHT in line and not any(mark in line for mark in _BLOCKS_BESIDE):
            self.known += 1
            return
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError("not an object")
        self._record(record, number)

    def _record(self, record: dict[str, Any], number: int) -> None:
        kind = text(record, "type")
        if record.get("isSidechain") or "forkedFrom" in record:
            self._skip("sidechain" if record.get("isSidechain") else "forked")
            return
        if not self.recorder.began and text(record, "sessionId"):
            name = self.recorder.session = text(record, "sessionId")
            if text(record, "cwd"):
                self.recorder.begin(name, text(record, "cwd"), text(record, "gitBranch"),
                                    text(record, "timestamp"))  # fmt: skip
        message = record.get("message")
        if kind == "user" and isinstance(message, dict):
            self._user(record, message, number)
        elif kind == "assistant" and isinstance(message, dict):
            self._assistant(record, message, number)
        elif kind == "queue-operation":
            self._queued(record, number)
        elif kind == "attachment":
            self._attached(record, number)
        else:
            self._skip(kind or "untyped")
            return
        self.known += 1

    def _user(self, record: dict[str, Any], message: dict[str, Any], number: int) -> None:
        when, span = text(record, "timestamp"), text(record, "uuid")
        results = [block for block in _blocks(message) if block.get("type") == "tool_result"]
        for block in results:
            self._result(record, block, number)
        texts = [text(block, "text") for block in _blocks(message) if block.get("type") == "text"]
        typed = "\n\n".join(self._without_asides(one) for one in texts).strip()
        if results or not typed or _is_of_the_program(record) or _OF_THE_PROGRAM.match(typed):
            return
        if typed == self._last_queued:
            self._last_queued = ""
            return
        self.recorder.prompt(typed, when, number, span)

    def _result(self, record: dict[str, Any], block: dict[str, Any], number: int) -> None:
        when, span = text(record, "timestamp"), text(block, "tool_use_id")
        output = joined(block.get("content"))
        failed = block.get("is_error") is True
        refused = failed and output.startswith(_REFUSED)
        given = record.get("toolUseResult")
        self.recorder.result(
            span, when, output, ok=not failed, refused=refused,
            ms=_duration(given) if isinstance(given, dict) else None,
        )  # fmt: skip
        if refused and _TOLD in output:
            told = output.split(_TOLD, 1)[1].split(_NOT_THEIRS, 1)[0].strip()
            if _OF_THE_PROGRAM.match(told):
                return
            self.recorder.prompt(told, when, number, text(record, "uuid"), span)

    def _assistant(self, record: dict[str, Any], message: dict[str, Any], number: int) -> None:
        when = text(record, "timestamp")
        if record.get("isApiErrorMessage"):
            return
        of = text(message, "id") or text(record, "uuid")
        for block in _blocks(message):
            kind = block.get("type")
            if kind == "text":
                self.recorder.say(text(block, "text"), when, number, of, text(record, "parentUuid"))
            elif kind == "tool_use":
                self.recorder.call(_call(block, of, when, number, text(record, "cwd")))

    def _queued(self, record: dict[str, Any], number: int) -> None:
        """What a person types while the model works: taken as a turn, or put into this one."""
        operation = record.get("operation")
        if operation == "enqueue":
            self._queue.append(text(record, "content"))
        elif operation == "popAll":
            self._queue.clear()
        elif self._queue:
            typed = self._queue.pop(0).strip()
            is_typed = typed and not typed.startswith("/") and not _OF_THE_PROGRAM.match(typed)
            if operation == "remove" and is_typed:
                when = text(record, "timestamp")
                self.recorder.prompt(typed, when, number, f"queue-{number}")
                self._last_queued = typed

    def _attached(self, record: dict[str, Any], number: int) -> None:
        given = record.get("attachment")
        if not isinstance(given, dict):
            return
        if given.get("type") == "queued_command" and given.get("commandMode", "prompt") == "prompt":
            typed = joined(given.get("prompt")).strip()
            if typed and typed != self._last_queued and not _OF_THE_PROGRAM.match(typed):
                self.recorder.prompt(typed, text(record, "timestamp"), number, text(record, "uuid"))
        elif "hook" in str(given.get("type")):
            self.recorder.shown.add(joined(given.get("content")) or text(given, "stdout"))

    def _without_asides(self, said: str) -> str:
        """Return a text without what the program has put in; what hooks have is noted as shown."""
        if "<" not in said:
            return said
        for match in _ASIDES.finditer(said):
            if "hook" in match.group(2)[:300] or "hook" in match.group(1):
                self.recorder.shown.add(match.group(2))
        return _ASIDES.sub("", said)


def _is_of_the_program(record: dict[str, Any]) -> bool:
    origin = record.get("origin")
    return bool(
        record.get("isMeta") or record.get("isCompactSummary") or record.get("planContent")
        or record.get("isVisibleInTranscriptOnly") or record.get("sourceToolUseID")
        or (isinstance(origin, dict) and origin.get("kind") not in (None, "human"))
    )  # fmt: skip


def _call(block: dict[str, Any], of: str, when: str, number: int, here: str) -> ToolCall:
    name = text(block, "name")
    given = block.get("input")
    given = given if isinstance(given, dict) else {}
    kind = "edit" if name in _EDITS else "search" if name in _SEARCHES else "tool"
    said = next((text(given, field) for field in _SAID_BY if text(given, field)), "")
    if name == "AskUserQuestion":
        said = _asked(given)
    files = [path for path in (text(given, field) for field in _PATHS) if path]
    written = written_files(said, here) if name == "Bash" else ()
    return ToolCall(text(block, "id"), of, when, number, kind, name, said, files, written)


def _asked(given: dict[str, Any]) -> str:
    questions = given.get("questions")
    if not isinstance(questions, list):
        return ""
    return " ".join(text(one, "question") for one in questions if isinstance(one, dict))


def _duration(given: dict[str, Any]) -> int | None:
    for field, unit in (("durationMs", 1), ("totalDurationMs", 1), ("durationSeconds", 1000)):
        value = given.get(field)
        if isinstance(value, (int, float)) and 0 <= value < 1e9:
            return int(value * unit)
    return None


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return (
        [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    )
