"""Vectors of passages: one sqlite-vec table, searched by cosine."""

from __future__ import annotations

import os
import sys

import apsw

from ..errors import StoreError
from .scope import Scope, passages_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Vectors:
    """The table ``passages_vec``. Rows have the keys of ``passages``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._loaded = False

    def load_extension(self) -> str:
        """Loads sqlite-vec once and returns its file.

        It is loaded by path: importing the Python package would import numpy.

        Raises:
            StoreError: it is not installed, or this SQLite loads no extensions.
        """
        path = extension_file()
        if not self._loaded:
            self._db.enable_load_extension(True)
            try:
                self._db.load_extension(path)
            except apsw.Error as error:
                raise StoreError(
                    f"sqlite-vec cannot be loaded ({error}): run 'make setup'"
                ) from None
            finally:
                self._db.enable_load_extension(False)
            self._loaded = True
        return path

    def create(self, dimension: int) -> None:
        """Makes the table, empty; an older one is dropped with all that it held."""
        self.load_extension()
        self._db.execute("DROP TABLE IF EXISTS passages_vec")
        self._db.execute(
            "CREATE VIRTUAL TABLE passages_vec USING vec0("
            f"embedding float[{dimension:d}] distance_metric=cosine)"
        )

    def drop(self) -> None:
        """Takes the table away: this store then has no vectors."""
        self.load_extension()
        self._db.execute("DROP TABLE IF EXISTS passages_vec")

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Adds ``(key, vector)`` rows; a vector is little-endian float32."""
        self.load_extension()
        self._db.executemany("INSERT INTO passages_vec(rowid, embedding) VALUES (?, ?)", rows)

    def remove(self, keys: Iterable[int]) -> None:
        """Takes the passages with these keys out."""
        self.load_extension()
        self._db.executemany("DELETE FROM passages_vec WHERE rowid = ?", ((key,) for key in keys))

    def search(self, vector: bytes, scope: Scope, limit: int) -> list[tuple[int, float]]:
        """The nearest passages, ``(key, cosine similarity)``, nearest first."""
        self.load_extension()
        within, parameters = passages_in(scope)
        rows: list[tuple[int, float]] = self._db.execute(  # type: ignore[assignment]
            "SELECT rowid, 1 - distance FROM passages_vec"
            f" WHERE embedding MATCH ? AND k = ?{within}",
            (vector, limit, *parameters),
        ).fetchall()
        return rows


def extension_file() -> str:
    """Where sqlite-vec's loadable extension is, found without importing the package."""
    for folder in sys.path:
        for name in ("vec0.so", "vec0.dylib", "vec0.dll"):
            path = os.path.join(folder, "sqlite_vec", name)
            if os.path.exists(path):
                return path
    raise StoreError("sqlite-vec is not installed: run 'make setup'")
