"""Texts of files and messages of commits: packed, and full text over them."""

from __future__ import annotations

from ..core.errors import StoreDamaged
from ..core.json import dumps
from ..core.text import identifier_parts, indexed
from ..core.vocabulary import COMMIT_IDS
from .connection import GraphTable
from .fulltext import FILES, MESSAGES, WHOLE, engine_in, quoted, score_of, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Commit = tuple[str, int, str]
    """Hash, seconds since 1970, message."""


class WholeText(GraphTable):
    """A full-text table of files or messages."""

    _table = _of = _name = _prefix = ""
    """The full-text table; the table of the texts; the column there of the name after a prefix."""

    def is_there(self) -> bool:
        """Return True if texts are indexed."""
        return bool(self._value(f"SELECT 1 FROM {self._table}_docsize LIMIT 1"))

    def _index(self, rows: Iterable[Sequence[str]]) -> None:
        """Index (name, text of each column) rows."""
        columns = WHOLE[self._table]
        self._db.executemany(
            f"REPLACE INTO {self._table}(rowid, {', '.join(columns)})"
            f" SELECT key{', ?' * len(columns)} FROM {self._of} WHERE {self._name} = ?",
            ((*map(indexed, texts), name) for name, *texts in rows),
        )

    def _change(self, names: Iterable[str], *statements: str) -> None:
        """Remove texts from the index, and run statements on their keys."""
        given = (dumps([name.removeprefix(self._prefix) for name in names]),)
        these = "IN (SELECT c.key FROM json_each(?) j"
        these += f" CROSS JOIN {self._of} c ON c.{self._name} = j.value)"
        for statement in (f"DELETE FROM {self._table} WHERE rowid", *statements):
            self._db.execute(f"{statement} {these}", given)

    def search(
        self, phrases: Sequence[str], limit: int, weights: Sequence[float] = (1.0,)
    ) -> list[tuple[str, float]]:
        """Return ``(name, BM25 score)`` of the best texts with one of the phrases (folded words),
        best first, equal ones by name. ``weights`` are of the columns."""
        if not phrases:
            return []
        score, given = score_of(self._db, engine_in(self._db), self._table, weights)
        rows = self._rows(
            f"SELECT '{self._prefix}' || c.{self._name}, f.score FROM"
            f" (SELECT rowid, {score} AS score FROM {self._table}"
            f" WHERE {self._table} MATCH ? ORDER BY score DESC, rowid LIMIT ?) f"
            f" CROSS JOIN {self._of} c ON c.key = f.rowid",
            *given,
            " OR ".join(map(quoted, phrases)),
            limit,
        )
        return sorted(rows, key=lambda row: (-row[1], row[0]))


class WholeFiles(WholeText):
    """Full text over the path, text and name parts of the files that ``lore index`` has read."""

    _table, _of, _name = FILES, "code_files", "path"

    def stored(self) -> int:
        """Return the number of files with a text."""
        return int(self._value(f"SELECT count(*) FROM {FILES}_docsize"))

    def paths(self) -> set[str]:
        """Return the files with a text."""
        return {*self._column("SELECT path FROM code_files WHERE text IS NOT NULL")}

    def put(self, files: Iterable[tuple[str, str, str]]) -> None:
        """Write ``(path, text, name parts)`` of files in ``code_files``."""
        rows = [*files]
        texts = ((packed(text), path) for path, text, _ in rows)
        self._db.executemany("UPDATE code_files SET text = ? WHERE path = ?", texts)
        self._index((row[0], *row) for row in rows)

    def remove(self, paths: Sequence[str]) -> None:
        """Delete the texts of files, and their ties to commits."""
        self._change(
            paths,
            "DELETE FROM commit_files WHERE file_key",
            "UPDATE code_files SET text = NULL WHERE key",
        )

    def text(self, path: str) -> str:
        """Return the text of a file, or an empty text."""
        held = self._value("SELECT text FROM code_files WHERE path = ?", path)
        return unpacked(held) if held else ""

    def renew(self) -> None:
        """Index all files again, in an empty table."""
        for path in sorted(self.paths()):
            text = self.text(path)
            self._index([(path, path, text, identifier_parts(text))])

    def named(self, words: Sequence[str]) -> list[str]:
        """Return the paths with any of these words."""
        if not words:
            return []
        return self._column(
            f"SELECT c.path FROM {FILES} f CROSS JOIN code_files c ON c.key = f.rowid"
            f" WHERE {FILES} MATCH ?",
            within(engine_in(self._db), "path", words),
        )


