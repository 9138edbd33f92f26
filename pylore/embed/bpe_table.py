"""Makes the table of a tokenizer's merges that ``bpe`` reads, from the tokenizer's JSON."""

from __future__ import annotations

import os
from json import loads

from ..core.errors import LoreError
from ..system.atomic_write import write_whole
from ..system.files import make_private_folder
from .bpe import (
    BUCKET,
    BUCKETS,
    CHECK,
    ENTRY,
    FORM,
    HEAD,
    LETTER_BEFORE,
    PRIME,
    bucket_of,
    stamp_of_tokenizer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MULTIPLIERS = range(2_654_435_761, 2_654_436_761, 2)
"""Odd numbers near 2**32 over the golden ratio, which spread what is close together."""

_MODEL = {
    "type": "BPE", "dropout": None, "continuing_subword_prefix": None,
    "end_of_word_suffix": None, "byte_fallback": True,
}  # fmt: skip
"""Fields that a model must have to be merged as ``bpe`` does; others may differ."""

_NORMALIZER = [
    {"type": "Prepend", "prepend": LETTER_BEFORE},
    {"type": "Replace", "pattern": {"String": " "}, "content": LETTER_BEFORE},
]


def write_table(path: str, tokenizer: str, *, private: bool = True) -> None:
    """Put the table of the tokenizer in this file at ``path``, whole or not at all.

    Raises:
        OSError: the tokenizer cannot be read, or the table's folder not be made.
        LoreError: the tokenizer is of a kind that ``bpe`` does not know, or the table
            cannot be written; before it is made, since that takes a while.
    """
    folder, name = os.path.split(path)
    make_private_folder(folder)
    write_whole(os.path.join(os.path.realpath(folder), name), _parts(tokenizer), private=private)


def _parts(tokenizer: str) -> Iterator[bytes]:
    """Yield the table's head, then its buckets."""
    stamp = stamp_of_tokenizer(tokenizer)
    with open(tokenizer, "rb") as file:
        data = file.read()
    try:
        settings = loads(data)
        letters, first_letter, first_byte = _alphabet(settings)
        multiplier, buckets = _buckets(settings["model"])
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise LoreError(f"{tokenizer}: cannot be made a table: {error}") from None
    head = f"{FORM} {stamp} {first_letter} {first_byte} {multiplier}\n{letters}"
    yield part(head.encode(), HEAD, 0)
    for number, bucket in enumerate(buckets, start=1):
        yield part(bucket, BUCKET, number)


def part(data: bytes, size: int, number: int) -> bytes:
    """Return the part of a table with this number: zeros, and what makes it whole, at its end."""
    room = size - CHECK
    if len(data) > room:
        raise LoreError("the tokenizer has too many letters for a table")
    lacking = (number + 1 - int.from_bytes(data, "little")) * pow(2, -8 * room, PRIME) % PRIME
    return data.ljust(room, b"\0") + lacking.to_bytes(CHECK, "little")


def _alphabet(settings: dict[str, Any]) -> tuple[str, int, int]:
    """Return the pieces that are one letter, the number of the first, and that of the first
    byte."""
    model = settings["model"]
    unlike = [name for name, value in _MODEL.items() if model.get(name) != value]
    if unlike or model.get("ignore_merges") or settings["pre_tokenizer"] is not None:
        raise ValueError(unlike or "it splits words otherwise")
    if settings["normalizer"]["normalizers"] != _NORMALIZER:
        raise ValueError("it changes words otherwise")
    by_number = sorted((number, piece) for piece, number in model["vocab"].items())
    letters = [(number, piece) for number, piece in by_number if len(piece) == 1]
    first_letter, first_byte = letters[0][0], model["vocab"]["<0x00>"]
    bytes_ = [model["vocab"][f"<0x{byte:02X}>"] for byte in range(256)]
    if bytes_ != [*range(first_byte, first_byte + 256)]:
        raise ValueError("its bytes have other numbers")
    if [number for number, _ in letters] != [*range(first_letter, first_letter + len(letters))]:
        raise ValueError("its letters have other numbers")
    return "".join(piece for _, piece in letters), first_letter, first_byte


def _buckets(model: dict[str, Any]) -> tuple[int, list[bytes]]:
    """Return a multiplier with which no bucket is too full, and the buckets."""
    entries = dict(_merges(model))
    most = (BUCKET - CHECK) // ENTRY
    for multiplier in _MULTIPLIERS:
        buckets: list[list[bytes]] = [[] for _ in range(BUCKETS)]
        for pair, value in entries.items():
            buckets[bucket_of(pair, multiplier)].append((value << 32 | pair).to_bytes(8, "little"))
        if max(map(len, buckets)) <= most:
            return multiplier, [b"".join(bucket) for bucket in buckets]
    raise ValueError("it has too many merges")


def _merges(model: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield each pair of pieces that may be merged, with the rank times 2**16 plus what it
    becomes."""
    numbers = model["vocab"]
    if max(numbers.values()) >> 16 or len(model["merges"]) >> 16:
        raise ValueError("it has more than 65,536 pieces or merges")
    for rank, merge in enumerate(model["merges"]):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        yield numbers[left] << 16 | numbers[right], rank << 16 | numbers[left + right]
