"""lore event."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import COUNTS_OUTPUT, QUIET

KINDS = ("prompt", "say", "tool", "edit", "search", "commit", "session")

COMMAND = Command(
    "event",
    "[options] KIND",
    "append one event to your log of events",
    """\
For agents and programs that lore cannot read transcripts of. KIND is prompt, say, tool, edit,
search, commit or session. Texts are cut (500 characters; 200 of an error) and secrets taken
out of them, as 'lore capture' does. Several may do so at once. Prints the event.""",
    Option("--session ID", "the session it belongs to", default=""),
    Option("--name NAME", "the tool, the commit's hash, or the session's folder", default=""),
    Option("-m, --message TEXT", "what was asked, said, run or sought; - reads it from stdin",
           default=""),
    Option("--error TEXT", "what failed: the event is one of a failure", default=""),
    Option("--failed", "it failed, and nobody knows why"),
    Option("--file PATH,…", "files it is about, from the project's folder", kind="files",
           many=True, into="files"),
    Option("--ms N", "how long it took", whole=True, low=0, high=1_000_000_000),
    Option("--source NAME", "who says so (default: cli)", default="cli"),
    QUIET,
    COUNTS_OUTPUT,
    examples=(
        "lore event tool --session s1 --name make -m 'make test' --error 'test_login failed'",
        "lore event prompt --session s1 -m 'never push to main'",
    ),
    arguments=(Argument("KIND", "kind", choices=KINDS),),
    run="telemetry:event",
)  # fmt: skip
