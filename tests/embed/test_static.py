"""Static embeddings, compared with the package wordllama."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from struct import unpack
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store

from pylore.embed.static import DIMENSION, StaticEmbedder
from pylore.store import Store

ROOT = Path(__file__).parents[2]
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
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("embed"))) as store:
        yield store


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


_CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from pylore.embed import open_embedder, static
from pylore.store import open_store
with open_store(sys.argv[2]) as store:
    assert open_embedder("static", store).embed([sys.argv[3]])[0]
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def loaded_modules(folder: Path, text: str) -> set[str]:
    """The top-level modules of a process that has embedded this text."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(ROOT), str(folder), text],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


HEAVY = {"tokenizers", "numpy", "wordllama", "sqlite_vec"}


def test_new_words_import_no_tokenizer(tmp_path: Path) -> None:
    new_store(str(tmp_path)).close()
    assert not HEAVY & loaded_modules(tmp_path, "unheardofword сессия 会话 🫨")
