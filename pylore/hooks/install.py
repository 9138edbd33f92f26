"""lore's entries in the settings of an agent: put in beside what is there, and taken out again."""

from __future__ import annotations

import json
import os
from typing import Any

from ..core.errors import LoreError, UsageError
from ..system.json_settings import change_settings, rendered, settings_of
from .agents import AGENTS, Agent

COMMAND = "lore hook run"
"""What every command of an entry begins with, by which it is known again."""

_TIMEOUT = 5
"""Seconds after which an agent goes on without an answer; lore itself gives up after one."""
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
    """Takes lore's entries out; whether there were any.

    Raises:
        LoreError: the file cannot be changed without loss.
    """
    if not _has_ours(settings_of(place)):
        return False

    def put(settings: dict[str, Any]) -> None:
        _put(agent, settings)

    def take(settings: dict[str, Any]) -> None:
        _take(agent, settings)

    change_settings(place, take, everywhere=everywhere, back=put)
    if _has_ours(settings_of(place)):  # the file as it was had some as well
        change_settings(place, take, everywhere=everywhere)
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
        command = f"{COMMAND} {binding.event} --client {agent.name}"
        wanted.setdefault(binding.native, []).append(_entry(agent, command, binding.matcher))
    for native, entries in wanted.items():
        listed = hooks.setdefault(native, [])
        if not isinstance(listed, list):
            raise LoreError(f"'hooks.{native}' is not a list")
        theirs = [entry for entry in listed if not _is_ours(entry)]
        if [entry for entry in listed if _is_ours(entry)] != entries:
            hooks[native] = [*theirs, *entries]


def _entry(agent: Agent, command: str, matcher: str) -> dict[str, Any]:
    if agent.plain:
        return {"command": command}
    handler = {"type": "command", "command": command, "timeout": _TIMEOUT * agent.seconds}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}


def _is_ours(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    handlers = entry.get("hooks", [entry])
    return isinstance(handlers, list) and any(
        isinstance(handler, dict) and str(handler.get("command", "")).startswith(COMMAND)
        for handler in handlers
    )


def _has_ours(settings: dict[str, Any]) -> bool:
    hooks = settings.get("hooks")
    return isinstance(hooks, dict) and any(
        _is_ours(entry)
        for listed in hooks.values() if isinstance(listed, list)
        for entry in listed
    )  # fmt: skip


def _take(agent: Agent, settings: dict[str, Any]) -> None:
    """Takes lore's entries out, and what nothing else was in."""
    if not _has_ours(settings):
        return
    hooks = settings["hooks"]
    for native, listed in [*hooks.items()]:
        if isinstance(listed, list) and any(map(_is_ours, listed)):
            hooks[native] = [entry for entry in listed if not _is_ours(entry)]
            if not hooks[native]:
                del hooks[native]
    if not hooks:
        del settings["hooks"]
        if agent.plain and settings == {"version": _CURSOR_VERSION}:
            del settings["version"]


def agent_named(name: str) -> Agent:
    """The agent of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in AGENTS:
        raise UsageError(f"'{name}' is not an agent that lore knows: give {', '.join(AGENTS)}")
    return AGENTS[name]
