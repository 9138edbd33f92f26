"""Commands for agents: run, hook.

A hook has half a second of processor time: each function imports what it needs.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError
from ..hooks.agents import AGENTS, EVENTS, GIT
from ..terminal.output import note, write
from .command import Group, argument, command, option
from .options import LIMIT, exclusive
from .runtime import data_folder, ids_from, project_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..system.edits import Done
    from ..system.git_setup import ProjectTree
    from .session import Session

_RUN = argument("[RUN]", default="", complete="run")
# --- run

RUN = Group("run", """\
Record what a piece of work was shown, and rate what helped.

With LORE_RUN=ID or --run ID searches record their results.""")  # fmt: skip


@command("run start [--task ID]")
def start(
    session: Session, *, task: str = option("--task ID", "the task it serves", "", complete="ids")
) -> None:
    """Start a run and print its id.

    \b
    export LORE_RUN=$(lore run start --task task-1a2b3c4d)
    """
    from ..records.runs import Runs

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
    helpful: tuple[str, ...] = option("--helpful ID,…", "what helped", complete="ids"),
    unhelpful: tuple[str, ...] = option("--unhelpful ID,…", "what did not", complete="ids"),
) -> None:
    """End a run, and link it to what it was shown.

    \b
    lore run finish --helpful decision-1a2b3c4d,lesson-5e6f7a8b
    """
    from ..records.runs import Runs
    from ..store.resolve_id import complete_id

    run = _one_run(session, run, "run finish")
    with session.open() as store:
        row = Runs(store).finish(complete_id(store, run), helpful, unhelpful).to_dict()
    session.say(row.pop("notes"))
    session.output.one({**row, "state": "finished"}, _run_text)


@command("run list [options]")
def list_runs(session: Session, *, limit: int | None = LIMIT) -> None:
    """List the runs, the newest first."""
    from ..records.runs import Runs
    from ..terminal.text import each

    with session.open() as store, store.faults:
        found = Runs(store).summaries(limit or -1)
    session.output.list(found, each(_run_text, "no runs\n"))


@command("run show [RUN]")
def show(session: Session, run: str = _RUN) -> None:
    """Show a run and what it was shown: best position, query, rating."""
    from ..app.audit import audit
    from ..records.runs import Runs
    from ..store.resolve_id import complete_id

    run = _one_run(session, run, "run show")
    with session.open() as store, store.faults, store.snapshot():
        run = complete_id(store, run)
        found = {**Runs(store).get(run), **audit(store, session.settings, run)}
    session.output.one(found, _run_text)


@command("run rate --helpful|--unhelpful ID…")
def rate(
    session: Session,
    ids: tuple[str, ...] = argument("[ID…]", complete="ids"),
    *,
    helpful: bool = option("--helpful", "these helped"),
    unhelpful: bool = option("--unhelpful", "these did not"),
) -> None:
    """Say what helped: it ranks higher later.

    A lone - reads ids from stdin.

    \b
    lore search "token rotation" --ids -n 1 | lore run rate --helpful -
    """
    from ..records.runs import Runs
    from ..terminal.text import columns, each

    rating = exclusive(helpful=helpful, unhelpful=unhelpful)
    if not rating:
        raise UsageError("give one of --helpful and --unhelpful: see 'lore run rate --help'")
    wanted = ids_from(ids, "run rate")
    with session.open() as store, store.faults:
        rows, notes = Runs(store).rate(wanted, rating.removeprefix("--"), session.settings.run)
    session.say(notes)
    session.output.list(rows, each(columns("rating id run")))


def _one_run(session: Session, run: str, name: str) -> str:
    run = run or session.settings.run
    if not run:
        raise UsageError(f"{name} needs a run: see 'lore run list'")
    return run


def _run_text(row: dict[str, Any]) -> str:
    from ..terminal.text import columns, each

    counts = ", ".join(f"{row[name]} {name}" for name in ("helpful", "unhelpful", "unrated"))
    head = columns("state id task counts")({**row, "task": row.get("task"), "counts": counts})
    return head + each(columns("position rating id title"))(row.get("records", ()))


# --- hook

HOOK = Group("hook", """\
Give agents, commits and prompts a few lines of what is known.

