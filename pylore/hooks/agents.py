"""Agents that call hooks: events, settings files, and forms of requests and responses."""

from __future__ import annotations

import os
from collections import namedtuple
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

SESSION_START, PROMPT, FILE, TOOL, SESSION_END = EVENTS = (
    "session-start",
    "prompt",
    "file",
    "tool",
    "session-end",
)
"""Events by lore's names: session start, prompt, file in use, finished tool, session end."""

GIT = "git"
"""The name of git as an agent."""
TIMEOUT = 30
"""Seconds that an agent waits for a hook; the hook stops after half the time."""
_EDITS = ("edit", "write", "patch", "replace")
"""Parts of the names of tools that edit files."""
_FILE_FIELDS = ("file_path", "notebook_path", "absolute_path", "path")
_PATCH = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
_LONGEST_PATCH = 1_000_000


class Agent(
    namedtuple("Agent", "name file events local tools unit plain", defaults=("", "", 1, False))
):
    """An agent: settings files, events by lore's names, and form of responses.

    ``local`` is a settings file of a clone, ``tools`` edit files, ``unit`` is a second of
    time-outs; the response of a ``plain`` agent is an object with a single field.
    """

    __slots__ = ()

    @property
    def places(self) -> dict[str, str]:
        """Map scope to settings file."""
        local = {"local": self.local} if self.local else {}
        return {"user": self.file, **local, "shared": self.file}

    def answer(self, event: str, text: str) -> dict[str, Any] | None:
        """Return the JSON response that adds ``text`` to the context; None if it cannot."""
        if event not in self.events or not text:
            return None
        if self.plain:
            return {"additional_context": text}
        name = self.events[event]
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


# codex and gemini accept no context before a tool: records of a file follow the first tool with
# the file. codex has no event for the end of a session.
AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "claude",
            ".claude/settings.json",
            {
                SESSION_START: "SessionStart",
                PROMPT: "UserPromptSubmit",
                FILE: "PreToolUse",
                TOOL: "PostToolUse",
                SESSION_END: "SessionEnd",
            },
            local=".claude/settings.local.json",
            tools="Edit|MultiEdit|Write|NotebookEdit",
        ),
        Agent(
            "codex",
            ".codex/hooks.json",
            {
                SESSION_START: "SessionStart",
                PROMPT: "UserPromptSubmit",
                FILE: "PostToolUse",
                TOOL: "PostToolUse",
            },
            tools="apply_patch|Edit|Write",
        ),
        Agent(
            "gemini",
            ".gemini/settings.json",
            {
                SESSION_START: "SessionStart",
                PROMPT: "BeforeAgent",
                FILE: "AfterTool",
                TOOL: "AfterTool",
                SESSION_END: "SessionEnd",
            },
            tools="read_file|replace|write_file",
            unit=1000,
        ),
        Agent(
            "cursor",
            ".cursor/hooks.json",
            {SESSION_START: "sessionStart", TOOL: "postToolUse", SESSION_END: "sessionEnd"},
            plain=True,
        ),
    )
}


class Sent:
    """The fields of an agent's event; missing fields are empty."""

    __slots__ = ("command", "edits", "files", "ok", "prompt", "session", "tool")

    def __init__(self, fields: dict[str, Any], here: str) -> None:
        self.session = _text(fields, "session_id") or _text(fields, "conversation_id")
        self.prompt = _text(fields, "prompt")
        self.tool = _text(fields, "tool_name")
        self.edits = any(word in self.tool.lower() for word in _EDITS)
        given, answer = fields.get("tool_input"), fields.get("tool_response")
        given = given if isinstance(given, dict) else {}
        self.files = [_within(path, here) for path in _files(given)]
        self.command = _text(given, "command")
        self.ok = not (isinstance(answer, dict) and (answer.get("error") or answer.get("is_error")))


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _files(given: dict[str, Any]) -> list[str]:
    """Return the files that a tool is given, in a field or in a patch."""
    found = [path for path in (_text(given, field) for field in _FILE_FIELDS) if path]
    for field in ("command", "input", "patch"):
        text = _text(given, field)[:_LONGEST_PATCH]
        if "*** Begin Patch" in text:
            found += [
                line.removeprefix(mark).strip()
                for line in text.split("\n")
                for mark in _PATCH
                if line.startswith(mark)
            ]
    return [*dict.fromkeys(path for path in found if "\0" not in path)]


def _within(path: str, here: str) -> str:
    """Return a path from the working directory, if it lies below."""
    below = os.path.relpath(path, here) if path.startswith("/") else path
    return path if below.startswith("..") else below
