"""Transcripts into events: which files are new, how far each was read, whose project it was."""

from __future__ import annotations

import os
import stat
from calendar import timegm
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from time import strptime

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from ..core.times import time_of
from ..system.atomic_write import write_whole
from ..system.files import make_private_folder, state_folder
from .event_log import append, event_folder, log_fault
from .events import event_line, known_ids, read_events, shortened
from .recent import sessions_of
from .recorder import read_transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .redaction import Redactor
    from .transcripts import Kind


def project_events(project: str, since: str = "") -> Iterator[dict[str, Any]]:
    """Yield the events of the sessions of a project, since a time, in their order."""
    sessions = sessions_of(project)
    for event in read_events(since=since) if sessions else ():
        if event.get("session") in sessions:
            yield event


@contextmanager
def one_capture() -> Iterator[None]:
    """Let no other capture run meanwhile.

    Raises:
        LoreError: another capture runs.
    """
    make_private_folder(event_folder())
    number = os.open(event_folder(), os.O_RDONLY | os.O_CLOEXEC)
    try:
        flock(number, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        os.close(number)
        raise LoreError("capture: another one is running: wait until it has ended") from None
    except OSError:
        pass  # a file system without locks
    try:
        yield
    finally:
        os.close(number)


_ENOUGH = 16 << 20
"""Characters of events that are held before they are written."""
_BESIDE_TEXT = 200

_MARGIN = 86_400
"""Seconds before the last event of a transcript; older events are not captured again when they have
left the log."""

Stamp = tuple[int, int, str, str]
"""Time of change (ns), bytes, the time before which events were left out, and the time from which
on the next capture reads events."""


class _Stamps:
    """The stamps of transcripts at their last capture, to skip unchanged files.

    Without a stamp a file is read again, and adds no event twice.
    """

    def __init__(self) -> None:
        self._path = os.path.join(state_folder(), "captured.json")
        self.files: dict[str, Stamp] = {}
        try:
            with open(self._path, "rb") as file:
                rows = parse_object(file.read(_LONGEST_STAMPS), _LONGEST_STAMPS)
            for path, (changed, size, since, next) in rows.items():
                self.files[path] = (int(changed), int(size), str(since), str(next))
        except (OSError, LoreError, TypeError, ValueError):
            self.files = {}

    def save(self) -> None:
        """Write the stamps of the files that are still there."""
        rows = {path: stamp for path, stamp in self.files.items() if os.path.exists(path)}
        write_whole(self._path, [dumps(rows).encode("utf-8", "backslashreplace")], private=True)


_LONGEST_STAMPS = 64 << 20


class Receipt:
    """What a capture came to: counts."""

    def __init__(self) -> None:
        self.files = 0
        """Those that were read."""
        self.unchanged = 0
        self.left_out: Counter[str] = Counter()
        """Files that were not read, by reason."""
        self.failed = 0
        self.sessions = 0
        """Those with events that are new."""
        self.events: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        """Lines that say nothing of what happened, by type; ``broken`` and ``too long`` are the
        ones that could not be read."""
        self.unfinished = 0
        self.redacted: dict[str, int] = {}
        self.bytes_read = 0
        self.bytes_written = 0

    def to_dict(self) -> dict[str, Any]:
        """As a row of JSON."""
        return {**vars(self)}


class Capture:
    """One capture.

    Args:
        kind: what the files are.
        redactor: takes secrets out.
        since: older events and files are left out; empty: none.
        say: hears what is wrong with a file, in a line.
    """

    def __init__(
        self, kind: Kind, redactor: Redactor, since: str, say: Callable[[str], None]
    ) -> None:
        self._kind = kind
        self._redactor = redactor
        self._since = since
        self._say = say
        self._held: list[dict[str, Any]] = []
        self._held_size = 0
        self._read: dict[str, Stamp] = {}
        self._known: set[str] | None = None
        self.receipt = Receipt()

    def run(self, paths: Sequence[str]) -> Receipt:
        """Capture files, and the files of folders.

        Raises:
            LoreError: a redactor failed, another capture runs, or the log cannot be written;
                what was written until then stays, and the next capture goes on from there.
        """
        with one_capture():
            stamps = _Stamps()
            try:
                for path, stamp, named in self._found(paths):
                    known = stamps.files.get(path)
                    if known and known[:2] == stamp[:2] and known[2] <= self._since:
                        self.receipt.unchanged += 1
                        continue
                    since = self._since
                    if known and known[2] <= since:
                        since = max(since, known[3])
                    self._take(path, stamp, since, named=named)
                    if self._held_size > _ENOUGH:
                        self._flush(stamps)
                self._flush(stamps)
                stamps.save()
            except OSError as error:
                raise log_fault(error, "run it") from None
        self.receipt.redacted = dict(self._redactor.counts)
        return self.receipt

    def _found(self, paths: Sequence[str]) -> Iterator[tuple[str, Stamp, bool]]:
        """Yield the files to look at, each with its stamp, and True if it was named."""
        seen = set()
        for path, named in _files_in(paths, self._fail_folder):
            path = os.path.abspath(path)
            if path in seen:
                continue
            seen.add(path)
            try:
                found = os.stat(path)
            except OSError as error:
                self._fail(path, f"{error.strerror}: check its name and its rights")
                continue
            if not stat.S_ISREG(found.st_mode):
                self._fail(path, "not a file: give transcripts, or folders of them")
            elif self._since and time_of(found.st_mtime) < self._since:
                self.receipt.left_out["older"] += 1
            else:
                yield path, (found.st_mtime_ns, found.st_size, self._since, ""), named

    def _take(self, path: str, stamp: Stamp, since: str, *, named: bool) -> None:
        """Read one file and hold its new events."""
        reader = self._kind.reader(path)
        try:
            with open(path, "rb") as opened:
                head = opened.read(4)
                if head[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) or b"\0" in head:
                    self._fail(path, "not UTF-8: give it as UTF-8", is_failure=named)
                    return
                opened.seek(0)
                skipped = read_transcript(reader, opened)
        except OSError as error:
            self._fail(path, f"{error.strerror or error}: check it, then run it again")
            return
        self.receipt.bytes_read += stamp[1]
        if not reader.known and stamp[1]:
            self._fail(path, f"no line of it is of a form known of {self._kind.name}: check "
                             "what it is", is_failure=named)  # fmt: skip
            return
        self.receipt.files += 1
        self.receipt.unfinished += reader.unfinished
        self.receipt.skipped += skipped
        last = max((event["t"] for event in reader.events), default="")
        self._read[path] = (*stamp[:3], _before(last, _MARGIN))
        for event in reader.events:
            if event["t"] >= since and self._is_new(event["id"]):
                self._held.append(event)
                self._held_size += len(event.get("text", "")) + _BESIDE_TEXT

    def _is_new(self, id: str) -> bool:
        if self._known is None:
            self._known = known_ids()
        if id in self._known:
            return False
        self._known.add(id)
        return True

    def _flush(self, stamps: _Stamps) -> None:
        """Write the held events, without secrets."""
        events, self._held, self._held_size = self._held, [], 0
        self._redactor.redact(events)
        for event in events:
            shortened(event)
        if events:
            data = b"".join(map(event_line, events))
            append(data)
            self.receipt.bytes_written += len(data)
        self.receipt.events.update(event["kind"] for event in events)
        self.receipt.sessions += len({event["session"] for event in events})
        stamps.files.update(self._read)
        self._read = {}

    def _fail_folder(self, error: OSError) -> None:
        self._fail(os.fsdecode(error.filename), f"{error.strerror}: check its rights")

    def _fail(self, path: str, why: str, *, is_failure: bool = True) -> None:
        if is_failure:
            self.receipt.failed += 1
        else:
            self.receipt.left_out["not known"] += 1
        self._say(f"{path}: {why}")


def _before(moment: str, seconds: int) -> str:
    """Return the time so many seconds before; empty if the time is malformed."""
    try:
        return time_of(timegm(strptime(moment, "%Y-%m-%dT%H:%M:%SZ")) - seconds)
    except ValueError:
        return ""


def _files_in(
    paths: Sequence[str], fail: Callable[[OSError], None]
) -> Iterator[tuple[str, bool]]:  # fmt: skip
    """Files that are named, and those of folders; each with whether it was named.

    ``fail`` hears of folders that cannot be read.
    """
    for path in paths:
        if not os.path.isdir(path):
            yield path, True
            continue
        for folder, folders, names in os.walk(path, onerror=fail):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".jsonl"):
                    yield os.path.join(folder, name), False
