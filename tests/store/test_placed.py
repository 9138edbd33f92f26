"""Edges with places in passages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from things import LATE, a_node, an_edge

from pylore.core.vocabulary import TEXTS
from pylore.indexing.indexer import Index
from pylore.store import Store

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


def test_places_of_edges_select_passages(store: Store) -> None:
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
