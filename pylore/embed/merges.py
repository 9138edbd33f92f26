"""Make the SQLite file of a tokenizer's merges that ``pieces`` reads, from the tokenizer's JSON."""

from __future__ import annotations

import os
from json import loads

from ..core.errors import LoreError
from ..store.connection import apsw
from ..system.atomic_write import new_file
from .pieces import WORD_START, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SCHEMA = (
    "CREATE TABLE tokenizer(stamp INTEGER)",
    "CREATE TABLE letters(letter TEXT PRIMARY KEY, token INTEGER) WITHOUT ROWID",
    "CREATE TABLE merges(pair INTEGER PRIMARY KEY, merge INTEGER)",
)
"""A letter without a token has one for each byte, named ``<0x41>``. ``pair``: the left token times
2**16 plus the right one; ``merge``: the rank times 2**16 plus the token that they become."""

_MODEL = {
    "type": "BPE", "dropout": None, "continuing_subword_prefix": None,
    "end_of_word_suffix": None, "byte_fallback": True,
}  # fmt: skip
"""Fields that a model must have to be merged as ``pieces`` does; others may differ."""

_NORMALIZER = [
    {"type": "Prepend", "prepend": WORD_START},
    {"type": "Replace", "pattern": {"String": " "}, "content": WORD_START},
]


def new_merges(path: str, tokenizer: str) -> apsw.Connection:
    """Make merges at ``path``, or in memory where nobody may write; return a connection.

    Raises:
        LoreError: the tokenizer cannot be read, or is of another kind.
    """
    try:
        make_merges(path, tokenizer)
        return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    except (OSError, apsw.Error):
        memory = apsw.Connection(":memory:")
        _write(memory, tokenizer)
        return memory


def make_merges(path: str, tokenizer: str) -> None:
    """Write the merges of a tokenizer to a file, whole or not at all; raise as ``new_merges``."""
    with new_file(os.path.realpath(path)) as place:
        connection = apsw.Connection(place)
        try:
            _write(connection, tokenizer)
        finally:
            connection.close()
        os.chmod(place, 0o644)


def _write(connection: apsw.Connection, tokenizer: str) -> None:
    try:
        stamp = stamp_of(tokenizer)
        with open(tokenizer, encoding="utf-8") as file:
            settings = loads(file.read())
        letters, merges = [*_letters(settings)], [*_merges(settings["model"])]
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise LoreError(f"{tokenizer}: not a tokenizer of this kind: {error}") from None
    with connection:
        for create in _SCHEMA:
            connection.execute(create)
        connection.execute("INSERT INTO tokenizer VALUES (?)", (stamp,))
        connection.executemany("INSERT INTO letters VALUES (?, ?)", letters)
        connection.executemany("INSERT INTO merges VALUES (?, ?)", merges)


def _letters(settings: dict[str, Any]) -> Iterator[tuple[str, int]]:
    model = settings["model"]
    unlike = [name for name, value in _MODEL.items() if model.get(name) != value]
    if unlike or model.get("ignore_merges") or settings["pre_tokenizer"] is not None:
        raise ValueError(unlike or "it splits words otherwise")
    if settings["normalizer"]["normalizers"] != _NORMALIZER:
        raise ValueError("it changes words otherwise")
    numbers = model["vocab"]
    yield from ((piece, number) for piece, number in numbers.items() if len(piece) == 1)
    yield from ((name, numbers[name]) for name in (f"<0x{byte:02X}>" for byte in range(256)))


def _merges(model: dict[str, Any]) -> Iterator[tuple[int, int]]:
    numbers = model["vocab"]
    if max(numbers.values()) >> 16 or len(model["merges"]) >> 16:
        raise ValueError("it has more than 65,536 tokens or merges")
    for rank, merge in enumerate(model["merges"]):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        yield numbers[left] << 16 | numbers[right], rank << 16 | numbers[left + right]
