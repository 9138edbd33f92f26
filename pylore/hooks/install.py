"""Add lore's hooks to settings of agents and git, and remove them."""

from __future__ import annotations

import json
import os
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError, UsageError
from ..system.edits import change_json, json_with
from ..system.files import SHARED
from ..system.git_setup import ProjectTree
from .agents import EVENTS, FILE, TIMEOUT

if TYPE_CHECKING:
    from .agents import Agent

COMMAND = "lore hook run {event} --client {agent}"
"""The command of a handler. Only a handler with exactly this command belongs to lore."""
_CURSOR = {"version": 1}
"""The first entry of a hooks file of cursor."""


def git_hooks(project: str) -> tuple[ProjectTree, dict[str, list[str]]]:
    """Return the work tree of a project, and lore's lines for hooks."""
    tree = ProjectTree(project, "lore hook install git", "lore hook install --remove git")
    return tree, {name: hook_lines(name, tree.below) for name in ("pre-commit", "post-commit")}


def hook_lines(name: str, below: str) -> list[str]:
    """Return the lines of a hook, which never fail; before a commit they pipe the staged files."""
    shared = quote("./" + os.path.normpath(os.path.join(below, SHARED)))
    relative = "" if below == "." else f" --relative={quote(below + '/')}"
    staged = (
        f"git diff --cached -z --name-only{relative} --no-renames --no-ext-diff --no-color "
        "2>/dev/null |"
    )
    return [
        f"if command -v lore >/dev/null 2>&1 && [ -d {shared} ]; then",
        *([f"  {staged}"] if name == "pre-commit" else []),
        f"    (cd {quote('./' + below)} && LORE_DIR= lore hook run {name} >&2) || :",
        "fi",
    ]


def place_of(agent: Agent, scope: str, project: str) -> str:
    """Return the settings file of an agent for a scope; raise UsageError if missing."""
    if scope not in agent.places:
        raise UsageError(
            f"{agent.name} has no --{scope} settings: give "
            f"{' or '.join('--' + name for name in agent.places)}"
        )
    below = os.path.expanduser("~") if scope == "user" else project
    return os.path.join(below, agent.places[scope])


def change(agent: Agent, place: str, *, everywhere: bool, remove: bool = False) -> bool:
    """Add or update the entries; ``remove`` deletes lore's handlers.

    Return True if anything changed.
    """
    wanted = {} if remove else _entries(agent)
    try:
        return change_json(place, partial(_set, agent, wanted), everywhere=everywhere)
    except LoreError as error:
        if remove:
            raise
        raise LoreError(f"{error}; add these entries: {json.dumps({'hooks': wanted})}") from None


def is_installed(agent: Agent, place: str) -> bool:
    """Return True if the file has all of lore's entries."""
    try:
        return json_with(place, partial(_set, agent, _entries(agent))) is None
    except LoreError:
        return False


def _entries(agent: Agent) -> dict[str, list[Any]]:
    wanted: dict[str, list[Any]] = {}
    for event, native in agent.events.items():
        wanted.setdefault(native, []).append(_entry(agent, event))
    return wanted


def _set(agent: Agent, wanted: dict[str, list[Any]], settings: dict[str, Any]) -> None:
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


def _entry(agent: Agent, event: str) -> dict[str, Any]:
    command = COMMAND.format(event=event, agent=agent.name)
    handler = {"command": command, "timeout": TIMEOUT * agent.unit}
    if agent.plain:
        return handler
    matcher = {"matcher": agent.tools} if event == FILE else {}
    return {**matcher, "hooks": [{"type": "command", **handler}]}


def _theirs(agent: Agent, listed: list[Any]) -> list[Any]:
    """Return the entries without lore's handlers. Omit empty groups."""
    commands = [COMMAND.format(event=event, agent=agent.name) for event in EVENTS]
    found = []

    def is_ours(handler: object) -> bool:
        return isinstance(handler, dict) and handler.get("command") in commands

    for entry in listed:
        handlers = entry.get("hooks") if isinstance(entry, dict) else None
        if isinstance(handlers, list) and any(map(is_ours, handlers)):
            kept = [handler for handler in handlers if not is_ours(handler)]
            if kept:
                found.append({**entry, "hooks": kept})
        elif not is_ours(entry):
            found.append(entry)
    return found
