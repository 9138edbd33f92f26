"""Endpoints: requests, responses and stores, with a real HTTP server in a thread (endpoints.py)."""

from __future__ import annotations

import json
import socketserver
from base64 import b64encode
from math import inf, isclose, nan, sqrt
from pathlib import Path
from struct import pack, unpack
from typing import Any

import pytest
from endpoints import Endpoint, chosen, letters
from hypothesis import example, given
from hypothesis import strategies as st
from new_stores import new_store

from pylore.core.errors import EmbedderError
from pylore.embed import open_embedder
from pylore.embed.endpoint import EndpointEmbedder, unit, vectors_in
from pylore.records.records import Records
from pylore.search.pipeline import Request, search


def embedder(endpoint: Endpoint, environ: dict[str, str] | None = None, **values: Any) -> Any:
    return EndpointEmbedder(endpoint.url, values.get("endpoint_model", ""), environ or {})


def numbers(vector: bytes | None) -> tuple[float, ...]:
    assert vector is not None
    return unpack(f"<{len(vector) // 4}f", vector)


# --- the form


VECTORS = st.lists(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=5, max_size=5).filter(
        lambda vector: any(abs(number) > 1e-3 for number in vector)
    ),
    min_size=1,
    max_size=4,
)


@given(VECTORS, st.booleans(), st.booleans(), st.integers(0, 3))
def test_lists_and_base64_are_equal(
    vectors: list[list[float]], base64: bool, spaced: bool, turn: int
) -> None:
    rows: list[dict[str, Any]] = [
        {
            "object": "embedding",
            "index": index,
            "embedding": b64encode(pack("<5f", *vector)).decode() if base64 else vector,
        }
        for index, vector in enumerate(vectors)
    ]
    rows = rows[turn:] + rows[:turn]  # in any order
    answer = json.dumps({"data": rows}, indent=1 if spaced else None).encode()
    found = vectors_in(answer, len(vectors))
    for vector, given_back in zip(vectors, found, strict=True):
        length = sqrt(sum(number * number for number in vector))
        read = numbers(given_back)
        assert len(read) == 8 and read[5:] == (0.0, 0.0, 0.0)
        for number, back in zip(vector, read, strict=False):
            assert isclose(number / length, back, rel_tol=1e-5, abs_tol=1e-6)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["data", "embedding", "index", "x"]), inner, max_size=4
            )
        ),
        max_leaves=12,
    )
)
@example([3.771425219621993e-161])
def test_any_json_is_vectors_or_an_error(value: Any) -> None:
    for answer in (value, {"data": value}, {"data": [{"embedding": value, "index": 0}]}):
        try:
            vectors = vectors_in(json.dumps(answer).encode(), 1)
        except EmbedderError:
            continue
        assert len(vectors) == 1
        assert isclose(sum(x * x for x in numbers(vectors[0])), 1.0, rel_tol=1e-4)


@pytest.mark.parametrize(
    ("rows", "count", "said"),
    [
        ([{"embedding": [1.0, nan]}], 1, "NaN"),
        ([{"embedding": [0.0, 0.0]}], 1, "zeros"),
        ([{"embedding": [1.0, "x"]}], 1, "invalid numbers"),
        ([{"embedding": []}], 1, "form of /v1/embeddings"),
        ([{"embedding": "AAA"}], 1, "form of"),
        ([{"embedding": [1.0], "index": inf}], 1, "form of"),
        ([{"vector": [1.0]}], 1, "form of /v1/embeddings"),
        ([{"embedding": [1.0]}, {"embedding": [2.0]}], 1, "gave 2 vectors for 1 texts"),
        ([{"embedding": [1.0]}], 2, "gave 1 vectors for 2 texts"),
        ([{"embedding": [1.0]}, {"embedding": [1.0] * 9}], 2, "different lengths"),
    ],
)
def test_invalid_vectors_are_refused(rows: list[Any], count: int, said: str) -> None:
    for answer in ({"data": rows}, {"data": rows, "x": {"embedding": 1}}):
        with pytest.raises(EmbedderError, match=said):
            vectors_in(json.dumps(answer).encode(), count)


# --- requests and responses


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://localhost:11434", ("http", "localhost", 11434, "/v1/embeddings")),
        ("https://a.example/v1/", ("https", "a.example", 443, "/v1/embeddings")),
        ("https://a.example/x/embeddings", ("https", "a.example", 443, "/x/embeddings")),
        ("http://[::1]:99/v1", ("http", "::1", 99, "/v1/embeddings")),
    ],
)
def test_url_names_host_and_path(url: str, place: tuple[str, str, int, str]) -> None:
    found = EndpointEmbedder(url, environ={})
    scheme = "https" if found.is_secure else "http"
    assert (scheme, found.host, found.port, found.path) == place


