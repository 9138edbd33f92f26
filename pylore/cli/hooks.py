"""``lore hook run``: somebody waits for it, who wants no error of it."""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError, UsageError
from ..system import config
from ..terminal.output import note, write
from .reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..app.engine import Engine
    from ..store import Store
    from .declaration import OldCommand

CPU, WALL = 0.5, 3.0
"""Seconds of the processor, and of the clock, after which an agent or a commit has no answer.

What a hook costs is processor time. The clock only bounds the wait for others: on a busy
machine it runs on while the hook does not.
"""

LONG_CPU, LONG_WALL = 5.0, 30.0
"""The same of what nobody waits for, or what writes down what would be lost."""

_SHORTEST_SLEEP = 0.01
_LONGEST_COMMIT = 10_000_000
_LONG = ("post-commit", "shell")


def run_command(argv: Sequence[str], command: OldCommand) -> None:
    """``lore hook run``: prints what the agent accepts, or nothing; never fails."""
    from _thread import start_new_thread

    is_long = bool(argv) and argv[0] in _LONG
    start_new_thread(end_in_time, (LONG_CPU, LONG_WALL) if is_long else (CPU, WALL))
    try:
        config.load(os.environ)
        write(_answer(**read(argv, command)))
        sys.stdout.flush()
    except Exception as error:
        _say(error)
    os._exit(0)


def _say(why: Exception | str) -> None:
    """Say why there is no answer where ``LORE_HOOK_DEBUG`` has it: a path, or 1 for stderr."""
    wanted = os.environ.get("LORE_HOOK_DEBUG")
    if not wanted:
        return
    if isinstance(why, Exception) and not isinstance(why, LoreError):
        from .runtime import report_bug

        why = report_bug(why, "hook")
    if "/" in wanted:
        _log(wanted, str(why))
    else:
        note(str(why))


def _log(path: str, why: str) -> None:
    from ..core.text import one_line, printable
    from ..core.times import now
    from ..system.files import open_private_log

    words = " ".join(sys.argv[1:])
    line = printable(one_line(f"{now()} {words}: {why}"))
    try:
        number = open_private_log(path)
        os.write(number, f"{line}\n".encode("utf-8", "replace"))
        os.close(number)
    except OSError as error:
        note(f"{path}: {error.strerror}: let LORE_HOOK_DEBUG name a file that can be written")


def _answer(event: str, client: str | None, settings: Mapping[str, str], **_: object) -> str:
    if event == "shell" and client == "shell":
        return _keep_prompt_line(settings)
    if event in ("pre-commit", "post-commit") and client == "git":
        return _about_commit(settings, made=event == "post-commit")
    from ..hooks.install import AGENTS, EVENTS

    agent = AGENTS.get(client or "")
    if agent is None or event not in EVENTS:
        raise UsageError("give an event and --client: see 'lore hook run --help'")
    from ..hooks.events import LONGEST, answer_event, read_event

    sent = read_event(sys.stdin.buffer.read(LONGEST + 1))
    if sent is None:
        raise UsageError("stdin is not the JSON of an event")
    with _Engine(settings) as engine:
        text = answer_event(engine, agent, event, sent) if engine else ""
        if engine and not text:
            _say("nothing that is new bears on it")
    return text


def _about_commit(settings: Mapping[str, str], *, made: bool) -> str:
    from ..hooks.git_events import HookedCommit, keep_learned, learned, lines_of, warnings

    commit = HookedCommit(sys.stdin.buffer.read(_LONGEST_COMMIT), made=made)
    lessons = learned(commit.message)
    if not (lessons if made else commit.files):
        return ""
    with _Engine(settings) as engine:
        if not made:
            return lines_of(warnings(engine, commit.files, os.getcwd())) if engine else ""
        if engine is None:
            return lines_of(["what the commit teaches is not kept, since this store is not "
                             "trusted: run 'lore store trust' if it is yours"])  # fmt: skip
        ids = keep_learned(engine, commit)
        return lines_of(f"{id} is staged: 'lore confirm {id}' keeps it" for id in ids)


def _keep_prompt_line(settings: Mapping[str, str]) -> str:
    from ..hooks.prompt_line import PromptLine, line_about_changes

    kept = PromptLine(os.environ.get("LORE_PROJECT", ""))
    if not kept.fits or kept.is_fresh() or kept.lock() is None:
        return ""
    with _Engine(settings) as engine:
        kept.write(line_about_changes(engine) if engine else "")
    return ""


class _Engine:
    """The engine of this folder's store in a ``with`` block; None where it is not trusted."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        from ..core.settings import from_environment

        self._settings = from_environment(settings)
        self._store: Store | None = None

    def __enter__(self) -> Engine | None:
        from ..app.engine import Engine
        from ..system.projects import is_trusted
        from .runtime import data_folder, open_for_reading, project_folder, project_root

        if project_folder() and not is_trusted(data_folder()):
            _say(f"{project_folder()} is not trusted: run 'lore store trust' to get what others "
                 "shared")  # fmt: skip
            return None
        self._store = open_for_reading(self._settings)
        return Engine(self._store, self._settings, project_root())

    def __exit__(self, *error: object) -> None:
        if self._store:
            self._store.close()


def end_in_time(cpu: float, wall: float) -> None:
    """End this process once it has used so many seconds of the processor, or of the clock."""
    from time import monotonic, process_time, sleep

    used, end = process_time() + cpu, monotonic() + wall
    while (left := min(used - process_time(), end - monotonic())) > 0:
        sleep(max(left, _SHORTEST_SLEEP))
    if process_time() >= used:
        _say(f"no answer within {cpu:g} s of processor time: see 'lore doctor'")
    else:
        _say(f"no answer within {wall:g} s: the machine is busy, or the store is being written")
    os._exit(0)
