"""Codex: ``~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl``.

A line is ``{"timestamp", "type", "payload"}``. ``response_item`` is what goes to the model and
comes from it: messages, calls of tools and their outputs. ``event_msg`` repeats that for the
screen; of it only how long a command took and how it ended is used. Rollouts from before those
types are lists of response items without a wrapper.
"""

from __future__ import annotations

import json
import re

from .recorder import AgentReading, ToolCall, fields_of, is_whole, joined, rows_of, text
from .shell import written_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_ENDS = ("exec_command_end", "patch_apply_end", "mcp_tool_call_end")
_SEARCHES = frozenset(("grep_files", "web_search", "tool_search", "list_dir"))
_USED_MESSAGES = re.compile(rb'"payload":\s?\{"type":\s?"(?:%s)"' % "|".join(_ENDS).encode())
_OF_THE_PROGRAM = re.compile(
    r"<(?:environment_context|user_instructions|permissions|turn_aborted|skill|subagent"
    r"|user_shell_command|collaboration_mode|model_switch|app-context|hook)"
    r"|# AGENTS\.md instructions|Another language model started to solve this problem"
    r"|You are a helpful assistant that summarizes"
)
_REQUEST = "## My request for Codex:"
_EXIT = re.compile(r"(?:^|\n)(?:Process exited with code|Exit code:) (-?\d+)")
_REFUSED = re.compile(
    r"\A.{0,40}(?:rejected by user|declined by the user|aborted by user)", re.DOTALL
)
_PATCHED = re.compile(
    r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE
)
_SHELL_OPTIONS = re.compile(r"\A-\w*c\Z")
_LONGEST_PATCH = 1_000_000


class Codex(AgentReading):
    """Reads lines of one rollout; ``skipped`` counts those that say nothing here, by type."""

    source = "codex"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._ends: dict[str, dict[str, Any]] = {}
        self._messages = 0
        self._is_side = False

    def read(self, line: bytes, number: int) -> None:
        """One line.

        Raises:
            ValueError: it is no JSON object.
        """
        is_repeated = b'"event_msg"' in line[:120] and not _USED_MESSAGES.search(line, 0, 400)
        if is_repeated and is_whole(line):
            self._skip("event_msg")
            self.known += 1
            return
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError("not an object")
        if self._is_side:
            self._skip("sidechain")
            return
        kind = text(record, "type")
        payload = fields_of(record, "payload")
        when = text(record, "timestamp") or self.recorder.began
        if kind == "session_meta":
            self._begin(payload, when)
        elif kind == "event_msg":
            self._ends[text(payload, "call_id")] = payload
        elif kind == "response_item":
            self._item(payload, when, number)
        elif not payload and kind:
            self._item(record, when, number)
        elif not payload and "id" in record and "instructions" in record:
            self._begin(record, when)
        else:
            self._skip(kind or "untyped")
            return
        self.known += 1

    def _begin(self, meta: dict[str, Any], when: str) -> None:
        self._is_side = self._is_side or "subagent" in fields_of(meta, "source")
        if self.recorder.began:
            return  # a rollout that goes on from another one repeats its head
        branch = text(fields_of(meta, "git"), "branch")
        if self._is_side:
            return
        self.recorder.begin(
            text(meta, "id") or self.recorder.session,
            text(meta, "cwd"),
            branch,
            text(meta, "timestamp") or when,
        )

    def _item(self, item: dict[str, Any], when: str, number: int) -> None:
        kind = text(item, "type")
        if kind == "message":
            self._message(item, when, number)
        elif kind in _CALLS:
            self.recorder.call(self._call(item, when, number))
        elif kind in _OUTPUTS:
            self._output(item, when)
        elif kind == "web_search_call":
            query = text(fields_of(item, "action"), "query", "url")
            span = text(item, "id") or f"search-{number}"
            self.recorder.call(ToolCall(span, "", when, number, "search", "web_search", query))
            self.recorder.result(span, when, "", ok=text(item, "status") != "failed")
        else:
            self._skip(kind or "untyped")

    def _message(self, item: dict[str, Any], when: str, number: int) -> None:
        role = text(item, "role")
        self._messages += 1
        span = text(item, "id") or f"message-{self._messages}"
        if role == "assistant":
            self.recorder.say(joined(item.get("content")), when, number, span)
        elif role == "user":
            blocks = [text(block, "text") for block in rows_of(item, "content")]
            typed = [one for one in blocks if one and not _OF_THE_PROGRAM.match(one.lstrip())]
            for one in blocks:
                if one.lstrip().startswith("<hook"):
                    self.recorder.shown.add(one)
            said = "\n\n".join(typed)
            self.recorder.prompt(said.split(_REQUEST, 1)[-1], when, number, span)
        elif role == "developer" and "lore" in joined(item.get("content")):
            self.recorder.shown.add(joined(item.get("content")))  # what hooks have put in

    def _call(self, item: dict[str, Any], when: str, number: int) -> ToolCall:
        name = text(item, "name") or "shell"
        if text(item, "namespace"):
            name = text(item, "namespace") + name
        given = _arguments(item)
        command = _command(given)
        patch = text(given, "input", "patch")
        if "*** Begin Patch" in command:
            patch = command
        if name == "apply_patch" or "*** Begin Patch" in patch:
            files = [(a or b).strip() for a, b in _PATCHED.findall(patch[:_LONGEST_PATCH])]
            span = text(item, "call_id", "id")
            return ToolCall(span, "", when, number, "edit", "apply_patch", "", files)
        kind = "search" if name in _SEARCHES else "tool"
        said = command or text(given, "pattern", "query", "url", "description")
        files = [path for path in (text(given, "file_path", "path"),) if path]
        written = written_files(command, text(given, "workdir", "working_directory"))
        return ToolCall(text(item, "call_id", "id"), "", when, number, kind, name, said, files,
                        written)  # fmt: skip

    def _output(self, item: dict[str, Any], when: str) -> None:
        span = text(item, "call_id", "id")
        output, code, seconds = _read_output(item.get("output"))
        end = self._ends.pop(span, {})
        if isinstance(end.get("exit_code"), int):
            code = end["exit_code"]
        refused = _REFUSED.match(output) is not None
        ok = not refused and not code and end.get("success", True) is not False
        duration = fields_of(end, "duration")
        if isinstance(duration.get("secs"), int):
            seconds = duration["secs"] + int(duration.get("nanos") or 0) / 1e9
        self.recorder.result(span, when, output, ok=ok, refused=refused,
                             ms=None if seconds is None else int(seconds * 1000))  # fmt: skip


