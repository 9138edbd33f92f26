"""lore hook run."""

from __future__ import annotations

from ..declaration import Argument, Command, Option

COMMAND = Command(
    "hook run",
    "session-start|prompt|file|tool --client AGENT",
    "",
    """\
What the entries of 'lore hook install' call: reads what the agent sends (JSON on stdin)
and prints what it accepts, or nothing. It ends with 0 whatever happens, after a second
at the latest. 'tool' prints nothing: it appends a line to the log of events, with
names and paths alone, in your own state folder.""",
    Option(
        "--client AGENT",
        "claude, codex, gemini or cursor",
        choices=("claude", "codex", "gemini", "cursor"),
    ),
    examples=('echo \'{"prompt":"why signed tokens"}\' | lore hook run prompt --client claude',),
    arguments=(Argument("EVENT", choices=("session-start", "prompt", "file", "tool")),),
    hot="hooks:run_command",
)
