"""Claude Code: ``~/.claude/projects/<project>/<session>.jsonl``, an object a line.

Lines of ``user`` and ``assistant`` carry a message with a text or blocks. Calls are blocks of the
assistant, results blocks of the user. Lines of the user may have text of the program, which flags
and first words tell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .events import text
from .extract import REFUSED
from .recorder import Step, blocks_of, fields_of, joined
from .shell import written_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Fields = dict[str, Any]

_ASIDES = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|new-diagnostics"
    r"|user-prompt-submit-hook|session-start-hook)\b[^>]*>.*?</\1>\s*",
    re.DOTALL,
)
_OF_THE_PROGRAM = re.compile(
    r"/|</?(?:command-|local-command-|bash-|task-notification|agent-notification|user-memory-input"
    r"|teammate-message|system-|tool_use_error|tick)"
    r"|\[Request interrupted|Operation stopped by hook|\w* hook feedback:"
    r"|This session is being continued from a previous conversation"
    r"|Caveat: The messages below were generated|Implement the following plan:"
    r"|The user wants to clarify these questions|Base directory for this skill:|\[Image: "
)
_FLAGS = (
    "isMeta",
    "isCompactSummary",
    "planContent",
    "isVisibleInTranscriptOnly",
    "sourceToolUseID",
)
_NOT_TAKEN = "The user doesn't want to proceed with this tool use"
_TOLD, _NOT_THEIRS = "the user said:\n", "\n\nNote: The user's next message"
_EDITS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
_SEARCHES = frozenset(("Grep", "Glob", "WebSearch", "WebFetch", "ToolSearch", "LS"))
_TEXTS = ("command", "pattern", "query", "url", "description", "skill")
_PATHS = ("file_path", "notebook_path", "path")


class Claude:
    """Finds the steps of a transcript."""

    source = "claude"
    home = ("CLAUDE_CONFIG_DIR", ".claude", "projects")

    def steps(self, record: Fields) -> Iterator[Step]:
        """Yield the steps of a line."""
        kind, when = text(record, "type"), text(record, "timestamp")
        if record.get("isSidechain") or "forkedFrom" in record:
            yield Step("skipped", when, name="sidechain")
            return
        if text(record, "sessionId"):
            yield Step(
                "session",
                when,
                text(record, "sessionId"),
                text(record, "gitBranch"),
                text(record, "cwd"),
            )
        blocks = blocks_of(fields_of(record, "message").get("content"))
        if kind == "user":
            yield from _user(record, blocks, when)
        elif kind == "assistant":
            yield from _assistant(record, blocks, when)
        elif kind == "attachment":
            given = fields_of(record, "attachment")
            if given.get("type") == "queued_command":  # typed while the model works
                yield from _typed(record, joined(given.get("prompt")), when)
        else:
            yield Step("skipped", when, name=kind or "untyped")


def _user(record: Fields, blocks: list[Fields], when: str) -> Iterator[Step]:
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        output = joined(block.get("content"))
        ok = block.get("is_error") is not True
        name = REFUSED if not ok and output.startswith(_NOT_TAKEN) else ""
        yield Step("result", when, text(block, "tool_use_id"), output, name, ok=ok)
        if name and _TOLD in output:
            told = output.split(_TOLD, 1)[1].split(_NOT_THEIRS, 1)[0]
            yield from _typed(record, told, when)
    typed = _ASIDES.sub("", "\n\n".join(text(block, "text") for block in blocks))
    is_human = fields_of(record, "origin").get("kind") in (None, "human")
    if is_human and not results and not any(map(record.get, _FLAGS)):
        yield from _typed(record, typed, when)


def _typed(record: Fields, typed: str, when: str) -> Iterator[Step]:
    if not _OF_THE_PROGRAM.match(typed.strip()):
        yield Step("prompt", when, text(record, "uuid"), typed)


def _assistant(record: Fields, blocks: list[Fields], when: str) -> Iterator[Step]:
    if record.get("isApiErrorMessage"):
        return
    span = text(fields_of(record, "message"), "id") or text(record, "uuid")
    for block in blocks:
        if block.get("type") == "text":
            yield Step("say", when, span, text(block, "text"))
        elif block.get("type") == "tool_use":
            name, given = text(block, "name"), fields_of(block, "input")
            kind = "edit" if name in _EDITS else "search" if name in _SEARCHES else "tool"
            said = text(given, *_TEXTS)
            files = [path for path in (text(given, field) for field in _PATHS) if path]
            written = written_files(said, text(record, "cwd")) if name == "Bash" else ()
            yield Step(kind, when, text(block, "id"), said, name, files, written)
