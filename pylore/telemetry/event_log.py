"""The log of events: JSON lines in the user's own state folder, appended one at a time.

An append is one write to a file opened for appending, so that lines of several writers stay
whole. Nothing here reads a repository or writes into one.
"""

from __future__ import annotations

import os

from ..core.times import now
from ..system.json_encode import dumps
from ..system.private_files import open_private_log, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = 1
_MOST_FILES = 20
_LONGEST_NAME = 200


def event_file() -> str:
    """The path of the log."""
    return os.path.join(user_folder("XDG_STATE_HOME", ".local/state"), "events.jsonl")


def append_event(
    source: str, session: str, kind: str, name: str, files: Sequence[str], *, ok: bool
) -> None:
    """Appends one event of a live session: names and paths alone, no text of it.

    Raises:
        OSError: the log cannot be written.
    """
    line = dumps({
        "v": VERSION, "t": now(), "src": source, "session": session[:_LONGEST_NAME],
        "kind": kind, "name": name[:_LONGEST_NAME], "ok": ok, "files": [*files[:_MOST_FILES]],
    }) + "\n"  # fmt: skip
    number = open_private_log(event_file())
    try:
        os.write(number, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(number)
