"""Texts that are kept for a while in the user's own cache folder, each under a key.

There are so many places and no more, and a key says which is its own: a later text takes the
place of an earlier one, so nothing has to be counted or swept. What is in a place is of this
user alone, whole, and of the very key that is asked for, or it is as if it were not there.
"""

from __future__ import annotations

import os
from stat import S_ISREG
from time import time

from ..core.ids import sha256
from .files import make_private_folder, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


PLACES = 256
LARGEST = 1 << 18
"""Bytes of a text; of a longer one nothing is kept: all of them take 64 MB at most."""

_ABANDONED = 60.0
"""Seconds after which a text that is half written has nobody who writes it."""
_MARK = b"lore kept 1 "
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def kept_text(key: bytes) -> str | None:
    """Return the text that is kept under a key, a digest; None where there is none."""
    try:
        number = os.open(_place(key), _OLD)
    except OSError:
        return None
    try:
        found = os.fstat(number)
        own = found.st_uid == os.geteuid() and S_ISREG(found.st_mode) and not found.st_mode & 0o077
        if not own or found.st_size > 2 * LARGEST:
            return None
        data = os.read(number, 2 * LARGEST)
    except OSError:
        return None
    finally:
        os.close(number)
    head, _, body = data.partition(b"\n")
    return body.decode(errors="replace") if head == _head(key, body) else None


def keep_text(key: bytes, text: str) -> None:
    """Keep a text, where it can be written and is not too long; it never fails."""
    body = text.encode(errors="replace")
    if len(body) > LARGEST:
        return
    try:
        place = _place(key)
        beside = f"{place}.new"
        make_private_folder(os.path.dirname(place))
        number = _open_new(beside)
    except OSError:
        return
    try:
        with os.fdopen(number, "wb", closefd=False) as file:
            file.write(_head(key, body) + b"\n" + body)
        os.fchmod(number, 0o600)
        os.replace(beside, place)
    except OSError:
        _remove(beside)
    finally:
        os.close(number)


def forget_text(key: bytes) -> None:
    """Take away what is kept in a key's place."""
    try:
        _remove(_place(key))
    except OSError:
        return


def forget_texts() -> None:
    """Take away all that is kept."""
    try:
        names = os.listdir(_folder())
    except OSError:
        return
    for name in names:
        _remove(os.path.join(_folder(), name))


def _open_new(path: str) -> int:
    """Open a new file for a text, which one process writes at a time."""
    try:
        return os.open(path, _NEW, 0o600)
    except FileExistsError:
        if time() - os.lstat(path).st_mtime < _ABANDONED:
            raise
        _remove(path)
        return os.open(path, _NEW, 0o600)


def _head(key: bytes, body: bytes) -> bytes:
    return _MARK + key.hex().encode() + b" " + sha256(body).hexdigest().encode()


def _folder() -> str:
    """Return the folder of all texts.

    Raises:
        OSError: the user has no home: what lies in the working directory may be somebody else's.
    """
    folder = os.path.join(user_folder("XDG_CACHE_HOME", ".cache"), "answers")
    if not os.path.isabs(folder):
        raise FileNotFoundError(folder)
    return folder


def _place(key: bytes) -> str:
    return os.path.join(_folder(), str(int.from_bytes(key[:4], "big") % PLACES))


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


_MOST_PLACES = 40
"""Places of one exception; of more the outermost and the innermost half are kept."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class BugElsewhere(Exception):
    """A bug in a process that worked for this one; its text is that process's report."""


def report_of(error: BaseException) -> str:
    """Return type and places of an exception and of those behind it, a line each, no message."""
    lines: list[str] = []
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        lines.append(("" if following is error else "behind it: ") + _type_of(following))
        lines += _places(following.__traceback__)
        if isinstance(following, BugElsewhere):
            lines.append(str(following))
        hidden = following.__suppress_context__
        following = following.__cause__ or (None if hidden else following.__context__)
    return "\n".join(lines)


def _type_of(error: BaseException) -> str:
    kind = type(error)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _places(traceback: TracebackType | None) -> list[str]:
    places = list(_each_place(traceback))
    half = _MOST_PLACES // 2
    left_out = len(places) - 2 * half
    if left_out > 0:
        places[half:-half] = [f"  … {left_out} more"]
    return places


def _each_place(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        yield f"  {_file(code.co_filename)}:{traceback.tb_lineno} in {code.co_name}"
        traceback = traceback.tb_next


def _file(path: str) -> str:
    """Return ``pylore/search/pipeline.py``; of others the last two parts: a path may tell of a
    person."""
    if path.startswith(_PACKAGE + os.sep):
        return os.path.relpath(path, os.path.dirname(_PACKAGE))
    return os.sep.join(path.split(os.sep)[-2:])
