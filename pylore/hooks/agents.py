"""Agents that call hooks: their events, requests and responses, and lore's entries in settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..core.errors import LoreError, UsageError
from ..core.json import dumps
from ..core.model import Row

if TYPE_CHECKING:
    from typing import Any

    Entries = dict[str, list[Any]]
    """An agent's event to entries in its settings."""

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
COMMAND = "lore hook run {event} --client {agent}"
"""The command of a handler. Only a handler with exactly this command belongs to lore."""
_EDITS = ("edit", "write", "patch", "replace")
"""Parts of the names of tools that edit files."""
_FILE_FIELDS = ("file_path", "notebook_path", "absolute_path", "path")
_PATCH = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
_LONGEST_PATCH = 1_000_000
_CURSOR = {"version": 1}
"""The first entry of a hooks file of cursor."""


class Agent(Row):
    """An agent: settings files, names of ``EVENTS`` (``-`` if missing), and form of responses.

    ``local`` is a settings file of a clone, ``tools`` edit files, ``unit`` is a second of
    time-outs; the response of a ``plain`` agent is an object with a single field.
    """

    name: str
    file: str
    native: str
    local: str = ""
    tools: str = ""
    unit: int = 1
    plain: bool = False

    @property
    def events(self) -> dict[str, str]:
        """Map lore's events to the agent's."""
        pairs = zip(EVENTS, self.native.split(), strict=True)
        return {event: native for event, native in pairs if native != "-"}

    @property
    def places(self) -> dict[str, str]:
        """Map scope to settings file."""
        local = {"local": self.local} if self.local else {}
        return {"user": self.file, **local, "shared": self.file}

    def answer(self, event: str, text: str) -> dict[str, Any] | None:
        """Return the JSON response that adds ``text`` to the context; None if it cannot."""
        name = self.events.get(event)
        if not name or not text:
            return None
        if self.plain:
            return {"additional_context": text}
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


# codex and gemini accept no context before a tool: records of a file follow the first tool with
# the file. codex has no event for the end of a session.
AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "claude",
            ".claude/settings.json",
            "SessionStart UserPromptSubmit PreToolUse PostToolUse SessionEnd",
            local=".claude/settings.local.json",
            tools="Edit|MultiEdit|Write|NotebookEdit",
        ),
        Agent(
            "codex",
            ".codex/hooks.json",
            "SessionStart UserPromptSubmit PostToolUse PostToolUse -",
            tools="apply_patch|Edit|Write",
        ),
        Agent(
            "gemini",
            ".gemini/settings.json",
            "SessionStart BeforeAgent AfterTool AfterTool SessionEnd",
            tools="read_file|replace|write_file",
            unit=1000,
        ),
        Agent(
            "cursor", ".cursor/hooks.json", "sessionStart - - postToolUse sessionEnd", plain=True
        ),
    )
}


class Sent:
    """The fields of an agent's event in the folder ``here``, which an agent may change, of the
    project ``root``; files are paths from there if they lie below. Missing fields are empty."""

    def __init__(self, fields: dict[str, Any], here: str, root: str) -> None:
        self.here, self.root = here, root
        self.session = text_of(fields, "session_id", "conversation_id")
        self.prompt = text_of(fields, "prompt")
        self.tool = text_of(fields, "tool_name")
        self.edits = any(word in self.tool.lower() for word in _EDITS)
        given, answer = fields.get("tool_input"), fields.get("tool_response")
        given = given if isinstance(given, dict) else {}
        self.files = [_within(os.path.join(here, path), root) for path in _files(given)]
        self.command = text_of(given, "command")
        self.ok = not (isinstance(answer, dict) and (answer.get("error") or answer.get("is_error")))


