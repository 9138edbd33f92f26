"""Commands that write records and links, and take writes back."""

from __future__ import annotations

from ...core.vocabulary import SOURCES, STATUSES
from ..declaration import Argument, OldCommand, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET, SCOPES, embedder, quiet

_STATUS = Option(
    "--status STATUS",
    "staged, confirmed, superseded or retracted. Unless set, what a\n"
    "conversation says is staged, and the rest confirmed",
    choices=STATUSES,
)
_SOURCE = Option(
    "--source SOURCE",
    "user_edit, file, system or conversation;\nuser_edit unless set",
    choices=SOURCES,
    default="user_edit",
)
_CONFIDENCE = Option("--confidence X", "how sure, 0 to 1; 1 unless set", low=0, high=1, default=1.0)

ADD_COMMAND = OldCommand(
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
    _STATUS,
    _SOURCE,
    _CONFIDENCE,
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
    embedder("what makes the vectors; none: no vectors for this one"),
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
    run="writing:add",
)


EDIT_COMMAND = OldCommand(
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
    embedder("what makes the vectors; none: no vectors for the new text"),
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
    run="writing:edit",
)


LINK_COMMAND = OldCommand(
    "link",
    "[options] A RELATION B",
    "link two records",
    """\
A and B are ids; the link leads from A to B. A link that was taken away
stands again, with its weight and metadata where these are not given; the same link
twice is one link. 'lore graph relations' has the relations and the types that each leads
from and to, 'lore unlink' takes a link away. A link of other types is refused, with the
relations that fit; one that is made by --force says so in its metadata.""",
    Option("--weight X", "how strong, 0 to 1; 1 for a new link", low=0, high=1),
    Option(
        "--confidence X",
        "how sure, 0 to 1: kept in the metadata, and the weight of a new link without one",
        low=0,
        high=1,
    ),
    Option(
        "--meta KEY=VALUE",
        "sets a field of the metadata, to JSON or else to text; null takes it away",
        many=True,
    ),
    Option(
        "--status STATUS",
        "staged, confirmed, superseded or retracted",
        choices=STATUSES,
        default="confirmed",
    ),
    Option(
        "--source SOURCE",
        "user_edit, file, system or conversation",
        choices=SOURCES,
        default="user_edit",
    ),
    Option("--force", "link these two whatever types the relation joins"),
    Option("--new-relation", "declare the relation, if it is a new one"),
    OUTPUT,
    examples=(
        "lore link lesson-1a2b3c4d learned_from failure-5e6f7a8b",
        'lore link note-1a2b3c4d relates_to note-5e6f7a8b --weight 0.4 --meta by="a review"',
    ),
    arguments=(
        Argument("A", "from_id", "ids"),
        Argument("RELATION", "relation", "relations"),
        Argument("B", "to_id", "ids"),
    ),
    also=(QUIET,),
    settings=("busy_timeout",),
    run="writing:link",
)


UNLINK_COMMAND = OldCommand(
    "unlink",
    "[options] A RELATION B",
    "take a link away",
    """\
A and B are ids, and the link leads from A to B. 'lore show --history' still has
it, and 'lore link' makes it stand again.""",
    OUTPUT,
    BUSY_TIMEOUT,
    quiet("leave out the notes on stderr"),
    examples=("lore unlink lesson-1a2b3c4d learned_from failure-5e6f7a8b",),
    arguments=(
        Argument("A", "from_id", "ids"),
        Argument("RELATION", "relation", "relations"),
        Argument("B", "to_id", "ids"),
    ),
    run="commands.records:unlink",
)


FACT_COMMAND = OldCommand(
    "fact",
    "[options] SUBJECT PREDICATE OBJECT",
    "state a fact: one thing, what it does, another thing",
    """\
Subject and object are names or ids; a name becomes an entity. The predicate
becomes a relation, declared where it is new, with a warning where a known one
is spelled nearly the same. An object that is a value, not a thing (a number, or
more than four words), becomes a concept, so that it can be found too.

Where a predicate has one value at a time, a confirmed fact supersedes the former one,
which 'lore show --history' still has. A staged one stands beside it until it is
confirmed, by 'lore confirm' or, where nothing speaks against it, by being read
promote_after times.""",
    _CONFIDENCE,
    Option("--literal", "the object is a value, however it looks"),
    _SOURCE,
    _STATUS,
    Option("--confirm", "the same as --status confirmed", constant="confirmed", into="status"),
    Option("--single", "the subject has one such value at a time, now and later"),
    Option(
        "--single-valued NAME,…", "predicates of which that is always so", setting="single_valued"
    ),
    SCOPES,
    OUTPUT,
    QUIET,
    embedder("what makes the vectors; none: no vectors for these"),
    BUSY_TIMEOUT,
    examples=(
        'lore fact "billing service" uses postgresql --confidence 0.9',
        "lore fact jacq lives_in oslo --source conversation",
    ),
    arguments=(
        Argument("SUBJECT", "subject", "ids"),
        Argument("PREDICATE", "predicate", "relations"),
        Argument("OBJECT", "object", "ids"),
    ),
    run="writing:fact",
)


