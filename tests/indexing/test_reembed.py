"""Vectors for what is in the store already: lore store embed --all and --missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from endpoints import Endpoint, chosen, letters
from new_stores import new_store
from sqlite_stores import connection_of

from pylore.cli.doctor import Check, examine
from pylore.core.errors import EmbedderError, LoreError
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.core.times import now
from pylore.embed import open_embedder
from pylore.embed.endpoint import unit
from pylore.indexing.indexer import Index, rebuild
from pylore.indexing.reembed import BATCH, Embedding
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.vector_tables import quantise

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
            for node in nodes:
                store.nodes.put(node)
            Index(store, open_embedder("static", store)).update(nodes)
    return (folder / "search.db").read_bytes()


@pytest.fixture
def store(filled: bytes, tmp_path: Path) -> Iterator[Store]:
    from pylore.store import open_store

    (tmp_path / "search.db").write_bytes(filled)
    with open_store(str(tmp_path)) as store:
        yield store


def anew(store: Store, settings: Settings) -> Embedder:
    found = open_embedder(settings.embedder, store, settings, anew=True)
    assert found is not None
    return found


def vectors_of(store: Store) -> dict[str, bytes]:
    """Each passage's text and its vector."""
    rows = connection_of(store).execute(
        "SELECT v.key, v.embedding FROM passages_vec v JOIN texts_fts_docsize d ON d.id = v.key"
        " JOIN sketches s ON s.place = v.key"
    )
    full = store.fulltext
    return {f"{full.indexed(key)[0]} {full.body(key)}": vector for key, vector in rows}


def require_all_of(store: Store, endpoint: Endpoint, count: int) -> None:
    """The store has the endpoint's vector of every passage, and no other."""
    assert store.meta.get("embedder") == f"endpoint:{endpoint.url}"
    assert store.meta.get("embedder_dimension") == "16"
    assert store.staged_vectors.embedder is None
    found = vectors_of(store)
    assert len(found) == count
    assert all(vector == quantise(unit(letters(text))) for text, vector in found.items())


def test_every_vector_is_made_anew_and_progress_adds_up(store: Store, endpoint: Endpoint) -> None:
    settings = chosen(endpoint.url)
    run = Embedding(store, anew(store, settings), all=True)
    assert run.pending() == NODES + 1
    steps: list[int] = []
    assert run.run(steps.append) == sum(steps) == NODES + 1
    require_all_of(store, endpoint, NODES)
    hits = search(
        store, settings, Request("about bb"), open_embedder(settings.embedder, store, settings)
    )
    assert hits[0].vector_score is not None


def interrupted(store: Store, endpoint: Endpoint, after: int) -> Settings:
    """A run that the endpoint ended after so many batches of the store."""
    settings = chosen(endpoint.url)
    run = Embedding(store, anew(store, settings), all=True)
    endpoint.statuses = [200] * after + [404]
    with pytest.raises(EmbedderError, match="HTTP 404"):
        run.run()
    return settings


def test_an_interrupted_run_leaves_the_old_vectors_in_use(store: Store, endpoint: Endpoint) -> None:
    before = vectors_of(store)
    interrupted(store, endpoint, 1)
    assert store.staged_vectors.embedder == f"endpoint:{endpoint.url}"
    assert store.staged_vectors.count_lacking(aside=True) == NODES + 1 - BATCH
    assert store.meta.get("embedder") == STATIC
    assert vectors_of(store) == before
    hits = search(store, Settings(), Request("about bb"), open_embedder("static", store))
    assert hits[0].vector_score is not None and hits.notes == []


def test_an_interrupted_run_goes_on_where_it_stopped(store: Store, endpoint: Endpoint) -> None:
    settings = interrupted(store, endpoint, 1)
    endpoint.asked.clear()
    run = Embedding(store, anew(store, settings), all=True)
    assert run.pending() == NODES + 1 - BATCH
    before = len(endpoint.asked)
    assert run.run() == NODES + 1 - BATCH
    assert sum(len(asked["input"]) for asked in endpoint.asked[before:]) == NODES - BATCH
    require_all_of(store, endpoint, NODES)


def test_what_changes_between_two_runs_gets_the_vector_of_what_it_is_then(
    store: Store, endpoint: Endpoint
) -> None:
    settings = interrupted(store, endpoint, 2)
    records = Records(store, settings, open_embedder("static", store))
    records.edit("note-0", text="jjjj kkkk")  # its passages' keys may be others' before
    records.forget(["note-1", f"note-{NODES - 1}"])
    records.add("note", "a late llll", id="note-late")
    Embedding(store, anew(store, settings), all=True).run()
    require_all_of(store, endpoint, NODES - 1)
    assert any("llll" in text for text in vectors_of(store))


