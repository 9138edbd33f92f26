"""Lines of what was read, in a file beside the store, and how they are counted into its rows.

A line is a time, eight letters that no other line has, and ids, with a tab between them. A
writer takes the file by giving it another name, so that readers begin a new one, and says
within its transaction how far it has counted (``meta``, ``reads``): a line counts once,
however a transaction ends.
"""

from __future__ import annotations

import fcntl
import os
import stat

from ..core.model import Edge
from ..core.vocabulary import THING_IDS
from .connection import ID_OF, apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..core.model import Node


if TYPE_CHECKING:
    _Fact = tuple[int, int, str]
    """An edge: the keys of its ends and its relation."""


LONGEST = 1 << 15
"""Bytes of one line: what one command may leave behind."""

FACTS = 1000
"""The most facts that one read counts for, and about as many are counted in by one writer."""

LARGEST = 1 << 20
"""Bytes of a file to which nobody appends: then nobody has been able to write for long."""

_TRIES = 3
_KEY = "reads"
_IDENTITY = 32
"""Bytes that no other such file begins with: a time and a line's own letters."""

# Whoever writes counts in what others have read, too: nothing here goes by a scope.
_KEY_OF = " UNION ALL ".join(
    f"SELECT key FROM main.{table} WHERE id = ?1" for table in ("nodes", "absent")
)
_ID_OF = ID_OF.replace("FROM ", "FROM main.")

# A fact is an edge between things: entities, and concepts for values.
FACT = " AND ".join(
    f"(SELECT id LIKE 'entity-%' OR id LIKE 'concept-%' FROM (SELECT {_ID_OF.format(end)} AS id))"
    for end in ("e.from_key", "e.to_key")
)
_STAGED_OF = f"""
SELECT * FROM (SELECT e.from_key, e.to_key, e.relation FROM main.graph_edges e WHERE e.{{end}} = ?1
  AND e.status = 'staged' AND e.invalidated_at IS NULL AND {FACT} LIMIT ?2)"""
_ANY_OF = f"""
SELECT e.from_key, e.to_key, e.relation FROM (
  SELECT from_key, to_key, relation FROM main.graph_edges
  WHERE {{end}} = ?1 AND invalidated_at IS NULL LIMIT ?2) e WHERE {FACT}"""
# Of what is not staged the first ones that an index has are looked at, and no more.
_FACTS_OF = " UNION ALL ".join(
    part.format(end=end) for part in (_STAGED_OF, _ANY_OF) for end in ("from_key", "to_key")
)


class Read:
    """What one command has read."""

    __slots__ = ("at", "ids")

    def __init__(self, at: str, ids: Iterable[str]) -> None:
        self.at = at
        self.ids = tuple(dict.fromkeys(ids))


class PendingReads:
    """Reads that wait to be counted, by node and by fact: how many, and when the last one was."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._nodes: dict[str, tuple[int, str]] = {}
        self._things: dict[str, list[int]] = {}
        self._times: list[str] = []
        for text in texts:
            for read in _reads(text):
                self._add(read)

    def _add(self, read: Read) -> None:
        for id in read.ids:
            count, last = self._nodes.get(id, (0, ""))
            self._nodes[id] = (count + 1, max(last, read.at))
            if id.startswith(THING_IDS):
                self._things.setdefault(id, []).append(len(self._times))
        self._times.append(read.at)

    def add_to(self, one: Node | Edge) -> None:
        """Add what waits to the counts of a node or an edge, if it is live."""
        if one.invalidated_at is not None:
            return
        if isinstance(one, Edge):
            count, last = self.of_fact(one.from_id, one.to_id)
        else:
            count, last = self.of_node(one.id)
        if count:
            one.access_count += count
            one.accessed_at = max(one.accessed_at or "", last)

    def of_node(self, id: str) -> tuple[int, str]:
        """Return ``(reads, last time)`` of a node."""
        return self._nodes.get(id, (0, ""))

    def of_fact(self, from_id: str, to_id: str) -> tuple[int, str]:
        """Return ``(reads, last time)`` of an edge; zero where it is not between two things."""
        if not (from_id.startswith(THING_IDS) and to_id.startswith(THING_IDS)):
            return (0, "")
        reads = {*self._things.get(from_id, ()), *self._things.get(to_id, ())}
        return (len(reads), max((self._times[one] for one in reads), default=""))


def append(path: str, ids: Sequence[str], at: str) -> None:
    """Put one read at the end of the file that is at ``path`` now; nothing where it cannot."""
    line = bytearray(f"{at}\t{os.urandom(4).hex()}".encode())
    for id in ids:
        word = b"\t" + id.encode(errors="replace")
        if len(line) + len(word) >= LONGEST:
            break
        line += word
    line += b"\n"
    try:
        for _ in range(_TRIES):
            if _append_once(path, bytes(line)):
                return
    except OSError:
        return


def _append_once(path: str, line: bytes) -> bool:
    """Return False where a writer has taken the file between its opening and its locking."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    file = os.open(path, flags, 0o600)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size >= LARGEST:
            return True
        if not _locked(file, fcntl.LOCK_SH) or os.stat(path).st_ino != found.st_ino:
            return False
        os.write(file, line)
        return True
    except FileNotFoundError:
        return False
    finally:
        os.close(file)


