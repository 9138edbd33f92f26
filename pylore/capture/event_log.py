"""The log of events: JSON lines in the user's own state folder.

Lines go to the end of ``events.jsonl``. When it is of another day or has grown large it is put
away whole, into ``events/``, and what is put away is only ever deleted whole: nothing is copied,
so no line is lost that is appended meanwhile. Who appends or deletes holds the file's lock.
Nothing here reads a repository or writes into one.
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
LARGE = 8 << 20
"""Bytes of the file that lines go to, from which on it is put away."""

_MOST_FILES = 20
_LONGEST_NAME = 200


def event_file() -> str:
    """Return the file that lines are appended to."""
    return os.path.join(state_folder(), "events.jsonl")


def put_away_folder() -> str:
    """Return where the files lie that nothing is appended to any more, named by their day."""
    return os.path.join(state_folder(), "events")


def put_away_files() -> list[str]:
    """Return the paths of those, the oldest first."""
    folder = put_away_folder()
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
    path = event_file()
    while True:
        number = open_private_log(path)
        try:
            lock(number)
            found = os.fstat(number)
            if not found.st_nlink:
                continue  # deleted while this waited for its lock
            if (found.st_size >= LARGE or _is_of_another_day(found)) and put_away(path, found):
                continue
            write_lines(number, found.st_size, lines)
            return
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


def put_away(path: str, found: os.stat_result) -> bool:
    """Moves the file that lines are appended to among the old ones; its lock must be held.

    Whether there is another file to append to now.
    """
    day = time.strftime("%Y-%m-%d", time.gmtime(found.st_mtime))
    folder = put_away_folder()
    try:
        now_there = os.lstat(path)
        if (now_there.st_ino, now_there.st_dev) != (found.st_ino, found.st_dev):
            return True  # somebody else has moved it
        make_private_folder(folder)
        taken = {name for name in os.listdir(folder) if name.startswith(day)}
        number = 1 + max((int(name[11:-6]) for name in taken if name[11:-6].isdigit()), default=0)
        os.rename(path, os.path.join(folder, f"{day}-{number:05d}.jsonl"))
    except FileNotFoundError:
        return True
    except OSError:
        return False  # it goes on growing
    return True


def _is_of_another_day(found: os.stat_result) -> bool:
    if not found.st_size:
        return False
    return time.gmtime(found.st_mtime)[:3] != time.gmtime()[:3]


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
