"""Full text over whole files and over messages of commits."""

from __future__ import annotations

from ..core.json import dumps
from ..core.text import composed, words
from ..core.vocabulary import COMMIT_IDS
from .connection import apsw
from .faults import GraphFaults
from .fulltext import FILES, MESSAGES, WHOLE, creating, rank_bm25
from .passages import packed, unpacked

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

    _table = ""

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
            self._db.execute(creating(self._fulltext.engine, self._table, self._columns))
        marks = ", ".join("?" * (1 + len(self._columns)))
        self._db.executemany(
            f"INSERT INTO {self._table}(rowid, {', '.join(self._columns)}) VALUES ({marks})", rows
        )

    def _take_out(self, rows: Sequence[Row]) -> None:
        if self._fulltext.engine != "fts5":
            keys = ((row[0],) for row in rows)
            self._db.executemany(f"DELETE FROM {self._table} WHERE rowid = ?", keys)
            return
        marks = ", ".join("?" * (1 + len(self._columns)))
        self._db.executemany(
            f"INSERT INTO {self._table}({self._table}, rowid, {', '.join(self._columns)})"
            f" VALUES ('delete', {marks})",
            rows,
        )

    def _drop(self) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {self._table}")
        self._made = False

    def _best(self, phrases: Sequence[str], weights: Sequence[float]) -> tuple[str, list[object]]:
        """Return a query for rowid and BM25 score of what has one of the phrases, and its
        parameters."""
        if self._fulltext.engine == "fts5":
            rank = f"-bm25({self._table}, {', '.join('?' * len(weights))})"
        else:
            self._db.create_scalar_function("rank_bm25", rank_bm25, 1)  # type: ignore[arg-type]
            rank, weights = f"-rank_bm25(matchinfo({self._table}, 'pcnalx'))", ()
        query = f"SELECT rowid, {rank} AS score FROM {self._table} WHERE {self._table} MATCH ?"
        return query, [*weights, " OR ".join(map(quoted, phrases))]


def quoted(phrase: str) -> str:
    """Return a phrase for MATCH. It is made of words (text.words), which have nothing that the
    tokenizers split at."""
    return f'"{phrase}"'


_KEPT = 4
"""Answers that are kept: a context asks the same twice, a search at most three things."""


