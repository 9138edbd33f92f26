"""lore events."""

from __future__ import annotations

from ..declaration import Command, Option
from . import COUNTS_OUTPUT, QUIET
from .event import KINDS

COMMAND = Command(
    "events",
    "[options]",
    "what happened in sessions: your log of events",
    """\
In the order it was written, which is not always that of the times. In a pipe JSON lines, on
a terminal a line an event. Fields: v (1), t (time), src (who told), session, turn (the prompt
it comes after, from 1), span (the call or message), parent (the message a call belongs to),
kind (prompt, say, tool, edit, search, commit, session), name, ok, ms, files, text, err, ref
(the transcript and its line). What is not known is not there. An event without ref was
written by a hook or by 'lore event'.""",
    Option("--session ID", "only this session's", default=""),
    Option("--file GLOB,…", "only what has to do with these files or folders", kind="files",
           many=True, into="files"),
    Option("--kind KIND,…", f"only these: {', '.join(KINDS)}", many=True, into="kinds"),
    Option("--since DATE|AGE", "only what happened since (2026-01-31, 12h, 7d, 2w, 3m, 1y)",
           default=""),
    Option("-f, --follow", "go on with what is appended, until Ctrl-C"),
    QUIET,
    COUNTS_OUTPUT,
    examples=(
        "lore events --since 1d --kind tool --jq 'select(.ok == false) | .err'",
        "lore events --file src/auth --kind prompt,commit",
        "lore events -f",
    ),
    run="telemetry:events",
)  # fmt: skip
