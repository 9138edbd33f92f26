"""Test ``lore store embed``, and the choice of the embedder."""

from __future__ import annotations

import pytest
from commands import Lore
from endpoints import Endpoint

DOWN = "endpoint:http://127.0.0.1:9/v1"
STATIC = "static:l2_supercat_256"


@pytest.fixture
def notes(lore: Lore) -> Lore:
    """A store with two records and static vectors."""
    lore.patch.delenv("LORE_EMBEDDER")
    lore.fill(
        {"id": "note-a", "body": "sessions are signed with a rotating key"},
        {"id": "note-b", "body": "reads go to the replica"},
    )
    return lore


def test_embed_refuses_wrong_options_and_embedders(notes: Lore) -> None:
    notes.refuse_each("""
        store embed --all --embedder none | 2 | delete the vectors with 'lore store reindex
        store embed --all --embedder static:x | 2 | embedder is 'static:x': give static, none,
        store embed --all --embedder sentence-transformers:nope | 1 | nope is not on this machine
    """)
    refused = notes.refuse(
        "store", "embed", "--all", "--embedder", "endpoint:http://me:hunter2@localhost/v1"
    )
    assert "a key goes into LORE_ENDPOINT_KEY" in refused and "hunter2" not in refused


def test_embed_makes_all_vectors(notes: Lore) -> None:
    row = notes("store", "embed", "--all").json
    assert (row["dimension"], row["passages"], row["missing"]) == (256, 2, 0)
    row = notes("store", "embed").json
    assert (row["embedder"], row["missing"]) == (STATIC, 0)
    assert f"embedder {STATIC}, dimension 256" in notes("store", "embed", "--text").out
    found = notes("search", "key")
    assert found.json[0]["id"] == "note-a" and not found.err


def test_vectors_of_an_endpoint_need_the_setting(notes: Lore, endpoint: Endpoint) -> None:
    name = f"endpoint:{endpoint.url}"
    refused = notes.refuse("store", "embed", "--embedder", name, code=1)
    assert f"the store's vectors are {STATIC}'s" in refused
    done = notes("store", "embed", "--all", "--embedder", name)
    assert done.json["dimension"] == 16 and f"set embedder={name} in your config" in done.err
    done = notes("search", "key", "--ids")
    assert done.out == "note-a\n" and done.err.count("\n") == 1
    assert f"the store's vectors are {name}'s, not {STATIC}'s: run 'lore store embed" in done.err
    assert not notes("search", "key", "--embedder", name).err


def test_embed_missing_makes_vectors_of_an_outage(notes: Lore, endpoint: Endpoint) -> None:
    notes.config.write_text(f"embedder={DOWN}\nendpoint_model=letters\n")
    up = ("--embedder", f"endpoint:{endpoint.url}")  # the model names the vectors
    notes("store", "embed", "--all", "-q", *up)
    done = notes("add", "note", "renew the certificates")
    assert "endpoint:letters cannot be asked" in done.err and done.err.count("\n") == 1
    assert "no vectors before 'lore store embed' is run" in done.err
    done = notes("search", "key", "--ids")
    assert done.lines[0] == "note-a" and done.err.count("\n") == 1
    assert "cannot be asked (Connection refused)" in done.err and "full text only" in done.err
    assert "cannot be asked" in notes.refuse("store", "embed", code=1)
    assert notes("store", "embed", *up).json["missing"] == 0
