"""lore edit."""

from __future__ import annotations

from ...core.vocabulary import SOURCES, STATUSES
from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "edit",
    "[options] ID [TEXT…]",
    "change a record; its id stays",
    """\
TEXT takes the place of the text; a lone - reads it from stdin. With neither a
text nor an option, opens the record in $VISUAL or $EDITOR: on a terminal all of it,
its fields above the text. What is wrong in it is said, and the draft is kept.

What 'lore import' has read from a Markdown file is changed in that file: its text,
its title, and what its front matter says. Without a text or an option the editor
opens the file, and what is saved is imported. --force changes this store alone.""",
    Option("--title TITLE", "the new title"),
    Option("--why TEXT", "the reason; an empty one takes it away"),
    Option(
        "--tags TAG,…, --tag TAG,…", "the tags, in place of those it has", kind="tags", many=True
    ),
    Option("--file PATH", "the file it is about, as src/a.py or src/a.py:10-20", kind="files"),
    Option("--status STATUS", "staged, confirmed, superseded or retracted", choices=STATUSES),
    Option("--source SOURCE", "user_edit, file, system or conversation", choices=SOURCES),
    Option("--confidence X", "how sure, 0 to 1", low=0, high=1),
    Option("--category NAME", "a finer kind, in your own words"),
    Option("--force", "change what comes from a file here alone, until the file changes"),
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME",
        "what makes the vectors; none: no vectors for the new text",
        setting="embedder",
    ),
    Option("--max-text BYTES", "the longest text to take", setting="max_text"),
    BUSY_TIMEOUT,
    examples=(
        "lore edit decision-1a2b3c4d --status superseded",
        "lore edit note-5e6f7a8b - <note.md",
    ),
    arguments=(
        Argument("ID", "id", "ids"),
        Argument("[TEXT…]", "words"),
    ),
    quick="writing:edit",
)
