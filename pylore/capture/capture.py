"""Transcripts into events: which files are new, how far each was read, whose project it was."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from fcntl import LOCK_EX, LOCK_NB, flock
from time import time_ns
from typing import NamedTuple

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from ..core.times import time_of
from ..system.atomic_write import write_whole
from ..system.files import make_private_folder, open_private_log, state_folder
from .event_log import append, log_fault, put_away_folder, write_lines
from .events import event_line, read_events, shortened
from .recent import sessions_of
from .recorder import TranscriptPass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from .redaction import Redactor
    from .transcripts import Kind


def project_events(project: str, since: str = "") -> Iterator[dict[str, Any]]:
    """Yield the events of the sessions of a project, since a time, in their order."""
    sessions = sessions_of(project)
    for event in read_events(since=since) if sessions else ():
        if event.get("session") in sessions:
            yield event


_CAPTURED_LONGEST = 1_000_000
_SPARE = 100
_DAYS = 30
"""A transcript that changed longer ago and is gone leaves the journal: agents delete them. Of one
that is as old and not in the journal the log is asked."""


class ReadSoFar(NamedTuple):
    """How far a session's transcript was read, and what that was."""

    file: str
    end: int
    """Bytes."""
    digest: str
    since: str
    """Older events were left out; empty: none."""
    is_rewritten: bool = False
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
        if kind is None and (
            self._drop_gone() or self._lines > 2 * (len(self.files) + len(self.sessions)) + _SPARE
        ):
            write_whole(self._path, self._all(), private=True)
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

    def _drop_gone(self) -> bool:
        """Drop old transcripts that are gone, once they are some; return whether they were."""
        gone = [path for path, (changed, _, _) in self.files.items()
                if is_old(changed) and not os.path.exists(path)]  # fmt: skip
        if len(gone) < _SPARE:
            return False
        for path in gone:
            session = self.files.pop(path)[2]
            if session in self.sessions and self.sessions[session].file == path:
                del self.sessions[session]
        return True

    def _append(self, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        number = open_private_log(self._path)
        try:
            data = "".join(dumps(row) + "\n" for row in rows).encode("utf-8", "backslashreplace")
            write_lines(number, os.fstat(number).st_size, data)
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
                    self._note(parse_object(line, _CAPTURED_LONGEST))
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


def is_old(changed: int) -> bool:
    """Return whether a transcript last changed (ns) so long ago that the journal may lack it."""
    return changed < time_ns() - _DAYS * 86_400 * 10**9


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


_HEAD = 1 << 16
"""Bytes of a file that are looked at for its session; more, where they name none."""
_MORE_HEAD = 1 << 22
_BESIDE_TEXT = 200
_ENOUGH = 16 << 20
"""Characters of events that are held before they are written."""


class Receipt:
    """What a capture came to: counts."""

    def __init__(self) -> None:
        self.files = 0
        """Those that were read."""
        self.unchanged = 0
        self.left_out: Counter[str] = Counter()
        """Files that were not read: shorter snapshots, side chains, older ones."""
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


class _Transcript:
    """A transcript that may be read."""

    __slots__ = ("changed", "is_known", "named", "path", "session", "size")

    def __init__(self, path: str, found: os.stat_result, *, named: bool) -> None:
        self.path = path
        self.size = found.st_size
        self.changed = found.st_mtime_ns
        self.named = named
        self.session = ""
        self.is_known = False


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
        self._held: list[tuple[str, list[dict[str, Any]]]] = []
        self._held_size = 0
        self._read: dict[str, ReadSoFar] = {}
        self._read_files: dict[str, tuple[int, int, str]] = {}
        self._doubtful: set[str] = set()
        self.receipt = Receipt()

    def run(self, paths: Sequence[str]) -> Receipt:
        """Captures files, and what lies in folders.

        Raises:
            LoreError: a redactor failed, another capture runs, or the log cannot be written;
                what was written until then stays, and the next capture goes on from there.
        """
        with Captured() as captured:
            try:
                for file in self._chosen(paths, captured):
                    self._take(file, captured)
                    if self._held_size > _ENOUGH:
                        self._flush(captured)
                self._flush(captured)
            except OSError as error:
                raise log_fault(error, "run it") from None
        self.receipt.redacted = dict(self._redactor.counts)
        return self.receipt

    def _chosen(self, paths: Sequence[str], captured: Captured) -> list[_Transcript]:
        """Of each session the longest file, if something of it may be new."""
        best: dict[str, _Transcript] = {}
        for file in self._found(paths):
            known = captured.files.get(file.path)
            if known and known[:2] == (file.changed, file.size):
                file.session, file.is_known = known[2], True
            elif not self._look(file):
                continue
            rival = best.get(file.session)
            if rival is not None:
                self._leave_out("shorter snapshots")
            if rival is None or file.size > rival.size:
                best[file.session] = file
        return [file for file in best.values() if self._is_wanted(file, captured)]

    def _is_wanted(self, file: _Transcript, captured: Captured) -> bool:
        known = captured.sessions.get(file.session)
        if known is None or file.session in captured.unsure or self._since < known.since:
            return True
        if file.is_known:
            self.receipt.unchanged += 1
            return False
        if file.path != known.file and file.size <= known.end:
            self._leave_out("shorter snapshots")
            return False
        return True

    def _found(self, paths: Sequence[str]) -> Iterator[_Transcript]:
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
                self._leave_out("older")
            else:
                yield _Transcript(path, found, named=named)

    def _look(self, file: _Transcript) -> bool:
        """Finds out a file's session; whether it is to be read."""
        try:
            with open(file.path, "rb") as opened:
                head = opened.read(_HEAD)
                if b"essionId" not in head and len(head) == _HEAD and self._kind.name == "claude":
                    head += opened.read(_MORE_HEAD)
        except OSError as error:
            self._fail(file.path, f"{error.strerror}: check its name and its rights")
            return False
        if head[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) or b"\0" in head[:4]:
            self._fail(file.path, "not UTF-8: give it as UTF-8", is_failure=file.named)
            return False
        name, is_side = self._kind.head_of(head, file.path)
        file.session = f"{self._kind.name}:{name}"
        if is_side:
            self._leave_out("side chains")
        return not is_side

    def _take(self, file: _Transcript, captured: Captured) -> None:
        """Reads one file and holds its new events."""
        known = captured.sessions.get(file.session)
        mark, digest = (known.end, known.digest) if known else (0, "")
        reading = TranscriptPass(self._kind.reader(file.path), mark, digest)
        try:
            with open(file.path, "rb") as opened:
                reading.read(opened, drops_known=known is not None and self._since >= known.since)
        except OSError as error:
            self._fail(file.path, f"{error.strerror or error}: check it, then run it again")
            return
        self.receipt.bytes_read += reading.end
        if not reading.is_transcript:
            self._fail(file.path, f"no line of it is of a form known of {self._kind.name}: check "
                                  "what it is", is_failure=file.named)  # fmt: skip
            return
        self.receipt.files += 1
        self.receipt.unfinished += reading.reader.unfinished
        self.receipt.skipped += reading.skipped
        is_rewritten = known is not None and (known.is_rewritten or not reading.is_same)
        is_wider = known is not None and self._since < known.since
        is_unsure = (
            captured.is_new or file.session in captured.unsure
            or (known is None and is_old(file.changed))
        )  # fmt: skip
        if is_rewritten or is_wider or is_unsure:
            self._doubtful.add(file.session)
        since = self._since if known is None else min(self._since, known.since)
        self._read[file.session] = ReadSoFar(
            file.path, reading.end, reading.digest, since, is_rewritten=is_rewritten
        )
        self._read_files[file.path] = (file.changed, file.size, file.session)
        events = [event for event in reading.reader.taken() if event["t"] >= self._since]
        self._held.append((file.session, events))
        self._held_size += sum(len(event.get("text", "")) + _BESIDE_TEXT for event in events)

    def _flush(self, captured: Captured) -> None:
        """Writes what is held, without secrets."""
        events = [event for _, some in self._held for event in some]
        self._redactor.redact(events)
        for event in events:
            shortened(event)
        new = [*self._new(events)] if self._doubtful else events
        if new:
            captured.will_write(self._read)
            data = b"".join(map(event_line, new))
            append(data)
            self.receipt.bytes_written += len(data)
        captured.has_written(self._read, self._read_files)
        self._count(new)
        self._held, self._held_size, self._read, self._read_files = [], 0, {}, {}
        self._doubtful = set()

    def _new(self, events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield those of the events that the log has not."""
        doubtful = {
            id(event) for session, some in self._held if session in self._doubtful for event in some
        }
        names = {event["session"] for event in events if id(event) in doubtful}
        written = set(_keys(
            event for event in read_events() if event.get("ref") and event.get("session") in names
        ))  # fmt: skip
        for event, key in zip(events, _keys(events), strict=True):
            if id(event) not in doubtful or key not in written:
                yield event

    def _count(self, events: list[dict[str, Any]]) -> None:
        self.receipt.events.update(event["kind"] for event in events)
        self.receipt.sessions += len({event["session"] for event in events})

    def _leave_out(self, why: str) -> None:
        self.receipt.left_out[why] += 1

    def _fail_folder(self, error: OSError) -> None:
        self._fail(os.fsdecode(error.filename), f"{error.strerror}: check its rights")

    def _fail(self, path: str, why: str, *, is_failure: bool = True) -> None:
        if is_failure:
            self.receipt.failed += 1
        else:
            self._leave_out("not known")
        self._say(f"{path}: {why}")


def _keys(events: Iterable[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Yield what tells each event from the others of its session, whatever its text has become."""
    seen: Counter[tuple[object, ...]] = Counter()
    for event in events:
        what: tuple[object, ...] = (
            event["session"],
            event["kind"],
            event.get("span") or event["t"],
        )
        if not event.get("span"):
            what += (event.get("name"), event.get("text"))
        seen[what] += 1
        yield (*what, seen[what])


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
