"""What was captured already: a journal in the user's state folder, a JSON object a line.

Before the events of sessions are written it is noted that they will be, afterwards how far their
transcripts were read: what ends in between is known to be unsure, and compared with the log.
"""

from __future__ import annotations

import os
from fcntl import LOCK_EX, LOCK_NB, flock

from ..core.errors import LoreError
from ..system.atomic_write import write_bytes
from ..system.json_encode import dumps
from ..system.json_lines import parse_object
from ..system.private_files import make_private_folder, open_private_log
from .event_log import put_away_folder, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_LONGEST = 1_000_000
_SPARE = 100


class ReadSoFar:
    """How far a session's transcript was read, and what that was."""

    __slots__ = ("digest", "end", "file", "is_rewritten", "since")

    def __init__(
        self, file: str, end: int, digest: str, since: str, *, is_rewritten: bool = False
    ) -> None:  # fmt: skip
        self.file = file
        self.end = end
        """Bytes."""
        self.digest = digest
        self.since = since
        """Older events were left out; empty: none."""
        self.is_rewritten = is_rewritten
        """It was another one at some time: the log may have events of what stands after ``end``."""


class Captured:
    """The journal, for one process at a time; ``with`` holds it.

    Raises:
        LoreError: another process has it.
    """

    def __init__(self) -> None:
        self._path = os.path.join(state_folder(), "captured.jsonl")
        self.sessions: dict[str, ReadSoFar] = {}
        self.files: dict[str, tuple[int, int, str]] = {}
        """Path to time of change (ns), bytes and session, as they were when it was read."""
        self.unsure: set[str] = set()
        """Sessions of which the log may have events that are not noted here."""
        self.is_new = True
        self._lines = 0
        self._lock = -1

    def __enter__(self) -> Captured:
        folder = put_away_folder()
        make_private_folder(folder)
        self._lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            flock(self._lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise LoreError("capture: another one is running: wait until it has ended") from None
        except OSError:
            pass  # a file system without locks
        self._load()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._lines > 2 * (len(self.files) + len(self.sessions)) + _SPARE:
            write_bytes(self._path, self._all(), private=True)
        os.close(self._lock)

    def will_write(self, sessions: Iterable[str]) -> None:
        """Events of these sessions are about to be written."""
        self._append([{"writing": [*sessions]}])

    def has_written(
        self, sessions: dict[str, ReadSoFar], files: dict[str, tuple[int, int, str]]
    ) -> None:
        """They are written, and these files are read."""
        self.sessions.update(sessions)
        self.files.update(files)
        self.unsure.difference_update(sessions)
        self._append([*_rows(sessions, files)])

    def _append(self, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        number = open_private_log(self._path)
        try:
            size = os.fstat(number).st_size
            data = "".join(dumps(row) + "\n" for row in rows).encode("utf-8", "backslashreplace")
            if size and os.pread(number, 1, size - 1) != b"\n":
                data = b"\n" + data
            while data:
                data = data[os.write(number, data) :]
        finally:
            os.close(number)
        self._lines += len(rows)

    def _load(self) -> None:
        try:
            file = open(self._path, "rb")  # noqa: SIM115 - closed below
        except FileNotFoundError:
            return
        with file:
            for line in file:
                self._lines += 1
                try:
                    self._note(parse_object(line, _LONGEST))
                except (LoreError, KeyError, TypeError, ValueError):
                    continue  # half a line; what it said is found out by the log
        self.is_new = not self._lines

    def _note(self, row: dict[str, Any]) -> None:
        if "writing" in row:
            self.unsure.update(map(str, row["writing"]))
        elif "end" in row:
            self.sessions[str(row["session"])] = ReadSoFar(
                str(row["file"]), int(row["end"]), str(row["digest"]), str(row.get("since", "")),
                is_rewritten=row.get("rewritten") is True,
            )  # fmt: skip
            self.unsure.discard(str(row["session"]))
        else:
            self.files[str(row["file"])] = (
                int(row["changed"]), int(row["size"]), str(row["session"])
            )  # fmt: skip

    def _all(self) -> Iterable[bytes]:
        rows = _rows(self.sessions, self.files)
        unsure = [{"writing": [*self.unsure]}] if self.unsure else []
        for row in (*rows, *unsure):
            yield (dumps(row) + "\n").encode("utf-8", "backslashreplace")


def _rows(
    sessions: dict[str, ReadSoFar], files: dict[str, tuple[int, int, str]]
) -> Iterable[dict[str, Any]]:
    for name, session in sessions.items():
        row: dict[str, Any] = {
            "session": name, "file": session.file, "end": session.end, "digest": session.digest,
        }  # fmt: skip
        if session.since:
            row["since"] = session.since
        if session.is_rewritten:
            row["rewritten"] = True
        yield row
    for path, (changed, size, name) in files.items():
        yield {"file": path, "changed": changed, "size": size, "session": name}
