"""lore add."""

from __future__ import annotations

from ...core.vocabulary import SOURCES, STATUSES
from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET, SCOPES

COMMAND = Command(
    "add",
    "[options] TYPE [TEXT…]",
    "keep a record: a decision, a lesson, a note, …",
    """\
The text is the words given, or stdin where there are none (or a lone -); on a terminal
without any, $VISUAL or $EDITOR is opened with a form to fill in. Its id is made from the
type and the text, so that the same thing added twice is one record: what is given the
second time is added to it, tags are joined.
A record that is nearly the same as another is kept, with a warning.

Types: decision, pattern, lesson, failure, observation, goal, note, doc,
concept, entity, file, symbol, task, run, session, commit; learning is a lesson.""",
    Option("--title TITLE", "a line to call it by; the text's first line unless set", default=""),
    Option("--why TEXT", "the reason", default=""),
    Option("--tags TAG,…, --tag TAG,…", "words to find it by", kind="tags", many=True),
    Option(
        "--file PATH",
        "the file it is about, as src/a.py or src/a.py:10-20",
        kind="files",
        default="",
    ),
    Option(
        "--link ID:RELATION",
        "link it to another record; may be given several times",
        many=True,
        into="links",
    ),
    Option(
        "--status STATUS",
        "staged, confirmed, superseded or retracted. Unless set, what a\n"
        "conversation says is staged, and the rest confirmed",
        choices=STATUSES,
    ),
    Option(
        "--source SOURCE",
        "user_edit, file, system or conversation;\nuser_edit unless set",
        choices=SOURCES,
        default="user_edit",
    ),
    Option("--confidence X", "how sure, 0 to 1; 1 unless set", low=0, high=1, default=1.0),
    Option("--category NAME", "a finer kind, in your own words"),
    Option("--id ID", "an id of your own, as decision-use-jwt", default=""),
    Option(
        "--run ID",
        "the run that it comes from: it is linked to it as derived_from",
        setting="run",
    ),
    Option("--new-type", "declare the type, if it is a new one"),
    SCOPES,
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME",
        "what makes the vectors; none: no vectors for this one",
        setting="embedder",
    ),
    Option(
        "--duplicate-similarity X",
        "how near is nearly the same, 0 to 1",
        setting="duplicate_similarity",
    ),
    Option("--max-text BYTES", "the longest text to take", setting="max_text"),
    BUSY_TIMEOUT,
    examples=(
        'lore add decision "Use JWT for sessions" --why "no state on the server" --tags auth',
        "git log -1 --format=%B | lore add lesson --link decision-1a2b3c4d:learned_from",
    ),
    arguments=(
        Argument("TYPE", "type", "types"),
        Argument("[TEXT…]", "text"),
    ),
    quick="writing:add",
)
