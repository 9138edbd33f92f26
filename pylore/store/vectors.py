"""Vectors of passages, searched by cosine in three steps, with sqlite-vec's functions.

The clusters with the nearest centroids are looked through, by the sketches of their
passages (``quantise``); the candidates that these find are scored by the whole vectors.
Where there are few vectors there are no clusters, and all sketches are looked at. Found
are 98 % of the ten nearest passages (docs/decisions/0008).

All are plain tables: sqlite-vec's own ``vec0`` picks the nearest of n rows in time
that grows with n × candidates, which made it slower here than ORDER BY … LIMIT.
"""

from __future__ import annotations

import os
import sys

from ..core.errors import StoreError
from ..core.json import dumps
from .conditions import Passages, count_excluded, where
from .connection import apsw
from .filter import Scope
from .vector_tables import (
    BITS,
    KEYS,
    create_tables,
    drop_tables,
    quantise,
    quantise_all,
    restore,
    sketch,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .vector_tables import Quantised


if TYPE_CHECKING:
    Found = list[tuple[int, str, float]]

CANDIDATES = 4
"""Passages taken by their sketches for each one that is wanted."""

CANDIDATES_OF_MANY = 16
"""The same where there are clusters: of many some are nearer by their sketches alone, and one
may come twice, of both its clusters."""

CLUSTERED = 50_000
"""From so many vectors on there are clusters: with fewer, looking at all sketches is as quick."""

PROBES = (24, 192)
"""Clusters that a search looks through, at the least and at the most, and never more than a
fourth of them: then looking at all would be as quick."""

NEAR = 0.27
"""It looks through those whose centroid's cosine is within this of the best: a query that lies
between many clusters needs more of them than one that lies in one."""

ALIKE = (0.85, 16)
"""Vectors whose cosine is at least the one are looked for in so many of the nearest clusters: of
3,000 vectors with a cosine of 0.9 to another of 100,000 all were in one of these, in the nearest 8
99.7 %, in 4 98 %."""

_FEW = 32
"""Up to so many vectors the nearest centroids are found without numpy."""

_NEAR = 32
"""Centroids among which the second one for a vector is looked for then."""

_SAME = 1e-9
"""A vector this near to a centroid is the centroid, but for rounding."""

_SCORE = "1 - vec_distance_cosine(vec_int8(v.embedding), vec_int8(?))"
_NEAREST_CLUSTERS = (
    "SELECT cluster, vec_distance_cosine(vec_int8(centroid), vec_int8(?)) AS away"
    " FROM clusters ORDER BY away LIMIT ?"
)
_APART = (
    "SELECT vec_distance_cosine(vec_int8(c.centroid), vec_int8(first.centroid))"
    " FROM json_each(?) j CROSS JOIN clusters c ON c.cluster = j.value"
    " CROSS JOIN clusters first ON first.cluster = ? ORDER BY j.key"
)
_IN_CLUSTERS = (
    f"json_each(?) c CROSS JOIN sketches s ON s.place BETWEEN c.value << {BITS}"
    f" AND (c.value << {BITS}) + {KEYS}"
)
_OF_MEMBERS = (
    f"DELETE FROM sketches WHERE place IN (SELECT (first << {BITS}) + key FROM members"
    f" WHERE key = ?1 UNION ALL SELECT (second << {BITS}) + key FROM members WHERE key = ?1"
    " UNION ALL SELECT ?1)"
)

REACHES = (16, 128)
"""Times as many are looked at first, and then, where a scope lets not all of them pass."""

FEW_OF_ALL = 20_000
"""Nodes all of whose passages are rather scored than those near the query looked through."""


class Vectors:
    """The tables of ``vector_tables``. Rows of ``passages_vec`` have the keys of ``passages``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._loaded = ""
        self._last: tuple[bytes, list[tuple[int, float]]] = (b"", [])
        self.scoped = False
        """Whether passages are there that are not seen: ``scoped.py``."""

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

    def create(self, dimension: int) -> None:
        """Make the tables, empty; older ones are dropped with all that they held.

        ``dimension`` must be a multiple of 8: a sketch has whole bytes.
        """
        create_tables(self._db, dimension)

    def drop(self) -> None:
        """Take the tables away: this store then has no vectors."""
        drop_tables(self._db)

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Add ``(key, vector)`` rows; a vector is little-endian float32."""
        made = quantise_all(rows)
        self._db.executemany(
            "INSERT INTO passages_vec VALUES (?, ?)", ((key, vector) for key, vector, _ in made)
        )
        self.add_sketches(made)

    def add_sketches(self, made: Sequence[Quantised]) -> None:
        """Add those of vectors that are there."""
        if self._db.execute("SELECT 1 FROM clusters LIMIT 1").get is None:
            self._db.executemany(
                "INSERT INTO sketches VALUES (?, ?)", ((key, bits) for key, _, bits in made)
            )
            return
        found = self._clusters_of([vector for _, vector, _ in made])
        placed = [(key, *numbers) for (key, _, _), numbers in zip(made, found, strict=True)]
        self._db.executemany("INSERT INTO members VALUES (?, ?, ?)", placed)
        self._db.executemany(
            "INSERT INTO sketches VALUES (?, ?)",
            (
                ((number << BITS) + key, bits)
                for (key, _, bits), numbers in zip(made, found, strict=True)
                for number in numbers
            ),
        )

    def remove(self, keys: Iterable[int]) -> None:
        """Take the passages with these keys out."""
        rows = [(key,) for key in keys]
        self._db.executemany("DELETE FROM passages_vec WHERE key = ?", rows)
        self._db.executemany(_OF_MEMBERS, rows)
        self._db.executemany("DELETE FROM members WHERE key = ?", rows)

    def arrange(self) -> None:
        """Make clusters where there are many vectors, and many more or fewer than the last time.

        Searches are quicker after it, and find the same; the caller holds a transaction.
        """
        if self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'passages_vec'").get is None:
            return
        held = self._db.execute("SELECT count(*) FROM clusters").get
        table = "members" if held else "passages_vec"  # the smaller one
        count = self._db.execute(f"SELECT count(*) FROM {table}").get
        wanted = clusters_for(count)
        if wanted and not held / 2 < wanted < 2 * held:
            from .clusters import arrange

            self._last = (b"", [])
            arrange(self._db, wanted)

    def search(self, vector: bytes, scope: Scope, limit: int) -> Found:
        """Return the nearest passages within ``scope``, ``(key, id of its node, cosine)``, nearest
        first.

        A few of them may be missed: what is near is looked for before what is nearest.
        """
        self.load_extension()
        asked = quantise(vector)
        passages = Passages(self._db, scope, scoped=self.scoped)
        if not passages.narrow:
            found = self._search_near(asked, passages, limit)
            if found is not None:
                return found
            passages.narrow_within(FEW_OF_ALL)
        return self._search_all(asked, scope, passages, limit)

    def alike(self, vector: bytes, scope: Scope, least: float, limit: int) -> Found:
        """Return as ``search`` does, of those whose cosine is at least ``least``.

        Whatever the scope, only what is very near is looked at where that is enough.
        """
        self.load_extension()
        asked = quantise(vector)
        cosine, probes = ALIKE
        clusters = (
            self._nearest_clusters(asked)[:probes] if least >= cosine and not self.scoped else []
        )
        if clusters:
            keys = self._near(asked, [number for number, _ in clusters], CANDIDATES * limit)
            for count in (limit, len(keys)):
                found = self._scored(asked, keys, count)
                if len(found) < limit or found[-1][2] < least:  # so there are no others
                    within = self._within(scope, [row for row in found if row[2] >= least])
                    return within[:limit]
        return [row for row in self.search(vector, scope, limit) if row[2] >= least]

    def _within(self, scope: Scope, found: Found) -> Found:
        if not found:
            return []
        condition, parameters = where(scope)
        rows = self._db.execute(
            f"SELECT n.id FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
            f" WHERE {condition}",
            (dumps([id for _, id, _ in found]), *parameters),
        )
        allowed = {id for (id,) in rows}
        return [row for row in found if row[1] in allowed]

    def _near(self, asked: bytes, clusters: Sequence[int], count: int) -> list[int]:
        """Return the passages of these clusters whose sketches are nearest, ``count`` sketches of
        them."""
        rows = self._db.execute(
            f"SELECT s.place & {KEYS} FROM {_IN_CLUSTERS}"
            " ORDER BY vec_distance_hamming(vec_bit(s.sketch), vec_bit(?)) LIMIT ?",
            (dumps([0, *clusters]), sketch(asked), count),
        )
        return list(dict.fromkeys([key for (key,) in rows]))

    def _nearest_clusters(self, asked: bytes) -> list[tuple[int, float]]:
        """Return the nearest ``_NEAR`` with their distances: who adds a vector asks twice."""
        if self._last[0] != asked:
            rows: list[tuple[int, float]] = self._db.execute(  # type: ignore[assignment]
                _NEAREST_CLUSTERS, (asked, _NEAR)
            ).fetchall()
            self._last = (asked, rows)
        return self._last[1]

    def _clusters_near(self, asked: bytes) -> list[int]:
        least, most = PROBES
        rows: list[tuple[int, float]] = self._db.execute(  # type: ignore[assignment]
            "SELECT cluster, vec_distance_cosine(vec_int8(centroid), vec_int8(?)) AS away"
            " FROM clusters ORDER BY away"
            " LIMIT min(?, max(?, (SELECT count(*) / 4 FROM clusters)))",
            (asked, most, least),
        ).fetchall()
        return [
            number
            for at, (number, away) in enumerate(rows)
            if at < least or away <= rows[0][1] + NEAR
        ]

    def _search_near(self, asked: bytes, passages: Passages, limit: int) -> Found | None:
        """Return the nearest of those whose sketches are near; None where too few are in scope.

        Of what is near by its sketch, mostly enough is in scope. Only if it is not, more is
        looked at.
        """
        clusters = self._clusters_near(asked)
        wanted = (CANDIDATES_OF_MANY if clusters else CANDIDATES) * limit
        scope = passages.scope
        within_all = not scope and not self.scoped
        within, parameters = passages.condition("near.key")
        where_from = (dumps([0, *clusters]),) if clusters else ()
        enough = limit if clusters and within_all else 0 if within_all else wanted
        for count in self._looked_at(scope, wanted, clusters) if within else (wanted,):
            rows: list[tuple[int]] = self._db.execute(  # type: ignore[assignment]
                f"SELECT near.key FROM (SELECT s.place & {KEYS} AS key,"
                " vec_distance_hamming(vec_bit(s.sketch), vec_bit(?)) AS far"
                f" FROM {_IN_CLUSTERS if clusters else 'sketches s'} ORDER BY far LIMIT ?) near"
                f" WHERE 1{within} GROUP BY near.key ORDER BY min(near.far), near.key LIMIT ?",
                (sketch(asked), *where_from, count, *parameters, wanted),
            ).fetchall()
            keys = [key for (key,) in rows]
            if len(keys) >= enough:
                found = self._scored(asked, keys, limit)
                all_looked_at = not clusters and len(keys) < wanted
                return found if len(found) == limit or all_looked_at else None
        return None

    def _looked_at(self, scope: Scope, wanted: int, clusters: Sequence[int]) -> Iterable[int]:
        """Return how many near ones to look at, so that ``wanted`` of them are in scope."""
        if scope or self.scoped:
            return [reach * wanted for reach in REACHES]
        excluded = count_excluded(self._db, scope)
        return [wanted + (2 if clusters else 1) * excluded]  # each is in two clusters

    def _scored(self, asked: bytes, keys: Sequence[int], limit: int) -> Found:
        rows: Found = self._db.execute(  # type: ignore[assignment]
            f"SELECT best.key, n.id, best.score FROM (SELECT v.key AS key, {_SCORE} AS score"
            " FROM json_each(?) near CROSS JOIN passages_vec v ON v.key = near.value"
            " ORDER BY score DESC, v.key LIMIT ?) best CROSS JOIN passages p"
            " ON p.key = best.key CROSS JOIN nodes n ON n.key = p.node_key"
            " ORDER BY best.score DESC, best.key",
            (asked, dumps(keys), limit),
        ).fetchall()
        return rows

    def _search_all(self, asked: bytes, scope: Scope, passages: Passages, limit: int) -> Found:
        """Return the nearest of all that the scope allows, each of them scored."""
        condition, allowed = where(scope, type="+n.type" if passages.narrow else "n.type")
        first, given = passages.narrow or ("1", [])
        rows: Found = self._db.execute(  # type: ignore[assignment]
            f"SELECT p.key, n.id, {_SCORE} AS score FROM nodes n"
            " CROSS JOIN passages p ON p.node_key = n.key"
            " CROSS JOIN passages_vec v ON v.key = p.key"
            f" WHERE {first} AND {condition} ORDER BY score DESC, p.key LIMIT ?",
            (asked, *given, *allowed, limit),
        ).fetchall()
        return rows

    def of_nodes(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield ``(id, vector)`` of every passage of these nodes that is no fact's, a node's
        together."""
        rows = self._db.execute(
            "SELECT n.id, v.embedding FROM json_each(?) j"
            " CROSS JOIN nodes n ON n.id = j.value CROSS JOIN passages p ON p.node_key = n.key"
            " CROSS JOIN passages_vec v ON v.key = p.key"
            " WHERE p.relation IS NULL ORDER BY j.key, p.key",
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
            "SELECT a.key, b.key,"
            " 1 - vec_distance_cosine(vec_int8(a.embedding), vec_int8(b.embedding))"
            " FROM json_each(?) i CROSS JOIN passages_vec a ON a.key = i.value"
            " CROSS JOIN json_each(?) j ON j.value > i.value"
            " CROSS JOIN passages_vec b ON b.key = j.value",
            (given, given),
        )
        return {(one, other): cosine for one, other, cosine in rows}

    def _clusters_of(self, vectors: Sequence[bytes]) -> list[tuple[int, int]]:
        """Return the two clusters that each vector is in."""
        if len(vectors) > _FEW:
            from .clusters import nearest

            held: list[tuple[int, bytes]] = self._db.execute(  # type: ignore[assignment]
                "SELECT cluster, centroid FROM clusters"
            ).fetchall()
            found = nearest(vectors, [centroid for _, centroid in held])
            return [(held[one][0], held[other][0]) for one, other in found]
        self.load_extension()
        return [self._two(self._nearest_clusters(vector)) for vector in vectors]

    def _two(self, near: Sequence[tuple[int, float]]) -> tuple[int, int]:
        """Return the clusters that are nearest to a vector x, as ``clusters.nearest`` does.

        |x - c'|² + (r · (x - c'))², with r = (x - c) / |x - c|, by the distances of x, c and c'.
        """
        (first, away), *others = near
        rows = self._db.execute(_APART, (dumps([number for number, _ in others]), first))
        length = 2 * away if away > _SAME else 1.0
        costs = [
            (2 * far + (away + far - apart) ** 2 / length, at)
            for at, ((_, far), (apart,)) in enumerate(zip(others, rows, strict=True))
        ]
        return first, others[min(costs)[1]][0]


def clusters_for(count: int) -> int:
    """Return how many clusters so many vectors are to have; 0 where they are few."""
    return int(count**0.8 / 20) if count >= CLUSTERED else 0


def extension_file() -> str:
    """Return where sqlite-vec's loadable extension is, found without importing the package."""
    for folder in sys.path:
        for name in ("vec0.so", "vec0.dylib", "vec0.dll"):
            path = os.path.join(folder, "sqlite_vec", name)
            if os.path.exists(path):
                return path
    raise StoreError("sqlite-vec is not installed: run 'make setup'")
