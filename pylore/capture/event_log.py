"""Append to the log of events: JSON lines in the user's state folder, a file a day.

A sweep deletes old files.
"""

from __future__ import annotations

import os
import time
from errno import EDQUOT, EFBIG, ENOSPC
from fcntl import LOCK_EX, flock
from stat import S_ISREG

from ..core.errors import LoreError
from ..core.json import dumps
from ..core.times import now
from ..system.files import open_private_log, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..hooks.agents import Sent

VERSION = 1
MOST_FILES = 20
LONGEST_NAME = 200
_WRITERS = (">", "sed", "perl", "tee", "mv", "cp")
"""A shell command without these words writes no named file."""
_LONGEST_CALL = 600
"""Maximum seconds of a call; older files were written earlier."""


def event_folder() -> str:
    """Return the folder of the log."""
    return os.path.join(state_folder(), "events")


def event_file() -> str:
    """Return today's file (UTC)."""
    return os.path.join(event_folder(), time.strftime("%Y-%m-%d.jsonl", time.gmtime()))


def event_files() -> list[str]:
    """Return the paths of all files of the log, the oldest first."""
    folder = event_folder()
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".jsonl")]


def log_tool(agent: str, sent: Sent) -> None:
    """Log the call of a tool, as an edit if it wrote files.

    Raise OSError if the log cannot be written.
    """
    written = _written(sent)
    kind = "edit" if written or sent.edits else "tool"
    append_event(agent, sent.session, kind, sent.tool, written or sent.files, ok=sent.ok)


def append_event(
    source: str,
    session: str,
    kind: str,
    name: str,
    files: Sequence[str],
    *,
    ok: bool | None = None,
    text: str = "",
) -> None:
    """Append an event of a live session, without secrets. ``ok`` is None if it cannot fail.

    Raise OSError if the log cannot be written.
    """
    session, name, text, *files = without_tokens_in([session, name, text, *files[:MOST_FILES]])
    event = {
        "v": VERSION,
        "t": now(),
        "src": source,
        "session": session[:LONGEST_NAME],
        "kind": kind,
        "name": name[:LONGEST_NAME],
    }
    if ok is not None:
        event.update(ok=ok, files=files)
    if text:
        event["text"] = text[:LONGEST_NAME]
    append(event_line(event))


def event_line(event: dict[str, Any]) -> bytes:
    """Return an event as a line of the log."""
    return (dumps(event) + "\n").encode("utf-8", "replace")


def append(lines: bytes) -> None:
    """Append whole lines under the file's lock: all of them or none.

    Raise OSError if the log cannot be written.
    """
    number = open_private_log(event_file())
    try:
        _lock(number)
        size = os.fstat(number).st_size
        if size and os.pread(number, 1, size - 1) != b"\n":
            lines = b"\n" + lines  # end an incomplete line
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(number, rest) :]
        except OSError:
            os.ftruncate(number, size)
            raise
    finally:
        os.close(number)


def _lock(number: int) -> None:
    try:
        flock(number, LOCK_EX)
    except OSError:
        return  # a file system without locks


def log_fault(error: OSError, what: str) -> LoreError:
    """Return the message for a log that cannot be written."""
    remedy = "make room" if error.errno in (ENOSPC, EDQUOT, EFBIG) else "check its rights"
    where = os.fsdecode(error.filename or event_file())
    return LoreError(f"{where}: {error.strerror or error}: {remedy}, then {what} again")


def without_tokens_in(texts: Sequence[str]) -> list[str]:
    """Return the texts in order, without secrets; most texts need no pattern."""
    if not any(map(_may_hold, texts)):
        return [*texts]
    from .redaction import without_secrets

    return without_secrets(texts, {})


_SHORTEST = 16
"""Minimum characters of a token; a token without a digit has twice as many."""
_SIGNS = frozenset("=:@\n")
_OF_SENTENCES = frozenset(" '(),-./?_")
_OF_CREDENTIALS = ("--", "password", "phrase", "mnemonic", "seed", "wallet")


def _may_hold(text: str) -> bool:
    """Return False for a UUID, for paths and names of short parts, and for plain sentences."""
    if len(text) == 36 and [text[at] for at in (8, 13, 18, 23)] == ["-"] * 4:
        return False
    if " " not in text and _SIGNS.isdisjoint(text):
        return any(
            len(part) >= 2 * _SHORTEST or (len(part) >= _SHORTEST and any(map(str.isdigit, part)))
            for part in text.split("/")
        )
    folded = text.lower()
    return (
        any(word in folded for word in _OF_CREDENTIALS)
        or any(len(word) >= _SHORTEST for word in folded.split())
        or not all(letter.isalpha() or letter in _OF_SENTENCES for letter in folded)
    )


def _written(sent: Sent) -> list[str]:
    """Return the files of the project that a shell command writes, if they changed."""
    if not any(word in sent.command for word in _WRITERS):
        return []
    from .shell import written_files

    since = time.time() - _LONGEST_CALL
    paths = map(os.path.normpath, written_files(sent.command, sent.here))
    inside = [path for path in paths if path.startswith(f"{sent.root}/")]
    return [os.path.relpath(path, sent.root) for path in inside if _changed(path) >= since]


def _changed(path: str) -> float:
    """Return when a plain file's content, name or rights changed; 0 for anything else."""
    try:
        found = os.stat(path)
    except OSError:
        return 0.0
    return found.st_ctime if S_ISREG(found.st_mode) else 0.0
