"""Keys of ids in search.db."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from things import a_node, an_edge

from pylore.store import Store, scratch_store

NAMES = ("note-a", "note-b", "note-c", "note-d")
STEPS = st.one_of(
    st.tuples(st.just("node"), st.sampled_from(NAMES)),
    st.tuples(st.just("gone"), st.sampled_from(NAMES)),
    st.tuples(st.just("purge"), st.sampled_from(NAMES)),
    st.tuples(st.just("edge"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("code"), st.sampled_from(NAMES)),
)


@given(st.lists(STEPS, max_size=20))
def test_ids_survive_any_changes(steps: list[tuple[str, ...]]) -> None:
    nodes: set[str] = set()
    edges: set[tuple[str, str]] = set()
    store = scratch_store()
    with store:
        for step, *ids in steps:
            with store.transaction():
                _take(store, step, ids, nodes, edges)
            assert {edge.key[:2] for edge in store.edges.all()} == edges
            assert {node.id for node in store.nodes.all()} == nodes
            absent = store.connection.execute("SELECT id FROM absent ORDER BY id")
            ends = {id for pair in edges for id in pair}
            assert ends - nodes <= {str(id) for (id,) in absent} - nodes
            dangling = {pair for pair in edges if not nodes.issuperset(pair)}
            assert {key[:2] for key in store.edges.dangling()} == dangling


def _take(
    store: Store, step: str, ids: list[str], nodes: set[str], edges: set[tuple[str, str]]
) -> None:
    if step == "node":
        store.nodes.put(a_node(ids[0]))
        nodes.add(ids[0])
    elif step == "code" and ids[0] not in nodes:
        store.code.put_nodes([a_node(ids[0])])
        nodes.add(ids[0])
    elif step == "gone":
        store.nodes.delete(ids[0])
        nodes.discard(ids[0])
    elif step == "purge":
        store.edges.delete_node(ids[0])
        edges -= {pair for pair in edges if ids[0] in pair}
    elif step == "edge":
        store.edges.put(an_edge(ids[0], ids[1]))
        edges.add((ids[0], ids[1]))