They come once a session, from stores that you made or trust.""")  # fmt: skip


@command("hook install [options] AGENT")
def install(
    session: Session,
    agent: str = argument("AGENT", choices=(*AGENTS, GIT)),
    *,
    user: bool = option("--user", "your settings, for codex, gemini, cursor"),
    shared: bool = option("--shared", "the project's, which git shares"),
    remove: bool = option("--remove", "take them out again"),
) -> None:
    """Put lore's entries into an agent's settings, or git's hooks.

    git's pre-commit prints what is known of the staged files; post-commit stages the lines
    'Lesson: …', 'Decision: …', 'Failure: …' and 'Pattern: …' of a message.
    """
    from ..hooks import install as settings

    scope = exclusive(user=user, shared=shared).removeprefix("--")
    if agent == GIT:
        if scope:
            raise UsageError(f"git has no --{scope} hooks: they are of this clone alone")
        tree, lines = _git_hooks()
        done = noted(tree.take_out_of_hooks(lines) if remove else tree.put_into_hooks(lines))
        rows = [(GIT, "local", place, state) for place, state, _ in done]
    else:
        one = AGENTS[agent]
        scope = scope or ("local" if "local" in one.places else "user")
        place = settings.place_of(one, scope, os.getcwd())
        change = settings.uninstall if remove else settings.install
        changed = change(one, place, everywhere=scope == "user")
        state = "removed" if remove else "installed"
        rows = [(agent, scope, place, state if changed else "unchanged")]
    _print_hooks(session, rows)
    if not remove:
        say_unreachable(session)


@command("hook status")
def status(session: Session) -> None:
    """List where hooks are installed."""
    from ..hooks.install import is_installed, place_of

    places = ((one, scope, place_of(one, scope, os.getcwd()))
              for one in AGENTS.values() for scope in one.places)  # fmt: skip
    rows = [(one.name, scope, place) for one, scope, place in places if is_installed(one, place)]
    try:
        tree, lines = _git_hooks()
        rows += [(GIT, "local", place) for place in tree.hooks_with_lines(lines)]
    except LoreError:
        pass
    _print_hooks(session, [(*row, "installed") for row in rows])


@command("hook run EVENT --client AGENT", needs_config=False)
def run_hook(
    session: Session,
    event: str = argument("EVENT", choices=(*EVENTS, "pre-commit", "post-commit", "shell")),
    *,
    client: str = option("--client AGENT", "the caller", "", choices=(*AGENTS, GIT, "shell")),
) -> None:
    """Answer an event, for the entries of 'lore hook install'.

    Reads JSON on stdin, exits with 0. LORE_HOOK_DEBUG=FILE logs why nothing was printed.
    """
    from .hooks import run

    run(event, client, session.given)


@command("hook shell SHELL")
def shell(session: Session, name: str = argument("SHELL", choices=("bash", "zsh"))) -> None:
    """Print a shell's code for a line before its prompt.

    \b
    eval "$(lore hook shell bash)"     # in ~/.bashrc
    """
    from ..system.programs import own_files

    with open(own_files("lib/prompt.bash"), encoding="utf-8") as script:
        write(script.read())


def _print_hooks(session: Session, rows: Iterable[tuple[str, str, str, str]]) -> None:
    from ..system.projects import is_trusted
    from ..terminal.text import columns, each

    found = [dict(zip(("id", "scope", "file", "state"), row, strict=True)) for row in rows]
    session.output.list(found, each(columns("state id scope file"), "no hooks\n"))
    if found and project_folder() and not is_trusted(data_folder()):
        session.say([f"{project_folder()} is not trusted, so hooks say nothing of what others "
                     "shared there: run 'lore store trust'"])  # fmt: skip


def _git_hooks() -> tuple[ProjectTree, dict[str, list[str]]]:
    """Return the work tree that the project lies in, and the lines for its hooks."""
    from ..hooks.install import git_hooks

    if not project_folder():
        raise LoreError("hooks of git are a project's: run 'lore init' in one")
    return git_hooks(project_folder())


def noted(done: Iterable[Done]) -> list[Done]:
    """Return the changes of files; print a note for each that was left as it is."""
    changes = [*done]
    for place, state, why in changes:
        if state == "left":
            note(f"{place} was left as it is: {why}")
    return changes


def say_unreachable(session: Session) -> None:
    """Say so if the program that entries and hooks call is not on PATH."""
    from ..system.programs import find_program

    if find_program("lore") is None:
        session.say(["there is no 'lore' on the PATH, which is called: see 'make install'"])
