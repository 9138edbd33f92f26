"""The warm server and who asks it. It serves static embeddings here, which need no package.

With a real model: test_transformers.py.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import tempfile
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from struct import unpack

import pytest
from new_stores import new_store

from pylore.core.errors import EmbedderError, LoreError
from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.embed.endpoint import EndpointClient, Response, question, unix_place, vectors_in
from pylore.embed.sentence_transformers import (
    SentenceTransformersEmbedder,
    default_socket,
    is_own_socket,
    model_folder,
)
from pylore.embed.serve import Server, served, stop
from pylore.embed.static import StaticEmbedder
from pylore.records.records import Records
from pylore.search.pipeline import Request, search


class StaticModel:
    """Static embeddings, as a server needs them."""

    def __init__(self) -> None:
        self._embedder = StaticEmbedder()

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        return [vector or b"\0\0\x80\x3f" * 256 for vector in self._embedder.embed(texts)]


@cache
def static_model() -> StaticModel:
    return StaticModel()


@pytest.fixture
def path() -> Iterator[str]:
    """A socket's path, short enough for any system."""
    with tempfile.TemporaryDirectory(prefix="lore") as folder:
        yield os.path.join(folder, "run", "embed.sock")


@pytest.fixture
def server(path: str) -> Iterator[Server]:
    server = Server(path, "tiny", static_model)
    assert server.open() == 256
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.stop()
    thread.join()
    server.server_close()


def ask(path: str, body: bytes, what: str = "/v1/embeddings") -> Response:
    return EndpointClient(unix_place(path, what)).post(body, 5.0)


def numbers(vector: bytes | None) -> tuple[float, ...]:
    assert vector is not None
    return unpack(f"<{len(vector) // 4}f", vector)


# --- the form


def test_what_is_served_is_the_form_of_openai(server: Server, path: str) -> None:
    answer = ask(path, json.dumps({"input": ["a word", "another"], "model": "tiny"}).encode())
    rows = json.loads(answer.body)
    assert [(row["index"], len(row["embedding"])) for row in rows["data"]] == [(0, 256), (1, 256)]
    assert rows["model"] == "tiny"
    as_base64 = ask(path, question(["a word", "another"], "tiny"))
    for ours, theirs in zip(vectors_in(as_base64.body, 2), rows["data"], strict=True):
        again = vectors_in(json.dumps({"data": [{"embedding": theirs["embedding"]}]}).encode(), 1)
        assert numbers(ours) == pytest.approx(numbers(again[0]))
    assert ask(path, b'{"input":"a word"}').status == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"no json", 400), (b"[]", 400), (b"{}", 400), (b'{"input":[]}', 400),
        (b'{"input":[1]}', 400), (b'{"input":[""]}', 400), (b'{"input":{"a":"b"}}', 400),
        (b"[" * 100_000, 400), (b'{"input":"a","model":"other"}', 404),
        (json.dumps({"input": ["a"] * 2049}).encode(), 400),
    ],
)  # fmt: skip
def test_a_wrong_question_is_answered_with_what_is_wrong(
    server: Server, path: str, body: bytes, status: int
) -> None:
    answer = ask(path, body)
    assert answer.status == status
    assert json.loads(answer.body)["error"]["message"]
    assert ask(path, b'{"input":"a"}').status == 200


def test_there_is_nothing_else_to_ask_for(server: Server, path: str) -> None:
    assert ask(path, b"{}", "/v1/chat/completions").status == 404


def test_a_client_that_says_nothing_keeps_nobody_waiting(server: Server, path: str) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(path)
        silent.sendall(b"POST /v1/embeddings HTTP/1.0\r\nContent-Length: 10\r\n\r\n")
        assert ask(path, b'{"input":"a"}').status == 200


# --- its life


def test_the_socket_is_its_users_alone(server: Server, path: str) -> None:
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert is_own_socket(path)


def test_a_folder_that_others_may_write_to_is_refused(path: str) -> None:
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)
    with pytest.raises(LoreError, match="others may write there: choose another with --socket"):
        Server(path, "tiny", static_model)
    os.chmod(folder, 0o700)
    os.symlink("somewhere", path + ".lock")
    with pytest.raises(LoreError, match="choose another with --socket"):
        Server(path, "tiny", static_model)
    assert os.listdir(folder) == [os.path.basename(path) + ".lock"]


def test_a_second_server_is_refused_and_the_first_goes_on(server: Server, path: str) -> None:
    with pytest.raises(LoreError, match=r"a server has .* already: 'lore embed --stop' ends it"):
        Server(path, "tiny", static_model)
    assert served(path) == "tiny"


def test_a_server_is_stopped_by_another_process_and_leaves_no_socket(path: str) -> None:
    server = Server(path, "tiny", static_model)
    server.open()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    assert (served(path), stop(path)) == ("tiny", "tiny")
    thread.join(10)
    assert not thread.is_alive()
    server.server_close()
    assert not os.path.exists(path)
    assert (served(path), stop(path)) == (None, None)
    Server(path, "tiny", static_model).server_close()


