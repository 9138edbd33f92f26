"""Putting lore's hooks into the settings of agents and into git's."""

from __future__ import annotations

import json
import os
from typing import Any

from ..core.errors import LoreError, UsageError
from ..system.files import SHARED
from ..system.git_setup import HookBlocks, ProjectTree, shell_quoted
from ..system.json_settings import change_settings, rendered, settings_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..system.git_setup import Done


SESSION_START, PROMPT, FILE, TOOL, SESSION_END = EVENTS = (
    "session-start", "prompt", "file", "tool", "session-end",
)  # fmt: skip
"""Events by lore's names: a session begins, a person has asked, a file is at hand, a tool ran, a
session ends."""

_FILE_FIELDS = ("file_path", "notebook_path", "absolute_path", "path")
_PATCH = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
_LONGEST_PATCH = 1_000_000


class Binding:
    """One of the agent's events, and which of lore's it is; ``matcher`` names its tools."""

    __slots__ = ("event", "matcher", "native")

    def __init__(self, native: str, event: str, matcher: str = "") -> None:
        self.native = native
        self.event = event
        self.matcher = matcher


class Agent:
    """One agent. ``places`` are its settings files: ``user`` below home, others below a project.

    ``seconds`` is a second in the unit of its timeouts. ``plain``: its answers and its entries
    have no further levels.
    """

    __slots__ = ("bindings", "name", "places", "plain", "seconds")

    def __init__(
        self,
        name: str,
        places: dict[str, str],
        bindings: tuple[Binding, ...],
        *,
        seconds: int = 1,
        plain: bool = False,
    ) -> None:
        self.name = name
        self.places = places
        self.bindings = bindings
        self.seconds = seconds
        self.plain = plain

    def answer(self, event: str, text: str) -> dict[str, Any] | None:
        """Return what it accepts on stdout to put ``text`` before its model; None where it takes
        none.
        """
        native = next((one.native for one in self.bindings if one.event == event), None)
        if native is None or not text:
            return None
        if self.plain:
            return {"additional_context": text}
        return {"hookSpecificOutput": {"hookEventName": native, "additionalContext": text}}


AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "claude",
            {"user": ".claude/settings.json", "local": ".claude/settings.local.json",
             "shared": ".claude/settings.json"},
            (Binding("SessionStart", SESSION_START),
             Binding("UserPromptSubmit", PROMPT),
             Binding("PreToolUse", FILE, "Edit|MultiEdit|Write|NotebookEdit"),
             Binding("PostToolUse", TOOL),
             Binding("SessionEnd", SESSION_END)),
        ),
        # Before a tool these two take no context: what is known of a file comes with what
        # the first tool that touched it has answered. codex says nothing of a session's end.
        Agent(
            "codex",
            {"user": ".codex/hooks.json", "shared": ".codex/hooks.json"},
            (Binding("SessionStart", SESSION_START),
             Binding("UserPromptSubmit", PROMPT),
             Binding("PostToolUse", FILE, "apply_patch|Edit|Write"),
             Binding("PostToolUse", TOOL)),
        ),
        Agent(
            "gemini",
            {"user": ".gemini/settings.json", "shared": ".gemini/settings.json"},
            (Binding("SessionStart", SESSION_START),
             Binding("BeforeAgent", PROMPT),
             Binding("AfterTool", FILE, "read_file|replace|write_file"),
             Binding("AfterTool", TOOL),
             Binding("SessionEnd", SESSION_END)),
            seconds=1000,
        ),
        Agent(
            "cursor",
            {"user": ".cursor/hooks.json", "shared": ".cursor/hooks.json"},
            (Binding("sessionStart", SESSION_START), Binding("postToolUse", TOOL),
             Binding("sessionEnd", SESSION_END)),
            plain=True,
        ),
    )
}  # fmt: skip


class Sent:
    """What an agent has sent, as far as it can be read: missing fields are empty."""

    __slots__ = ("command", "files", "ok", "prompt", "session", "tool")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.session = _text(fields, "session_id") or _text(fields, "conversation_id")
        self.prompt = _text(fields, "prompt")
        self.tool = _text(fields, "tool_name")
        given = fields.get("tool_input")
        given = given if isinstance(given, dict) else {}
        self.files = _files(given)
        self.command = _text(given, "command")
        answered = fields.get("tool_response")
        self.ok = not (isinstance(answered, dict) and (answered.get("error")
                                                       or answered.get("is_error")))  # fmt: skip


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _files(given: dict[str, Any]) -> list[str]:
    """Return the files that a tool is given: by a field, or in a patch."""
    found = [path for path in (_text(given, field) for field in _FILE_FIELDS) if path]
    for field in ("command", "input", "patch"):
        text = _text(given, field)[:_LONGEST_PATCH]
        if "*** Begin Patch" in text:
            found += [line.removeprefix(mark).strip() for line in text.split("\n")
                      for mark in _PATCH if line.startswith(mark)]  # fmt: skip
    return [*dict.fromkeys(path for path in found if "\0" not in path)]


