"""Full text over whole files and over messages of commits."""

from __future__ import annotations

from ..core.json import dumps
from ..core.text import identifier_parts, indexed
from ..core.vocabulary import COMMIT_IDS
from .connection import apsw
from .faults import GraphFaults
from .fulltext import FILES, MESSAGES, WHOLE, quoted
from .packing import packed, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .fulltext import FullText


if TYPE_CHECKING:
    Row = tuple[int | str, ...]
    """Key and the text of each column."""

    Commit = tuple[str, int, str]
    """Hash, seconds since 1970, message."""


class WholeText:
    """One full-text table, made when something is first written to it."""

    _table = _of = _name = ""
    """The full-text table; the table c of the texts with its keys, and what a text is called."""

    def __init__(self, connection: apsw.Connection, fulltext: FullText) -> None:
        self._db = connection
        self._fulltext = fulltext
        self._columns = WHOLE[self._table]
        self._made = False

    def is_there(self) -> bool:
        """Return whether there may be something to find."""
        if not self._made:
            known = "SELECT 1 FROM sqlite_schema WHERE name = ?"
            self._made = bool(self._db.execute(known, (self._table,)).get)
        return self._made

    def _insert(self, rows: Iterable[Row]) -> None:
        if not self.is_there():
            self._db.execute(self._fulltext.engine.create(self._table, self._columns))
        marks = ", ".join("?" * (1 + len(self._columns)))
        self._db.executemany(
            f"REPLACE INTO {self._table}(rowid, {', '.join(self._columns)}) VALUES ({marks})",
            ((key, *map(indexed, map(str, texts))) for key, *texts in rows),
        )

    def _take_out(self, keys: Iterable[int]) -> None:
        if self.is_there():
            gone = ((key,) for key in keys)
            self._db.executemany(f"DELETE FROM {self._table} WHERE rowid = ?", gone)

    def _drop(self) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {self._table}")
        self._made = False

    def _ranked(
        self, phrases: Sequence[str], weights: Sequence[float], limit: int
    ) -> list[tuple[str, float]]:
        """Return the name and the BM25 score of the best texts that have one of the phrases, best
        first, equal ones by name."""
        if not phrases or not self.is_there():
            return []
        score, given = self._fulltext.engine.score(self._db, self._table, weights)
        rows: list[tuple[str, float]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT {self._name}, f.score FROM (SELECT rowid, {score} AS score FROM {self._table}"
            f" WHERE {self._table} MATCH ? ORDER BY score DESC, rowid LIMIT ?) f"
            f" CROSS JOIN {self._of} c ON c.key = f.rowid",
            (*given, " OR ".join(map(quoted, phrases)), limit),
        ).fetchall()
        return sorted(rows, key=lambda row: (-row[1], row[0]))


class WholeFiles(WholeText):
    """Full text over whole files, by their paths: those that ``lore index`` has read.

    A phrase is folded words with a space between each two; a file has it where these are next to
    each other.
    """

    _table, _of, _name = FILES, "code_files", "c.path"

    def stored(self) -> int:
        """Return the number of files that have a text."""
        if not self.is_there():
            return 0
        return int(self._db.execute(f"SELECT count(*) FROM {FILES}_docsize").get)

    def paths(self) -> set[str]:
        """Return the files that have a text."""
        rows = self._db.execute("SELECT path FROM code_files WHERE text IS NOT NULL")
        return {str(path) for (path,) in rows}

    def put(self, files: Iterable[tuple[str, str, str]]) -> None:
        """Write texts anew: path of a row of ``code_files``, text, and the parts of its names."""
        rows = [*files]
        keys = self._keys([path for path, *_ in rows])
        self._db.executemany(
            "UPDATE code_files SET text = ? WHERE path = ?",
            ((packed(text), path) for path, text, _ in rows),
        )
        self._insert((keys[path], path, text, parts) for path, text, parts in rows if path in keys)

    def remove(self, paths: Sequence[str]) -> None:
        """Forget the texts of files, and which commits changed them."""
        keys = [*self._keys(paths).values()]
        self._take_out(keys)
        for statement in (
            "UPDATE code_files SET text = NULL WHERE key = ?",
            "DELETE FROM commit_files WHERE file_key = ?",
        ):
            self._db.executemany(statement, ((key,) for key in keys))

    def _keys(self, paths: Sequence[str]) -> dict[str, int]:
        return dict(
            self._db.execute(
                "SELECT c.path, c.key FROM json_each(?) j CROSS JOIN code_files c"
                " ON c.path = j.value",
                (dumps(paths),),
            )
        )

    def text(self, path: str) -> str:
        """Return the text of a file; nothing where it is not known."""
        held: bytes | None = self._db.execute(
            "SELECT text FROM code_files WHERE path = ?", (path,)
        ).get
        return unpacked(held) if held else ""

    def renew(self) -> None:
        """Index all anew, by the engine of the store."""
        self._drop()
        for path, key in self._keys(sorted(self.paths())).items():
            text = self.text(path)
            self._insert([(key, path, text, identifier_parts(text))])

    def search(
        self, phrases: Sequence[str], weights: Sequence[float], limit: int
    ) -> list[tuple[str, float]]:
        """Return ``(path, BM25 score)`` of the best files that have one of the phrases, best first,
        equal ones by path.

        ``weights`` are of the path, the text, and the parts of its names.
        """
        return self._ranked(phrases, weights, limit)

    def named(self, words: Sequence[str]) -> list[str]:
        """Return the paths that have one of these words."""
        if not words or not self.is_there():
            return []
        rows = self._db.execute(
            f"SELECT c.path FROM {FILES} f CROSS JOIN code_files c ON c.key = f.rowid"
            f" WHERE {FILES} MATCH ?",
            (self._fulltext.engine.within("path", words),),
        )
        return [str(path) for (path,) in rows]


_HASH = len(COMMIT_IDS)


class Commits(WholeText):
    """Commits of the history: their messages, and which of the whole files each changed.

    An id is ``commit-`` and the hash. Nothing else of the store sees them: they are no nodes, and
    that one changed a file is no edge.
    """

    _table, _of, _name = MESSAGES, "commits", f"'{COMMIT_IDS}' || c.hash"

    def ids(self) -> set[str]:
        """Return all of them."""
        return {f"{COMMIT_IDS}{hash}" for (hash,) in self._db.execute("SELECT hash FROM commits")}

    def get(self, id: str) -> Commit | None:
        """Return hash, seconds since 1970, and message of one commit."""
        row = self._db.execute(
            "SELECT hash, made_at, message FROM commits WHERE hash = ?", (id[_HASH:],)
        ).fetchone()
        if row is None:
            return None
        return str(row[0]), int(str(row[1])), unpacked(row[2]).partition("\0")[0]

    def add(self, commits: Iterable[tuple[str, int, str, str]]) -> None:
        """Add ``(hash, seconds, message, what of it is indexed)`` of commits that are new."""
        last: int = self._db.execute("SELECT coalesce(max(key), 0) FROM commits").get
        rows = [
            (last + number, hash, at, message, said)
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
        """Forget commits, as those that are no longer in the history."""
        rows = self._db.execute(
            "SELECT c.key FROM json_each(?) j CROSS JOIN commits c ON c.hash = j.value",
            (dumps([id[_HASH:] for id in ids]),),
        )
        keys = [int(key) for (key,) in rows]
        self._take_out(keys)
        for table, column in (("commits", "key"), ("commit_files", "commit_key")):
            gone = ((key,) for key in keys)
            self._db.executemany(f"DELETE FROM {table} WHERE {column} = ?", gone)

    def renew(self) -> None:
        """Index all messages anew, by the engine of the store."""
        self._drop()
        rows: list[tuple[int, bytes]] = self._db.execute(  # type: ignore[assignment]
            "SELECT key, message FROM commits"
        ).fetchall()
        if rows:
            self._insert((key, _said(texts)) for key, texts in rows)

    def files(self) -> list[tuple[str, str]]:
        """Return ``(id, path)`` of each file that each commit changed, sorted."""
        rows = self._db.execute(
            "SELECT c.hash, w.path FROM commit_files f CROSS JOIN commits c ON c.key = f.commit_key"
            " CROSS JOIN code_files w ON w.key = f.file_key ORDER BY c.hash, w.path"
        )
        return [(f"{COMMIT_IDS}{hash}", str(path)) for hash, path in rows]

    def replace_files(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Put these in place of all: ``(id, path)`` of commits and whole files that there are."""
        self._db.execute("DELETE FROM commit_files")
        commits = dict(self._db.execute("SELECT hash, key FROM commits"))
        files = dict(self._db.execute("SELECT path, key FROM code_files WHERE text IS NOT NULL"))
        self._db.executemany(
            "INSERT OR IGNORE INTO commit_files VALUES (?, ?)",
            (
                (commits[id[_HASH:]], files[path])
                for id, path in pairs
                if id[_HASH:] in commits and path in files
            ),
        )

    def search(self, phrases: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """Return ``(id, BM25 score)`` of the commits whose messages are most alike, best first,
        equal ones by id.

        Raises:
            GraphUnavailable: the tables are missing or damaged.
        """
        with GraphFaults():
            return self._ranked(phrases, (1.0,), limit)

    def changed(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the files that each of these commits changed, by path.

        Raises:
            GraphUnavailable: the tables are missing or damaged.
        """
        found: dict[str, list[str]] = {}
        with GraphFaults():
            rows = self._db.execute(
                "SELECT c.hash, w.path FROM json_each(?) j CROSS JOIN commits c ON c.hash = j.value"
                " CROSS JOIN commit_files f ON f.commit_key = c.key"
                " CROSS JOIN code_files w ON w.key = f.file_key ORDER BY w.path",
                (dumps([id[_HASH:] for id in ids]),),
            )
            for hash, path in rows:
                found.setdefault(f"{COMMIT_IDS}{hash}", []).append(str(path))
        return found

    def changes(self, paths: Sequence[str]) -> dict[str, int]:
        """Return how many commits changed each of these files, where any did.

        Raises:
            GraphUnavailable: the tables are missing or damaged.
        """
        with GraphFaults():
            rows = self._db.execute(
                "SELECT w.path, (SELECT count(*) FROM commit_files f WHERE f.file_key = w.key) n"
                " FROM json_each(?) j CROSS JOIN code_files w ON w.path = j.value WHERE n > 0",
                (dumps(paths),),
            )
            return dict(rows)


def _said(texts: bytes) -> str:
    return unpacked(texts).partition("\0")[2]
