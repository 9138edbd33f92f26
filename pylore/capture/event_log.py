"""The log of events: JSON lines in the user's own state folder, one file a day.

Writers append under the file's lock. Old files are deleted whole. Nothing here reads or writes a
repository.
"""

from __future__ import annotations

import os
import time
from errno import EDQUOT, EFBIG, ENOSPC
from fcntl import LOCK_EX, flock

from ..core.errors import LoreError
from ..core.json import dumps
from ..core.times import now
from ..system.files import make_private_folder, open_private_log, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


VERSION = 1
_MOST_FILES = 20
_LONGEST_NAME = 200


def event_folder() -> str:
    """Return the folder of the log."""
    return os.path.join(state_folder(), "events")


def event_file() -> str:
    """Return today's file (UTC), which lines are appended to."""
    return os.path.join(event_folder(), time.strftime("%Y-%m-%d.jsonl", time.gmtime()))


def event_files() -> list[str]:
    """Return the paths of all files of the log, the oldest first."""
    folder = event_folder()
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".jsonl")]


def append_event(
    source: str, session: str, kind: str, name: str, files: Sequence[str], *,
    ok: bool | None = None, text: str = "",
) -> None:  # fmt: skip
    """Appends one event of a live session: names and paths alone, no tokens. ``text`` is a name,
    too: that of a branch.

    ``ok`` is None for what can neither work nor fail.

    Raises:
        OSError: the log cannot be written.
    """
    session, name, text, *files = without_tokens_in([session, name, text, *files[:_MOST_FILES]])
    event = {
        "v": VERSION, "t": now(), "src": source, "session": session[:_LONGEST_NAME],
        "kind": kind, "name": name[:_LONGEST_NAME],
    }  # fmt: skip
    if ok is not None:
        event.update(ok=ok, files=files)
    if text:
        event["text"] = text[:_LONGEST_NAME]
    append((dumps(event) + "\n").encode("utf-8", "backslashreplace"))


def append(lines: bytes) -> None:
    """Appends whole lines, all of them or none, after whatever another writer is appending.

    Raises:
        OSError: the log cannot be written.
    """
    make_private_folder(event_folder())
    number = open_private_log(event_file())
    try:
        lock(number)
        write_lines(number, os.fstat(number).st_size, lines)
    finally:
        os.close(number)


def log_fault(error: OSError, what: str) -> LoreError:
    """Return what to say where the log cannot be written: what to do, and then again."""
    remedy = "make room" if error.errno in (ENOSPC, EDQUOT, EFBIG) else "check its rights"
    where = os.fsdecode(error.filename or event_file())
    return LoreError(f"{where}: {error.strerror or error}: {remedy}, then {what} again")


def lock(number: int) -> None:
    """Waits until nobody else has the lock of an open file; closing it lets it go."""
    try:
        flock(number, LOCK_EX)
    except OSError:
        return  # a file system without locks: a line of an append is whole even so


def write_lines(number: int, size: int, lines: bytes) -> None:
    """Writes lines to the end of an open file of this size, all of them or, where the disk is
    full, none; half a line before them is ended."""
    if size and os.pread(number, 1, size - 1) != b"\n":
        lines = b"\n" + lines
    rest = memoryview(lines)
    try:
        while rest:
            rest = rest[os.write(number, rest) :]
    except OSError:
        os.ftruncate(number, size)
        raise


# --- names and paths without tokens, at a cost that a hook can afford: most are plain words,
# which are looked at without any pattern

_SHORTEST = 16
"""Letters of a token that says by its form alone what it is; all of them have a digit or twice as
many letters."""
_SIGNS = frozenset("=:@ \n")
"""What stands between a name, such as password, and its secret."""
_DASHES = (8, 13, 18, 23)


def without_tokens_in(texts: Sequence[str]) -> list[str]:
    """Return the texts, in their order, without what our own patterns know for secrets."""
    if not any(map(_may_hold, texts)):
        return [*texts]
    from .redaction import without_secrets

    return without_secrets([text.replace("\0", " ") for text in texts], {})


_OF_SENTENCES = frozenset(" '(),-./?_")
_OF_WORDS = ("--", "password", "phrase", "mnemonic", "seed", "wallet")
"""Secrets of letters alone stand beside one of these."""


def _is_sentence(text: str) -> bool:
    """Return whether a text has short words and no digit or other sign that a secret has."""
    folded = text.lower()
    return (
        all(letter.isalpha() or letter in _OF_SENTENCES for letter in text)
        and all(len(word) < _SHORTEST for word in text.split())
        and not any(word in folded for word in _OF_WORDS)
    )


def _may_hold(text: str) -> bool:
    if _is_sentence(text):
        return False
    if len(text) < _SHORTEST and _SIGNS.isdisjoint(text):
        return False
    if not _SIGNS.isdisjoint(text):
        return True
    return any(map(_may_be_token, text.split("/")))


def _may_be_token(part: str) -> bool:
    if len(part) < _SHORTEST or _is_uuid(part):
        return False
    return len(part) >= 2 * _SHORTEST or any(letter.isdigit() for letter in part)


def _is_uuid(part: str) -> bool:
    return len(part) == 36 and all(part[at] == "-" for at in _DASHES)
