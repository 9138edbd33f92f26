"""``lore hook run``: an agent, a commit or a prompt waits for it, and it never fails."""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError, UsageError
from ..hooks.agents import AGENTS, EVENTS, TIMEOUT, Sent
from ..system import config
from ..terminal.output import note, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..app.engine import Engine

CPU = 0.5
"""Seconds of processor time after which a hook ends without an answer."""

WALL = TIMEOUT / 2
"""Seconds on the clock after which it does: on a busy machine they pass while it does nothing."""

LONG_CPU, LONG_WALL = 5.0, 30.0
"""The same for hooks that nobody waits for, or that store what would be lost."""

_LONG = ("post-commit", "shell")
_SHORTEST_SLEEP = 0.01
_LONGEST = 10_000_000
"""Maximum size of an event or a commit in bytes; of a longer commit the beginning counts."""

_LONGEST_LOG = 1 << 20


def run(event: str, client: str, given: Mapping[str, str]) -> None:
    """Print what the client accepts, or nothing, and end the process with 0."""
    from _thread import start_new_thread

    start_new_thread(end_in_time, (LONG_CPU, LONG_WALL) if event in _LONG else (CPU, WALL))
    try:
        config.load(os.environ)
        write(_answer(event, client, given if event in _LONG else {"busy_timeout": "1", **given}))
        sys.stdout.flush()
    except Exception as error:
        say_why(error)
    os._exit(0)


def end_in_time(cpu: float, wall: float) -> None:
    """End this process once it has used so many seconds of the processor, or of the clock."""
    from time import monotonic, process_time, sleep

    used, end = process_time() + cpu, monotonic() + wall
    while (left := min(used - process_time(), end - monotonic())) > 0:
        sleep(max(left, _SHORTEST_SLEEP))
    if process_time() >= used:
        say_why(f"no answer within {cpu:g} s of processor time: see 'lore doctor'")
    else:
        say_why(f"no answer within {wall:g} s: the machine is busy, or the store is being written")
    os._exit(0)


def say_why(why: Exception | str) -> None:
    """Log why there is no answer in the file that ``LORE_HOOK_DEBUG`` names."""
    path = os.environ.get("LORE_HOOK_DEBUG")
    if not path:
        return
    if isinstance(why, Exception) and not isinstance(why, LoreError):
        from .runtime import report_bug

        why = report_bug(why, "hook")
    from ..core.text import one_line, printable
    from ..core.times import now
    from ..system.files import append_line

    line = printable(one_line(f"{now()} {' '.join(sys.argv[1:])}: {why}"))
    try:
        append_line(path, f"{line}\n".encode("utf-8", "replace"), _LONGEST_LOG)
    except OSError as error:
        note(f"{path}: {error.strerror}: let LORE_HOOK_DEBUG name a file that can be written")


def _answer(event: str, client: str, given: Mapping[str, str]) -> str:
    if client == "shell" and event == "shell":
        from ..hooks.prompt_line import line_about_changes

        with _engine(given) as engine:
            return line_about_changes(engine)
    if client == "git" and event in ("pre-commit", "post-commit"):
        return _about_commit(given, made=event == "post-commit")
    if client not in AGENTS or event not in EVENTS:
        raise UsageError("give an event and --client: see 'lore hook run --help'")
    from ..core.json import parse_object
    from ..hooks.events import answer_event

    sent = Sent(parse_object(sys.stdin.buffer.read(_LONGEST + 1), _LONGEST), os.getcwd())
    with _engine(given) as engine:
        text = answer_event(engine, AGENTS[client], event, sent)
    if not text:
        say_why("nothing that is new bears on it")
    return text


def _about_commit(given: Mapping[str, str], *, made: bool) -> str:
    from ..hooks.git_events import HookedCommit, keep_learned, learned, lines_of, warnings

    commit = HookedCommit(sys.stdin.buffer.read(_LONGEST), made=made)
    if not (learned(commit.message) if made else commit.files):
        return ""
    try:
        with _engine(given) as engine:
            if not made:
                return lines_of(warnings(engine, commit.files, os.getcwd()))
            ids = keep_learned(engine, commit)
    except LoreError as error:
        if not made:
            raise
        return lines_of([f"the lessons of the commit are not kept: {error}"])
    return lines_of(f"{id} is staged: 'lore confirm {id}' keeps it" for id in ids)


def _engine(given: Mapping[str, str]) -> Engine:
    """Return the engine of this folder's store; raise LoreError if the store is not trusted."""
    from ..app.engine import Engine
    from ..core.settings import Settings
    from ..system.projects import is_trusted
    from .runtime import data_folder, open_for_reading, project_folder, project_root

    settings = Settings.load(given)
    if project_folder() and not is_trusted(data_folder()):
        raise LoreError(f"{project_folder()} is not trusted: run 'lore store trust' if it is yours")
    return Engine(open_for_reading(settings), settings, project_root())
