"""Vectors after the commit: of writes, and of lore store embed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from endpoints import Endpoint, chosen, letters
from new_stores import new_store

from pylore.cli.doctor import Check, examine
from pylore.core.errors import EmbedderError, LoreError
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.core.times import now
from pylore.embed import open_embedder
from pylore.embed.endpoint import unit
from pylore.embed.static import StaticEmbedder
from pylore.indexing.embed import BATCH, FEW, embed_missing, embed_store
from pylore.indexing.indexer import rebuild, write_nodes
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import Store, open_store
from pylore.store.vectors import quantise

if TYPE_CHECKING:
    from pylore.embed import Embedder

NODES = 2 * BATCH + 20
STATIC = "static:l2_supercat_256"


@pytest.fixture(autouse=True)
def one_request_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pylore.embed.endpoint.BATCH", BATCH)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store with static vectors, as a file."""
    folder = tmp_path_factory.mktemp("filled")
    with new_store(str(folder)) as store:
        nodes = [
            Node(f"note-{number}", "note", title=text, body=text, updated_at=now())
            for number in range(NODES)
            for text in [f"about {'abcdefghijkl'[number % 12] * (number + 1)}"]
        ]
        nodes.append(Node("note-wordless", "note", title="…", body="…", updated_at=now()))
        with store.transaction():
            write_nodes(store, nodes)
        embed_missing(store, open_embedder("static", store), bulk=True)
    return (folder / "search.db").read_bytes()


@pytest.fixture
def store(filled: bytes, tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "search.db").write_bytes(filled)
    with open_store(str(tmp_path)) as store:
        yield store


def anew(store: Store, settings: Settings) -> Embedder:
    found = open_embedder(settings.embedder, store, settings, anew=True)
    assert found is not None
    return found


def vectors_of(store: Store) -> dict[str, bytes]:
    """The text and vector of each passage."""
    rows = store.connection.execute(
        "SELECT v.key, v.embedding FROM vectors v JOIN texts_fts_docsize d ON d.id = v.key"
        " JOIN sketches s ON s.key = v.key"
    )
    return {" ".join(store.fulltext.shown(key)): vector for key, vector in rows}


def require_all_of(store: Store, endpoint: Endpoint, count: int) -> None:
    """The store has the endpoint's vector of every passage, and no other."""
    assert store.meta.get("embedder") == f"endpoint:{endpoint.url}"
    assert store.meta.get("embedder_dimension") == "16"
    found = vectors_of(store)
    assert len(found) == count
    assert all(vector == quantise(unit(letters(text))) for text, vector in found.items())


def test_embed_all_makes_every_vector(store: Store, endpoint: Endpoint) -> None:
    settings = chosen(endpoint.url)
    steps: list[int] = []
    done = embed_store(store, anew(store, settings), all=True, progress=steps.append)
    assert done == sum(steps) == NODES + 1
    require_all_of(store, endpoint, NODES)
    hits = search(
        store, settings, Request("about bb"), open_embedder(settings.embedder, store, settings)
    )
    assert hits[0].vector_score is not None


def interrupted(store: Store, endpoint: Endpoint, after: int) -> Settings:
    """A run that the endpoint ended after so many batches of the store."""
    settings = chosen(endpoint.url)
    endpoint.statuses = [200] * (1 + after) + [404]
    with pytest.raises(EmbedderError, match="HTTP 404"):
        embed_store(store, anew(store, settings), all=True)
    return settings


def test_interrupted_run_is_continued(store: Store, endpoint: Endpoint) -> None:
    settings = interrupted(store, endpoint, 1)
    endpoint.asked.clear()
    assert embed_store(store, anew(store, settings), all=True) == NODES + 1 - BATCH
    assert sum(len(asked["input"]) for asked in endpoint.asked[1:]) == NODES - BATCH
    require_all_of(store, endpoint, NODES)


def test_edits_during_a_run_are_embedded(store: Store, endpoint: Endpoint) -> None:
    settings = chosen(endpoint.url)
    records = Records(store, settings, open_embedder("static", store))
    edited: list[str] = []

    def meanwhile(text: str) -> list[Any]:
        if not edited and text == f"about {'a' * 25} about {'a' * 25}":  # during the text's batch
            edited.append("note-24")
            records.edit("note-24", text="kkkk", title="other")
            records.add("note", "a late llll", id="note-late")
        return letters(text)

    endpoint_vector, endpoint.vector = endpoint.vector, meanwhile
    embed_store(store, anew(store, settings), all=True)
    endpoint.vector = endpoint_vector
    require_all_of(store, endpoint, NODES + 1)


