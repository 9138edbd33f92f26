"""The command hook: install hooks of agents, git and shells, and respond to them.

A hook has half a second of CPU time: functions import only the modules they need.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError, UsageError
from ..hooks.agents import AGENTS, EVENTS, GIT, TIMEOUT, Sent, change, is_installed, place_of
from ..system import config
from ..system.files import SHARED, is_trusted
from ..system.programs import exit_at_once, find_program
from ..terminal import note, write
from .command import Group, argument, command, exclusive, option
from .session import data_folder, project_folder, project_root, report_bug

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..app import Engine
    from .session import Session

HOOK = Group(
    "hook",
    """\
Show relevant records to agents, in commits and in prompts.

Each record is shown once after a session's overview, only from stores that you made or trust.""",
)

_SYNC = ("merge", "sync")


@command("hook install [options] AGENT")
def install(
    session: Session,
    agent: str = argument("AGENT", choices=(*AGENTS, GIT, *_SYNC)),
    *,
    user: bool = option("--user", "your own settings (default: codex, gemini, cursor)"),
    shared: bool = option("--shared", "the settings in the repository"),
    remove: bool = option("--remove", "remove the entries"),
) -> None:
    """Install lore's hooks for an agent (claude, …) or for git (git, merge, sync).

    git: pre-commit prints records about the staged files; post-commit stages lines 'Lesson: …',
    'Decision: …', 'Failure: …' and 'Pattern: …' of the message. merge: git merges
    .lore/knowledge.jsonl by record. sync: also runs 'lore sync' in git's hooks.
    """
    from ..hooks.git_events import git_hooks

    scope = exclusive(user=user, shared=shared).removeprefix("--")
    if agent not in AGENTS and scope:
        raise UsageError(f"hooks of {agent} belong to this clone: remove --{scope}")
    if agent not in AGENTS and not project_folder():
        raise LoreError("no project here: run 'lore init' first")
    if agent == GIT:
        tree, lines = git_hooks(project_folder())
        done = tree.remove_lines(lines) if remove else tree.install_lines(lines)
    elif agent in _SYNC:
        from ..formats.export import FILE
        from ..system.git_setup import Repository

        file = f"{SHARED}/{FILE}"
        repository = Repository(project_folder(), file)
        done = repository.uninstall() if remove else repository.install(hooks=agent == "sync")
        if not remove and repository.is_ignored():
            session.say([f"{file} is ignored by git: take it out of .gitignore to share it"])
    else:
        one = AGENTS[agent]
        scope = scope or ("local" if one.local else "user")
        place = place_of(one, scope, os.getcwd())
        changed = change(one, place, everywhere=scope == "user", remove=remove)
        state = "removed" if remove else "installed"
        done = iter([(place, state if changed else "unchanged", "")])
    for place, state, why in (changed_files := [*done]):
        if state == "left":
            note(f"{place} was left as it is: {why}")
    _print(session, [(agent, scope or "local", *one[:2]) for one in changed_files])
    if not remove and find_program("lore") is None:
        session.say(["the hooks call 'lore', which is not on the PATH: see 'make install'"])


@command("hook status")
def status(session: Session) -> None:
    """List where hooks are installed."""
    from ..formats.export import FILE
    from ..hooks.git_events import git_hooks
    from ..system.git_setup import DRIVER, HOOKS, PROGRAM, Repository

    places = (
        (one, scope, place_of(one, scope, os.getcwd()))
        for one in AGENTS.values()
        for scope in one.places
    )
    rows = [(one.name, scope, place) for one, scope, place in places if is_installed(one, place)]
    try:
        tree, lines = git_hooks(project_folder() or ".")
        rows += [(GIT, "local", place) for place in tree.hooks_with_lines(lines)]
        repository = Repository(project_folder() or ".", f"{SHARED}/{FILE}")
        if repository.read("config", "--local", DRIVER) == PROGRAM:
            rows.append(("merge", "local", DRIVER))
        rows += [("sync", "local", place) for place in repository.hooks_with_lines(HOOKS)]
    except LoreError:
        pass
    _print(session, ((*row, "installed") for row in rows))