CONFIRM_COMMAND = OldCommand(
    "confirm",
    "[options] ID… | SUBJECT PREDICATE OBJECT",
    "say that records, or a fact, are right",
    """\
What was staged counts for more from now on; what was superseded or retracted stands
again. Where the predicate has one value at a time (the setting single_valued, or a
fact that was stated with --single), the other values are superseded, and kept. A
lone - reads ids from stdin; 'lore list --status staged' has them.""",
    Option(
        "--single-valued NAME,…", "predicates with one value at a time", setting="single_valued"
    ),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=(
        "lore confirm lesson-1a2b3c4d",
        "lore confirm jacq lives_in oslo",
    ),
    arguments=(Argument("ID…", "words", "ids"),),
    run="commands.records:confirm",
)


RETRACT_COMMAND = OldCommand(
    "retract",
    "[options] ID… | SUBJECT PREDICATE OBJECT",
    "say that records, or a fact, are wrong",
    """\
A retracted record stays: a search finds it with --status retracted, and 'lore show'
has it. A retracted fact is ended, and 'lore show --history' has it. 'lore confirm'
takes it back. A lone - reads ids from stdin.""",
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=('lore retract "billing service" uses mysql',),
    arguments=(Argument("ID…", "words", "ids"),),
    run="commands.records:retract",
)


FORGET_COMMAND = OldCommand(
    "forget",
    "[options] ID…|--proposed",
    "take records and their links out of every search",
    """\
What is forgotten stays in the store: 'lore restore' brings it back. A lone -
reads ids from stdin. What somebody deleted for good and shared by a file is
forgotten here; --purge --proposed deletes it here as well.""",
    Option(
        "--purge",
        "delete for good, with every link and all history: the file is\nwritten anew without it;"
        " of a candidate, its texts. It takes whole ids",
    ),
    Option("--proposed", "with --purge: what a file says was deleted for good elsewhere"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("lore list --type observation --until 1y --ids | lore forget -",),
    arguments=(Argument("ID…", "ids", "ids"),),
    run="commands.records:forget",
)


RESTORE_COMMAND = OldCommand(
    "restore",
    "[options] ID… | A RELATION B",
    "bring forgotten records back, or records and links as they were before",
    """\
A forgotten record comes back with the links that went with it. With --at a record gets
a former state, as 'lore show --history' counts them. A RELATION B is a link: it stands again
as it last stood. A lone - reads ids from stdin; 'lore list --forgotten' has them.""",
    Option("--at N|TIME", "the state of this number, or of a time: 2026-01-31, 7d"),
    OUTPUT,
    QUIET,
    embedder("what makes the vectors; none: no vectors for these"),
    BUSY_TIMEOUT,
    examples=(
        "lore restore decision-1a2b3c4d --at 2",
        "lore restore lesson-1a2b3c4d learned_from failure-5e6f7a8b",
    ),
    arguments=(Argument("ID…", "ids", "forgotten"),),
    run="commands.records:restore",
)


UNDO_COMMAND = OldCommand(
    "undo",
    "[options] [ID…]",
    "take back the last change of a record, or the last command",
    """\
With ids, the last change of each of these records; called again, the one before. Without,
or with --last, all that the last command did to this store: what it changed is as it was,
what it added is forgotten. That is a command too, so the next 'lore undo' does it again.
Neither a purge nor 'lore store restore' can be taken back, the file that
the latter keeps can be restored. 'lore restore --at N' leads to any earlier state.""",
    Option("--last", "the last command; so it is without ids"),
    OUTPUT,
    QUIET,
    embedder("what makes the vectors; none: no vectors for these"),
    BUSY_TIMEOUT,
    examples=("lore undo", "lore undo decision-1a2b3c4d"),
    arguments=(Argument("[ID…]", "ids", "ids"),),
    run="commands.records:undo",
)


SWEEP_COMMAND = OldCommand(
    "sweep",
    "[options]",
    "drop what a conversation said and nobody confirmed or needed",
    """\
That is every record and fact of the source conversation that is still staged, whose
confidence times recency is below 0.2, and that was read fewer than 5 times. Nothing of
that is deleted: 'lore restore ID' brings a record back, 'lore confirm SUBJECT PREDICATE
OBJECT' a fact. Where history_days is set, states that records
and links left longer ago are forgotten for good, and verdicts that anchors left.

With --telemetry it is about what was not let in instead. Of your log of events, files are
deleted whose last line is older than events_days, and the oldest ones where all together are
larger than 200 MB; of this store, if there is one, the candidates that were found more than
candidates_days ago and that nobody has promoted or refused.""",
    Option("--dry-run", "only say what would be dropped"),
    Option("--telemetry", "events and candidates, in place of records"),
    Option(
        "--history-days N",
        "keep states that were left within so many days (default: 0, all)",
        setting="history_days",
    ),
    Option("--events-days N", "days to keep events (default: 14)", setting="events_days"),
    Option("--candidates-days N", "keep candidates for so many days (default: 90; 0: for ever)",
           setting="candidates_days"),
    Option("--recency-half-life DAYS", "how things age", setting="recency_half_life"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    arguments=(Argument("[WORD…]", "words"),),
    run="commands.records:sweep",
)  # fmt: skip
