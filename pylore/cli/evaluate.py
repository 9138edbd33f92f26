"""The command eval: measure searches, and tune settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import LoreError, UsageError
from ..core.text import counted
from ..evaluate.queries import Question, read_lines, read_questions
from ..evaluate.run import Evaluation, report_text, tuning_text
from ..evaluate.tune import evaluate, tune
from ..store.filter import Scope
from .command import TYPES, command, exclusive, option

if TYPE_CHECKING:
    from .session import Session


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
    exclusive(tune=tunes, compare=compared, controls=controls)
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
        with session.progress("searching", kept="nothing was changed") as asked.progress:
            if tunes:
                report = tune(asked, session.settings, names)
            else:
                report = evaluate(asked, session.settings, compared, controls=controls)
    session.say(note for note, count in asked.notes.items() if count >= len(questions) > 1)
    if not report.get("sure", True):
        session.say(
            ["no gain is sure on queries that were not tuned on: keep the settings as they are"]
        )
    session.output.one(report, tuning_text if tunes else report_text)


def _questions(session: Session, path: str) -> list[Question]:
    if not path:
        raise UsageError("eval needs --queries FILE: see 'lore eval --help'")
    name = "stdin" if path == "-" else path
    found = list(read_questions(read_lines(path), name))
    asked = [question for question in found if question.relevant]
    if len(asked) < len(found):
        session.say([f"queries that name nothing relevant are left out: {len(found) - len(asked)}"])
    if not asked:
        raise LoreError(
            f'{name}: no query with relevant ids: give lines of {{"id","query","relevant":[…]}}'
        )
    return asked
