"""Full text over whole files, beside that over passages.

A passage knows two hundred words. A commit, an issue or a traceback names what stands in several
places of a file, and BM25 over the whole of it adds that up. Like the tables of passages this one
keeps no texts, and to take a row out FTS5 must be told what it has indexed: so the texts of files
are kept packed.
"""

from __future__ import annotations

from ...core.text import composed
from ...system.json_encode import dumps
from .packing import packed, unpacked
from .whole_text import FILES, WholeText, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .whole_text import Row


class SqliteWholeFiles(WholeText):
    """The texts of indexed files, and where their words stand."""

    _table = FILES

    def stored(self) -> int:
        """How many files there are."""
        count: int = self._db.execute("SELECT count(*) FROM whole_files").get
        return count

    def paths(self) -> set[str]:
        """The files there are."""
        return {str(path) for (path,) in self._db.execute("SELECT path FROM whole_files")}

    def put(self, files: Iterable[tuple[str, str, str]]) -> None:
        """Writes files anew: path, text, and the parts of the names in it."""
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
        """Forgets files, and which commits changed them."""
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

    def text(self, path: str) -> str:
        """The text of a file; nothing where it is not known."""
        held = self._rows("SELECT key, path, texts FROM whole_files WHERE path = ?", path)
        return str(_row(held[0])[2]) if held else ""

    def renew(self) -> None:
        """Indexes all anew, by the engine of the store."""
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
        """``(path, BM25 score)`` of the best files that have one of the phrases, best first.

        ``weights`` are of the path, the text, and the parts of its names.
        """
        if not phrases or not self.is_there():
            return []
        query, parameters = self._best(phrases, weights)
        rows: list[tuple[str, float]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT w.path, f.score FROM ({query} ORDER BY score DESC, rowid LIMIT ?) f"
            " CROSS JOIN whole_files w ON w.key = f.rowid",
            (*parameters, limit),
        ).fetchall()
        return sorted(rows, key=lambda row: (-row[1], row[0]))

    def named(self, words: Sequence[str]) -> list[str]:
        """The paths that have one of these words."""
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


def _row(held: tuple[int, str, bytes]) -> Row:
    key, path, texts = held
    text, _, parts = unpacked(texts).partition("\0")
    return key, path, text, parts