def test_run_ends_if_a_second_run_begins(store: Store, endpoint: Endpoint) -> None:
    embedder = anew(store, chosen(endpoint.url))

    def other(done: int) -> None:
        if store.meta.get("embedder") != STATIC:
            embed_store(store, StaticEmbedder(), all=True)

    with pytest.raises(LoreError, match="a second run makes the vectors now"):
        embed_store(store, embedder, all=True, progress=other)
    assert store.vectors.count_passages(lacking=True) == 0 and store.meta.get("embedder") == STATIC


# --- after a write


def test_next_write_makes_vectors_after_a_kill(store: Store) -> None:
    without = Records(store, Settings(), None)
    without.add("note", "written before the kill", id="note-before")
    without.edit("note-3", text="edited before the kill")
    assert store.vectors.count_passages(lacking=True) == 2
    Records(store, Settings(), open_embedder("static", store)).link(
        "note-1", "relates_to", "note-2"
    )
    assert store.vectors.count_passages(lacking=True) == 0
    assert len(vectors_of(store)) == NODES + 1


def test_dropped_vectors_leave_no_gap(store: Store) -> None:
    class Dropping(StaticEmbedder):
        def embed(self, texts: Sequence[str]) -> list[bytes | None]:
            if store.vectors.count_passages(lacking=True) == 1:
                store.vectors.remove(range(2 * NODES))
            return super().embed(texts)

    Records(store, Settings(), Dropping()).add("note", "a late text")
    assert store.vectors.count_passages(lacking=True) == 0


def test_small_write_embeds_few_passages(store: Store) -> None:
    rebuild(store, "auto")
    nodes = [Node(f"note-many-{number}", "note", title=f"word {number}") for number in range(FEW)]
    with store.transaction():
        write_nodes(store, nodes)
    change = Records(store, Settings(), open_embedder("static", store)).add("note", "one more")
    (said,) = change.notes
    assert f"more than {FEW} passages lack vectors" in said
    assert "'lore store embed'" in said and vectors_of(store) == {}


def test_no_vectors_in_transactions_or_other_embedders(store: Store, endpoint: Endpoint) -> None:
    settings = chosen(endpoint.url)
    other = open_embedder(settings.embedder, store, settings)
    Records(store, settings, other).add("note", "a text", id="note-late")
    assert endpoint.asked == [] and store.vectors.count_passages(lacking=True) == 1
    with store.transaction():
        embed_missing(store, open_embedder("static", store))
        assert store.vectors.count_passages(lacking=True) == 1


def test_full_disk_loses_vectors_only(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*rows: object) -> None:
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(type(store.vectors), "add", full)
    change = Records(store, Settings(), StaticEmbedder()).add("note", "a text", id="note-late")
    assert change.state == "added" and store.nodes.get("note-late") is not None
    (said,) = change.notes
    assert "no vectors before 'lore store embed' is run" in said
    monkeypatch.undo()
    embed_missing(store, StaticEmbedder())
    assert store.vectors.count_passages(lacking=True) == 0


# --- doctor


def doctors(store: Store, settings: Settings) -> dict[str, Check]:
    return dict(examine(str(Path(store.path).parent), settings))


def test_doctor_reports_unfinished_and_missing_vectors(store: Store, endpoint: Endpoint) -> None:
    settings = interrupted(store, endpoint, 1)
    both = doctors(store, settings)
    assert both["embedder"].ok
    assert not both["vectors"].ok and "passages without a vector" in both["vectors"].detail
    embed_store(store, anew(store, settings), all=True)
    assert doctors(store, settings)["vectors"].ok
    store.vectors.remove([1])
    found = doctors(store, settings)["vectors"]
    assert not found.ok and "run 'lore store embed'" in str(found.fix)
    embed_store(store, anew(store, settings), all=False)
    endpoint.raw = b"hello"
    both = doctors(store, settings)
    assert both["embedder"].fix == "start the server, or set a different embedder"
