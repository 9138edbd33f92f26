"""Commits of the history: their messages, and which of the whole files each changed."""

from __future__ import annotations

from ...core.text import composed
from ...core.vocabulary import COMMIT_IDS
from ...system.json_encode import dumps
from .faults import GraphFaults
from .packing import packed, unpacked
from .whole_text import MESSAGES, WholeText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Commit = tuple[str, int, str]
    """Hash, seconds since 1970, message."""

_HASH = len(COMMIT_IDS)


class SqliteCommits(WholeText):
    """The tables ``commits`` and ``commit_files``. An id is ``commit-`` and the hash."""

    _table = MESSAGES

    def count(self) -> int:
        """How many there are."""
        number: int = self._db.execute("SELECT count(*) FROM commits").get
        return number

    def ids(self) -> set[str]:
        """All of them."""
        return {f"{COMMIT_IDS}{hash}" for (hash,) in self._db.execute("SELECT hash FROM commits")}

    def get(self, id: str) -> Commit | None:
        """One commit."""
        row = self._db.execute(
            "SELECT hash, made_at, message FROM commits WHERE hash = ?", (id[_HASH:],)
        ).fetchone()
        if row is None:
            return None
        return str(row[0]), int(str(row[1])), unpacked(row[2]).partition("\0")[0]

    def add(self, commits: Iterable[tuple[str, int, str, str]]) -> None:
        """Adds ``(hash, seconds, message, what of it is indexed)`` of commits that are new."""
        last: int = self._db.execute("SELECT coalesce(max(key), 0) FROM commits").get
        rows = [
            (last + number, hash, at, message, composed(said))
            for number, (hash, at, message, said) in enumerate(commits, start=1)
        ]
        if rows:
            self._db.executemany(
                "INSERT INTO commits VALUES (?, ?, ?, ?)",
                (
                    (key, hash, at, packed(f"{message}\0{said}"))
                    for key, hash, at, message, said in rows
                ),
            )
            self._insert((key, said) for key, *_, said in rows)

    def remove(self, ids: Iterable[str]) -> None:
        """Forgets commits, as those that are no longer in the history."""
        held: list[tuple[int, bytes]] = self._db.execute(  # type: ignore[assignment]
            "SELECT c.key, c.message FROM json_each(?) j CROSS JOIN commits c ON c.hash = j.value",
            (dumps([id[_HASH:] for id in ids]),),
        ).fetchall()
        if held:
            self._take_out([(key, _said(texts)) for key, texts in held])
            for table, column in (("commits", "key"), ("commit_files", "commit_key")):
                keys = ((key,) for key, _ in held)
                self._db.executemany(f"DELETE FROM {table} WHERE {column} = ?", keys)

    def renew(self) -> None:
        """Indexes all messages anew, by the engine of the store."""
        self._drop()
        rows: list[tuple[int, bytes]] = self._db.execute(  # type: ignore[assignment]
            "SELECT key, message FROM commits"
        ).fetchall()
        if rows:
            self._insert((key, _said(texts)) for key, texts in rows)

    def files(self) -> list[tuple[str, str]]:
        """``(id, path)`` of each file that each commit changed."""
        rows = self._db.execute(
            "SELECT c.hash, w.path FROM commit_files f CROSS JOIN commits c ON c.key = f.commit_key"
            " CROSS JOIN whole_files w ON w.key = f.file_key ORDER BY c.hash, w.path"
        )
        return [(f"{COMMIT_IDS}{hash}", str(path)) for hash, path in rows]

    def replace_files(self, pairs: Iterable[tuple[str, str]]) -> None:
        """These in place of all: ``(id, path)`` of commits and whole files that there are."""
        self._db.execute("DELETE FROM commit_files")
        commits = dict(self._db.execute("SELECT hash, key FROM commits"))
        files = dict(self._db.execute("SELECT path, key FROM whole_files"))
        self._db.executemany(
            "INSERT OR IGNORE INTO commit_files VALUES (?, ?)",
            (
                (commits[id[_HASH:]], files[path])
                for id, path in pairs
                if id[_HASH:] in commits and path in files
            ),
        )

    def search(self, phrases: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """``(id, BM25 score)`` of the commits whose messages are most alike, best first.

        Raises:
            GraphUnavailable: the tables are missing or damaged.
        """
        with GraphFaults():
            if not phrases or not self.is_there():
                return []
            query, parameters = self._best(phrases, (1.0,))
            rows: list[tuple[str, float]] = self._db.execute(  # type: ignore[assignment]
                f"SELECT c.hash, f.score FROM ({query} ORDER BY score DESC, rowid LIMIT ?) f"
                " CROSS JOIN commits c ON c.key = f.rowid",
                (*parameters, limit),
            ).fetchall()
        found = [(f"{COMMIT_IDS}{hash}", score) for hash, score in rows]
        return sorted(found, key=lambda row: (-row[1], row[0]))

    def changed(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """The files that each of these commits changed, by path.

        Raises:
            GraphUnavailable: the tables are missing or damaged.
        """
        found: dict[str, list[str]] = {}
        with GraphFaults():
            rows = self._db.execute(
                "SELECT c.hash, w.path FROM json_each(?) j CROSS JOIN commits c ON c.hash = j.value"
                " CROSS JOIN commit_files f ON f.commit_key = c.key"
                " CROSS JOIN whole_files w ON w.key = f.file_key ORDER BY w.path",
                (dumps([id[_HASH:] for id in ids]),),
            )
            for hash, path in rows:
                found.setdefault(f"{COMMIT_IDS}{hash}", []).append(str(path))
        return found

    def changes(self, paths: Sequence[str]) -> dict[str, int]:
        """How many commits changed each of these files, where any did.

        Raises:
            GraphUnavailable: the tables are missing or damaged.
        """
        with GraphFaults():
            rows = self._db.execute(
                "SELECT w.path, (SELECT count(*) FROM commit_files f WHERE f.file_key = w.key) n"
                " FROM json_each(?) j CROSS JOIN whole_files w ON w.path = j.value WHERE n > 0",
                (dumps(paths),),
            )
            return dict(rows)


def _said(texts: bytes) -> str:
    return unpacked(texts).partition("\0")[2]
