"""Clusters of vectors: near ones are put side by side, so that a search reads a few stretches.

They are those of spherical k-means (Dhillon and Modha, Machine Learning 42, 2001) over a
sample. A vector is in two of them: the nearest, and the one that finds it best where that
does not (Sun et al., "SOAR", NeurIPS 2023). This module needs numpy, and runs where many
vectors are written, never for a search.
"""

from __future__ import annotations

import numpy

from .vector_tables import BITS, sketches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from .connection import apsw


if TYPE_CHECKING:
    Units = NDArray[numpy.float32]
    Bytes = NDArray[numpy.int8]
    Numbers = NDArray[numpy.int64]

SAMPLE = 32
"""Vectors of the sample for each cluster."""

MOST_SAMPLED = 131_072
"""Vectors of the sample at most: memory has to hold them."""

ROUNDS = 5
"""Of k-means."""

_BLOCK = 1024
"""Vectors that are compared with all centroids at once."""

_SEED = 14


def arrange(connection: apsw.Connection, clusters: int) -> None:
    """Make so many clusters, and moves each sketch into its own two; in a transaction."""
    rows = connection.execute("SELECT key FROM passages_vec ORDER BY key")
    keys: Numbers = numpy.array([key for (key,) in rows], "i8")
    centroids = _centroids(_sample(connection, keys, clusters), clusters)
    for table in ("clusters", "members", "sketches"):
        connection.execute(f"DELETE FROM {table}")
    connection.executemany(
        "INSERT INTO clusters VALUES (?, ?)",
        ((number, centroid.tobytes()) for number, centroid in enumerate(centroids, start=1)),
    )
    numbers, bits = _assigned(connection, len(keys), centroids)
    connection.executemany(
        "INSERT INTO members VALUES (?, ?, ?)",
        zip(_listed(keys), _listed(numbers[:, 0]), _listed(numbers[:, 1]), strict=True),
    )
    places = (numbers << BITS) + keys[:, None]
    order = places.ravel().argsort()
    connection.executemany(
        "INSERT INTO sketches VALUES (?, ?)",
        ((place, bits[at // 2].tobytes())
         for place, at in zip(_listed(places.ravel()[order]), _listed(order), strict=True)),
    )  # fmt: skip


def nearest(vectors: Sequence[bytes], centroids: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return the numbers, from 0, of each vector's two clusters; all are quantised."""
    given = _units(_matrix(centroids))
    found: list[tuple[int, int]] = _two(_units(_matrix(vectors)), given).tolist()
    return found


def _sample(connection: apsw.Connection, keys: Numbers, clusters: int) -> Units:
    """Return vectors from all over the store, in a random order that is always the same."""
    size = min(len(keys), SAMPLE * clusters, MOST_SAMPLED)
    chosen = numpy.random.default_rng(_SEED).choice(len(keys), size, replace=False)
    query = "SELECT embedding FROM passages_vec WHERE key = ?"
    return _units(_matrix([connection.execute(query, (key,)).get for key in keys[chosen].tolist()]))


def _centroids(sample: Units, clusters: int) -> Bytes:
    centroids = sample[:clusters]
    for _ in range(ROUNDS):
        means = centroids * numpy.float32(1e-6)  # a cluster without vectors stays where it was
        for start in range(0, len(sample), _BLOCK):
            block = sample[start : start + _BLOCK]
            numpy.add.at(means, (block @ centroids.T).argmax(axis=1), block)
        centroids = _units(means)
    largest = abs(centroids).max(axis=1, keepdims=True)
    quantised: Bytes = numpy.rint(centroids * (127 / largest)).astype("i1")
    return quantised


def _assigned(
    connection: apsw.Connection, count: int, centroids: Bytes
) -> tuple[Numbers, NDArray[numpy.uint8]]:
    """Return the two clusters of each vector, from 1, and its sketch, by key."""
    units = _units(centroids)
    products = units @ units.T
    numbers = numpy.empty((count, 2), "i8")
    bits = numpy.empty((count, centroids.shape[1] // 4), "u1")
    rows = connection.execute("SELECT embedding FROM passages_vec ORDER BY key")
    for start in range(0, count, _BLOCK):
        block = _matrix([vector for _, (vector,) in zip(range(_BLOCK), rows, strict=False)])
        numbers[start : start + _BLOCK] = _two(_units(block), units, products) + 1
        bits[start : start + _BLOCK] = sketches(block)
    return numbers, bits


def _two(vectors: Units, centroids: Units, products: Units | None = None) -> Numbers:
    """Return the nearest centroid c, and that with the least |x - c'|² + (r · (x - c'))², where r
    is the direction from c to x: one that lies elsewhere than c.

    ``products`` are those of all centroids with all, which pay for many vectors.
    """
    cosines = vectors @ centroids.T
    rows = numpy.arange(len(vectors))
    first = cosines.argmax(axis=1)
    best = cosines[rows, first]
    # r · (x - c') with r = (x - c) / |x - c|, by the products that are there already
    along = centroids[first] @ centroids.T if products is None else products[first]
    along -= cosines
    along += (1 - best)[:, None]
    along /= numpy.sqrt(numpy.maximum(2 - 2 * best, 1e-9))[:, None]
    along *= along
    along -= 2 * cosines
    along[rows, first] = numpy.inf
    return numpy.stack([first, along.argmin(axis=1)], axis=1)


def _listed(numbers: Numbers) -> Iterator[int]:
    """Yield Python's own numbers, without a list of all of them."""
    for start in range(0, len(numbers), _BLOCK):
        yield from numbers[start : start + _BLOCK].tolist()


def _matrix(rows: Sequence[bytes]) -> Bytes:
    return numpy.frombuffer(b"".join(rows), "i1").reshape(len(rows), -1)


def _units(vectors: Bytes | Units) -> Units:
    floats = vectors.astype("f4")
    floats /= numpy.maximum(numpy.sqrt((floats * floats).sum(axis=1, keepdims=True)), 1e-9)
    return floats