def _locked(file: int, kind: int) -> bool:
    """Return whether the lock was free. It is held for one write, so nobody waits for it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: a line may get lost
    return True


def done(db: apsw.Connection) -> str:
    """Return of which file how many bytes are counted in."""
    return str(db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).get or "")


def waiting_texts(db: apsw.Connection, taken: str, waiting: str) -> Iterator[bytes]:
    """Yield the lines that are not counted in, as this connection sees the store."""
    text = _text(taken)
    yield text[_counted(done(db), text) :]
    yield _text(waiting)


def take(db: apsw.Connection, waiting: str, taken: str) -> bool:
    """Count in what was taken before, or else takes what waits; the caller writes.

    Whether the file that was taken is done with.
    """
    text = b""
    try:
        text = _text(taken, alone=True)
        start = _counted(done(db), text)
        if start >= len(text):
            os.rename(waiting, taken)
            text, start = _text(taken, alone=True), 0
    except FileNotFoundError:
        return bool(text)  # all of it is counted, and nothing waits
    except OSError:
        return False  # a reader is at it, or it cannot be taken: the next writer will
    counting = Counting(db)
    end = start
    for line in text[start:].splitlines(keepends=True):
        if counting.is_full:
            break
        end += len(line)
        for read in _reads(line):
            counting.add(read)
    counting.write()
    identity = text[:_IDENTITY].hex()
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, f"{identity} {end}"))
    return end >= len(text)


class Counting:
    """Reads that become counts in the rows, each row written once."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._nodes: dict[Any, tuple[int, str]] = {}
        self._facts: dict[Any, tuple[int, str]] = {}
        self._of_thing: dict[str, list[_Fact]] = {}

    @property
    def is_full(self) -> bool:
        """Return whether the rest is better left to the next writer."""
        return len(self._facts) >= FACTS

    def add(self, read: Read) -> None:
        """Count one more read of these nodes, and of the facts of those that are things."""
        facts: dict[_Fact, None] = {}
        for thing in read.ids:
            if thing.startswith(THING_IDS):
                if thing not in self._of_thing:
                    self._of_thing[thing] = _facts_of(self._db, thing)
                facts |= dict.fromkeys(self._of_thing[thing])
        for counts, keys in ((self._nodes, read.ids), (self._facts, [*facts][:FACTS])):
            for key in keys:
                count, last = counts.get(key, (0, ""))
                counts[key] = (count + 1, max(last, read.at))

    def write(self) -> None:
        """Put the counts into the rows of what is live."""
        later = "accessed_at = max(coalesce(accessed_at, ''), ?2), access_count = access_count + ?1"
        self._db.executemany(
            f"UPDATE main.nodes SET {later} WHERE id = ?3 AND invalidated_at IS NULL",
            ((*count, id) for id, count in self._nodes.items()),
        )
        self._db.executemany(
            f"UPDATE main.graph_edges SET {later}"
            " WHERE from_key = ?3 AND to_key = ?4 AND relation = ?5",
            ((*count, *key) for key, count in self._facts.items()),
        )


def _facts_of(db: apsw.Connection, thing: str) -> list[_Fact]:
    """Return the live facts of a thing; of one with very many links some, what is staged first."""
    try:
        key = db.execute(_KEY_OF, (thing,)).get
        rows: list[_Fact] = db.execute(_FACTS_OF, (key, FACTS)).fetchall()  # type: ignore[assignment]
    except apsw.SQLError:
        return []  # there is no such table, or another one: search does without it, too
    return [*dict.fromkeys(rows)][:FACTS]


def _reads(text: bytes) -> Iterator[Read]:
    """Yield the reads of whole lines; whatever else stands there is none."""
    for line in text.split(b"\n"):
        at, _, rest = line.decode(errors="replace").partition("\t")
        ids = rest.split("\t")[1:]
        if ids and _is_time(at):
            yield Read(at, ids)


def _is_time(text: str) -> bool:
    """Return whether it has the form of ``2026-01-31T12:00:00Z``."""
    digits = text[:4] + text[5:7] + text[8:10] + text[11:13] + text[14:16] + text[17:19]
    marks = text[4:5] + text[7:8] + text[10:11] + text[13:14] + text[16:17] + text[19:]
    return digits.isascii() and digits.isdigit() and len(digits) == 14 and marks == "--T::Z"


def _text(path: str, *, alone: bool = False) -> bytes:
    """Return what a file holds; nothing where it is none.

    Raises:
        OSError: with ``alone``, since a reader is still appending to it.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        if alone and not _locked(file, fcntl.LOCK_EX):
            raise BlockingIOError
        is_plain = stat.S_ISREG(os.fstat(file).st_mode)
        return os.read(file, 2 * LARGEST) if is_plain else b""
    finally:
        os.close(file)


def _counted(done: str, text: bytes) -> int:
    """Return how many bytes of this text are counted in."""
    identity, _, number = done.partition(" ")
    same = identity == text[:_IDENTITY].hex() and number.isascii() and number.isdigit()
    return int(number) if same and len(number) < 10 else 0
