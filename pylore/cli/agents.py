"""Commands for agents: run, hook.

A hook has half a second of processor time: each function imports what it needs.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError
from ..hooks.agents import AGENTS, EVENTS, GIT
from ..terminal.output import note, write
from .command import Group, argument, command, option
from .runtime import data_folder, ids_from, project_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..hooks.agents import Agent
    from ..system.edits import Done
    from ..system.git_setup import ProjectTree
    from .session import Session

MANY = 1_000_000_000

# --- run

RUN = Group("run", """\
Record what a piece of work was shown, and rate what helped.

A run is one attempt at a task. With LORE_RUN set to its id, or --run ID, every search records
its results in the run. Records rated helpful rank higher later.""")  # fmt: skip


@command("run start [--task ID]")
def start(
    session: Session,
    *,
    task: str = option("--task ID", "the task that the run is a part of", "", complete="ids"),
) -> None:
    """Start a run and print its id.

    \b
    export LORE_RUN=$(lore run start --task task-1a2b3c4d)
    """
    from ..records.runs import Runs

    with session.open() as store:
        id = Runs(store).start(task)
    if session.form_given():
        session.output.one({"id": id, "state": "open"}, lambda row: f"{row['id']}\n")
    else:
        write(f"{id}\n")


@command("run finish [options] [RUN]", settings=("run",))
def finish(
    session: Session,
    run: str = argument("[RUN]", default="", complete="runs"),
    *,
    helpful: tuple[str, ...] = option("--helpful ID,…", "what helped", complete="ids"),
    unhelpful: tuple[str, ...] = option("--unhelpful ID,…", "what did not", complete="ids"),
) -> None:
    """End a run, and link it to every record that it was shown.

    Rated records need not have been shown. A lone - in place of ids reads them from stdin.

    \b
    lore run finish --helpful decision-1a2b3c4d,lesson-5e6f7a8b
    """
    from ..records.runs import Runs
    from ..store.resolve_id import complete_id

    run = _one_run(session, run, "run finish")
    with session.open() as store:
        if "-" in helpful and "-" in unhelpful:
            raise UsageError("stdin is either --helpful or --unhelpful: give - once")
        rated = [ids_from(ids, "run finish") if ids else [] for ids in (helpful, unhelpful)]
        result = Runs(store).finish(complete_id(store, run), *rated)
    session.say(result.notes)
    row = {"id": result.id, "state": "finished", "used": result.used, "helpful": result.helpful,
           "unhelpful": result.unhelpful, "unrated": result.unrated}  # fmt: skip
    session.output.one(row, lambda row: f"{row['state']}  {row['id']}  {_counts(row)}\n")


@command("run list [options]")
def list_runs(
    session: Session,
    *,
    limit: int | None = option("-n, --limit N", "how many", low=1, high=MANY),
) -> None:
    """List the runs, the newest first, each with counts of what it was shown."""
    from ..records.runs import Runs
    from ..terminal.text import each

    with session.open() as store, store.faults:
        found = Runs(store).summaries(limit or -1)
    session.output.list(found, each(_run_line, "no runs\n"))


@command("run show [RUN]", settings=("run",))
def show(session: Session, run: str = argument("[RUN]", default="", complete="runs")) -> None:
    """Show a run, with each record that it was shown.

    Of each record its best position, the search or question, and its rating. coverage: how many
    were shown and rated; diversity: which share of the top five of an answer is of one category.
    """
    from ..app.run_audit import audit
    from ..records.runs import Runs
    from ..store.resolve_id import complete_id

    run = _one_run(session, run, "run show")
    with session.open() as store, store.faults, store.snapshot():
        run = complete_id(store, run)
        found = {**Runs(store).get(run), **audit(store, session.settings, run)}
    session.output.one(found, _run_text)


@command("run rate [options] ID…", settings=("run",))
def rate(
    session: Session,
    ids: tuple[str, ...] = argument("[ID…]", complete="ids"),
    *,
    helpful: bool = option("--helpful", "these helped"),
    unhelpful: bool = option("--unhelpful", "these did not"),
    undo: bool = option(
        "--undo", "take back the newest rating of each; without an id, the newest of all"
    ),
    listing: bool = option("--list", "list the ratings, the newest first"),
    limit: int | None = option("-n, --limit N", "how many to list", low=1, high=MANY),
) -> None:
    """Say which records helped and which did not.

    Helpful records rank higher in later searches, others lower; no result is left out. A record
    has one rating a run; without a run the rating belongs to the day. A lone - reads ids from
    stdin.

    \b
    lore search "token rotation" --ids -n 1 | lore run rate --helpful -
    """
    from ..records.runs import Runs
    from ..terminal.text import each

    see = "see 'lore run rate --help'"
    if helpful + unhelpful + undo + listing != 1:
        raise UsageError(f"give one of --helpful, --unhelpful, --undo and --list: {see}")
    if limit and not listing:
        raise UsageError(f"--limit goes with --list: {see}")
    wanted = ids_from(ids, "run rate") if ids or helpful or unhelpful else []
    if "-" in ids and not wanted and undo:
        raise LoreError("no ids on stdin: nothing was taken back")
    notes: Sequence[str] = ()
    with session.open() as store, store.faults:
        runs, run = Runs(store), session.settings.run
        if listing:
            rows = runs.ratings(wanted, run, limit or -1)
        elif undo:
            rows = runs.take_back(wanted, run)
        else:
            rows, notes = runs.rate(wanted, "helpful" if helpful else "unhelpful", run)
    session.say([*notes])
    session.output.list(rows, each(_rating_text, "no ratings\n"))


def _one_run(session: Session, run: str, name: str) -> str:
    run = run or session.settings.run
    if not run:
        raise UsageError(f"{name} needs a run: see 'lore run list'")
    return run


def _counts(row: dict[str, Any]) -> str:
    names = ("helpful", "unhelpful", "unrated")
    return ", ".join(f"{row[name]} {name}" for name in names)


def _run_line(row: dict[str, Any]) -> str:
    from ..terminal.text import bold, dim

    task = f"  {row['task']}" if row["task"] else ""
    return f"{row['state']:<8}  {bold(row['id'])}{task}  " + dim(_counts(row)) + "\n"


def _run_text(row: dict[str, Any]) -> str:
    from ..terminal.text import bold, dim

    text = _run_line(row)
    for record in row["records"]:
        head = f"{record['position'] or '-':>6}  {record['rating'] or '':<9}"
        text += f"{head}  {bold(record['id'])}  {record['title']}\n"
    alike = row["diversity"]
    if alike["answers"]:
        name = f" ({alike['category']})" if alike["category"] else ""
        shares = f"{alike['share']:.0%} of the top five, at most {alike['most']:.0%}{name}"
        text += dim(f"of one category: {shares}") + "\n"
    return text


def _rating_text(row: dict[str, Any]) -> str:
    from ..terminal.text import bold, dim

    return f"{row['rating'] or 'unrated':<9}  {bold(row['id'])}  {dim(row['run'])}\n"


# --- hook

HOOK = Group("hook", """\
Give agents, commits and prompts a few lines of what is known, at the right moment.

