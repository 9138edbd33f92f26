"""The command eval: measures searches on queries with known answers, and tunes settings by them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError, UsageError
from ..core.text import counted
from ..evaluate.queries import Question, read_lines, read_questions
from ..evaluate.run import Evaluation, missing, report_text, tuning_text
from ..evaluate.tune import coordinates, evaluate, fragment, tune
from ..store.filter import Scope
from .command import command, option
from .options import TYPES, exclusive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..store import Store
    from .session import Session

TIMED = 50
"""Queries that are timed."""

FOLDS = 5
MEASURE = "recall@5"
"""What tuning betters."""


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
    row without the graph have 95 % intervals. --tune prints lines for a config file, and their gain
    on other queries.

    \b
    lore eval --queries queries.jsonl --compare "graph_depth=1 EDGE_WEIGHTS[links_to]=0.5"
    lore eval --queries queries.jsonl --tune --settings fulltext_share,vector_min
    """
    exclusive(tune=tunes, compare=compared, controls=controls)
    if names and not tunes:
        raise UsageError("--settings goes with --tune")
    if controls:  # they shuffle all edges
        session.require_whole("eval --controls")
    questions = _questions(session, queries)
    with session.open() as store, store.faults:
        asked = Evaluation(store, questions, Scope(types=store.types.require(types)))
        _say_missing(session, store, questions)
        if tunes:
            session.output.one(_tuned(session, asked, names), tuning_text)
            return
        with session.progress("asking", kept="nothing was changed") as advance:
            asked.progress = advance
            report = evaluate(asked, session.settings, compared, controls=controls, timed=TIMED)
    session.say(asked.notes)
    session.output.one(report, report_text)


def _tuned(session: Session, asked: Evaluation, names: Sequence[str]) -> dict[str, Any]:
    space = coordinates(names, sorted(asked.store.statistics.count_by_relation()))
    steps = count()
    with session.progress("tuning", FOLDS + 1, kept="nothing was changed") as bar:
        report = tune(
            asked, session.settings, space, measure=MEASURE, folds=FOLDS,
            heard=lambda _: bar.show(next(steps), FOLDS + 1),
        )  # fmt: skip
    report["fragment"] = fragment(report)
    if not report["sure"]:
        session.say(["no gain is sure on queries that were not tuned on: keep the settings as "
                     "they are"])  # fmt: skip
    return report


def _questions(session: Session, path: str) -> list[Question]:
    if not path:
        raise UsageError("eval needs --queries FILE: see 'lore eval --help'")
    name = "stdin" if path == "-" else path
    found = list(read_questions(read_lines(path), name))
    asked = [question for question in found if question.relevant]
    if len(asked) < len(found):
        session.say([f"queries that name nothing relevant are left out: {len(found) - len(asked)}"])
    if not asked:
        raise LoreError(f"{name}: no query with relevant ids: give lines of "
                        '{"id","query","relevant":[…]}')  # fmt: skip
    return asked


def _say_missing(session: Session, store: Store, questions: list[Question]) -> None:
    gone = sorted(missing(store, questions))
    if gone:
        ids = counted(len(gone), "relevant id is", "relevant ids are")
        session.say([f"{ids} not in the store ({', '.join(gone[:3])}): counted as not found"])