@command("hook run EVENT [--client AGENT]", needs_config=False)
def run_hook(
    session: Session,
    event: str = argument("EVENT", choices=(*EVENTS, "pre-commit", "post-commit", "shell")),
    *,
    client: str = option("--client AGENT", "the agent that calls", "", choices=[*AGENTS]),
) -> None:
    """Answer an event of an agent or of git.

    Reads JSON from stdin; always exits 0. LORE_HOOK_DEBUG=1 prints why there is no answer.
    """
    from _thread import start_new_thread

    session.quiet = True
    start_new_thread(end_in_time, _LONG.get(event, (CPU, WALL)))
    if event not in _LONG:
        session.given.setdefault("busy_timeout", "1")
    try:
        fields = _fields() if client else None
        config.load(os.environ)
        here = project_folder()
        if here and not is_trusted(data_folder()):
            raise LoreError(f"{here} is not trusted: run 'lore store trust' if it is yours")
        with session.engine() as engine:
            write(_answer(engine, event, client, fields))
        sys.stdout.flush()
    except Exception as error:
        debug(error)
        if event == "post-commit":
            _note_lost_lessons(error)
    os._exit(0)


def _print(session: Session, rows: Iterable[tuple[str, str, str, str]]) -> None:
    from ..terminal.text import columns, each

    found = [dict(zip(("id", "scope", "file", "state"), row, strict=True)) for row in rows]
    session.output.list(found, each(columns("state id scope file"), "no hooks\n"))
    if found and project_folder() and not is_trusted(data_folder()):
        silent = "so hooks leave out what others shared there: run 'lore store trust'"
        session.say([f"{project_folder()} is not trusted, {silent}"])


# --- responses

CPU = 0.5
"""Maximum CPU time of a hook in seconds."""

WALL = TIMEOUT / 2
"""Maximum wall time in seconds: on a busy machine a hook waits for the CPU."""

_LONG = {"post-commit": (5.0, 30.0), "shell": (5.0, 30.0)}
"""The limits of hooks that run in the background, or that would lose data."""

_LONGEST = 10_000_000
"""Maximum size of an event, and of the names of staged files, in bytes."""


def end_in_time(cpu: float, wall: float) -> None:
    """End this process once it has used so many seconds of the processor, or of the clock."""
    from time import monotonic, process_time, sleep

    used, end = process_time() + cpu, monotonic() + wall
    while (left := min(used - process_time(), end - monotonic())) > 0:
        sleep(max(left, 0.01))
    if process_time() >= used:
        debug(f"no answer within {cpu:g} s of processor time: see 'lore doctor'")
    else:
        debug(f"no answer within {wall:g} s: the machine is busy, or the store is being written")
    exit_at_once()


def debug(why: Exception | str) -> None:
    """Print the reason for an empty response on stderr, if ``LORE_HOOK_DEBUG`` is set."""
    if not os.environ.get("LORE_HOOK_DEBUG"):
        return
    if isinstance(why, Exception) and not isinstance(why, LoreError):
        why = report_bug(why, "hook")
    note(str(why))


def _fields() -> dict[str, Any]:
    """Read the event of an agent, and enter the workspace: cursor runs a user's hooks elsewhere."""
    from ..core.json import parse_object

    fields = parse_object(sys.stdin.buffer.read(_LONGEST + 1), _LONGEST, storable=False)
    given = fields.get("workspace_roots")
    folders = filter(os.path.isdir, map(str, given if isinstance(given, list) else ()))
    roots = [os.path.join(folder, "") for folder in folders]
    if roots and not os.path.join(os.getcwd(), "").startswith((*roots,)):
        os.chdir(roots[0])
    return fields


def _answer(engine: Engine, event: str, client: str, fields: dict[str, Any] | None) -> str:
    if event in ("pre-commit", "post-commit", "shell"):
        from ..hooks import git_events as git

        if event == "shell":
            return git.lines_of(git.about_changes(engine))
        if event == "pre-commit":
            staged = sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace").split("\0")
            return git.lines_of(git.warnings(engine, [*filter(None, staged)], os.getcwd()))
        ids = git.keep_learned(engine, *git.last_commit(engine.root))
        return git.lines_of(f"{id} is staged: 'lore confirm {id}' keeps it" for id in ids)
    if fields is None:
        raise UsageError("name the agent: --client AGENT")
    from ..hooks.events import answer_event

    text = answer_event(engine, AGENTS[client], event, Sent(fields, os.getcwd(), engine.root))
    if not text:
        debug("nothing that is new bears on it")
    return text


def _note_lost_lessons(why: Exception) -> None:
    from ..hooks.git_events import last_commit, learned

    try:
        if learned(last_commit(project_root())[0].body):
            note(f"the lessons of the commit are not kept: {why}")
    except LoreError:
        return  # there is no commit
