"""Vectors of passages: one signed byte per dimension, found by two-bit sketches, ranked by cosine,
both by sqlite-vec. A search scans all sketches and scores the 400 nearest vectors: 4 ms for 10,000
passages, 25 ms for 100,000, with 93 % of the ten nearest. ``vec0`` would take n × candidates."""

from __future__ import annotations

import os
import sys
from math import hypot, inf, sqrt
from struct import pack, unpack

from ..core.errors import StoreError
from ..core.json import dumps
from ..core.vocabulary import HIDDEN
from .connection import Table, apsw
from .filter import passages_within
from .fulltext import OF_PASSAGES, TEXT, TITLE
from .nodes import NAMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .filter import Scope

    Found = list[tuple[int, str, float]]
    Passage = tuple[int, str]
    """(key, the embedded text: title and body)"""

CANDIDATES = 4
"""Sketches per wanted passage; the vectors of these are scored."""

REACH = 16
"""Factor on ``CANDIDATES`` for large scopes: testing a passage takes as long as 10 sketches."""

FEW = 8
"""Maximum vectors that are quantised without numpy, which takes 0.1 s to load."""

FEW_OF_ALL = 20_000
"""Maximum nodes for listing the passages if that was not enough."""

SPREAD = 4.8
"""The number that becomes 127, in root mean squares of a unit vector. With 4.8, 99 % of the ten
nearest neighbours stay; with 6.4, 98 %, and with 3.2, which cuts off more, 98 %."""

_MOST = 127
_MIDDLE = 12
"""Numbers from here on are large, and up to its negative small: a third of the numbers each."""

_LARGE = b"0" * _MIDDLE + b"1" * (128 - _MIDDLE) + b"0" * 128
_NOT_SMALL = b"1" * 128 + b"0" * (129 - _MIDDLE) + b"1" * (_MIDDLE - 1)
_COSINE = "ifnull(1 - vec_distance_cosine(vec_int8(v.embedding), vec_int8({})), 0.0)"
_FAR = "vec_distance_hamming(vec_bit(s.bits), vec_bit(?))"
_NEEDS = f"p.collection <> '{HIDDEN}'"
_LACKS = f"{_NEEDS} AND p.key NOT IN (SELECT key FROM vectors)"

TABLES = {
    "vectors": "CREATE TABLE vectors(key INTEGER PRIMARY KEY,"
    " embedding BLOB NOT NULL CHECK (length(embedding) < 65536)) STRICT",
    "sketches": "CREATE TABLE sketches(key INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT",
}
"""Name to the statement that creates the table."""


