"""lore hook install."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

AGENTS = ("claude", "codex", "gemini", "cursor", "git")
AGENT = Argument("AGENT", "agent", choices=AGENTS)
SCOPES = (
    Option("--user", "in your own settings, for all projects", into="scope", constant="user"),
    Option("--local", "in those of this clone alone (claude)", into="scope", constant="local"),
    Option(
        "--shared", "in those of the project, which git shares", into="scope", constant="shared"
    ),
)

COMMAND = Command(
    "hook install",
    "[options] AGENT",
    "",
    """\
Puts lore's entries into the settings of claude, codex, gemini or cursor, beside what is
there: order, indentation and mode stay, and the file as it was is kept as
NAME.lore-backup. A file with comments, or with a key twice, is left as it is, and the
lines to paste are said. Once more changes no byte. Unless said otherwise those of claude
go into what is of this clone alone, those of the others into your own, for all projects.
Cursor is told when a session begins; its other hooks take no text.

For git, lines go into two hooks of this repository, beside what is there: pre-commit
says what is known of the staged files, and refuses nothing; post-commit stages what a
message teaches: its lines 'Lesson: …', 'Decision: …', 'Failure: …' and 'Pattern: …'.""",
    *SCOPES,
    Option("--dry-run", "print the file as it would be"),
    OUTPUT,
    QUIET,
    examples=(
        "lore hook install claude",
        "lore hook install gemini --shared --dry-run",
        "lore hook install git",
    ),
    arguments=(AGENT,),
    run="hooks:install",
)