GIT = "git"
"""The name that git has among the agents."""

HOOKS = ("pre-commit", "post-commit")


class GitHooks:
    """The two hooks of the repository that a project lies in."""

    def __init__(self, project: str) -> None:
        """Raises LoreError without git, or outside of a repository with a work tree."""
        self._tree = ProjectTree(project)
        self._blocks = HookBlocks(self._tree, "lore hook install git", "lore hook uninstall git")

    def install(self) -> Iterator[Done]:
        """Puts the lines in, or brings them up to date; what is done to each hook."""
        for name in HOOKS:
            yield self._blocks.put(name, hook_lines(name, self._tree.below))

    def uninstall(self) -> Iterator[Done]:
        """Take them out, and nothing else."""
        for name in HOOKS:
            done = self._blocks.take(name, hook_lines(name, self._tree.below))
            if done is not None:
                yield done

    def preview(self) -> str:
        """Return the lines, each hook under its file."""
        return "".join(
            f"{self._tree.hook(name)}:\n" + "".join(f"  {line}\n" for line in lines)
            for name in HOOKS
            for lines in [hook_lines(name, self._tree.below)]
        )

    def installed(self) -> list[str]:
        """Return the files of hooks that have them."""
        return [self._tree.hook(name) for name in HOOKS if self._blocks.are_in(name)]


def hook_lines(name: str, below: str) -> list[str]:
    """Return what a hook does; it fails in nothing, and where there is no lore it does nothing.

    git is asked here, where its variables say which index and which repository it means. On the
    stdin of ``lore hook run`` are texts that each end with NUL: the way to the project, then for
    ``post-commit`` the commit's name and message, then the files.
    """
    folder = shell_quoted("./" + below)
    shared = shell_quoted("./" + os.path.normpath(os.path.join(below, SHARED)))
    prefix = shell_quoted("" if below == "." else f"{below}/")
    options = "--name-only -z --no-renames --no-ext-diff --no-color"
    if name == "pre-commit":
        asked = [f"git diff --cached {options}"]
    else:
        asked = [
            "git log -1 --no-show-signature --no-color --encoding=UTF-8 --format=%H%n%B HEAD",
            r"printf '\0'",
            f"git diff-tree --root --no-commit-id -r {options} HEAD",
        ]
    return [
        f"if command -v lore >/dev/null 2>&1 && [ -d {shared} ]; then",
        f"  {{ printf '%s\\0' {prefix}",
        *(f"    {line}" for line in asked),
        "  } 2>/dev/null |",
        f"    (cd {folder} && LORE_DIR= lore hook run {name} --client git >&2) || :",
        "fi",
    ]


COMMAND = "lore hook run {event} --client {agent}"
"""The command of a handler. Only a handler with exactly this command belongs to lore."""

_TIMEOUT = 5
"""Seconds after which an agent goes on without an answer; lore itself gives up after three."""
_CURSOR_VERSION = 1


def place_of(agent: Agent, scope: str, project: str) -> str:
    """Return the settings file of an agent: for its user, for this clone alone, or shared with
    others.

    Raises:
        UsageError: the agent has no such file.
    """
    if scope not in agent.places:
        raise UsageError(f"{agent.name} has no --{scope} settings: give "
                         f"{' or '.join('--' + name for name in agent.places)}")  # fmt: skip
    below = os.path.expanduser("~") if scope == "user" else project
    return os.path.join(below, agent.places[scope])


def default_scope(agent: Agent) -> str:
    """Return where hooks are put unless said otherwise: into what nobody else gets."""
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
    """Return the file as it would be."""
    settings = settings_of(place)
    _put(agent, settings)
    return rendered(place, settings)


def is_installed(agent: Agent, place: str) -> bool:
    """Return whether the file has lore's entries, all of them."""
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
    """Return the agent of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in AGENTS:
        raise UsageError(f"'{name}' is not an agent that lore knows: give {', '.join(AGENTS)}")
    return AGENTS[name]
