"""Declare and run gaps and replay: what is known least, and whether what is known is heeded."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from ..cli.declaration import Argument, OldCommand, Option
from ..cli.declare import BUSY_TIMEOUT, OUTPUT, QUIET, limit
from ..cli.session import Session
from ..cli.writing import add_record
from ..core.text import counted, one_line
from ..core.times import parse_since
from ..core.vocabulary import LEARNING_TYPES
from ..terminal.text import bold, change_text, dim, each
from .event_log import append_event, log_fault
from .gaps import Gap, gaps, nearest, require_gap
from .replay import HEEDED, UNKNOWN, VERDICTS, replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..records.records import Change


LIMIT = 10
"""Gaps that are listed unless a number is given."""

_LINE = 100


def list_gaps(since: str, limit: int | None, **options: Any) -> None:
    """``lore gaps``."""
    session = Session(options)
    with session.open() as store, store.faults:
        every = gaps(session.engine(store), parse_since(since) if since else "")
        rows = [*islice(every, limit or LIMIT)]
    session.output.list(rows, gaps_text)


def answer(gap: str, text: tuple[str, ...], type: str, **options: Any) -> None:
    """``lore gaps answer``: adds a record and asks the questions of the gap again."""
    session = Session(options)
    with session.open() as store, store.faults:
        engine = session.engine(store)
        one = require_gap(engine, gap)
        near = nearest(engine, one.questions[0])

    def show(change: Change) -> None:
        with session.open() as store, store.faults:
            engine = session.engine(store)
            asked = [{"question": text, "results": nearest(engine, text)} for text in one.questions]
        row = {"id": change.id, "state": change.state, "questions": asked}
        session.output.one(row, _answered_text)

    given = dict.fromkeys(("title", "why", "file", "id"), "") | {
        "title": one_line(one.questions[0]), "tags": (), "links": (), "new_type": False,
    }  # fmt: skip
    add_record(session, type, text, given, show, _about(one, near))


def dismiss(wanted: tuple[str, ...], **options: Any) -> None:
    """``lore gaps dismiss``."""
    session = Session(options)
    with session.open() as store, store.faults:
        engine = session.engine(store)
        every = [require_gap(engine, one) for one in wanted]
    for gap in every:
        text = gap.asked[0].text
        try:
            append_event("gaps", "", "question", engine.root, [], ok=True, text=text)
        except OSError as error:
            raise log_fault(error, "dismiss it") from None
    rows = [{"id": gap.id, "state": "dismissed"} for gap in every]
    session.output.list(rows, each(change_text))


def _about(gap: Gap, near: Sequence[dict[str, Any]]) -> str:
    """Return what a person is told who writes the answer down."""
    lines = [f"asked: {one_line(text)}" for text in gap.questions]
    lines += [f"edited next: {path}" for path, _ in gap.files.most_common()]
    lines += [f"nearest: {row['id']} {one_line(row['title'])}" for row in near]
    return "".join(f"\n{line[:_LINE]}" for line in lines)


def gaps_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return what is asked, a paragraph a gap, each with its place in the list."""
    return "\n".join(map(_gap_text, range(1, len(rows) + 1), rows)) or "no gaps\n"


def _gap_text(place: int, row: dict[str, Any]) -> str:
    times = f"{counted(row['times'], 'time')} in {counted(row['sessions'], 'session')}"
    lines = [f"{place}  {bold(one_line(row['question'])[:_LINE])}  {dim(row['id'])}",
             dim(f"   asked {times}, last {row['last'][:10]}")]  # fmt: skip
    near = [f"{one['id']} {one_line(one['title'])}"[:_LINE] for one in row["nearest"]]
    for name, values in (("also", row["questions"]), ("edited next", row["files"]),
                         ("who knows", row["people"]), ("nearest", near[:1])):  # fmt: skip
        if values:
            lines.append(f"   {name}: " + one_line(", ".join(values)))
    return "\n".join(lines) + "\n"


def _answered_text(row: dict[str, Any]) -> str:
    lines = [f"{row['state']}  {bold(row['id'])}"]
    for asked in row["questions"]:
        lines.append(one_line(asked["question"]))
        for one in asked["results"]:
            weak = dim("  (weak)") if one["weak"] else ""
            lines.append(
                f"  {one['score']:.2f}  {one['id']}  {one_line(one['title'])[:_LINE]}{weak}"
            )
    return "\n".join(lines) + "\n"


