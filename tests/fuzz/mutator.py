"""Mutated samples of a corpus, reproducible by seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

CORPUS = Path(__file__).parent / "corpus"

LONGEST = 50_000
"""Maximum bytes of an input."""


def samples(kind: str) -> list[bytes]:
    """Return the corpus of a kind: a JSON string a line, lone surrogates for bytes."""
    file = CORPUS / f"{kind}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else ()
    return [json.loads(line).encode("utf-8", "surrogateescape") for line in lines]


ODD = samples("odd-words")
"""Bytes that are odd in inputs of every kind."""


def as_sample(data: bytes) -> str:
    """Return the line of an input in a corpus."""
    return json.dumps(data.decode("utf-8", "surrogateescape"))


def mutated(random: Random, corpus: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Return a sample after up to six changes."""
    data = random.choice(corpus)
    for _ in range(random.choice((0, 1, 1, 2, 3, 6))):
        data = _changed(random, data, corpus, tokens)
    return data[:LONGEST]


def _changed(
    random: Random, data: bytes, corpus: Sequence[bytes], tokens: Sequence[bytes]
) -> bytes:
    start = random.randint(0, len(data))
    end = min(len(data), start + random.choice((0, 1, 2, 5, 20, 1000)))
    part = data[start:end]
    change = random.randrange(8)
    if change == 0:
        part = b""
    elif change == 1:
        part *= random.choice((2, 3, 50, 1000))
    elif change == 2:
        part = bytes(random.randrange(256) for _ in part) or random.randbytes(1)
    elif change == 3:
        other = random.choice(corpus)
        cut = random.randint(0, len(other))
        part = other[cut : cut + random.choice((3, 30, 3000))]
    elif change == 4:
        part = random.choice(ODD) * random.choice((1, 1, 1, 3, 500))
    elif change == 5:
        part = random.choice(ODD)
    else:
        part += random.choice(tokens)
    return data[:start] + part + data[end:]
