"""What ``lore index`` keeps of each file's names, so that it need not resolve all of them again."""

from __future__ import annotations

from ...system.json_encode import dumps
from .driver import apsw
from .packing import packed, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class SqliteCodeAnswers:
    """The tables ``code_answers`` and ``code_marks``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def clear(self) -> None:
        """Forgets everything."""
        self._db.execute("DELETE FROM code_marks")
        self._db.execute("DELETE FROM code_answers")

    def fill(self, rows: Iterable[tuple[str, str, bytes, str, Iterable[int]]]) -> None:
        """Writes ``(owner, outline, reads, answers as JSON, marks)`` of all, after ``clear``."""
        marks: list[tuple[int, int]] = []

        def each() -> Iterator[tuple[int, str, str, bytes, bytes]]:
            for key, (owner, outline, reads, answers, some) in enumerate(rows, start=1):
                marks.extend((mark, key) for mark in some)
                yield key, owner, outline, reads, packed(answers) if answers else b""

        self._db.executemany("INSERT INTO code_answers VALUES (?, ?, ?, ?, ?)", each())
        marks.sort()
        self._db.executemany("INSERT INTO code_marks VALUES (?, ?)", marks)

    def reads(self) -> list[tuple[str, bytes]]:
        """Owner and what was looked up, of all."""
        rows: list[tuple[str, bytes]] = self._db.execute(  # type: ignore[assignment]
            "SELECT owner, reads FROM code_answers"
        ).fetchall()
        return rows

    def outlines(self) -> list[tuple[str, str]]:
        """Path and outline of the files that have one."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT owner, outline FROM code_answers WHERE outline != ''"
        ).fetchall()
        return rows

    def answers(self, owner: str) -> str:
        """The answers of a file as JSON; empty where none are kept."""
        found: bytes | None = self._db.execute(
            "SELECT answers FROM code_answers WHERE owner = ?", (owner,)
        ).get
        return unpacked(found) if found else ""

    def holding(self, mark: int) -> list[str]:
        """The owners that have a mark, in order."""
        rows = self._db.execute(
            "SELECT a.owner FROM code_marks m CROSS JOIN code_answers a ON a.key = m.owner"
            " WHERE m.mark = ? ORDER BY a.owner",
            (mark,),
        )
        return [str(row[0]) for row in rows]

    def put_reads(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Writes what was looked up for owners, new ones too."""
        self._db.executemany(
            "INSERT INTO code_answers(owner, reads, answers) VALUES (?, ?, x'')"
            " ON CONFLICT(owner) DO UPDATE SET reads = excluded.reads",
            rows,
        )

    def put_answers(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Writes ``(path, outline, answers as JSON)`` of files, new ones too."""
        self._db.executemany(
            "INSERT INTO code_answers(owner, outline, reads, answers) VALUES (?, ?, x'', ?)"
            " ON CONFLICT(owner) DO UPDATE"
            " SET outline = excluded.outline, answers = excluded.answers",
            ((path, outline, packed(answers)) for path, outline, answers in rows),
        )

    def put_marks(self, owner: str, gone: Iterable[int], new: Iterable[int]) -> None:
        """Takes marks from an owner, and gives it others."""
        key: int | None = self._db.execute(
            "SELECT key FROM code_answers WHERE owner = ?", (owner,)
        ).get
        if key is not None:
            rows = [(mark, key) for mark in gone]
            self._db.executemany("DELETE FROM code_marks WHERE mark = ? AND owner = ?", rows)
            rows = [(mark, key) for mark in new]
            self._db.executemany("INSERT OR IGNORE INTO code_marks VALUES (?, ?)", rows)

    def remove(self, owners: Iterable[str]) -> None:
        """Forgets owners of which all marks are taken."""
        self._db.execute(
            "DELETE FROM code_answers WHERE owner IN (SELECT value FROM json_each(?))",
            (dumps(list(owners)),),
        )