class Vectors(Table):
    """The tables ``vectors`` and ``sketches``, by the keys of passages. A passage without words has
    an empty vector and no sketch."""

    _extension = ""

    def load_extension(self) -> str:
        """Load sqlite-vec and return the file; the Python package would import numpy. Raise
        StoreError if it is not installed, or this SQLite loads no extensions."""
        if self._extension:
            return self._extension
        path = extension_file()
        self._db.enable_load_extension(True)
        try:
            self._db.load_extension(path)
        except apsw.Error as error:
            raise StoreError(f"sqlite-vec cannot be loaded ({error}): run 'make setup'") from None
        finally:
            self._db.enable_load_extension(False)
        self._extension = path
        return path

    def renew(self) -> None:
        """Replace the tables by empty tables."""
        for table, create in TABLES.items():
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute(create)

    def add(self, rows: Iterable[tuple[int, bytes | None]]) -> None:
        """Add ``(key, vector)`` of passages; vectors are little-endian float32, None if empty."""
        rows = [*rows]
        small = quantise_many([vector or b"" for _, vector in rows])
        vectors = [(key, vector) for (key, _), vector in zip(rows, small, strict=True)]
        sketches = [(key, sketch(vector)) for key, vector in vectors if vector]
        for table, made in (("vectors", vectors), ("sketches", sketches)):
            self._db.executemany(
                f"INSERT OR REPLACE INTO {table} SELECT ?1, ?2"
                " WHERE EXISTS (SELECT 1 FROM main.passages WHERE key = ?1)",
                made,
            )

    def remove(self, keys: Iterable[int]) -> None:
        """Delete the vectors of passages."""
        given = dumps([*keys])
        for table in TABLES:
            query = f"DELETE FROM {table} WHERE key IN (SELECT value FROM json_each(?))"
            self._db.execute(query, (given,))

    # --- passages without a vector

    def last(self) -> int:
        """Return the greatest key of a vector; passages with greater keys lack vectors."""
        return int(self._value("SELECT max(key) FROM vectors") or 0)

    def lacking(self, after: int, limit: int) -> list[Passage]:
        """Return passages without a vector, with keys above ``after``, by key."""
        query = (
            f"SELECT p.key, p.node_key, {TITLE}, iif(p.relation IS NULL, '', p.heading), p.start,"
            f" p.length FROM {OF_PASSAGES} WHERE p.key > ? AND {_LACKS} ORDER BY p.key LIMIT ?"
        )
        found, known, text = [], 0, ""
        for key, node, title, fact, start, length in self._rows(query, after, limit):
            if node != known:  # SQLite would read the text again for each passage
                known, text = node, self._value(f"SELECT {TEXT} FROM nodes n WHERE key = ?", node)
            found.append((key, f"{title} {fact or text[start - 1 : start - 1 + length]}"))
        return found

    def count_passages(self, *, lacking: bool = False) -> int:
        """Return the number of passages that need a vector; with ``lacking``, and have none."""
        which = _LACKS if lacking else _NEEDS
        return int(self._value(f"SELECT count(*) FROM passages p WHERE {which}"))

    def nodes_after(self, key: int) -> list[str]:
        """Return the nodes of passages with greater keys, without facts."""
        return self._column(
            f"SELECT DISTINCT n.id FROM {OF_PASSAGES} WHERE p.key > ? AND p.relation IS NULL", key
        )

    # --- searches

    def search(self, vector: bytes, scope: Scope, limit: int) -> Found:
        """Return the nearest passages, ``(key, id of the node, cosine)``, nearest first."""
        self.load_extension()
        asked, wanted = quantise(vector), CANDIDATES * limit
        bits = sketch(asked)
        within, given, tests = passages_within(self._db, scope, "near.key")
        keys: list[int] = []
        if tests:
            query = (
                f"SELECT near.key FROM (SELECT s.key, {_FAR} AS far FROM sketches s"
                f" ORDER BY far LIMIT ?) near WHERE 1{within} ORDER BY near.far, near.key LIMIT ?"
            )
            keys = self._column(query, bits, REACH * wanted, *given, wanted)
        of_near: list[object] = [dumps(keys)]
        near = "json_each(?)"
        if len(keys) < wanted:
            if tests:
                within, given, _ = passages_within(self._db, scope, "near.key", FEW_OF_ALL)
            near = (
                f"(SELECT near.key AS value FROM sketches near WHERE 1{within}"
                f" ORDER BY {_FAR.replace('s.', 'near.')}, near.key LIMIT ?)"
            )
            of_near = [*given, bits, wanted]
        query = (
            f"SELECT best.key, n.id, best.score FROM (SELECT v.key AS key, {_COSINE.format('?')}"
            f" AS score FROM {near} near CROSS JOIN vectors v ON v.key = near.value"
            " ORDER BY score DESC, v.key LIMIT ?) best CROSS JOIN passages p"
            " ON p.key = best.key CROSS JOIN nodes n ON n.key = p.node_key"
            " WHERE best.score IS NOT NULL ORDER BY best.score DESC, best.key"
        )
        return self._rows(query, asked, *of_near, limit)

    def of_nodes(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield ``(id, vector)`` of the passages of these nodes without facts, by node."""
        rows = self._db.execute(
            f"SELECT n.id, v.embedding FROM {NAMED} CROSS JOIN passages p ON p.node_key = n.key"
            " CROSS JOIN vectors v ON v.key = p.key"
            " WHERE p.relation IS NULL AND length(v.embedding) > 0 ORDER BY j.key, p.key",
            (dumps(ids),),
        )
        for id, vector in rows:
            yield id, restore(vector)

    def cosines(self, keys: Sequence[int]) -> dict[tuple[int, int], float]:
        """Return the cosine of each pair of these passages, the smaller key first."""
        self.load_extension()
        given = dumps(sorted(set(keys)))
        query = (
            f"SELECT v.key, o.key, {_COSINE.format('o.embedding')}"
            " FROM json_each(?) i CROSS JOIN vectors v ON v.key = i.value"
            " CROSS JOIN json_each(?) j ON j.value > i.value"
            " CROSS JOIN vectors o ON o.key = j.value"
            " WHERE length(v.embedding) > 0 AND length(o.embedding) > 0"
        )
        return {(one, other): cosine for one, other, cosine in self._rows(query, given, given)}


def extension_file() -> str:
    """Return the path of sqlite-vec's loadable extension, without importing the package."""
    for folder in sys.path:
        for name in ("vec0.so", "vec0.dylib", "vec0.dll"):
            path = os.path.join(folder, "sqlite_vec", name)
            if os.path.exists(path):
                return path
    raise StoreError("sqlite-vec is not installed: run 'make setup'")


def quantise(vector: bytes) -> bytes:
    """Return a signed byte for each number of a vector (little-endian float32), scaled so that all
    fit; zeros for a vector without a direction."""
    values = unpack(f"<{len(vector) // 4}f", vector)
    length = hypot(*values)
    if not 0 < length < inf:
        return bytes(len(values))
    unit = _MOST * sqrt(len(values)) / (SPREAD * length)
    scale = min(unit, _MOST / max(max(values), -min(values)))
    return pack(f"{len(values)}b", *[round(value * scale) for value in values])


def quantise_many(vectors: Sequence[bytes]) -> list[bytes]:
    """Quantise vectors of a dimension, or empty vectors; more than ``FEW`` with numpy, in a fifth
    of the time."""
    full = [*filter(None, vectors)]
    if len(full) <= FEW:
        return [*map(quantise, vectors)]
    import numpy

    values = numpy.frombuffer(b"".join(full), "<f4").reshape(len(full), -1).astype("<f8")
    with numpy.errstate(all="ignore"):  # no direction: the scale is not a number
        lengths = numpy.sqrt((values * values).sum(axis=1))
        units = _MOST * sqrt(values.shape[1]) / (SPREAD * lengths)
        scaled = values * numpy.minimum(units, _MOST / abs(values).max(axis=1))[:, None]
    made = iter(numpy.rint(numpy.nan_to_num(scaled)).astype("b"))
    return [next(made).tobytes() if vector else vector for vector in vectors]


def restore(quantised: bytes) -> bytes:
    """Return the unit vector (little-endian float32) of ``quantise``'s bytes."""
    values = unpack(f"{len(quantised)}b", quantised)
    length = hypot(*values) or 1.0
    return pack(f"<{len(values)}f", *[value / length for value in values])


def sketch(quantised: bytes) -> bytes:
    """Return two bits a byte: first if it is large, then if it is not small."""
    size = (len(quantised) + 7) // 8
    return b"".join(
        int(quantised.translate(table) or b"0", 2).to_bytes(size, "big")
        for table in (_LARGE, _NOT_SMALL)
    )
