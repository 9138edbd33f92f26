"""The command eval: measures searches on queries with known answers, and tunes settings by them."""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError, UsageError
from ..evaluate.queries import Question, read_lines, read_questions
from ..evaluate.run import Evaluation, measures, missing, report_text, tuning_text
from ..evaluate.tune import coordinates, evaluate, fragment, tune
from ..store.filter import Scope
from ..system.atomic_write import write_whole
from ..system.config_edit import text_of
from .command import command, option
from .runtime import shared_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..store import Store
    from .session import Session

MOST_RANK = 1000
TIMED = 50
FOLDS = 5
RANKS = [5, 10]


@command("eval --queries FILE [options]", settings=("graph_depth", "limit"))
def evaluate_command(
    session: Session,
    *,
    queries: str | None = option("--queries FILE", "the queries; - reads stdin", complete="files"),
    types: tuple[str, ...] = option(
        "--type TYPE,…", "return only these types", complete="types"
    ),
    skip_bad: bool = option("--skip-bad", "leave broken lines out, and name them"),
    compared: tuple[str, ...] = option(
        "--compare SETTINGS…", "a configuration: 'key=value …' (default: graph_depth=0 and 1)"
    ),
    controls: bool = option(
        "--controls", "also measure a graph of shuffled edges, and a ranking by in-degree"
    ),
    at: tuple[str, ...] = option(
        "--at N,…", "ranks of recall (default: 5,10); the first one decides which is best"
    ),
    timed: int | None = option(
        "--timed N", f"queries to time (default: {TIMED}; 0: none)", low=0, high=1_000_000
    ),
    tunes: bool = option("--tune", "find settings that suit these queries"),
    names: tuple[str, ...] = option(
        "--settings NAME,…", "tune only these (default: all that can be tuned)"
    ),
    measure: str | None = option(
        "--measure NAME", "tune for recall@N, all_relevant@5, ndcg@10 or mrr (default: recall@5)"
    ),
    folds: int | None = option(
        "--folds N", f"parts that queries are split into (default: {FOLDS})", low=2, high=100
    ),
    target: str | None = option(
        "--write [FILE]", "append the found settings to FILE, or to the .config in use",
        complete="files",
    ),
) -> None:  # fmt: skip
    """Measure search on queries with known answers, or tune settings by them.

    A line of the file is {"id","query","relevant":[IDs][,"exclude":[IDs]]}. Each query is asked of
    each leg alone, of their fusions and of each configuration. Printed are recall, nDCG@10, MRR,
    milliseconds, and differences to the best row without the graph with 95 % intervals (paired
    bootstrap). An interval that has 0 in it shows nothing.

    --tune changes one setting at a time, and prints what the best ones gain on queries they were
    not chosen on, and lines for a config file. It writes them only with --write, and only if the
    interval of the gain lies above 0.

    \b
    lore eval --queries queries.jsonl --controls
    lore eval --queries queries.jsonl --compare "graph_depth=1 EDGE_WEIGHTS[links_to]=0.5"
    lore eval --queries queries.jsonl --tune --settings fulltext_share,vector_min
    """
    if tunes and (compared or controls or at or timed is not None):
        raise UsageError("--tune takes no --compare, --controls, --at or --timed: leave them out")
    if not tunes and (names or measure or folds or target is not None):
        raise UsageError("--settings, --measure, --folds and --write go with --tune")
    if controls:  # they shuffle all edges
        session.require_whole("eval --controls")
    ranks = _rank_of(measure or "recall@5") if tunes else _ranks(at) if at else RANKS
    questions = _questions(session, queries, skip_bad=skip_bad)
    with session.open() as store, store.faults:
        scope = Scope(types=store.types.require(types))
        asked = Evaluation(store, questions, scope, ranks)
        _say_missing(session, store, questions)
        if tunes:
            report = _tuned(session, asked, names, measure or "recall@5", folds or FOLDS)
        else:
            timed = TIMED if timed is None else timed
            report = _measured(session, asked, compared, controls=controls, timed=timed)
    if not tunes:
        session.output.one(report, report_text)
        return
    report["fragment"] = fragment(report)
    report["written"] = _write(session, report, target) if target is not None else None
    session.say(_advice(report))
    session.output.one(report, tuning_text)


