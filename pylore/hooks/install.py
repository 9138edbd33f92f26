"""lore's entries in the settings of an agent: put in beside what is there, and taken out again."""

from __future__ import annotations

import json
import os
from typing import Any

from ..core.errors import LoreError, UsageError
from ..system.json_settings import change_settings, rendered, settings_of
from .agents import AGENTS, EVENTS, Agent

COMMAND = "lore hook run {event} --client {agent}"
"""The command of a handler. Only a handler with exactly this command belongs to lore."""

_TIMEOUT = 5
"""Seconds after which an agent goes on without an answer; lore itself gives up after three."""
_CURSOR_VERSION = 1


def place_of(agent: Agent, scope: str, project: str) -> str:
    """The settings file of an agent: for its user, for this clone alone, or shared with others.

    Raises:
        UsageError: the agent has no such file.
    """
    if scope not in agent.places:
        raise UsageError(f"{agent.name} has no --{scope} settings: give "
                         f"{' or '.join('--' + name for name in agent.places)}")  # fmt: skip
    below = os.path.expanduser("~") if scope == "user" else project
    return os.path.join(below, agent.places[scope])


def default_scope(agent: Agent) -> str:
    """Where hooks are put unless said otherwise: into what nobody else gets."""
    return "local" if "local" in agent.places else "user"


def install(agent: Agent, place: str, *, everywhere: bool) -> bool:
    """Puts the entries in, or brings them up to date; whether anything changed.

    Raises:
        LoreError: the file cannot be changed without loss; with the lines to paste.
    """
    try:
        return change_settings(place, lambda settings: _put(agent, settings), everywhere=everywhere)
    except LoreError as error:
        settings: dict[str, Any] = {}
        _put(agent, settings)
        raise LoreError(f"{error}; what belongs there: {json.dumps(settings)}") from None


def uninstall(agent: Agent, place: str, *, everywhere: bool) -> bool:
    """Take lore's handlers out; return whether there were any.

    Raises:
        LoreError: the file cannot be changed without loss.
    """

    def put(settings: dict[str, Any]) -> None:
        _put(agent, settings)

    def take(settings: dict[str, Any]) -> None:
        _take(agent, settings)

    if not change_settings(place, take, everywhere=everywhere, back=put):
        return False
    change_settings(place, take, everywhere=everywhere)  # the restored file may have some as well
    return True


def preview(agent: Agent, place: str) -> str:
    """The file as it would be."""
    settings = settings_of(place)
    _put(agent, settings)
    return rendered(place, settings)


def is_installed(agent: Agent, place: str) -> bool:
    """Whether the file has lore's entries, all of them."""
    try:
        settings = settings_of(place)
    except LoreError:
        return False
    before = json.dumps(settings)
    _put(agent, settings)
    return json.dumps(settings) == before


def _put(agent: Agent, settings: dict[str, Any]) -> None:
    if agent.plain and not settings.get("hooks"):
        settings.setdefault("version", _CURSOR_VERSION)
    hooks = settings.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise LoreError("'hooks' is not an object")
    wanted: dict[str, list[Any]] = {}
    for binding in agent.bindings:
        entry = _entry(agent, _command(agent, binding.event), binding.matcher)
        wanted.setdefault(binding.native, []).append(entry)
    for native, entries in wanted.items():
        listed = hooks.setdefault(native, [])
        if not isinstance(listed, list):
            raise LoreError(f"'hooks.{native}' is not a list")
        theirs = _theirs(agent, listed)
        if [entry for entry in listed if entry not in theirs] != entries:
            hooks[native] = [*theirs, *entries]


def _take(agent: Agent, settings: dict[str, Any]) -> None:
    """Take lore's handlers out, and the groups and lists that only they were in."""
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return
    taken = False
    for native, listed in [*hooks.items()]:
        theirs = _theirs(agent, listed) if isinstance(listed, list) else listed
        if theirs != listed:
            taken = True
            hooks[native] = theirs
            if not theirs:
                del hooks[native]
    if taken and not hooks:
        del settings["hooks"]
        if agent.plain and settings == {"version": _CURSOR_VERSION}:
            del settings["version"]


def _command(agent: Agent, event: str) -> str:
    return COMMAND.format(event=event, agent=agent.name)


def _entry(agent: Agent, command: str, matcher: str) -> dict[str, Any]:
    if agent.plain:
        return {"command": command}
    handler = {"type": "command", "command": command, "timeout": _TIMEOUT * agent.seconds}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}


def _theirs(agent: Agent, listed: list[Any]) -> list[Any]:
    """Return the entries without lore's handlers. A group that held only these is left out."""
    commands = [_command(agent, event) for event in EVENTS]

    def is_ours(handler: object) -> bool:
        return isinstance(handler, dict) and handler.get("command") in commands

    found = []
    for entry in listed:
        handlers = entry.get("hooks") if isinstance(entry, dict) else None
        if isinstance(handlers, list) and any(map(is_ours, handlers)):
            kept = [handler for handler in handlers if not is_ours(handler)]
            if kept:
                found.append({**entry, "hooks": kept})
        elif not is_ours(entry):
            found.append(entry)
    return found


def agent_named(name: str) -> Agent:
    """The agent of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in AGENTS:
        raise UsageError(f"'{name}' is not an agent that lore knows: give {', '.join(AGENTS)}")
    return AGENTS[name]
