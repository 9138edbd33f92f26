"""Vectors of passages: a signed byte a dimension, found by sketches of two bits and ranked by
cosine.

sqlite-vec's functions do both. Every search looks at every sketch, and scores the 400 nearest by
the whole vectors: 4 ms for 10,000 passages and 25 ms for 100,000, and 93 % of the ten nearest are
found. All are plain tables: sqlite-vec's own ``vec0`` picks the nearest of n rows in time that
grows with n × candidates.
"""

from __future__ import annotations

import os
import sys
from math import inf, sqrt
from struct import pack, unpack

from ..core.errors import StoreError
from ..core.json import dumps
from ..core.vocabulary import HIDDEN
from .conditions import Passages
from .connection import apsw
from .fulltext import BODY, OF_PASSAGES, TITLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .filter import Scope

    Found = list[tuple[int, str, float]]
    Passage = tuple[int, str]
    """(key, the text that is embedded: title and body)"""

CANDIDATES = 4
"""Sketches whose vectors are scored, for each passage that is wanted."""

REACH = 16
"""Times as many sketches are first looked at within a scope of many nodes: to test each passage of
the store takes 10 times as long as its sketch."""

FEW_OF_ALL = 20_000
"""Nodes whose passages are listed where that was not enough."""

SPREAD = 4.8
"""What 127 stands for, in the root mean square of a unit vector's numbers. Of ten neighbours
99 % stay the same ten; with a spread of 6.4 98 %, with one of 3.2, which cuts more off, 98 %."""

_MOST = 127
_MIDDLE = 12
"""From here on a number is large, and up to its negative small: a third of them each."""

_LARGE = bytes(b"01"[_MIDDLE <= byte < 128] for byte in range(256))
_NOT_SMALL = bytes(b"01"[byte < 128 or byte - 256 > -_MIDDLE] for byte in range(256))
_COSINE = "ifnull(1 - vec_distance_cosine(vec_int8(v.embedding), vec_int8({})), 0.0)"
_TEXT = f"{TITLE} || ' ' || {BODY}"


TABLES = {
    "vectors": "CREATE TABLE vectors(key INTEGER PRIMARY KEY,"
    " embedding BLOB NOT NULL CHECK (length(embedding) < 65536)) STRICT",
    "sketches": "CREATE TABLE sketches(key INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT",
    "next_vectors": "CREATE TABLE next_vectors"
    "(key INTEGER PRIMARY KEY, embedding BLOB NOT NULL, bits BLOB NOT NULL) STRICT",
}
"""Name to the statement that makes it."""


