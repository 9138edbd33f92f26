"""eval, tune: how good the results are, on queries with known answers."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ...core.errors import LoreError, UsageError
from ...evaluate.queries import Question, read_lines, read_questions
from ...evaluate.run import Evaluation, measures, missing, report_text, tuning_text
from ...evaluate.tune import coordinates, evaluate, fragment, tune
from ...store.filter import Scope
from ...system.atomic_write import write_whole
from ...system.project_files import real_place
from ...terminal.output import note
from ...terminal.screen import Progress
from ..reader import split_words
from ..runtime import shared_folder
from ..session import Session

if TYPE_CHECKING:
    from ...store import Store

_MOST = 1000


def eval_command(
    path: str | None, at: str, compared: tuple[str, ...], controls: bool, timed: int,
    types: tuple[str, ...], skip_bad: bool, **options: Any,
) -> None:  # fmt: skip
    session = Session(options)
    if controls:  # they draw edges anew, all of them
        session.require_whole("eval --controls")
    ranks = _ranks(at)
    questions = _questions(session, path, "eval", skip_bad=skip_bad)
    with session.open() as store, store.faults:
        asked = Evaluation(store, questions, _scope(store, types), ranks)
        _say_missing(session, store, questions)
        with Progress("asking", kept="nothing was changed") as advance:
            asked.progress = advance
            report = evaluate(asked, session.settings, compared, controls=controls, timed=timed)
    if ranks[-1] > session.settings.limit:
        session.say([f"recall@{ranks[-1]} asks for more than the {session.settings.limit} "
                     "direct matches of a search: see the setting limit"])  # fmt: skip
    session.say(asked.notes)
    session.output.one(report, report_text)


def tune_command(
    path: str | None, folds: int, measure: str, names: tuple[str, ...], target: str | None,
    types: tuple[str, ...], skip_bad: bool, **options: Any,
) -> None:  # fmt: skip
    session = Session(options)
    questions = _questions(session, path, "tune", skip_bad=skip_bad)
    words = [word for text in names for word in text.replace(",", " ").split()]
    with session.open() as store, store.faults:
        asked = Evaluation(store, questions, _scope(store, types), _rank_of(measure))
        _say_missing(session, store, questions)
        space = coordinates(words, sorted(store.statistics.count_by_relation()))
        stage = _stage if sys.stderr.isatty() and not session.settings.quiet else _nothing
        report = tune(asked, session.settings, space, measure=measure, folds=folds, heard=stage)
    report["fragment"] = fragment(report)
    report["written"] = _write(session, report, target) if target is not None else None
    session.say(_advice(report))
    session.output.one(report, tuning_text)


def _stage(text: str) -> None:
    note(f"tuning: {text}")


def _nothing(text: str) -> None:
    """What is heard by nobody."""


def _rank_of(measure: str) -> list[int]:
    name, _, rank = measure.partition("@")
    ranks = [int(rank)] if name == "recall" and _is_rank(rank) else []
    if measure not in measures(ranks):
        raise UsageError(f"--measure is '{measure}': one of recall@N, {', '.join(measures([]))}")
    return ranks or [5, 10]


def _advice(report: dict[str, Any]) -> list[str]:
    if not report["changes"]:
        return ["nothing that was tried is better: keep the settings as they are"]
    if not report["sure"]:
        return ["the gain on queries that were not tuned on may be none (its interval has 0 "
                "in it): keep the settings as they are"]  # fmt: skip
    return []


def _write(session: Session, report: dict[str, Any], target: str) -> str | None:
    """Appends the fragment to a config file, where it is worth it; the file's path."""
    if not report["sure"] or not report["fragment"]:
        session.say(["nothing was written"])
        return None
    path = os.path.abspath(target or os.path.join(shared_folder(), ".config"))
    write_whole(path, [_ended(path), report["fragment"]])
    return path


def _ended(path: str) -> str:
    """Return what a config file holds, with an end to its last line; nothing where there is
    none."""
    try:
        with open(real_place(path), encoding="utf-8", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise LoreError(f"{path}: {error}: nothing was written") from None
    return text if not text or text.endswith("\n") else text + "\n"


def _ranks(text: str) -> list[int]:
    words = text.replace(",", " ").split()
    if not words or not all(map(_is_rank, words)):
        raise UsageError(f"--at is '{text}': give ranks from 1 to {_MOST}, as 5,10")
    return sorted({int(word) for word in words})


def _is_rank(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 5 and 0 < int(word) <= _MOST


def _questions(
    session: Session, path: str | None, command: str, *, skip_bad: bool
) -> list[Question]:
    if path is None:
        raise UsageError(f"{command} needs --queries FILE: see 'lore {command} --help'")
    told = (lambda text: session.say([text])) if skip_bad else None
    name = "stdin" if path == "-" else path
    found = list(read_questions(read_lines(path), name, bad=told))
    asked = [question for question in found if question.relevant]
    if len(asked) < len(found):
        session.say([f"queries that name nothing relevant are left out: {len(found) - len(asked)}"])
    if not asked:
        raise LoreError(f"{name}: no query with relevant ids: give lines of "
                        '{"id","query","relevant":[…]}')  # fmt: skip
    return asked


def _scope(store: Store, types: tuple[str, ...]) -> Scope:
    return Scope(types=store.types.require(split_words(types)))


def _say_missing(session: Session, store: Store, questions: list[Question]) -> None:
    gone = missing(store, questions)
    if gone:
        some = ", ".join(sorted(gone)[:3]) + (", …" if len(gone) > 3 else "")
        what = "relevant ids are" if len(gone) > 1 else "relevant id is"
        session.say([f"{len(gone)} {what} not in the store ({some}): counted as not found"])
