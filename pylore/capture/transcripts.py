"""Find the steps of sessions in transcripts of Claude Code and Codex.

Claude Code: ``~/.claude/projects/<project>/<session>.jsonl``. Lines of ``user`` and ``assistant``
carry a message with a text or blocks; calls are blocks of the assistant, results blocks of the
user. Lines of the user may have text of the program, which flags and first words tell.

Codex: ``~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl``. A line is
``{"timestamp", "type", "payload"}``. ``response_item`` has the messages, calls and outputs of the
model; ``event_msg`` repeats them for the screen, and only failures are read from it.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from ..hooks.agents import text_of
from .extract import REFUSED
from .recorder import Step
from .shell import written_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .recorder import Reader

    Fields = dict[str, Any]

_ASIDES = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|new-diagnostics"
    r"|user-prompt-submit-hook|session-start-hook)\b[^<>]*>(?:(?!<\1\b).)*?</\1>\s*",
    re.DOTALL,
)
_BY_CLAUDE = re.compile(
    r"/|</?(?:command-|local-command-|bash-|task-notification|agent-notification|user-memory-input"
    r"|teammate-message|system-|tool_use_error|tick)"
    r"|\[Request interrupted|Operation stopped by hook|\w* hook feedback:"
    r"|This session is being continued from a previous conversation"
    r"|Caveat: The messages below were generated|Implement the following plan:"
    r"|The user wants to clarify these questions|Base directory for this skill:|\[Image: "
)
"""Beginnings of prompts that the program writes."""
_FLAGS = "isMeta isCompactSummary planContent isVisibleInTranscriptOnly sourceToolUseID".split()
_NOT_TAKEN = "The user doesn't want to proceed with this tool use"
_TOLD, _NOT_THEIRS = "the user said:\n", "\n\nNote: The user's next message"
_KINDS = {
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit"), "edit"),
    **dict.fromkeys(("Grep", "Glob", "WebSearch", "WebFetch", "ToolSearch", "LS"), "search"),
    **dict.fromkeys(("grep_files", "web_search", "tool_search", "list_dir"), "search"),
}
"""Names of tools to kinds of events."""
_TEXTS = ("command", "pattern", "query", "url", "description", "skill")
_PATHS = ("file_path", "notebook_path", "path")


class Claude:
    """Finds the steps of a transcript of Claude Code."""

    source = "claude"
    home = ("CLAUDE_CONFIG_DIR", ".claude", "projects")

    def steps(self, record: Fields) -> Iterator[Step]:
        """Yield the steps of a line."""
        kind, when = text_of(record, "type"), text_of(record, "timestamp")
        if record.get("isSidechain") or "forkedFrom" in record:
            yield Step("skipped", when, name="sidechain")
            return
        if span := text_of(record, "sessionId"):
            yield Step("session", when, span, text_of(record, "gitBranch"), text_of(record, "cwd"))
        blocks = _blocks(_object(record, "message").get("content"))
        if kind == "user":
            yield from _of_user(record, blocks, when)
        elif kind == "assistant":
            yield from _of_assistant(record, blocks, when)
        elif kind == "attachment":
            given = _object(record, "attachment")
            if given.get("type") == "queued_command":  # typed while the model works
                yield from _typed(record, _joined(given.get("prompt")), when)
        else:
            yield Step("skipped", when, name=kind or "untyped")


def _of_user(record: Fields, blocks: list[Fields], when: str) -> Iterator[Step]:
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        output = _joined(block.get("content"))
        ok = block.get("is_error") is not True
        name = REFUSED if not ok and output.startswith(_NOT_TAKEN) else ""
        yield Step("result", when, text_of(block, "tool_use_id"), output, name, ok=ok)
        if name and _TOLD in output:
            told = output.split(_TOLD, 1)[1].split(_NOT_THEIRS, 1)[0]
            yield from _typed(record, told, when)
    typed = _ASIDES.sub("", "\n\n".join(text_of(block, "text") for block in blocks))
    is_human = _object(record, "origin").get("kind") in (None, "human")
    if is_human and not results and not any(map(record.get, _FLAGS)):
        yield from _typed(record, typed, when)


def _typed(record: Fields, typed: str, when: str) -> Iterator[Step]:
    if not _BY_CLAUDE.match(typed.strip()):
        yield Step("prompt", when, text_of(record, "uuid"), typed)


def _of_assistant(record: Fields, blocks: list[Fields], when: str) -> Iterator[Step]:
    span = text_of(_object(record, "message"), "id") or text_of(record, "uuid")
    for block in blocks if not record.get("isApiErrorMessage") else ():
        if block.get("type") == "text":
            yield Step("say", when, span, text_of(block, "text"))
        elif block.get("type") == "tool_use":
            name, given = text_of(block, "name"), _object(block, "input")
            said = text_of(given, *_TEXTS)
            files = [path for path in (text_of(given, field) for field in _PATHS) if path]
            written = written_files(said, text_of(record, "cwd")) if name == "Bash" else ()
            kind = _KINDS.get(name, "tool")
            yield Step(kind, when, text_of(block, "id"), said, name, files, written)


_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = tuple(f"{name}_output" for name in _CALLS)
_BY_CODEX = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|skill|subagent"
    r"|user_shell_command|collaboration_mode|model_switch|app-context|hook)"
    r"|# AGENTS\.md instructions|Another language model started to solve this problem"
    r"|You are a helpful assistant that summarizes)"
)
_REQUEST = "## My request for Codex:"
_EXIT = re.compile(r"(?:^|\n)(?:Process exited with code|Exit code:) (-?\d+)")
_STOPPED = re.compile(r"(?s).{0,40}(?:rejected|declined|aborted) by (?:the )?user")
_PATCH = "*** Begin Patch"
_PATCHED = re.compile(r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+)$", re.MULTILINE)
_SHELL_OPTIONS = re.compile(r"\A-\w*c\Z")
_LONGEST_PATCH = 1_000_000


class Codex:
    """Finds the steps of a rollout of Codex."""

    source = "codex"
    home = ("CODEX_HOME", ".codex", "sessions")

    def __init__(self) -> None:
        self._failed: set[str] = set()
        self._is_side = False
        self._count = 0

    def steps(self, record: Fields) -> Iterator[Step]:
        """Yield the steps of a line."""
        kind, when = text_of(record, "type"), text_of(record, "timestamp")
        payload = _object(record, "payload")
        if kind == "session_meta" and "subagent" in _object(payload, "source"):
            self._is_side = True
        elif self._is_side:
            yield Step("skipped", when, name="sidechain")
        elif kind == "session_meta":
            branch = text_of(_object(payload, "git"), "branch")
            span, folder = text_of(payload, "id"), text_of(payload, "cwd")
            yield Step("session", text_of(payload, "timestamp") or when, span, branch, folder)
        elif kind == "event_msg":
            if payload.get("success") is False or payload.get("exit_code"):
                self._failed.add(text_of(payload, "call_id"))
        elif kind == "response_item":
            yield from self._item(payload, when)
        else:
            yield Step("skipped", when, name=kind or "untyped")

    def _item(self, item: Fields, when: str) -> Iterator[Step]:
        kind = text_of(item, "type")
        self._count += 1
        span = text_of(item, "call_id", "id") or f"{kind}-{self._count}"
        if kind == "message":
            blocks = [text_of(block, "text") for block in _blocks(item.get("content"))]
            if text_of(item, "role") == "assistant":
                yield Step("say", when, span, "\n".join(blocks))
            elif text_of(item, "role") == "user":
                typed = "\n\n".join(one for one in blocks if one and not _BY_CODEX.match(one))
                yield Step("prompt", when, span, typed.split(_REQUEST, 1)[-1])
        elif kind in _CALLS:
            yield _call(item, when, span)
        elif kind in _OUTPUTS:
            output, code = _read_output(item.get("output"))
            name = REFUSED if _STOPPED.match(output) else ""
            ok = not name and not code and span not in self._failed
            yield Step("result", when, span, output, name, ok=ok)
        elif kind == "web_search_call":
            query = text_of(_object(item, "action"), "query", "url")
            yield Step("search", when, span, query, "web_search")
            yield Step("result", when, span, ok=text_of(item, "status") != "failed")
        else:
            yield Step("skipped", when, name=kind or "untyped")


def _call(item: Fields, when: str, span: str) -> Step:
    name = text_of(item, "namespace") + (text_of(item, "name") or "shell")
    given = _object(item, "action") or _parsed(text_of(item, "arguments"))
    command = _command(given.get("command", given.get("cmd")))
    patch = command if _PATCH in command else text_of(given, "input", "patch")
    patch = patch or text_of(item, "input")
    if name == "apply_patch" or _PATCH in patch:
        files = [path.strip() for path in _PATCHED.findall(patch[:_LONGEST_PATCH])]
        return Step("edit", when, span, "", "apply_patch", files)
    said = command or text_of(given, "pattern", "query", "url", "description")
    files = [path for path in (text_of(given, "file_path", "path"),) if path]
    written = written_files(command, text_of(given, "workdir", "working_directory"))
    return Step(_KINDS.get(name, "tool"), when, span, said, name, files, written)


def _command(said: Any) -> str:
    """Return a shell command, without the shell that runs it."""
    if isinstance(said, str):
        return said
    if not isinstance(said, list) or not all(isinstance(word, str) for word in said):
        return ""
    if len(said) > 2 and _SHELL_OPTIONS.match(said[1]):
        return str(said[2])
    return " ".join(said[1:] if said[:1] == ["apply_patch"] else said)


def _read_output(said: Any) -> tuple[str, int]:
    """Return the output and the exit code of a call; 0 if unknown."""
    output = _parsed(said)
    printed = _joined(output.get("output", output.get("content")) if output else said)
    code = _object(output, "metadata").get("exit_code", output.get("success") is False)
    found = _EXIT.search(printed[:2000])
    return printed, int(found.group(1)) if found else code if isinstance(code, int) else 0


# --- fields of records: each may be missing or have another type


def _object(fields: Fields, name: str) -> Fields:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _parsed(said: Any) -> Fields:
    """Return an object, or parse a text of JSON; empty without an object."""
    if isinstance(said, str) and said[:1] == "{":
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            return {}
    return said if isinstance(said, dict) else {}


def _blocks(content: Any) -> list[Fields]:
    """Return the blocks of a message's content; a text is a block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [row for row in content if isinstance(row, dict)] if isinstance(content, list) else []


def _joined(content: Any) -> str:
    """Return the texts of a message's content."""
    return "\n".join(text_of(block, "text") for block in _blocks(content))


TRANSCRIPTS: dict[str, type[Reader]] = {reader.source: reader for reader in (Claude, Codex)}


def transcript_folder(reader: type[Reader]) -> str:
    """Return the folder of an agent's transcripts."""
    variable, usual, below = reader.home
    base = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), usual)
    return os.path.join(base, below)
