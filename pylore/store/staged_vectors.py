"""Vectors that are being made beside those that searches use.

``passages_vec_next`` holds them until there is one for each passage; then it becomes
``passages_vec`` in one transaction. ``meta`` says whose they are, so that the same
embedder can take an interrupted run up again.
"""

from __future__ import annotations

from ..core.vocabulary import HIDDEN
from .fulltext import BODY, OF_PASSAGES, TITLE
from .vector_tables import STAGED, create_vectors, quantise_all, sketch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .connection import apsw
    from .nodes import Meta
    from .vectors import Vectors


if TYPE_CHECKING:
    Passage = tuple[int, str]
    """(key, the text that is embedded: title and body)"""

_TEXT = f"{TITLE} || ' ' || {BODY} FROM {OF_PASSAGES}"

_NAME, _DIMENSION = "embedder_next", "embedder_next_dimension"


class StagedVectors:
    """Vectors of another embedder, in a side table until there is one for each passage.

    The caller holds transactions.
    """

    def __init__(self, connection: apsw.Connection, meta: Meta, vectors: Vectors) -> None:
        self._db = connection
        self._meta = meta
        self._vectors = vectors

    @property
    def embedder(self) -> str | None:
        """Return whose vectors are being made, if any are."""
        return self._meta.get(_NAME)

    @property
    def dimension(self) -> int:
        """Return their dimension, or 0."""
        return int(self._meta.get(_DIMENSION) or 0)

    def begin(self, embedder: str, dimension: int) -> None:
        """Make an empty side table for this embedder's vectors."""
        self.drop()
        create_vectors(self._db, STAGED, dimension)
        self._meta.set(_NAME, embedder)
        self._meta.set(_DIMENSION, str(dimension))

    def drop(self) -> None:
        """Give up what was begun."""
        self._db.execute("DROP TABLE IF EXISTS passages_vec_next")
        self._meta.set(_NAME, None)
        self._meta.set(_DIMENSION, None)

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Add or replaces ``(key, vector)`` rows; a vector is little-endian float32."""
        self._db.executemany(
            "INSERT OR REPLACE INTO passages_vec_next VALUES (?, ?)",
            ((key, vector) for key, vector, _ in quantise_all(rows)),
        )

    def remove(self, keys: Iterable[int]) -> None:
        """Take the passages with these keys out, if vectors are being made."""
        if self.embedder is not None:
            self._db.executemany(
                "DELETE FROM passages_vec_next WHERE key = ?", ((key,) for key in keys)
            )

    def take_over(self) -> None:
        """Put the new vectors in the place of the old ones."""
        name, dimension = self.embedder, self.dimension
        self._vectors.create(dimension)
        self._db.execute("DROP TABLE passages_vec")
        self._db.execute("ALTER TABLE passages_vec_next RENAME TO passages_vec")
        rows = self._db.execute("SELECT key, embedding FROM passages_vec")
        self._vectors.add_sketches([(key, vector, sketch(vector)) for key, vector in rows])
        self._vectors.arrange()
        self._meta.set("embedder", name)
        self._meta.set("embedder_dimension", str(dimension))
        self.drop()

    # --- what there is to embed; aside: what the side table lacks, not the one in use

    def lacking(self, after: int, limit: int, *, aside: bool) -> list[Passage]:
        """Return passages without a vector whose keys come after this one, by key."""
        rows: list[Passage] = self._db.execute(  # type: ignore[assignment]
            f"SELECT p.key, {_TEXT}"
            f" WHERE p.key > ? AND {self._without(aside)} ORDER BY p.key LIMIT ?",
            (after, limit),
        ).fetchall()
        return rows

    def count_lacking(self, *, aside: bool) -> int:
        """Return how many passages have no vector."""
        query = f"SELECT count(*) FROM passages p WHERE {self._without(aside)}"
        return int(self._db.execute(query).get or 0)

    def count_passages(self) -> int:
        """Return how many passages there are."""
        query = f"SELECT count(*) FROM passages WHERE collection <> '{HIDDEN}'"
        return int(self._db.execute(query).get or 0)

    def unchanged(self, passages: Sequence[Passage]) -> set[int]:
        """Return the keys of those passages whose text is still this one."""
        query = f"SELECT {_TEXT} WHERE p.key = ?"
        return {key for key, text in passages if self._db.execute(query, (key,)).get == text}

    def _without(self, aside: bool) -> str:
        table = "passages_vec_next" if aside else "passages_vec"
        return f"p.collection <> '{HIDDEN}' AND p.key NOT IN (SELECT key FROM {table})"