class WholeFiles(WholeText):
    """Full text over whole files, by their paths: those that ``lore index`` has read.

    A phrase is folded words with a space between each two; a file has it where these are next to
    each other.
    """

    _table = FILES

    def stored(self) -> int:
        """Return how many files there are."""
        count: int = self._db.execute("SELECT count(*) FROM whole_files").get
        return count

    def paths(self) -> set[str]:
        """Return the files there are."""
        return {str(path) for (path,) in self._db.execute("SELECT path FROM whole_files")}

    @property
    def legs(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return the scores that ranked files for the last query, as long as nothing is written."""
        return self._fulltext.there().legs

    def put(self, files: Iterable[tuple[str, str, str]]) -> None:
        """Write files anew: path, text, and the parts of the names in it."""
        rows = [(path, composed(text), composed(parts)) for path, text, parts in files]
        if not rows:
            return
        held = self._held([path for path, *_ in rows])
        self._take_out([_row(row) for row in held])
        keys = {path: key for key, path, _ in held}
        last: int = self._db.execute("SELECT coalesce(max(key), 0) FROM whole_files").get
        for path, *_ in rows:
            if path not in keys:
                keys[path] = last = last + 1
        self._db.executemany(
            "INSERT OR REPLACE INTO whole_files VALUES (?, ?, ?)",
            ((keys[path], path, packed(f"{text}\0{parts}")) for path, text, parts in rows),
        )
        self._insert((keys[path], path, text, parts) for path, text, parts in rows)

    def remove(self, paths: Sequence[str]) -> None:
        """Forget files, and which commits changed them."""
        held = self._held(paths)
        if held:
            self._take_out([_row(row) for row in held])
            keys = [(row[0],) for row in held]
            self._db.executemany("DELETE FROM whole_files WHERE key = ?", keys)
            self._db.executemany("DELETE FROM commit_files WHERE file_key = ?", keys)

    def _held(self, paths: Sequence[str]) -> list[tuple[int, str, bytes]]:
        return self._rows(
            "SELECT w.key, w.path, w.texts FROM json_each(?) j CROSS JOIN whole_files w"
            " ON w.path = j.value",
            dumps(paths),
        )

    def of_few_words(self, paths: Sequence[str], most: int) -> list[str]:
        """Return those of these files whose text has at most so many words."""
        rows = self._rows(
            "SELECT w.key, w.path, w.texts FROM json_each(?) j CROSS JOIN whole_files w"
            f" ON w.path = j.value AND length(w.texts) <= {_SMALL}",
            dumps(paths),
        )
        texts = {path: unpacked(texts).partition("\0")[0] for _, path, texts in rows}
        return [path for path, text in texts.items() if len(words(text)) <= most]

    def text(self, path: str) -> str:
        """Return the text of a file; nothing where it is not known."""
        held = self._rows("SELECT key, path, texts FROM whole_files WHERE path = ?", path)
        return str(_row(held[0])[2]) if held else ""

    def renew(self) -> None:
        """Index all anew, by the engine of the store."""
        self._drop()
        keys: list[object] = [key for (key,) in self._db.execute("SELECT key FROM whole_files")]
        for start in range(0, len(keys), _TOGETHER):
            some = dumps(keys[start : start + _TOGETHER])
            self._insert(map(_row, self._rows(
                "SELECT w.key, w.path, w.texts FROM json_each(?) j CROSS JOIN whole_files w"
                " ON w.key = j.value", some,
            )))  # fmt: skip

    def search(
        self, phrases: Sequence[str], weights: Sequence[float], limit: int
    ) -> list[tuple[str, float]]:
        """Return ``(path, BM25 score)`` of the best files that have one of the phrases, best first,
        equal ones by path.

        ``weights`` are of the path, the text, and the parts of its names.
        """
        if not phrases or not self.is_there():
            return []
        query, parameters = self._best(phrases, weights)
        asked, kept = (*parameters, limit), self._fulltext.there().files
        if asked not in kept:
            if len(kept) == _KEPT:
                kept.clear()
            rows: list[tuple[str, float]] = self._db.execute(  # type: ignore[assignment]
                f"SELECT w.path, f.score FROM ({query} ORDER BY score DESC, rowid LIMIT ?) f"
                " CROSS JOIN whole_files w ON w.key = f.rowid",
                (*parameters, limit),
            ).fetchall()
            kept[asked] = sorted(rows, key=lambda row: (-row[1], row[0]))
        return kept[asked]

    def named(self, words: Sequence[str]) -> list[str]:
        """Return the paths that have one of these words."""
        if not words or not self.is_there():
            return []
        if self._fulltext.engine == "fts5":
            asked = f"path : ({' OR '.join(map(quoted, words))})"
        else:
            asked = " OR ".join(f"path:{quoted(word)}" for word in words)
        rows = self._db.execute(
            f"SELECT w.path FROM {FILES} f CROSS JOIN whole_files w ON w.key = f.rowid"
            f" WHERE {FILES} MATCH ?",
            (asked,),
        )
        return [str(path) for (path,) in rows]

    def _rows(self, query: str, parameter: str) -> list[tuple[int, str, bytes]]:
        return self._db.execute(query, (parameter,)).fetchall()  # type: ignore[return-value]


_TOGETHER = 200
"""Files whose texts are held at once."""


_SMALL = 100
"""Bytes of a packed text that may have few words."""


def _row(held: tuple[int, str, bytes]) -> Row:
    key, path, texts = held
    text, _, parts = unpacked(texts).partition("\0")
    return key, path, text, parts


_HASH = len(COMMIT_IDS)


class Commits(WholeText):
    """Commits of the history: their messages, and which of the whole files each changed.

    An id is ``commit-`` and the hash. Nothing else of the store sees them: they are no nodes, and
    that one changed a file is no edge.
    """

    _table = MESSAGES

    def count(self) -> int:
        """Return how many there are."""
        number: int = self._db.execute("SELECT count(*) FROM commits").get
        return number

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
        """Forget commits, as those that are no longer in the history."""
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
            " CROSS JOIN whole_files w ON w.key = f.file_key ORDER BY c.hash, w.path"
        )
        return [(f"{COMMIT_IDS}{hash}", str(path)) for hash, path in rows]

    def replace_files(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Put these in place of all: ``(id, path)`` of commits and whole files that there are."""
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
        """Return ``(id, BM25 score)`` of the commits whose messages are most alike, best first,
        equal ones by id.

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
        """Return the files that each of these commits changed, by path.

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
        """Return how many commits changed each of these files, where any did.

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
