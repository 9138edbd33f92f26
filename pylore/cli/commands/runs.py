"""run start, run finish, run list, run show; feedback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...app.run_audit import audit
from ...core.errors import LoreError, UsageError
from ...records.runs import Runs
from ...store.resolve_id import typed
from ...terminal.text import bold, dim
from ..runtime import ids_from
from .shared import Session, names_form


def start(task: str, **options: Any) -> None:
    # An id alone unless a form is asked for: it goes into a variable.
    plain = not names_form(options) and options["jq"] is None
    session = Session({**options, "as_ids": True} if plain else options)
    with session.open() as store:
        id = Runs(store).start(task)
    session.output.one({"id": id, "state": "open"}, lambda row: f"{bold(row['id'])}\n")


def finish(run: str, helpful: tuple[str, ...], unhelpful: tuple[str, ...],
           **options: Any) -> None:  # fmt: skip
    session = Session(options)
    run = _one_run(session, run, "run finish")
    with session.open() as store:
        if _reads_stdin(helpful) and _reads_stdin(unhelpful):
            raise UsageError("stdin is either --helpful or --unhelpful: give - once")
        result = Runs(store).finish(typed(store, run), _ids(helpful), _ids(unhelpful))
    session.say(result.notes)
    row = {"id": result.id, "state": "finished", "used": result.used, "helpful": result.helpful,
           "unhelpful": result.unhelpful, "unrated": result.unrated}  # fmt: skip
    session.output.one(row, _outcome_text)


def list_runs(limit: int | None, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = Runs(store).summaries(limit or -1)
    session.output.list(found, _runs_text)


def show(run: str, **options: Any) -> None:
    session = Session(options)
    run = _one_run(session, run, "run show")
    with session.open() as store, store.faults, store.snapshot():
        run = typed(store, run)
        found = {**Runs(store).get(run), **audit(store, session.settings, run)}
    session.output.one(found, _run_text)


def feedback(ids: tuple[str, ...], verb: tuple[str, ...], limit: int | None,
             **options: Any) -> None:  # fmt: skip
    session = Session(options)
    if len(set(verb)) != 1:
        raise UsageError("feedback needs one of --helpful, --unhelpful, --undo and --list: "
                         "see 'lore feedback --help'")  # fmt: skip
    if limit and verb[0] != "list":
        raise UsageError("--limit goes with --list: see 'lore feedback --help'")
    wanted = ids_from(ids, "feedback") if ids or verb[0] in ("helpful", "unhelpful") else []
    if "-" in ids and not wanted and verb[0] == "undo":
        raise LoreError("no ids on stdin: nothing was taken back")
    with session.open() as store, store.faults:
        runs, run = Runs(store), session.settings.run
        notes: Sequence[str] = ()
        if verb[0] == "list":
            rows = runs.ratings(wanted, run, limit or -1)
        elif verb[0] == "undo":
            rows = runs.take_back(wanted, run)
        else:
            rows, notes = runs.rate(wanted, verb[0], run)
    session.say([*notes])
    session.output.list(rows, _ratings_text)


def _one_run(session: Session, run: str, command: str) -> str:
    run = run or session.settings.run
    if not run:
        raise UsageError(f"{command} needs a run: see 'lore run list'")
    return run


def _reads_stdin(values: Sequence[str]) -> bool:
    return "-" in values


def _ids(values: Sequence[str]) -> list[str]:
    """The ids of an option that takes a comma-separated list; ``-`` stands for stdin."""
    return (
        ids_from([id for value in values for id in value.split(",")], "run finish")
        if values
        else []
    )


# --- text for a terminal


def _counts(row: dict[str, Any]) -> str:
    names = ("helpful", "unhelpful", "unrated")
    return ", ".join(f"{row[name]} {name}" for name in names)


def _outcome_text(row: dict[str, Any]) -> str:
    return f"{row['state']}  {bold(row['id'])}  {_counts(row)}\n"


def _runs_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(map(_line, rows)) or "no runs\n"


def _line(row: dict[str, Any]) -> str:
    task = f"  {row['task']}" if row["task"] else ""
    return f"{row['state']:<8}  {bold(row['id'])}{task}  " + dim(_counts(row)) + "\n"


def _run_text(row: dict[str, Any]) -> str:
    return (
        _line(row)
        + "".join(
            f"{record['position'] or '-':>6}  {record['rating'] or '':<9}  {bold(record['id'])}"
            f"  {record['title']}\n"
            for record in row["records"]
        )
        + _diversity_text(row["diversity"])
    )


def _diversity_text(alike: dict[str, Any]) -> str:
    if not alike["answers"]:
        return ""
    named = f" ({alike['category']})" if alike["category"] else ""
    return dim(f"of one category: {alike['share']:.0%} of the top five, "
               f"at most {alike['most']:.0%}{named}") + "\n"  # fmt: skip


def _ratings_text(rows: Sequence[dict[str, Any]]) -> str:
    return (
        "".join(
            f"{row['rating'] or 'unrated':<9}  {bold(row['id'])}  " + dim(row["run"]) + "\n"
            for row in rows
        )
        or "no ratings\n"
    )