Agents call hooks when a session begins, at a prompt and around their tools; git calls them
around a commit. Each line comes once a session, from stores that you made or trust alone. 'lore
run list' has what was shown.""")  # fmt: skip

_USER = "your own settings, for all projects"
_LOCAL = "the settings of this clone alone (claude)"
_SHARED = "the settings of the project, which git shares"


@command("hook install [options] AGENT")
def install(
    session: Session,
    agent: str = argument("AGENT", choices=(*AGENTS, GIT)),
    *,
    user: bool = option("--user", _USER),
    local: bool = option("--local", _LOCAL),
    shared: bool = option("--shared", _SHARED),
    dry_run: bool = option("--dry-run", "print the file as it would be"),
) -> None:
    """Put lore's entries into the settings of an agent, or into git's hooks.

    By default claude's go into this clone's settings, those of codex, gemini and cursor into
    yours. The file is kept as NAME.lore-backup; one with comments is left alone, and the lines
    to paste are printed.

    git's pre-commit prints what is known of the staged files, and refuses nothing; post-commit
    stages the lines 'Lesson: …', 'Decision: …', 'Failure: …' and 'Pattern: …' of a message.

    \b
    lore hook install claude
    lore hook install git
    """
    from ..hooks.install import install as put
    from ..hooks.install import preview

    scope = _scope(user=user, local=local, shared=shared)
    if agent == GIT:
        tree, lines = _git_hooks(scope)
        if dry_run:
            for name, text in lines.items():
                write("\n  ".join([f"{tree.hook(name)}:", *text]) + "\n")
            return
        _say_unreachable(session)
        _say_untrusted(session)
        _print_done(session, tree.put_into_hooks(lines))
        return
    one, scope, place = _settings_file(agent, scope)
    if dry_run:
        write(preview(one, place))
        return
    changed = put(one, place, everywhere=scope == "user")
    _say_unreachable(session)
    state = "installed" if changed else "unchanged"
    session.output.one(_hook_row(agent, scope, place, state), _hook_text)


