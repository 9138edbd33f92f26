"""``lore hook run``: an agent waits for it, so no click, and no error that it would see."""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError, UsageError
from ..terminal.output import note, write
from .args import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .declaration import Command

DEADLINE = 1.0
"""Seconds after which an agent has no answer."""


def run_command(argv: Sequence[str], command: Command) -> None:
    """``lore hook run``: prints what the agent accepts, or nothing; never fails."""
    from _thread import start_new_thread

    start_new_thread(_end_in_time, ())
    try:
        write(_answer(argv, command))
        sys.stdout.flush()
    except Exception as error:
        _say(error)
    os._exit(0)


def _say(why: Exception | str) -> None:
    """Why nothing is said, for who looks for it; an agent is not told."""
    if not os.environ.get("LORE_HOOK_DEBUG"):
        return
    if isinstance(why, Exception) and not isinstance(why, LoreError):
        from .bugs import report_bug

        why = report_bug(why, "hook")
    note(str(why))


def _answer(argv: Sequence[str], command: Command) -> str:
    from ..app.engine import Engine
    from ..app.trust import trusts
    from ..core.settings import from_environment
    from ..hooks.agents import AGENTS, EVENTS
    from ..hooks.events import LONGEST, answer_event, read_event
    from .runtime import data_folder, open_for_reading, project_root

    given = parse(argv, command)
    agent = AGENTS.get(given.last("client") or "")
    if agent is None or given.positionals[:1] not in [[event] for event in EVENTS]:
        raise UsageError("give an event and --client: see 'lore hook run --help'")
    sent = read_event(sys.stdin.buffer.read(LONGEST + 1))
    if sent is None:
        raise UsageError("stdin is not the JSON of an event")
    settings = from_environment(given.flags)
    with open_for_reading(settings) as store:
        if os.environ.get("LORE_STORE_SCOPE") == "project" and not trusts(data_folder()):
            raise LoreError(f"{data_folder()} is not trusted: run 'lore trust' if it is yours")
        text = answer_event(
            Engine(store, settings, project_root()), agent, given.positionals[0], sent
        )
    if not text:
        _say("nothing that is new bears on it")
    return text


def _end_in_time() -> None:
    from time import sleep

    sleep(DEADLINE)
    os._exit(0)