def text_of(fields: dict[str, Any], *names: str) -> str:
    """Return the first field with a text; empty if all are missing. NUL bytes and half surrogates,
    as of cut emojis, are replaced."""
    text = next((one for one in map(fields.get, names) if isinstance(one, str) and one), "")
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _files(given: dict[str, Any]) -> list[str]:
    """Return the files that a tool is given, in a field or in a patch."""
    found = [path for path in (text_of(given, field) for field in _FILE_FIELDS) if path]
    for field in ("command", "input", "patch"):
        text = text_of(given, field)[:_LONGEST_PATCH]
        for line in text.split("\n") if "*** Begin Patch" in text else ():
            found += [line[len(mark) :].strip() for mark in _PATCH if line.startswith(mark)]
    return [*dict.fromkeys(found)]


def _within(path: str, root: str) -> str:
    """Return a path from ``root`` if it lies below, if need be through a link."""
    below = (os.path.relpath(place, root) for place in (path, os.path.realpath(path)))
    return next((one for one in below if not one.startswith("..")), path)


# --- settings


def place_of(agent: Agent, scope: str, project: str) -> str:
    """Return the settings file of an agent for a scope; raise UsageError if missing."""
    if scope not in agent.places:
        scopes = " or ".join(f"--{name}" for name in agent.places)
        raise UsageError(f"{agent.name} has no --{scope} settings: give {scopes}")
    below = os.path.expanduser("~") if scope == "user" else project
    return os.path.join(below, agent.places[scope])


def change(agent: Agent, place: str, *, everywhere: bool, remove: bool = False) -> bool:
    """Add or update the entries; ``remove`` deletes lore's handlers. Return True after a change."""
    from ..system.edits import change_json

    wanted = {} if remove else _entries(agent)
    try:
        return change_json(place, lambda one: _set(agent, wanted, one), everywhere=everywhere)
    except LoreError as error:
        if remove:
            raise
        raise LoreError(f"{error}; add these entries: {dumps({'hooks': wanted})}") from None


def is_installed(agent: Agent, place: str) -> bool:
    """Return True if the file has all of lore's entries."""
    from ..system.edits import json_with

    try:
        return json_with(place, lambda settings: _set(agent, _entries(agent), settings)) is None
    except LoreError:
        return False


def _entries(agent: Agent) -> Entries:
    wanted: Entries = {}
    for event, native in agent.events.items():
        command = COMMAND.format(event=event, agent=agent.name)
        entry: dict[str, Any] = {"command": command, "timeout": TIMEOUT * agent.unit}
        if not agent.plain:
            matcher = {"matcher": agent.tools} if event == FILE else {}
            entry = {**matcher, "hooks": [{"type": "command", **entry}]}
        wanted.setdefault(native, []).append(entry)
    return wanted


def _set(agent: Agent, wanted: Entries, settings: dict[str, Any]) -> None:
    """Let these be lore's entries for each event of the agent; leave no empty list behind."""
    if agent.plain and wanted and not settings:
        settings.update(_CURSOR)
    hooks = settings.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise LoreError("'hooks' is not an object")
    for native in {**hooks, **wanted}:
        listed = hooks.get(native, [])
        if not isinstance(listed, list):
            raise LoreError(f"'hooks.{native}' is not a list")
        theirs, ours = _theirs(agent, listed), wanted.get(native, [])
        if [entry for entry in listed if entry not in theirs] != ours:
            hooks[native] = [*theirs, *ours]
        if not hooks[native]:
            del hooks[native]
    if not hooks:
        del settings["hooks"]
        if agent.plain and settings == _CURSOR:
            settings.clear()


def _theirs(agent: Agent, listed: list[Any]) -> list[Any]:
    """Return the entries without lore's handlers. Omit groups that get empty."""
    commands = [COMMAND.format(event=event, agent=agent.name) for event in EVENTS]

    def is_ours(handler: object) -> bool:
        return isinstance(handler, dict) and handler.get("command") in commands

    found = []
    for entry in listed:
        handlers = entry.get("hooks") if isinstance(entry, dict) else None
        kept = [one for one in handlers if not is_ours(one)] if isinstance(handlers, list) else []
        if isinstance(handlers, list) and len(kept) < len(handlers):
            found += [{**entry, "hooks": kept}] if kept else []
        elif not is_ours(entry):
            found.append(entry)
    return found
