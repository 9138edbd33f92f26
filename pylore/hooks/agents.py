"""The agents whose hooks lore speaks: their events, what they send, what they accept back."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SESSION_START, PROMPT, FILE, TOOL = EVENTS = ("session-start", "prompt", "file", "tool")
"""What lore calls events: a session begins, a person has asked, a file is at hand, a tool ran."""

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
        """What it accepts on stdout to put ``text`` before its model; None where it takes none."""
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
             Binding("PostToolUse", TOOL)),
        ),
        # Before a tool these two take no context: what is known of a file comes with what
        # the first tool that touched it has answered.
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
             Binding("AfterTool", TOOL)),
            seconds=1000,
        ),
        Agent(
            "cursor",
            {"user": ".cursor/hooks.json", "shared": ".cursor/hooks.json"},
            (Binding("sessionStart", SESSION_START), Binding("postToolUse", TOOL)),
            plain=True,
        ),
    )
}  # fmt: skip


class Sent:
    """What an agent has sent, as far as it can be read: missing fields are empty."""

    __slots__ = ("files", "ok", "prompt", "session", "tool")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.session = _text(fields, "session_id") or _text(fields, "conversation_id")
        self.prompt = _text(fields, "prompt")
        self.tool = _text(fields, "tool_name")
        given = fields.get("tool_input")
        self.files = _files(given if isinstance(given, dict) else {})
        answered = fields.get("tool_response")
        self.ok = not (isinstance(answered, dict) and (answered.get("error")
                                                       or answered.get("is_error")))  # fmt: skip


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _files(given: dict[str, Any]) -> list[str]:
    """The files that a tool is given: by a field, or in a patch."""
    found = [path for path in (_text(given, field) for field in _FILE_FIELDS) if path]
    for field in ("command", "input", "patch"):
        text = _text(given, field)[:_LONGEST_PATCH]
        if "*** Begin Patch" in text:
            found += [line.removeprefix(mark).strip() for line in text.split("\n")
                      for mark in _PATCH if line.startswith(mark)]  # fmt: skip
    return [*dict.fromkeys(path for path in found if "\0" not in path)]