@pytest.mark.parametrize(
    "url", ["http://", "http://:80", "http://a:b", "http://a:0", "http://a:9999999"]
)
def test_invalid_urls_are_refused(url: str) -> None:
    with pytest.raises(EmbedderError, match="mend the embedder's URL"):
        EndpointEmbedder(url, environ={})


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"hello",
        b"HTTP/1.1 abc\r\n\r\n",
        HEAD + b"Content-Length: 50\r\n\r\nhello",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nx\r\nhello\r\n0\r\n\r\n",
    ],
)
def test_invalid_responses_are_refused(endpoint: Endpoint, raw: bytes) -> None:
    endpoint.raw = raw
    with pytest.raises(EmbedderError, match=r"^endpoint:http://127.* cannot be asked"):
        embedder(endpoint).embed(["a word"])


def test_silent_endpoint_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pylore.embed.endpoint.PATIENCE", -0.9)
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as silent:
        url = f"http://127.0.0.1:{silent.server_address[1]}"  # sends no response
        slow = EndpointEmbedder(url, "", {})
        with pytest.raises(EmbedderError, match="no answer in time"):
            slow.embed(["a word"])


# --- the embedder


@pytest.mark.parametrize("base64", [True, False])
def test_texts_are_sent_in_batches(
    endpoint: Endpoint, base64: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pylore.embed.endpoint.BATCH", 4)
    endpoint.base64 = base64
    texts = [f"text {'abc'[n % 3] * n}" for n in range(10)]
    texts[4] = " … "
    found = embedder(endpoint).embed(texts)
    assert [len(asked["input"]) for asked in endpoint.asked] == [4, 4, 1]
    assert found[4] is None
    for text, vector in zip(texts, found, strict=True):
        assert vector == (None if text == " … " else unit(letters(text)))


def test_model_is_sent_and_names_vectors(endpoint: Endpoint) -> None:
    named, nameless = embedder(endpoint, endpoint_model="mini"), embedder(endpoint)
    named.embed(["a"])
    nameless.embed(["a"])
    assert [asked.get("model") for asked in endpoint.asked] == ["mini", None]
    assert (named.name, nameless.name) == ("endpoint:mini", f"endpoint:{endpoint.url}")
    assert (named.dimension, endpoint.paths[0]) == (16, "/v1/embeddings")


def test_batches_are_retried_and_queries_not(endpoint: Endpoint) -> None:
    endpoint.statuses = [503, 429]
    assert embedder(endpoint).embed(["a", "b"]) == [unit(letters("a")), unit(letters("b"))]
    assert len(endpoint.asked) == 3
    endpoint.statuses = [503]
    with pytest.raises(EmbedderError, match=r"answered HTTP 503 .no, not now.: check the URL"):
        embedder(endpoint).embed(["a"])
    assert len(endpoint.asked) == 4
    endpoint.statuses = [500, 500, 500, 500]
    with pytest.raises(EmbedderError, match="HTTP 500"):
        embedder(endpoint).embed(["a", "b"])
    assert len(endpoint.asked) == 7


@pytest.mark.parametrize("status", [401, 403])
def test_refused_key_is_not_shown(endpoint: Endpoint, status: int) -> None:
    endpoint.statuses = [status]
    with pytest.raises(EmbedderError, match=r"refused the key .*: set LORE_ENDPOINT_KEY") as error:
        embedder(endpoint, {"LORE_ENDPOINT_KEY": "sk-secret"}).embed(["a"])
    assert "sk-secret" not in str(error.value)
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-secret"
    endpoint.raw = b"HTTP/1.0 400 no\r\n\r\nyou sent sk-secret, which is wrong"
    with pytest.raises(EmbedderError, match="you sent …, which"):
        embedder(endpoint, {"LORE_ENDPOINT_KEY": "sk-secret"}).embed(["a"])


def test_shared_key_needs_tls(endpoint: Endpoint) -> None:
    embedder(endpoint, {"OPENAI_API_KEY": "sk-secret"}).embed(["a"])
    assert "Authorization" not in endpoint.headers[0]
    over_tls = EndpointEmbedder("https://a.example", "", {"OPENAI_API_KEY": "sk-secret"})
    assert over_tls._key == "sk-secret"


def test_key_with_a_line_break_is_refused(endpoint: Endpoint) -> None:
    with pytest.raises(EmbedderError, match="LORE_ENDPOINT_KEY is not a valid key") as error:
        embedder(endpoint, {"LORE_ENDPOINT_KEY": "a\r\nX-Evil: b"})
    assert "Evil" not in str(error.value)


def test_wrong_dimension_is_noted(tmp_path: Path, endpoint: Endpoint) -> None:
    settings = chosen(endpoint.url)
    with new_store(str(tmp_path / "data")) as store:
        model = open_embedder(settings.embedder, store, settings)
        Records(store, settings, model, "/project").add("note", "rotate the keys", id="note-a")
        endpoint.vector = lambda text: [1.0] * 32
        model = open_embedder(settings.embedder, store, settings)
        hits = search(store, settings, Request("keys"), model)
    assert "gave 32 dimensions, the store's vectors have 16: run 'lore store" in hits.notes[0]
    assert [hit.id for hit in hits] == ["note-a"]
