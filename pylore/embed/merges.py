"""Make the SQLite file of a tokenizer's merges that ``static`` reads, from the tokenizer's JSON."""

from __future__ import annotations

import os
from json import loads
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..store.connection import apsw
from ..system.atomic_write import new_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SCHEMA = (
    "CREATE TABLE letters(letter TEXT PRIMARY KEY, token INTEGER) WITHOUT ROWID",
    "CREATE TABLE merges(pair INTEGER PRIMARY KEY, merge INTEGER)",
)
"""Letters without a token have a token for each byte, named ``<0x41>``. ``pair``: the left token
times 2**16 plus the right token; ``merge``: the rank times 2**16 plus the merged token."""

_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))


def new_merges(path: str, tokenizer: str) -> apsw.Connection:
    """Make merges at ``path``, or in memory if that is read-only; return a connection.

    Raises:
        LoreError: the tokenizer cannot be read, or is of a different kind.
    """
    try:
        make_merges(path, tokenizer)
        return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    except (OSError, apsw.Error):
        memory = apsw.Connection(":memory:")
        _write(memory, tokenizer)
        return memory


def make_merges(path: str, tokenizer: str) -> None:
    """Write the merges of a tokenizer to a file atomically; raise as ``new_merges``."""
    with new_file(os.path.realpath(path)) as place:
        connection = apsw.Connection(place)
        try:
            _write(connection, tokenizer)
        finally:
            connection.close()
        os.chmod(place, 0o644)


def _write(connection: apsw.Connection, tokenizer: str) -> None:
    try:
        with open(tokenizer, encoding="utf-8") as file:
            model = loads(file.read())["model"]
        letters = [row for row in model["vocab"].items() if len(row[0]) == 1 or row[0] in _BYTES]
        merges = [*_merges(model["merges"], model["vocab"])]
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise LoreError(f"{tokenizer}: not a tokenizer of this kind: {error}") from None
    with connection:
        for create in _SCHEMA:
            connection.execute(create)
        connection.executemany("INSERT INTO letters VALUES (?, ?)", letters)
        connection.executemany("INSERT INTO merges VALUES (?, ?)", merges)


def _merges(merges: list[Any], numbers: dict[str, int]) -> Iterator[tuple[int, int]]:
    for rank, merge in enumerate(merges):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        yield numbers[left] << 16 | numbers[right], rank << 16 | numbers[left + right]
