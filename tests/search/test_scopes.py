"""A search under a scope is independent of other scopes."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples
from things import a_node, an_edge

from pylore.app import Engine
from pylore.app.find import context, related, search
from pylore.core.ids import called
from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.graph.queries import stats
from pylore.indexing.indexer import Index
from pylore.search import pipeline
from pylore.store import Store

OWNERS = ("", "", "@@alice", "@@bob")
WORDS = ("sail", "mast", "tide", "pier", "rope", "boom")

names = st.tuples(
    st.sampled_from(("entity-a", "entity-b", "entity-c", "note-d")), st.sampled_from(OWNERS)
).map("".join)
texts = st.sampled_from(WORDS)
relations = st.tuples(st.sampled_from(("relates_to", "depends_on")), st.sampled_from(OWNERS))
contents = st.tuples(
    st.dictionaries(names, texts, min_size=5, max_size=9),
    st.lists(st.tuples(names, names, relations.map("".join)), min_size=4, max_size=14, unique=True),
)


def filled(folder: str, nodes: list[Node], edges: list[Edge]) -> Store:
    """A store with these."""
    store = new_store(folder)
    with store.faults, store.transaction():
        for relation in {edge.relation for edge in edges}:
            store.relations.declare(relation, 0.7, 0.7, "declared")
        for node in nodes:
            store.nodes.put(node)
        store.edges.put_many(edges)
        Index(store).update(nodes)
        Index(store).keep_facts()
    return store


def told(store: Store, scope: str) -> dict[str, object]:
    """Return results without scores and order, since rare words affect evidence."""
    said: dict[str, object] = {**stats(store), "max_degree_id": None}
    for depth in range(4):
        flags = {"graph_depth": str(depth), "embedder": "none", "scope": scope}
        engine = Engine(store, Settings.load(environ={}, flags=flags), "/nowhere")
        for query in ("sail", "mast", "tide", "pi", "rope boom"):
            found = search(engine, query)
            said[f"{query} {depth}"] = ({(hit.id, hit.hops) for hit in found}, found.notes)
        for node in store.nodes.all(live_only=True):
            if depth:
                reached = related(engine, [node.id], hops=depth)
                said[f"{node.id} {depth}"] = {(hit.id, hit.hops) for hit in reached}
    found_too = context(engine, "sail mast")
    said["context"] = {entry["id"] for entry in (*found_too.included, *found_too.withheld)}
    return said


@settings(max_examples=examples(15))
@given(contents)
def test_other_scopes_change_no_result(
    content: tuple[dict[str, str], list[tuple[str, str, str]]],
) -> None:
    nodes = [a_node(id, body=text, title=text.split()[0]) for id, text in content[0].items()]
    edges = [
        an_edge(*key) for key in content[1] if key[0] != key[1] and {*key[:2]} <= {*content[0]}
    ]
    seen = [node for node in nodes if called([node.id], "alice")]
    among = [edge for edge in edges if all(called([name], "alice") for name in edge.key)]
    with (
        TemporaryDirectory() as one,
        TemporaryDirectory() as other,
        pytest.MonkeyPatch.context() as patch,
        filled(one, nodes, edges) as whole,
        filled(other, seen, among) as part,
    ):
        patch.setattr(pipeline, "WEAK", 0.0)
        expected = told(part, "alice")
        whole.keep_to("alice")
        assert told(whole, "alice") == expected
        whole.keep_to("")
        assert {node.id for node in whole.nodes.all()} == {node.id for node in nodes}
