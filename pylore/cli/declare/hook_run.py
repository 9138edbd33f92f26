"""lore hook run."""

from __future__ import annotations

from ..declaration import Argument, Command, Option

EVENTS = ("session-start", "prompt", "file", "tool", "pre-commit", "post-commit", "shell")

COMMAND = Command(
    "hook run",
    "EVENT --client AGENT",
    "",
    """\
What the entries of 'lore hook install' call: reads what the agent sends (JSON on stdin)
and prints what it accepts, or nothing. It ends with 0 whatever happens, after half a
second of processor time, or three seconds on the clock. 'tool' prints nothing: it appends
a line to the log of events, with names and paths alone, in your own state folder.
'pre-commit' and 'post-commit' are git's, 'shell' is what 'lore hook shell' starts: the
last two have ten times as long. LORE_HOOK_DEBUG=FILE appends to a file why nothing was
printed; the file has a / in its name. LORE_HOOK_DEBUG=1 prints it on stderr.""",
    Option(
        "--client AGENT",
        "claude, codex, gemini, cursor, git or shell",
        choices=("claude", "codex", "gemini", "cursor", "git", "shell"),
    ),
    examples=('echo \'{"prompt":"why signed tokens"}\' | lore hook run prompt --client claude',),
    arguments=(Argument("EVENT", choices=EVENTS),),
    hot="hooks:run_command",
)