class Commits(WholeText):
    """Messages of commits, and the files that each changed. An id is ``commit-`` and the hash."""

    _table, _of, _name, _prefix = MESSAGES, "commits", "hash", COMMIT_IDS

    def ids(self) -> set[str]:
        """Return all ids."""
        return {f"{COMMIT_IDS}{hash}" for hash in self._column("SELECT hash FROM commits")}

    def get(self, id: str) -> Commit | None:
        """Return hash, seconds since 1970, and message of a commit."""
        query = "SELECT hash, made_at, message FROM commits WHERE hash = ?"
        for hash, at, message in self._rows(query, id.removeprefix(COMMIT_IDS)):
            return hash, at, unpacked(message).partition("\0")[0]
        return None

    def add(self, commits: Iterable[tuple[str, int, str, str]]) -> None:
        """Add ``(hash, seconds, message, indexed text)`` of new commits."""
        rows = [*commits]
        self._db.executemany(
            "INSERT INTO commits(hash, made_at, message) VALUES (?, ?, ?)",
            ((hash, at, packed(f"{message}\0{said}")) for hash, at, message, said in rows),
        )
        self._index((hash, said) for hash, *_, said in rows)

    def remove(self, ids: Iterable[str]) -> None:
        """Delete commits that left the history."""
        gone = ("DELETE FROM commit_files WHERE commit_key", "DELETE FROM commits WHERE key")
        self._change(ids, *gone)

    def renew(self) -> None:
        """Index all messages again, in an empty table."""
        rows = self._rows("SELECT hash, message FROM commits")
        self._index((hash, unpacked(texts).partition("\0")[2]) for hash, texts in rows)

    def files(self) -> list[tuple[str, str]]:
        """Return ``(id, path)`` of the files that each commit changed, sorted."""
        return self._rows(
            f"SELECT '{COMMIT_IDS}' || c.hash, w.path FROM commit_files f CROSS JOIN commits c"
            " ON c.key = f.commit_key CROSS JOIN code_files w ON w.key = f.file_key"
            " ORDER BY c.hash, w.path"
        )

    def replace_files(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Replace all ``(id, path)`` pairs of commits and files; unknown pairs are ignored."""
        self._db.execute("DELETE FROM commit_files")
        self._db.executemany(
            "INSERT OR IGNORE INTO commit_files SELECT c.key, w.key FROM commits c, code_files w"
            " WHERE c.hash = ? AND w.path = ? AND w.text IS NOT NULL",
            ((id.removeprefix(COMMIT_IDS), path) for id, path in pairs),
        )

    def changed(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the files that each of these commits changed, by path."""
        found: dict[str, list[str]] = {}
        for hash, path in self._rows(
            "SELECT c.hash, w.path FROM json_each(?) j CROSS JOIN commits c ON c.hash = j.value"
            " CROSS JOIN commit_files f ON f.commit_key = c.key"
            " CROSS JOIN code_files w ON w.key = f.file_key ORDER BY w.path",
            dumps([id.removeprefix(COMMIT_IDS) for id in ids]),
        ):
            found.setdefault(f"{COMMIT_IDS}{hash}", []).append(path)
        return found

    def changes(self, paths: Sequence[str]) -> dict[str, int]:
        """Return the number of commits that changed each of these files, if any did."""
        query = (
            "SELECT w.path, (SELECT count(*) FROM commit_files f WHERE f.file_key = w.key) n"
            " FROM json_each(?) j CROSS JOIN code_files w ON w.path = j.value WHERE n > 0"
        )
        return dict(self._rows(query, dumps(paths)))


_LONGEST = 200_000_000
"""Maximum bytes of an unpacked text; lore packs only files that fit in memory."""


def packed(text: str) -> bytes:
    """Return a packed text."""
    from zlib import compress  # a search that looks at no such text reads none

    return compress(text.encode(), 1)


def unpacked(held: str | bytes) -> str:
    """Return the text again; raise StoreDamaged if it was not packed so."""
    from zlib import decompressobj, error

    try:
        if isinstance(held, str):
            return held
        # A store may come from anywhere, and a thousand bytes may stand for a million.
        parts = decompressobj()
        text = parts.decompress(held, _LONGEST).decode()
        if parts.eof:
            return text
    except (error, TypeError, UnicodeDecodeError):
        pass
    raise StoreDamaged("a packed text cannot be read: run 'lore doctor'")