def run_replay(since: str, **options: Any) -> None:
    """``lore replay``."""
    session = Session(options)
    with session.open() as store, store.faults:
        row = replay(session.engine(store), parse_since(since) if since else "")
    session.output.one(row, _replay_text)


def _replay_text(row: dict[str, Any]) -> str:
    lines = [f"{row[name.replace(' ', '_')]:>5}  {name}\n" for name in VERDICTS]
    known = row["trouble"] - row[UNKNOWN] + row[HEEDED]
    if not row["places"]:
        lines = ["no trouble in the captured sessions of this project\n"]
    elif row["prevented"] is None:
        lines.append("none of it was known: 'lore candidates' lists what may be worth keeping\n")
    else:
        lines.append(f"{100 * row['prevented']:.0f} % of {known} known were prevented\n")
    return "".join([*lines, *map(_place_text, row["places"])])


def _place_text(one: dict[str, Any]) -> str:
    said = one_line(one["text"] or ", ".join(one["files"]))[:_LINE]
    head = dim(f"{one['t'][:10]}  {one['session'][:8]:<8}  ")
    return f"{head}{one['verdict']:<9}  {bold(one['id'] or '-')}  {said}\n"


SINCE = Option("--since AGE", "look at what was asked since: 7d, 2w, a date, a time", default="")

GAPS_COMMAND = OldCommand(
    "gaps",
    "[options] | answer GAP | dismiss GAP…",
    "what is asked most and known least",
    """\
Questions of searches, contexts, agents and hooks that found nothing, or nothing sure, stand
in your log of events, unless events_days=0. Those of this project that are alike are one
gap; the ones of most sessions come first. One that the store answers by now is not listed.

Each has id, question (the last one), times, sessions, last, questions (others), files that
were edited within half an hour, people who committed most to these, and the nearest records.""",
    SINCE,
    limit(f"how many; {LIMIT} unless set"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("lore gaps", "lore gaps --jq '.[] | select(.sessions > 2) | .question'"),
    verbs=("answer", "dismiss"),
    run=list_gaps,
)


ANSWER_COMMAND = OldCommand(
    "gaps answer",
    "[options] GAP [TEXT…]",
    "",
    """\
Adds a record that answers a gap, an id or its place in the list of 'lore gaps'. Without a
text $VISUAL or $EDITOR is opened on a terminal, with the questions, the files that were
edited next and the nearest records; in a pipe the text is stdin. The title is the question,
unless that is changed. Then each question is asked again, with its first three results.""",
    Option(
        "--as TYPE", "the type of the record; note unless set", into="type", default="note",
        choices=(*LEARNING_TYPES, "note", "goal", "doc"),
    ),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("lore gaps answer 1", "lore gaps answer gap-1a2b3c4d --as decision 'We sign them.'"),
    arguments=(Argument("GAP", "gap"), Argument("[TEXT…]", "text")),
    run=answer,
)  # fmt: skip


DISMISS_COMMAND = OldCommand(
    "gaps dismiss",
    "GAP…",
    "",
    """\
Lists these gaps no more, whoever asks the like again: ids, or places in the list.""",
    OUTPUT,
    QUIET,
    examples=("lore gaps dismiss 2 gap-1a2b3c4d",),
    arguments=(Argument("GAP…", "wanted"),),
    run=dismiss,
)


REPLAY_COMMAND = OldCommand(
    "replay",
    "[options]",
    "whether what is known would have prevented the trouble of past sessions",
    """\
Trouble is what a person put right, what a model conceded, an error that came up in three
sessions, and a commit that was reverted, in the events of this project's sessions. For each,
a record that was there before is looked for by its own words:

unknown    there was none
not found  there was one, and the prompt before the trouble does not find it
not shown  the prompt finds it among the first five, and hooks did not show it
ignored    it was shown in the session
heeded     one was shown, a file that it is anchored to was edited, and no such trouble came

prevented is the share of heeded among all that was known; places has each with its text.""",
    SINCE,
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("lore replay --since 30d", "lore replay --jq .prevented"),
    run=run_replay,
)