def _arguments(item: dict[str, Any]) -> dict[str, Any]:
    """Return what a call was given: JSON in a text, a text, or an action."""
    action = fields_of(item, "action")
    if action:
        return action
    given = text(item, "arguments")
    try:
        found = json.loads(given) if given else {}
    except ValueError:
        found = {}
    return found if isinstance(found, dict) and found else {"input": text(item, "input")}


def _command(given: dict[str, Any]) -> str:
    """Return the shell command of a call, without the shell that is called for it."""
    said = given.get("command", given.get("cmd"))
    if isinstance(said, str):
        return said
    if not isinstance(said, list) or not all(isinstance(word, str) for word in said):
        return ""
    if len(said) > 2 and _SHELL_OPTIONS.match(said[1]):
        return str(said[2])
    if said[:1] == ["apply_patch"] and len(said) > 1:
        return str(said[1])
    return " ".join(said)


def _read_output(output: Any) -> tuple[str, int, float | None]:
    """Return what a call printed, its exit code (0 where none is said), and its seconds."""
    code, seconds = 0, None
    if isinstance(output, str) and output[:1] == "{":
        try:
            found = json.loads(output)
        except ValueError:
            found = None
        if isinstance(found, dict):
            output = found
    if isinstance(output, dict):
        about = fields_of(output, "metadata")
        if isinstance(about.get("exit_code"), int):
            code = about["exit_code"]
        elif output.get("success") is False:
            code = 1
        if isinstance(about.get("duration_seconds"), (int, float)):
            seconds = float(about["duration_seconds"])
        output = output.get("output", output.get("content"))
    printed = joined(output)
    said = _EXIT.search(printed[:2000])
    return printed, int(said.group(1)) if said else code, seconds
