"""Append events of live sessions to the log, as hooks of agents report them."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

from .event_log import append_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hooks.agents import Sent

_WRITERS = (">", "sed", "perl", "tee", "mv", "cp")
"""A shell command without any of these writes no file that it names."""

_LONGEST_CALL = 600
"""Seconds that a call may take: it did not write a file that is older."""


def log_start(agent: str, session: str, here: str, days: int) -> None:
    """Log the start of a session, and keep the log within its limits.

    Raises:
        OSError: the log cannot be written.
    """
    from .events import sweep_events
    from .recent import branch_of

    if days:
        append_event(agent, session, "session", here, [], text=branch_of(here))
    sweep_events(days)


def log_tool(agent: str, sent: Sent, here: str) -> None:
    """Log the call of a tool, as an edit if it wrote files.

    Raises:
        OSError: the log cannot be written.
    """
    written = _written(sent.command, here)
    kind = "edit" if written or sent.edits else "tool"
    append_event(agent, sent.session, kind, sent.tool, written or sent.files, ok=sent.ok)


def _written(command: str, here: str) -> list[str]:
    """Return the files below ``here`` that a shell command names as written, and that changed."""
    if not any(word in command for word in _WRITERS):
        return []
    from .shell import written_files

    since = time.time() - _LONGEST_CALL
    paths = map(os.path.normpath, written_files(command, here))
    inside = [path for path in paths if path.startswith(f"{here}/") and _changed(path) >= since]
    return [os.path.relpath(path, here) for path in inside]


def _changed(path: str) -> float:
    """Return when a plain file's content, name or rights changed; 0 for anything else."""
    try:
        found = os.stat(path)
    except OSError:
        return 0.0
    return found.st_ctime if S_ISREG(found.st_mode) else 0.0