class Vectors:
    """The tables ``vectors``, ``sketches`` and ``next_vectors``, by the keys of passages.

    A passage without words has an empty vector, and no sketch. ``next_vectors`` has those of
    another embedder until there is one for each passage (``next``). The caller holds transactions.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._loaded = ""
        self.scoped = False
        """True if the connection does not see all passages: ``scoped.py``."""

    def load_extension(self) -> str:
        """Load sqlite-vec once and return its file.

        It is loaded by path: importing the Python package would import numpy.

        Raises:
            StoreError: it is not installed, or this SQLite loads no extensions.
        """
        if not self._loaded:
            path = extension_file()
            self._db.enable_load_extension(True)
            try:
                self._db.load_extension(path)
            except apsw.Error as error:
                message = f"sqlite-vec cannot be loaded ({error}): run 'make setup'"
                raise StoreError(message) from None
            finally:
                self._db.enable_load_extension(False)
            self._loaded = path
        return self._loaded

    def renew(self) -> None:
        """Make the tables, empty, in place of those that are there."""
        for table, create in TABLES.items():
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute(create)

    def add(self, rows: Iterable[tuple[int, bytes | None]], *, next: bool = False) -> None:
        """Add ``(key, vector)`` rows; a vector is little-endian float32, None without words."""
        made = quantise_all([(key, vector or b"") for key, vector in rows])
        if next:
            self._db.executemany("INSERT OR REPLACE INTO next_vectors VALUES (?, ?, ?)", made)
            return
        self._db.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?)", ((key, of) for key, of, _ in made)
        )
        self._db.executemany(
            "INSERT OR REPLACE INTO sketches VALUES (?, ?)",
            ((key, bits) for key, _, bits in made if bits),
        )

    def remove(self, keys: Iterable[int]) -> None:
        """Delete the vectors of these passages."""
        given = dumps([*keys])
        for table in TABLES:
            self._db.execute(
                f"DELETE FROM {table} WHERE key IN (SELECT value FROM json_each(?))", (given,)
            )

    def clear(self, *, next: bool = False) -> None:
        """Delete all vectors."""
        for table in ("next_vectors",) if next else ("vectors", "sketches"):
            self._db.execute(f"DELETE FROM {table}")

    def take_next(self) -> None:
        """Put the vectors of the next embedder in the place of those in use."""
        self.clear()
        self._db.execute("INSERT INTO vectors SELECT key, embedding FROM next_vectors")
        self._db.execute(
            "INSERT INTO sketches SELECT key, bits FROM next_vectors WHERE length(bits) > 0"
        )
        self.clear(next=True)

    def dimension_of_next(self) -> int:
        """Return the dimension of the next embedder's vectors; 0 without any."""
        query = "SELECT length(embedding) FROM next_vectors WHERE length(bits) > 0 LIMIT 1"
        return int(self._db.execute(query).get or 0)

    # --- passages without a vector; next: of the next embedder

    def last(self) -> int:
        """Return the greatest key of a vector. Vectors are made by key: what comes after an edit
        or a kill has greater ones."""
        return int(self._db.execute("SELECT max(key) FROM vectors").get or 0)

    def lacking(self, after: int, limit: int, *, next: bool = False) -> list[Passage]:
        """Return passages without a vector whose keys are greater than ``after``, by key."""
        rows: list[Passage] = self._db.execute(  # type: ignore[assignment]
            f"SELECT p.key, {_TEXT} FROM {OF_PASSAGES}"
            f" WHERE p.key > ? AND {_lacks(next)} ORDER BY p.key LIMIT ?",
            (after, limit),
        ).fetchall()
        return rows

    def count_lacking(self, *, next: bool = False) -> int:
        """Return the number of passages without a vector."""
        return int(self._db.execute(f"SELECT count(*) FROM passages p WHERE {_lacks(next)}").get)

    def count_passages(self) -> int:
        """Return the number of passages that have vectors or lack them."""
        query = f"SELECT count(*) FROM passages WHERE collection <> '{HIDDEN}'"
        return int(self._db.execute(query).get)

    def unchanged(self, passages: Sequence[Passage]) -> int:
        """Return how many of these passages, from the first one on, still have this text."""
        query = f"SELECT {_TEXT} FROM {OF_PASSAGES} WHERE p.key = ?"
        for at, (key, text) in enumerate(passages):
            if self._db.execute(query, (key,)).get != text:
                return at
        return len(passages)

    def nodes_after(self, key: int) -> list[str]:
        """Return the nodes of passages with greater keys, but for facts."""
        rows = self._db.execute(
            f"SELECT DISTINCT n.id FROM {OF_PASSAGES} WHERE p.key > ? AND p.relation IS NULL",
            (key,),
        )
        return [str(id) for (id,) in rows]

    # --- searches

    def search(self, vector: bytes, scope: Scope, limit: int) -> Found:
        """Return the nearest passages within ``scope``, ``(key, id of its node, cosine)``, nearest
        first."""
        self.load_extension()
        asked = quantise(vector)
        bits, wanted = sketch(asked), CANDIDATES * limit
        passages = Passages(self._db, scope, scoped=self.scoped)
        if not passages.narrow and (passages.scope or self.scoped):
            within, given = passages.condition("near.key")
            keys = self._keys(
                f"SELECT near.key FROM (SELECT s.key, {_FAR} AS far FROM sketches s"
                f" ORDER BY far LIMIT ?) near WHERE 1{within} ORDER BY near.far, near.key LIMIT ?",
                (bits, REACH * wanted, *given, wanted),
            )
            if len(keys) == wanted:
                return self._scored(asked, keys, limit)
            passages.narrow_within(FEW_OF_ALL)
        within, given = passages.condition("s.key")
        keys = self._keys(
            f"SELECT s.key FROM sketches s WHERE 1{within} ORDER BY {_FAR}, s.key LIMIT ?",
            (*given, bits, wanted),
        )
        return self._scored(asked, keys, limit)

    def _keys(self, query: str, parameters: Sequence[object]) -> list[int]:
        return [key for (key,) in self._db.execute(query, parameters)]

    def _scored(self, asked: bytes, keys: Sequence[int], limit: int) -> Found:
        rows: Found = self._db.execute(  # type: ignore[assignment]
            "SELECT best.key, n.id, best.score"
            f" FROM (SELECT v.key AS key, {_COSINE.format('?')} AS score"
            " FROM json_each(?) near CROSS JOIN vectors v ON v.key = near.value"
            " ORDER BY score DESC, v.key LIMIT ?) best CROSS JOIN passages p"
            " ON p.key = best.key CROSS JOIN nodes n ON n.key = p.node_key"
            " WHERE best.score IS NOT NULL ORDER BY best.score DESC, best.key",
            (asked, dumps(keys), limit),
        ).fetchall()
        return rows

    def of_nodes(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield ``(id, vector)`` of every passage of these nodes that is no fact's, a node's
        together."""
        rows = self._db.execute(
            "SELECT n.id, v.embedding FROM json_each(?) j"
            " CROSS JOIN nodes n ON n.id = j.value CROSS JOIN passages p ON p.node_key = n.key"
            " CROSS JOIN vectors v ON v.key = p.key"
            " WHERE p.relation IS NULL AND length(v.embedding) > 0 ORDER BY j.key, p.key",
            (dumps(ids),),
        )
        for id, vector in rows:
            yield id, restore(vector)

    def cosines(self, keys: Sequence[int]) -> dict[tuple[int, int], float]:
        """Return the cosine of each two of these passages, the smaller key first; those without a
        vector are left out."""
        self.load_extension()
        given = dumps(sorted(set(keys)))
        rows = self._db.execute(
            f"SELECT v.key, o.key, {_COSINE.format('o.embedding')}"
            " FROM json_each(?) i CROSS JOIN vectors v ON v.key = i.value"
            " CROSS JOIN json_each(?) j ON j.value > i.value"
            " CROSS JOIN vectors o ON o.key = j.value"
            " WHERE length(v.embedding) > 0 AND length(o.embedding) > 0",
            (given, given),
        )
        return {(one, other): cosine for one, other, cosine in rows}


_FAR = "vec_distance_hamming(vec_bit(s.bits), vec_bit(?))"


def _lacks(next: bool) -> str:
    table = "next_vectors" if next else "vectors"
    return f"p.collection <> '{HIDDEN}' AND p.key NOT IN (SELECT key FROM {table})"


def extension_file() -> str:
    """Return where sqlite-vec's loadable extension is, found without importing the package."""
    for folder in sys.path:
        for name in ("vec0.so", "vec0.dylib", "vec0.dll"):
            path = os.path.join(folder, "sqlite_vec", name)
            if os.path.exists(path):
                return path
    raise StoreError("sqlite-vec is not installed: run 'make setup'")


def quantise(vector: bytes) -> bytes:
    """Return a byte for each number of a vector (little-endian float32), scaled so that all fit.

    One without a direction has zeros.
    """
    values = unpack(f"<{len(vector) // 4}f", vector)
    length = sqrt(sum([value * value for value in values]))
    if not 0 < length < inf:
        return bytes(len(values))
    unit = _MOST * sqrt(len(values)) / (SPREAD * length)
    scale = min(unit, _MOST / max(max(values), -min(values)))
    return pack(f"{len(values)}b", *[round(value * scale) for value in values])


def restore(quantised: bytes) -> bytes:
    """Return the unit vector (little-endian float32) that these bytes stand for."""
    values = unpack(f"{len(quantised)}b", quantised)
    length = sqrt(sum([value * value for value in values])) or 1.0
    return pack(f"<{len(values)}f", *[value / length for value in values])


def sketch(quantised: bytes) -> bytes:
    """Return two bits for each byte: first of all of them whether it is large, then whether not
    small."""
    size = (len(quantised) + 7) // 8
    return b"".join(
        int(quantised.translate(table) or b"0", 2).to_bytes(size, "big")
        for table in (_LARGE, _NOT_SMALL)
    )


_MANY = 32
"""From so many vectors on numpy is worth its start, which whoever embeds so many has paid."""


def quantise_all(rows: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes, bytes]]:
    """Return ``(key, quantised, sketch)`` of ``(key, vector)`` rows."""
    made = [row for row in rows if row[1]]
    if len(made) < _MANY or len({len(vector) for _, vector in made}) > 1:
        found = [(key, quantise(vector)) for key, vector in rows]
        return [(key, vector, sketch(vector)) for key, vector in found]
    import numpy

    vectors = numpy.frombuffer(b"".join(vector for _, vector in made), "<f4").reshape(len(made), -1)
    lengths = numpy.sqrt((vectors * vectors).sum(axis=1))
    lengths[~(numpy.isfinite(lengths) & (lengths > 0))] = inf
    scales = numpy.minimum(
        _MOST * sqrt(vectors.shape[1]) / (SPREAD * lengths),
        _MOST / numpy.maximum(abs(vectors).max(axis=1), 1e-30),
    )
    quantised = numpy.nan_to_num(numpy.rint(vectors * scales[:, None])).astype("i1")
    parts = (quantised >= _MIDDLE, quantised > -_MIDDLE)
    bits = numpy.concatenate([numpy.packbits(part, axis=1) for part in parts], axis=1)
    empty = [(key, b"", b"") for key, vector in rows if not vector]
    return empty + [
        (key, one.tobytes(), other.tobytes())
        for (key, _), one, other in zip(made, quantised, bits, strict=True)
    ]
