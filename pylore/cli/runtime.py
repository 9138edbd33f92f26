"""Where a command runs: the folders and the store in use, stdin, and its log of bugs.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError, NoStore, UsageError
from ..terminal.output import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.settings import Settings
    from ..store import Store


def data_folder() -> str:
    """Return the folder of the store that ``config.load`` found."""
    folder = os.environ.get("LORE_STORE") or os.environ.get("LORE_DIR")
    if not folder:
        raise LoreError("no data folder: set HOME, XDG_DATA_HOME or LORE_DIR")
    return require_utf8(folder, "the data folder")


def project_folder() -> str:
    """Return the folder of the project in use; empty outside of one, and under ``LORE_DIR``."""
    return os.environ.get("LORE_PROJECT", "")


def project_root() -> str:
    """Return the folder that paths in the store start from: the project's, or the working one."""
    return project_folder() or os.getcwd()


def shared_folder() -> str:
    """Return the folder of what is shared and set: the project's ``.lore``, or the data folder."""
    project = project_folder()
    return os.path.join(project, ".lore") if project else data_folder()


def require_utf8(text: str, what: str) -> str:
    """Return ``text`` if it is UTF-8, which has no half surrogates.

    Raises:
        UsageError: it is not.
    """
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"{what} '{text}' is not UTF-8: convert or rename it")
    return text


def open_for_reading(settings: Settings) -> Store:
    """Open the store in use; at its first use a project's is made of what the project shares.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    from ..store import open_store

    folder = data_folder()
    try:
        store = open_store(folder, busy_timeout=settings.busy_timeout)
        store.project = project_folder() or store.project
    except NoStore:
        project = project_folder()
        if not project:
            raise NoStore(_where_to_init(folder)) from None
        from ..app.sync import first_store

        store = first_store(project, settings, note)
        os.environ["LORE_STORE"] = os.path.dirname(store.path)
    if settings.scope:
        store.keep_to(settings.scope)
    return store


def require_store(folder: str) -> None:
    """Raise NoStore where a folder has no store, and say where to make one."""
    from ..store import FILE

    if not os.path.lexists(os.path.join(folder, FILE)):
        raise NoStore(_where_to_init(folder))


def _where_to_init(folder: str) -> str:
    if os.environ.get("LORE_DIR"):
        return f"no store in {folder}: run 'lore init'"
    project = project_folder()
    if project:
        return f"no store for {project}: run 'lore init' there"
    return "no store for this folder: run 'lore init' in your project"


def read_stdin(longest: int = 0, limit: str = "the limit") -> str:
    """Return all of stdin as text, of so many bytes at most; ``limit`` is what says so.

    Raises:
        LoreError: it is longer, not UTF-8, or has a NUL byte.
    """
    from ..core.lines import STDIN

    longest = longest or STDIN
    data = sys.stdin.buffer.read(longest + 1)
    if len(data) > longest:
        raise LoreError(f"stdin is too long, {limit} is {longest} bytes: give a shorter text")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise LoreError(f"stdin is not UTF-8 (byte {error.start}): convert it first") from None
    if "\0" in text:
        raise LoreError("stdin has a NUL byte: give text")
    return text


def ids_from(words: Sequence[str], command: str) -> list[str]:
    """Return the ids on the command line; ``-`` stands for those on stdin, one a line."""
    ids = []
    for word in words:
        ids.extend(read_stdin().split("\n") if word == "-" else [word])
    ids = [id.strip() for id in ids if id.strip()]
    if not ids and "-" not in words:
        raise UsageError(f"{command} needs an id: see 'lore list --ids'")
    return ids


REPORTS = 1 << 20
"""Bytes of a log of bugs, of which there are two: one in a hook comes hundreds of times a day."""


def report_bug(error: BaseException, command: str) -> str:
    """Append a report to the log, or else print it; return the line that says where it is."""
    from platform import python_version

    from .. import __version__
    from ..core.times import now
    from ..system.bug_reports import report_of
    from ..system.files import append_line, state_folder

    head = f"{now()} lore {__version__}, Python {python_version()}, {sys.platform}: {command}"
    report = f"{head}\n{report_of(error)}\n"
    path = os.path.join(state_folder(), "error.log")
    try:
        append_line(path, f"{report}\n".encode("utf-8", "backslashreplace"), REPORTS)
    except OSError:
        sys.stderr.write(report)
        return f"a bug in lore, and {path} cannot be written: please report the lines above"
    return f"a bug in lore: what happened is in {path}: please report it"
