"""lore capture."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import COUNTS_OUTPUT, quiet

COMMAND = Command(
    "capture",
    "--from AGENT [--since AGE] [PATH…]",
    "read what happened in sessions of coding agents into your log of events",
    """\
Events are what a person asked, what a model answered, which tools ran and what became of
them: short texts, without secrets, in your own state folder and never in a repository. See
'lore events' for what they are, and docs/how-to/sessions.md for what becomes of them.

PATH is a transcript, or a folder of them. Without one, all that the agent keeps is read:
claude below ~/.claude/projects, codex below ~/.codex/sessions. jsonl is for events that
another program has written, a JSON object a line as 'lore events --jsonl' prints them.

Once more reads what is new. Of several files of one session the longest is read; one that was
written anew is compared with what is there, so that nothing stands there twice. Left out are
side chains, what agents put into prompts themselves, what a model only thought, and what
lore itself has printed into a session. Secrets are taken out before anything is written:
by what their forms are, by detect-secrets, and by your own lore-redact-NAME (see
docs/plugins.md).

Prints what was read and written: files and sessions, events by kind, lines that say nothing
of what happened by type, what was redacted by kind, bytes. A file that cannot be read is
named, the others are read, and the exit code is 1.""",
    Option("--from AGENT", "claude, codex or jsonl", choices=("claude", "codex", "jsonl"),
           into="source"),
    Option("--since DATE|AGE", "leave out what is older (2026-01-31, 12h, 7d, 2w, 3m, 1y)",
           default=""),
    Option("--events-days N", "keep events for so many days (default: 14; 0: for ever)",
           setting="events_days"),
    Option("--events-mb N", "keep at most so many megabytes (default: 200; 0: no limit)",
           setting="events_mb"),
    quiet("do not name files that cannot be read"),
    COUNTS_OUTPUT,
    examples=(
        "lore capture --from claude",
        "lore capture --from codex --since 7d",
        "lore capture --from jsonl events.jsonl",
    ),
    arguments=(Argument("PATH…", "paths", "files"),),
    run="telemetry:capture",
)  # fmt: skip