def test_the_socket_of_a_server_that_was_killed_is_taken_over(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path)
    dead.close()
    assert is_own_socket(path) and served(path) is None
    server = Server(path, "tiny", static_model)
    server.open()
    server.server_close()


def test_what_is_no_socket_is_left_as_it_is(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_text("mine")
    server = Server(path, "tiny", static_model)
    with pytest.raises(LoreError, match="choose another with --socket"):
        server.open()
    server.server_close()
    assert Path(path).read_text() == "mine"


def test_a_server_that_nobody_asks_ends(path: str) -> None:
    server = Server(path, "tiny", static_model, idle=0.05)
    server.open()
    server.serve_forever(0.01)
    server.server_close()
    assert not os.path.exists(path)


@pytest.mark.parametrize("path", ["relative.sock", "/tmp/" + "x" * 200, "/proc/nothing/e.sock"])
def test_a_socket_where_none_can_be_is_one_error(path: str) -> None:
    with pytest.raises(LoreError):
        Server(path, "tiny", static_model)


def test_the_socket_is_in_the_runtime_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1")
    assert default_socket() == "/run/user/1/lore/embed.sock"
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert default_socket() == f"/tmp/lore-{os.getuid()}/embed.sock"


# --- who asks it


def test_an_embedder_asks_the_server_that_has_its_model(server: Server, path: str) -> None:
    asked = SentenceTransformersEmbedder("tiny", path)
    found = asked.embed(["a word", "…"])
    assert numbers(found[0]) == pytest.approx(numbers(static_model().vectors(["a word"])[0]))
    assert found[1] is None
    assert (asked.dimension, asked.notes) == (256, [])


@pytest.mark.parametrize("model", ["sentence-transformers/tiny", "tiny"])
def test_a_model_has_one_name(server: Server, path: str, model: str) -> None:
    asked = SentenceTransformersEmbedder(model, path)
    assert asked.name == "sentence-transformers:tiny"
    assert asked.embed(["a word"])[0]


def test_another_model_than_the_servers_is_loaded_or_said_to_be_missing(
    server: Server, path: str
) -> None:
    with pytest.raises(EmbedderError, match="the model other is not on this machine"):
        SentenceTransformersEmbedder("other", path).embed(["a word"])


def test_a_search_with_a_warm_model_uses_its_vectors(
    server: Server, path: str, tmp_path: Path
) -> None:
    settings = Settings()
    settings.embedder, settings.embed_socket = "sentence-transformers:tiny", path
    with new_store(str(tmp_path)) as store:
        embedder = open_embedder(settings.embedder, store, settings)
        Records(store, settings, embedder).add("note", "rotate the keys", id="note-a")
        assert store.meta.get("embedder") == "sentence-transformers:tiny"
        again = open_embedder(settings.embedder, store, settings)
        hits = search(store, settings, Request("keys"), again)
        assert hits[0].vector_score is not None and hits.notes == []
        server.stop()


# --- where a model is looked for


def a_model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "modules.json").write_text("[]")
    return folder


def test_a_model_is_found_by_path_among_packages_and_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages, hub = tmp_path / "packages", tmp_path / "hub"
    monkeypatch.setattr("sys.path", [str(packages), "", str(tmp_path / "nothing")])
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    carried = a_model(packages / "some_tiny_model_v2" / "model")
    cached = hub / "models--org--tiny"
    a_model(cached / "snapshots" / "abc")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("abc")
    assert model_folder("Tiny-Model-v2") == str(carried)
    assert model_folder("some-tiny-model-v2") == str(carried)
    assert model_folder("org/tiny") == str(cached / "snapshots" / "abc")
    assert model_folder(str(carried)) == str(carried)
    assert model_folder(str(tmp_path)) is None
    assert model_folder("model-v3") is None


def test_a_model_is_not_looked_for_where_the_user_happens_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_model(tmp_path / "tiny")
    a_model(tmp_path / "org" / "tiny")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [""])
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert [model_folder(name) for name in ("tiny", "org/tiny", "./tiny")] == [None] * 3


@pytest.mark.parametrize("text", ["", "..", "a/b", "../../x"])
def test_the_caches_revision_is_a_name_and_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    refs = tmp_path / "models--org--tiny" / "refs"
    refs.mkdir(parents=True)
    (refs / "main").write_text(text)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert model_folder("org/tiny") is None


def test_without_its_packages_a_model_says_what_to_install(tmp_path: Path) -> None:
    if find_spec("sentence_transformers"):
        pytest.skip("they are installed here")
    folder = a_model(tmp_path / "tiny")
    with pytest.raises(EmbedderError, match=r"pip install lore-shell\[transformers\]"):
        SentenceTransformersEmbedder(str(folder), "/nowhere").embed(["a word"])
