"""Which edges stand in which passages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from things import LATE, a_node, an_edge

from pylore.core.vocabulary import TEXTS
from pylore.indexing.indexer import Index
from pylore.store import Store
from pylore.store.anchors import DocumentFile

LONG = "words " * 200 + "a link to b, " + "more " * 200 + "another link to b"
FIRST, LAST = LONG.index("a link"), LONG.index("another link")


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    nodes = [a_node("doc-a", body=LONG), a_node("doc-short", body="a link to b"), a_node("doc-b"),
             a_node("doc-gone", invalidated_at=LATE), a_node("file-a.py", body=LONG)]  # fmt: skip
    with store.transaction():
        for node in nodes:
            store.nodes.put(node)
        Index(store).update(nodes)
        yield store


def keys(store: Store, id: str) -> list[int]:
    return sorted(key for key, of in store.nodes.passages([id]) if of == TEXTS)


def test_an_edge_stands_in_the_passages_that_its_places_are_in(store: Store) -> None:
    store.edges.put_many([
        an_edge("doc-a", "doc-b", "links_to", 0.5, metadata=f'{{"at":[{FIRST},{LAST},9999]}}'),
        an_edge("doc-a", "doc-gone", "links_to", metadata='{"at":[0]}'),
        an_edge("doc-a", "doc-b", "relates_to", metadata='{"at":"0"}'),
        an_edge("doc-a", "doc-b", "depends_on"),
        an_edge("doc-a", "doc-b", "implements", metadata='{"at":[0]}', ended_at=LATE),
    ])  # fmt: skip
    passages = keys(store, "doc-a")
    first, second, *_, last = passages
    assert len(passages) > 2
    assert sorted(store.positional_edges.within(passages)) == [
        (key, "links_to", "doc-b", 0.5) for key in (second, last)
    ]
    assert store.positional_edges.within([first]) == []
    assert store.positional_edges.within([]) == []


def test_a_passage_of_a_document_begins_at_a_line(store: Store) -> None:
    body = "words\n" * 400 + "last"
    nodes = [a_node(id, body=body, line_start=5, line_end=405) for id in ("doc-long", "note-n")]
    nodes.append(a_node("doc-c", body="short", line_start=3, line_end=3))
    for node in nodes:
        store.nodes.put(node)
    Index(store).update(nodes)
    for id in ("doc-long", "doc-c"):
        store.documents.put("", DocumentFile(id, f"{id}.md"), "[]")
    first, second, *_, last = passages = keys(store, "doc-long")
    lines = store.documents.lines([*passages, *keys(store, "doc-c"), *keys(store, "note-n"), 9999])
    assert lines[first] == 5 and lines[keys(store, "doc-c")[0]] == 3
    assert len(lines) == len(passages) + 1 and 5 < lines[second] < lines[last] <= 405
    assert store.documents.lines([]) == {}


def test_those_at_either_end_of_a_node_are_known(store: Store) -> None:
    there = ("doc-a", "doc-b", "links_to")
    assert not store.positional_edges.any()
    store.edges.put_many([
        an_edge(*there, metadata='{"at":[0]}'),
        an_edge("doc-short", "doc-b", "links_to", metadata='{"at":[0]}'),
        an_edge("doc-b", "doc-a", "links_to"),
    ])  # fmt: skip
    touching = store.positional_edges.touching
    assert store.positional_edges.any()
    assert touching(["doc-a"]) == touching(["doc-b"]) == {there}
    assert touching(["doc-short", "doc-nowhere"]) == set()
