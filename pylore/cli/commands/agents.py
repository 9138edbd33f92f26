"""hook install, hook uninstall, hook status: what agents and git are told of lore."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...app.run_audit import audit
from ...core.errors import LoreError, UsageError
from ...hooks.install import (
    AGENTS,
    GIT,
    Agent,
    GitHooks,
    agent_named,
    default_scope,
    is_installed,
    place_of,
    preview,
)
from ...hooks.install import install as put
from ...hooks.install import uninstall as take
from ...records.runs import Runs
from ...store.resolve_id import complete_id
from ...system.programs import find_program
from ...system.projects import is_trusted
from ...terminal.output import note, write
from ...terminal.text import bold, dim, each
from ..runtime import data_folder, forms_in, ids_from, project_folder
from ..session import Session

if TYPE_CHECKING:
    from ...system.git_setup import Done


def install(agent: str, scope: str | None, *, dry_run: bool, **options: Any) -> None:
    session = Session(options)
    if agent == GIT:
        hooks = _git_hooks(scope)
        if dry_run:
            write(hooks.preview())
            return
        _say_unreachable(session)
        _say_silence(session)
        _print_done(session, hooks.install())
        return
    one, scope, place = _settings_file(agent, scope)
    if dry_run:
        write(preview(one, place))
        return
    changed = put(one, place, everywhere=scope == "user")
    _say_unreachable(session)
    session.output.one(_row(agent, scope, place, "installed" if changed else "unchanged"), _text)


def uninstall(agent: str, scope: str | None, **options: Any) -> None:
    session = Session(options)
    if agent == GIT:
        _print_done(session, _git_hooks(scope).uninstall())
        return
    one, scope, place = _settings_file(agent, scope)
    changed = take(one, place, everywhere=scope == "user")
    session.output.one(_row(agent, scope, place, "removed" if changed else "unchanged"), _text)


def status(**options: Any) -> None:
    session = Session(options)
    rows = []
    for one in AGENTS.values():
        for scope in one.places:
            place = place_of(one, scope, os.getcwd())
            if is_installed(one, place):
                rows.append(_row(one.name, scope, place, "installed"))
    rows += [_row(GIT, "local", place, "installed") for place in _hooks_of_git()]
    _say_silence(session)
    session.output.list(rows, each(_text))


def _settings_file(name: str, scope: str | None) -> tuple[Agent, str, str]:
    """Return an agent, and whose settings are meant and where: the usual ones, if not said."""
    agent = agent_named(name)
    scope = scope or default_scope(agent)
    return agent, scope, place_of(agent, scope, os.getcwd())


def _git_hooks(scope: str | None) -> GitHooks:
    """Return the hooks of the repository that the project in use lies in."""
    if scope not in (None, "local"):
        raise UsageError(f"git has no --{scope} hooks: they are of this clone alone")
    project = project_folder()
    if not project:
        raise LoreError("hooks of git are a project's: run 'lore init' in one")
    return GitHooks(project)


def _hooks_of_git() -> list[str]:
    """Return the hooks of this project's repository that have lore's lines."""
    try:
        return _git_hooks(None).installed()
    except LoreError:
        return []


def _say_unreachable(session: Session) -> None:
    if find_program("lore") is None:
        session.say(["there is no 'lore' on the PATH, which the entries call: see 'make install'"])


def _say_silence(session: Session) -> None:
    why = _silence()
    if why:
        session.say([why])


def _print_done(session: Session, done: Iterable[Done]) -> None:
    rows = []
    for place, state, why in done:
        if state == "left":
            note(f"{place} was left as it is: {why}")
        rows.append(_row(GIT, "local", place, state))
    session.output.list(rows, each(_text))


def _silence() -> str:
    """Why hooks say nothing here; empty where they do."""
    project = project_folder()
    if not project or is_trusted(data_folder()):
        return ""
    return (f"{project} is not trusted, so hooks say nothing of what others shared there: "
            "run 'lore store trust'")  # fmt: skip


def _row(agent: str, scope: str, place: str, state: str) -> dict[str, Any]:
    return {"id": agent, "scope": scope, "file": place, "state": state}


def _text(row: dict[str, Any]) -> str:
    return f"{row['state']}  {row['id']}  {row['scope']}  {row['file']}\n"


def start(task: str, **options: Any) -> None:
    # An id alone unless a form is asked for: it goes into a variable.
    plain = not forms_in(options) and options["jq"] is None
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
        result = Runs(store).finish(complete_id(store, run), _ids(helpful), _ids(unhelpful))
    session.say(result.notes)
    row = {"id": result.id, "state": "finished", "used": result.used, "helpful": result.helpful,
           "unhelpful": result.unhelpful, "unrated": result.unrated}  # fmt: skip
    session.output.one(row, _outcome_text)


def list_runs(limit: int | None, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = Runs(store).summaries(limit or -1)
    session.output.list(found, each(_line, "no runs\n"))


def show(run: str, **options: Any) -> None:
    session = Session(options)
    run = _one_run(session, run, "run show")
    with session.open() as store, store.faults, store.snapshot():
        run = complete_id(store, run)
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
    session.output.list(rows, each(_rating_text, "no ratings\n"))


def _one_run(session: Session, run: str, command: str) -> str:
    run = run or session.settings.run
    if not run:
        raise UsageError(f"{command} needs a run: see 'lore run list'")
    return run


def _reads_stdin(values: Sequence[str]) -> bool:
    return "-" in values


def _ids(values: Sequence[str]) -> list[str]:
    """Return the ids of an option that takes a comma-separated list; ``-`` stands for stdin."""
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


def _rating_text(row: dict[str, Any]) -> str:
    return f"{row['rating'] or 'unrated':<9}  {bold(row['id'])}  {dim(row['run'])}\n"
