"""Capture transcripts into the log of events: each file that changed, and each event once."""

from __future__ import annotations

import os
import stat
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from ..core.times import time_of
from ..system.atomic_write import write_whole
from ..system.files import make_private_folder, state_folder
from .event_log import append, event_line, log_fault
from .events import known_ids, shortened
from .recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .recorder import Reader
    from .redaction import Redactor

Stamp = tuple[int, int, str]
"""Time of change (ns), bytes, and minimum time of captured events."""
_LONGEST_STAMPS = 64 << 20


class Capture:
    """Capture files, and count.

    ``receipt`` counts files that were read, unchanged, failed, and left out (by reason), sessions
    with new events, events by kind, skipped lines by type, and calls without a result.

    Args:
        reader: the reader of the files.
        redactor: removes secrets.
        since: leave out older events and files; all are read if empty.
        say: prints a line about a file that cannot be read.
    """

    def __init__(
        self, reader: type[Reader], redactor: Redactor, since: str, say: Callable[[str], None]
    ) -> None:
        self._reader = reader
        self._redactor = redactor
        self._since = since
        self._say = say
        self._stamps_path = os.path.join(state_folder(), "captured.json")
        self._stamps = _read_stamps(self._stamps_path)
        self._known: set[str] = set()
        self.receipt = SimpleNamespace(
            files=0,
            unchanged=0,
            failed=0,
            left_out=Counter(),
            sessions=0,
            events=Counter(),
            skipped=Counter(),
            unfinished=0,
            redacted=redactor.counts,
        )

    def run(self, paths: Sequence[str]) -> SimpleNamespace:
        """Capture files, and the files of folders.

        Raise LoreError if a redactor failed, or the log cannot be written.
        """
        try:
            for path, stamp, named in self._changed(paths):
                self._take(path, stamp, named=named)
            stamps = {path: row for path, row in self._stamps.items() if os.path.exists(path)}
            make_private_folder(state_folder())
            data = dumps(stamps).encode("utf-8", "replace")
            write_whole(self._stamps_path, [data], private=True)
        except OSError as error:
            raise log_fault(error, "run it") from None
        return self.receipt

    def _changed(self, paths: Sequence[str]) -> Iterator[tuple[str, Stamp, bool]]:
        """Yield the files to read, their stamps, and True for named files."""
        for path, named in _files_in(paths):
            path = os.path.abspath(path)
            try:
                found = os.stat(path)
            except OSError as error:
                self._fail(path, f"{error.strerror}: check name and rights")
                continue
            stamp = found.st_mtime_ns, found.st_size
            last = self._stamps.get(path)
            if not stat.S_ISREG(found.st_mode):
                self._fail(path, "not a file: give transcripts or folders")
            elif self._since and time_of(found.st_mtime) < self._since:
                self.receipt.left_out["older"] += 1
            elif last and last[:2] == stamp and last[2] <= self._since:
                self.receipt.unchanged += 1
            else:
                yield path, (*stamp, self._since), named

    def _take(self, path: str, stamp: Stamp, *, named: bool) -> None:
        """Read a file and write the new events, without secrets."""
        recorder = Recorder(self._reader(), path)
        try:
            with open(path, "rb") as opened:
                is_binary = b"\0" in opened.read(4)
                opened.seek(0)
                if not is_binary:
                    recorder.read_file(opened)
        except OSError as error:
            self._fail(path, f"{error.strerror or error}: check the file, then retry")
            return
        if stamp[1] and not recorder.known:
            why = f"not a transcript of {self._reader.source}: check the file"
            self._fail(path, "not UTF-8: give it as UTF-8" if is_binary else why, is_failure=named)
            return
        self.receipt.files += 1
        self.receipt.unfinished += len(recorder.calls)
        self.receipt.skipped += recorder.skipped
        self._known = self._known or known_ids()
        events = [
            event
            for event in recorder.events
            if event["t"] >= self._since and event["id"] not in self._known
        ]
        self._known.update(event["id"] for event in events)
        self._redactor.redact(events)
        for event in events:
            shortened(event)
        if events:
            append(b"".join(map(event_line, events)))
        self.receipt.events.update(event["kind"] for event in events)
        self.receipt.sessions += bool(events)
        self._stamps[path] = stamp

    def _fail(self, path: str, why: str, *, is_failure: bool = True) -> None:
        if is_failure:
            self.receipt.failed += 1
        else:
            self.receipt.left_out["not known"] += 1
        self._say(f"{path}: {why}")


def _read_stamps(path: str) -> dict[str, Stamp]:
    """Return the stamps of files at their last capture; files without a stamp are read again."""
    try:
        with open(path, "rb") as file:
            rows = parse_object(file.read(_LONGEST_STAMPS), _LONGEST_STAMPS)
        return {
            path: (int(changed), int(size), str(since))
            for path, (changed, size, since) in rows.items()
        }
    except (OSError, LoreError, TypeError, ValueError):
        return {}


def _files_in(paths: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield named files and the files of folders; True for named files."""
    for path in paths:
        if not os.path.isdir(path):
            yield path, True
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".jsonl"):
                    yield os.path.join(folder, name), False
