"""Commands about the results of searches: run records and rates them, eval measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..app.find import audit
from ..core.errors import LoreError, UsageError
from ..core.text import counted
from ..records.runs import Runs
from ..store.filter import Scope
from ..terminal.text import columns, each
from .command import LIMIT, TYPES, Group, argument, command, exclusive, option
from .session import ids_from

if TYPE_CHECKING:
    from ..evaluate.queries import Question
    from ..store import Store
    from .session import Session

RUN = Group(
    "run",
    """\
Record the results of searches during a task, and rate them.

With LORE_RUN=ID or --run ID, searches record their results in a run.""",
)

_RUN = argument("[RUN]", default="", complete="run")


@command("run start [--task ID]")
def start(
    session: Session, *, task: str = option("--task ID", "the task of the run", "", complete="ids")
) -> None:
    """Start a run and print its id.

    \b
    export LORE_RUN=$(lore run start --task task-1a2b3c4d)
    """
    with session.open() as store:
        id = Runs(store).start(task)
    if not session.form_given():
        session.print_as("text", "text")  # for $(lore run start)
    session.output.one({"id": id, "state": "open"}, lambda row: f"{row['id']}\n")


@command("run finish [options] [RUN]")
def finish(
    session: Session,
    run: str = _RUN,
    *,
    helpful: tuple[str, ...] = option("--helpful ID,…", "records that helped", complete="ids"),
    unhelpful: tuple[str, ...] = option(
        "--unhelpful ID,…", "records that did not help", complete="ids"
    ),
) -> None:
    """End a run, and link the records shown to it.

    \b
    lore run finish --helpful decision-1a2b3c4d,lesson-5e6f7a8b
    """
    with session.open() as store:
        row, notes = Runs(store).finish(_named(session, store, run), helpful, unhelpful)
    session.say(notes)
    session.output.one(row, _run_text)


@command("run list [options]")
def list_runs(session: Session, *, limit: int | None = LIMIT) -> None:
    """List runs, newest first."""
    with session.open() as store, store.faults:
        found = Runs(store).summaries(limit or -1)
    session.output.list(found, each(_run_text, "no runs\n"))


@command("run show [RUN]")
def show(session: Session, run: str = _RUN) -> None:
    """Show a run with its records: best position, query, rating."""
    with session.open() as store, store.faults, store.snapshot():
        run = _named(session, store, run)
        found = {**Runs(store).get(run), **audit(store, session.settings, run)}
    session.output.one(found, _run_text)


@command("run rate --helpful|--unhelpful ID…")
def rate(
    session: Session,
    ids: tuple[str, ...] = argument("[ID…]", complete="ids"),
    *,
    helpful: bool = option("--helpful", "these records helped"),
    unhelpful: bool = option("--unhelpful", "these records did not help"),
) -> None:
    """Rate records: helpful ones rank higher in later searches.

    A lone - reads ids from stdin.

    \b
    lore search "token rotation" --ids -n 1 | lore run rate --helpful -
    """
    rating = exclusive(helpful=helpful, unhelpful=unhelpful).removeprefix("--")
    if not rating:
        raise UsageError("give one of --helpful and --unhelpful: see 'lore run rate --help'")
    wanted = ids_from(ids, "run rate")
    with session.open() as store, store.faults:
        rows, notes = Runs(store).rate(wanted, rating, session.settings.run)
    session.say(notes)
    session.output.list(rows, each(columns("rating id run")))


def _named(session: Session, store: Store, run: str) -> str:
    """Return the complete id of a run, by default that of the settings."""
    run = run or session.settings.run
    if not run:
        raise UsageError("name a run: see 'lore run list'")
    return store.complete_id(run)


def _run_text(row: dict[str, Any]) -> str:
    counts = ", ".join(f"{row[name]} {name}" for name in ("helpful", "unhelpful", "unrated"))
    head = columns("state id task counts")({**row, "task": row.get("task"), "counts": counts})
    return head + each(columns("position rating id title"))(row.get("records", ()))


# --- eval


@command("eval --queries FILE [options]", settings=("graph_depth", "limit"))
def evaluate_command(
    session: Session,
    *,
    types: tuple[str, ...] = TYPES,
    queries: str = option("--queries FILE", "the queries; - reads stdin", "", complete="files"),
    compared: tuple[str, ...] = option(
        "--compare SETTINGS…", "'key=value …' (default: graph_depth=0 and 1)"
    ),
    controls: bool = option("--controls", "shuffled edges; ranking by in-degree"),
    tunes: bool = option("--tune", "find settings that suit these queries"),
    names: tuple[str, ...] = option("--settings NAME,…", "tune only these"),
) -> None:
    """Measure search on queries with known answers, or tune settings by them.

    A line of the file is {"id","query","relevant":[IDs][,"exclude":[IDs]]}. Differences to the best
    row without the graph have 95 % intervals. --tune prints lines for a config file, and the gain
    on unseen queries.

    \b
    lore eval --queries queries.jsonl --compare "graph_depth=1 EDGE_WEIGHTS[links_to]=0.5"
    lore eval --queries queries.jsonl --tune --settings fulltext_share,vector_min
    """
    from ..evaluate.measure import Evaluation, evaluate, report_text, tune, tuning_text

    exclusive(tune=tunes, compare=compared)
    exclusive(tune=tunes, controls=controls)
    if names and not tunes:
        raise UsageError("--settings needs --tune")
    if controls:  # they shuffle all edges
        session.require_whole("eval --controls")
    questions = _questions(session, queries)
    with session.open() as store, store.faults:
        asked = Evaluation(store, questions, Scope(types=store.types.require(types)))
        if gone := sorted(asked.missing()):
            ids = counted(len(gone), "relevant id is", "relevant ids are")
            session.say([f"{ids} not in the store ({', '.join(gone[:3])}): counted as not found"])
        with session.progress("searching", kept="the store is unchanged") as asked.progress:
            if tunes:
                report = tune(asked, session.settings, names)
            else:
                report = evaluate(asked, session.settings, compared, controls=controls)
    session.say(note for note, count in asked.notes.items() if count >= len(questions) > 1)
    if not report.get("sure", True):
        session.say(["no gain is sure on queries not tuned on: keep the settings as they are"])
    session.output.one(report, tuning_text if tunes else report_text)


def _questions(session: Session, path: str) -> list[Question]:
    from ..evaluate.queries import read_lines, read_questions

    if not path:
        raise UsageError("eval needs --queries FILE: see 'lore eval --help'")
    name = "stdin" if path == "-" else path
    found = list(read_questions(read_lines(path), name))
    asked = [question for question in found if question.relevant]
    if len(asked) < len(found):
        session.say([f"queries that name nothing relevant are left out: {len(found) - len(asked)}"])
    if not asked:
        form = '{"id","query","relevant":[…]}'
        raise LoreError(f"{name}: no query with relevant ids: give lines of {form}")
    return asked
