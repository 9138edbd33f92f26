"""lore mcp."""

from __future__ import annotations

from ..declaration import Command, Heading, Option

COMMAND = Command(
    "mcp",
    "[--write] [--store FOLDER] | --install CLIENT",
    "the graph for agents, by the Model Context Protocol on stdin and stdout",
    """\
A client starts it and asks it line by line; it ends when the client does. The tools
lore_search, lore_related, lore_show and lore_context answer with what the command of
that name prints with --json. The store is the one that a command run here would use,
looked up anew at each call: start it anywhere, run 'lore init' later.

It reads alone. Reads do not count as use, so what an agent is shown is not taken for
confirmed. An answer is 32768 bytes at the most (--max-bytes): results are dropped
from the end, and a second text says how many.""",
    Option(
        "--write",
        "lore_remember and lore_feedback too. What is remembered is staged\n"
        "until a person confirms it; for a project that was shared with you\n"
        "only after 'lore trust'",
    ),
    Option("--store FOLDER", "the data folder, as LORE_DIR would name it", kind="files"),
    Option("--max-bytes N", "the most bytes of an answer", setting="max_bytes"),
    Heading("To tell a client of it"),
    Option(
        "--install CLIENT",
        "print what stands in the client's configuration, for this project:\n"
        "claude, codex, cursor, gemini or vscode",
        choices=("claude", "codex", "cursor", "gemini", "vscode"),
    ),
    Option(
        "--write-config",
        "with --install: put it into the client's file, beside what is there\n"
        "(the file as it was is kept as NAME.lore-backup)",
    ),
    examples=(
        "claude mcp add lore -- lore mcp",
        "lore mcp --write --store ~/notes",
    ),
    settings=None,
    hot="mcp:mcp_command",
)