def test_what_changes_during_a_run_gets_the_vector_of_what_it_is_then(
    store: Store, endpoint: Endpoint
) -> None:
    settings = chosen(endpoint.url)
    records = Records(store, settings, open_embedder("static", store))
    edited: list[str] = []

    def meanwhile(text: str) -> list[Any]:
        if not edited and text == f"about {'a' * 25} about {'a' * 25}":  # its batch is under way
            edited.append("note-24")
            records.edit("note-24", text="kkkk", title="other")
            records.add("note", "a late llll", id="note-late")
        return letters(text)

    run = Embedding(store, anew(store, settings), all=True)
    endpoint_vector, endpoint.vector = endpoint.vector, meanwhile
    run.run()
    endpoint.vector = endpoint_vector
    require_all_of(store, endpoint, NODES + 1)


def test_another_embedder_begins_at_the_beginning(store: Store, endpoint: Endpoint) -> None:
    interrupted(store, endpoint, 1)
    named = chosen(endpoint.url, endpoint_model="mini")
    run = Embedding(store, anew(store, named), all=True)
    assert run.pending() == NODES + 1
    assert run.run() == NODES + 1
    assert store.meta.get("embedder") == "endpoint:mini"


def test_a_run_ends_with_a_line_where_another_has_taken_over(
    store: Store, endpoint: Endpoint
) -> None:
    settings = chosen(endpoint.url)
    first = Embedding(store, anew(store, settings), all=True)
    second = Embedding(store, anew(store, settings), all=True)
    with pytest.raises(LoreError, match="another run makes the vectors now"):
        first.run(lambda done: None if store.meta.get("embedder") != STATIC else _finish(second))
    require_all_of(store, endpoint, NODES)


def _finish(run: Embedding) -> None:
    run.run()


def test_reindex_gives_up_what_was_begun(store: Store, endpoint: Endpoint) -> None:
    interrupted(store, endpoint, 1)
    rebuild(store, open_embedder("static", store), "auto")
    assert store.staged_vectors.embedder is None
    tables = connection_of(store).execute("SELECT name FROM sqlite_schema").fetchall()
    assert ("passages_vec_next",) not in tables


def test_reindex_with_an_endpoint_that_is_down_changes_nothing(
    store: Store, endpoint: Endpoint
) -> None:
    before = vectors_of(store)
    settings = chosen(endpoint.url)
    endpoint.statuses = [404]
    with pytest.raises(EmbedderError):
        rebuild(store, open_embedder(settings.embedder, store, settings), "auto")
    assert vectors_of(store) == before and store.meta.get("embedder") == STATIC


def test_what_is_missing_is_made_by_the_stores_own_embedder(
    store: Store, endpoint: Endpoint
) -> None:
    static = open_embedder("static", store)
    assert static is not None
    store.vectors.remove([1, 2, 3])
    run = Embedding(store, static, all=False)
    assert run.pending() == 4  # and the one without words
    assert run.run() == 4
    assert len(vectors_of(store)) == NODES
    settings = chosen(endpoint.url)
    with pytest.raises(LoreError, match=f"are {STATIC}'s, not endpoint:.*: run 'lore store embed"):
        Embedding(store, anew(store, settings), all=False)


def test_a_store_without_vectors_gets_them(tmp_path: Path, endpoint: Endpoint) -> None:
    settings = chosen(endpoint.url)
    for all in (True, False):
        with new_store(str(tmp_path / str(all))) as store:
            Records(store, settings, None).add("note", "aaa", id="note-a")
            assert Embedding(store, anew(store, settings), all=all).run() == 1
            require_all_of(store, endpoint, 1)


def test_an_empty_store_takes_another_embedder_at_once(tmp_path: Path, endpoint: Endpoint) -> None:
    with new_store(str(tmp_path)) as store:
        run = Embedding(store, anew(store, chosen(endpoint.url)), all=True)
        assert run.pending() == 0
        assert run.run() == 0
        require_all_of(store, endpoint, 0)


# --- what doctor says


def doctors(store: Store, settings: Settings) -> dict[str, Check]:
    return dict(examine(str(Path(store.path).parent), settings))


def test_doctor_knows_unfinished_and_missing_vectors(store: Store, endpoint: Endpoint) -> None:
    settings = interrupted(store, endpoint, 1)
    found = doctors(store, Settings())["vectors"]
    assert found.ok and "are unfinished" in found.detail
    assert found.fix == "run 'lore store embed --all'"
    both = doctors(store, settings)
    assert both["embedder"].ok
    assert not both["vectors"].ok and both["vectors"].fix == "run 'lore store embed --all'"
    Embedding(store, anew(store, settings), all=True).run()
    assert doctors(store, settings)["vectors"].ok
    store.vectors.remove([1])
    found = doctors(store, settings)["vectors"]
    assert not found.ok and "run 'lore store embed'" in str(found.fix)
    Embedding(store, anew(store, settings), all=False).run()
    endpoint.raw = b"hello"
    both = doctors(store, settings)
    assert both["embedder"].fix == "start it, or choose another embedder"