@command("hook uninstall [options] AGENT")
def uninstall(
    session: Session,
    agent: str = argument("AGENT", choices=(*AGENTS, GIT)),
    *,
    user: bool = option("--user", _USER),
    local: bool = option("--local", _LOCAL),
    shared: bool = option("--shared", _SHARED),
) -> None:
    """Take lore's entries out of an agent's settings, or its lines out of git's hooks.

    Only entries with exactly the command that install writes go. A settings file that has not
    changed in between is restored byte for byte.
    """
    from ..hooks.install import uninstall as take

    scope = _scope(user=user, local=local, shared=shared)
    if agent == GIT:
        tree, lines = _git_hooks(scope)
        _print_done(session, tree.take_out_of_hooks(lines))
        return
    one, scope, place = _settings_file(agent, scope)
    state = "removed" if take(one, place, everywhere=scope == "user") else "unchanged"
    session.output.one(_hook_row(agent, scope, place, state), _hook_text)


@command("hook status")
def status(session: Session) -> None:
    """List where hooks are installed, and say why they may print nothing."""
    from ..hooks.install import is_installed, place_of
    from ..terminal.text import each

    rows = []
    for one in AGENTS.values():
        for scope in one.places:
            place = place_of(one, scope, os.getcwd())
            if is_installed(one, place):
                rows.append(_hook_row(one.name, scope, place, "installed"))
    try:
        tree, lines = _git_hooks("")
        files = tree.hooks_with_lines(lines)
    except LoreError:
        files = []
    rows += [_hook_row(GIT, "local", place, "installed") for place in files]
    _say_untrusted(session)
    session.output.list(rows, each(_hook_text))


@command("hook run EVENT --client AGENT", needs_config=False)
def run_hook(
    session: Session,
    event: str = argument("EVENT", choices=(*EVENTS, "pre-commit", "post-commit", "shell")),
    *,
    client: str = option("--client AGENT", "the caller", "", choices=(*AGENTS, GIT, "shell")),
) -> None:
    """Answer an event: what the entries of 'lore hook install' call.

    Reads JSON from an agent on stdin and prints what it accepts, or nothing. It exits with 0
    whatever happens, after half a second of processor time, or half of the client's time-out.
    LORE_HOOK_DEBUG=FILE logs why nothing was printed (a path with a /); 1 prints it on stderr.

    \b
    echo '{"prompt":"why signed tokens"}' | lore hook run prompt --client claude
    """
    from .hooks import run

    run(event, client, session.given)


@command("hook shell SHELL")
def shell(session: Session, name: str = argument("SHELL", choices=("bash", "zsh"))) -> None:
    """Print what a shell needs to show a line on changed files before its prompt.

    At a prompt only built-ins of the shell run; every ten seconds at most the line is made in
    the background.

    \b
    eval "$(lore hook shell bash)"     # in ~/.bashrc
    eval "$(lore hook shell zsh)"      # in ~/.zshrc
    """
    from ..system.programs import own_files

    with open(own_files("lib/prompt.bash"), encoding="utf-8") as script:
        write(script.read())


def _scope(**given: bool) -> str:
    """Return the name of the one that is given; empty if none is."""
    names = [name for name, value in given.items() if value]
    if len(names) > 1:
        raise UsageError(f"--{names[0]} and --{names[1]} exclude each other: give one")
    return names[0] if names else ""


def _settings_file(name: str, scope: str) -> tuple[Agent, str, str]:
    """Return an agent, and the scope and path of its settings file."""
    from ..hooks.install import place_of

    agent = AGENTS[name]
    scope = scope or ("local" if "local" in agent.places else "user")
    return agent, scope, place_of(agent, scope, os.getcwd())


def _git_hooks(scope: str) -> tuple[ProjectTree, dict[str, list[str]]]:
    """Return the work tree that the project lies in, and the lines for its hooks."""
    from ..hooks.install import git_hooks

    if scope not in ("", "local"):
        raise UsageError(f"git has no --{scope} hooks: they are of this clone alone")
    if not project_folder():
        raise LoreError("hooks of git are a project's: run 'lore init' in one")
    return git_hooks(project_folder())


def _say_unreachable(session: Session) -> None:
    from ..system.programs import find_program

    if find_program("lore") is None:
        session.say(["there is no 'lore' on the PATH, which the entries call: see 'make install'"])


def _say_untrusted(session: Session) -> None:
    from ..system.projects import is_trusted

    if project_folder() and not is_trusted(data_folder()):
        session.say([f"{project_folder()} is not trusted, so hooks say nothing of what others "
                     "shared there: run 'lore store trust'"])  # fmt: skip


def _print_done(session: Session, done: Iterable[Done]) -> None:
    from ..terminal.text import each

    rows = []
    for place, state, why in done:
        if state == "left":
            note(f"{place} was left as it is: {why}")
        rows.append(_hook_row(GIT, "local", place, state))
    session.output.list(rows, each(_hook_text))


def _hook_row(agent: str, scope: str, place: str, state: str) -> dict[str, Any]:
    return {"id": agent, "scope": scope, "file": place, "state": state}


def _hook_text(row: dict[str, Any]) -> str:
    return f"{row['state']}  {row['id']}  {row['scope']}  {row['file']}\n"