def _measured(
    session: Session, asked: Evaluation, compared: Sequence[str], *, controls: bool, timed: int
) -> dict[str, Any]:
    settings, most = session.settings, max(asked.at)
    with session.progress("asking", kept="nothing was changed") as advance:
        asked.progress = advance
        report = evaluate(asked, settings, compared, controls=controls, timed=timed)
    if most > settings.limit:
        session.say([f"recall@{most} asks for more than the {settings.limit} direct matches of a "
                     "search: see the setting limit"])  # fmt: skip
    session.say(asked.notes)
    return report


def _tuned(
    session: Session, asked: Evaluation, names: Sequence[str], measure: str, folds: int
) -> dict[str, Any]:
    space = coordinates(names, sorted(asked.store.statistics.count_by_relation()))
    steps = count()
    with session.progress("tuning", folds + 1, kept="nothing was changed") as bar:
        return tune(
            asked, session.settings, space, measure=measure, folds=folds,
            heard=lambda _: bar.show(next(steps), folds + 1),
        )  # fmt: skip


def _rank_of(measure: str) -> list[int]:
    name, _, rank = measure.partition("@")
    ranks = [int(rank)] if name == "recall" and _is_rank(rank) else []
    if measure not in measures(ranks):
        raise UsageError(f"--measure is '{measure}': one of recall@N, {', '.join(measures([]))}")
    return ranks or RANKS


def _ranks(words: Sequence[str]) -> list[int]:
    if not all(map(_is_rank, words)):
        raise UsageError(f"--at is '{','.join(words)}': give ranks from 1 to {MOST_RANK}, as 5,10")
    return sorted({int(word) for word in words})


def _is_rank(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 5 and 0 < int(word) <= MOST_RANK


def _questions(session: Session, path: str | None, *, skip_bad: bool) -> list[Question]:
    if path is None:
        raise UsageError("eval needs --queries FILE: see 'lore eval --help'")
    name = "stdin" if path == "-" else path
    told = (lambda text: session.say([text])) if skip_bad else None
    found = list(read_questions(read_lines(path), name, bad=told))
    asked = [question for question in found if question.relevant]
    if len(asked) < len(found):
        session.say([f"queries that name nothing relevant are left out: {len(found) - len(asked)}"])
    if not asked:
        raise LoreError(f"{name}: no query with relevant ids: give lines of "
                        '{"id","query","relevant":[…]}')  # fmt: skip
    return asked


def _say_missing(session: Session, store: Store, questions: list[Question]) -> None:
    gone = missing(store, questions)
    if gone:
        some = ", ".join(sorted(gone)[:3]) + (", …" if len(gone) > 3 else "")
        what = "relevant ids are" if len(gone) > 1 else "relevant id is"
        session.say([f"{len(gone)} {what} not in the store ({some}): counted as not found"])


def _advice(report: dict[str, Any]) -> list[str]:
    if not report["changes"]:
        return ["nothing that was tried is better: keep the settings as they are"]
    if not report["sure"]:
        return ["the gain on queries that were not tuned on may be none (its interval has 0 "
                "in it): keep the settings as they are"]  # fmt: skip
    return []


def _write(session: Session, report: dict[str, Any], target: str) -> str | None:
    """Append the fragment to a config file if the gain is sure; return the file's path."""
    if not report["sure"] or not report["fragment"]:
        session.say(["nothing was written"])
        return None
    path = os.path.abspath(target or os.path.join(shared_folder(), ".config"))
    text = text_of(path)
    ended = text if not text or text.endswith("\n") else text + "\n"
    write_whole(path, [ended, report["fragment"]])
    return path
