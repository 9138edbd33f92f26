"""Static embeddings, compared with the package wordllama."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from struct import unpack
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pylore.embed.static import DIMENSION, StaticEmbedder

WORDS = """
    jwt session database index query postgres migration café Straße naïve kubernetes 東京 Привет
    getUserByID HTTPServer sha256 x 42 rollback zeitgeist qwertyuiop antidisestablishmentarianism
    """.split()
SENTENCES = [
    "sessions are signed with a rotating key",
    "Queries go to the replica; writes go to the primary.",
    "snake_case, camelCase and src/auth.py",
    "it's naïve to cache DNS for a day",
]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def numbers(vector: bytes | None) -> tuple[float, ...]:
    assert vector is not None and len(vector) == 4 * DIMENSION
    return unpack(f"<{DIMENSION}f", vector)


def cosine(one: Any, other: Any) -> float:
    dot: float = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def test_words_have_the_package_vectors(embedder: StaticEmbedder) -> None:
    wordllama = pytest.importorskip("wordllama")
    folder = Path(wordllama.__file__).parent
    package = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    for word, theirs in zip(WORDS, package.embed(WORDS), strict=True):
        (ours,) = embedder.embed([word])
        assert cosine(numbers(ours), [float(x) for x in theirs]) > 0.999, word


def test_batches_have_equal_vectors(embedder: StaticEmbedder) -> None:
    texts = [*SENTENCES, *WORDS, "", "…!"]
    assert len(texts) > 8
    together = embedder.embed(texts)
    for text, many in zip(texts, together, strict=True):
        (few,) = embedder.embed([text])
        if few is None:
            assert many is None
        else:
            assert numbers(few) == pytest.approx(numbers(many), abs=1e-6)


@given(st.text(min_size=1, max_size=40))
@settings(deadline=None)
def test_vectors_have_length_1(embedder: StaticEmbedder, text: str) -> None:
    (vector,) = embedder.embed([text])
    if vector is None:
        assert not any(letter.isascii() and letter.isalnum() for letter in text)
    else:
        assert sum(x * x for x in numbers(vector)) == pytest.approx(1, abs=1e-5)
