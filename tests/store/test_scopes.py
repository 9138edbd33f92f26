"""The view of a store in a scope."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from new_stores import Kept
from things import EARLY, a_node, an_edge

from pylore.core.errors import LoreError
from pylore.core.model import Anchor, Node
from pylore.core.settings import Settings
from pylore.core.text import parse_query
from pylore.formats.export import export_lines
from pylore.formats.jsonl import import_lines
from pylore.indexing.indexer import Index
from pylore.store import ALL, Store
from pylore.store.curation import KeptCandidate
from pylore.store.filter import Scope

OURS, THEIRS, COMMON = "note-1@@alice", "note-1@@bob", "note-1"


@pytest.fixture
def shared(store: Store) -> Store:
    """A common node, nodes of two scopes, and edges of all kinds."""
    with store.transaction("add"):
        for relation in ("relates_to@@alice", "relates_to@@bob"):
            store.relations.declare(relation, 0.7, 0.7, "declared")
        texts = {COMMON: "sails", "note-2": "masts", OURS: "our sails", THEIRS: "their sails"}
        nodes = [a_node(id, body=text) for id, text in texts.items()]
        for node in nodes:
            store.nodes.put(node)
        Index(store).update(nodes)
        store.edges.put_many(
            [
                an_edge(COMMON, "note-2", "relates_to"),
                an_edge(COMMON, "note-2", "relates_to@@bob"),
                an_edge(COMMON, "note-2", "relates_to@@alice"),
                an_edge(COMMON, THEIRS, "relates_to"),
                an_edge(OURS, COMMON, "relates_to"),
                an_edge(OURS, THEIRS, "relates_to"),
            ]
        )
        for id in (OURS, THEIRS):
            store.anchors.put(Anchor(id, "file", "a.py", created_at=EARLY, verified_at=EARLY))
    store.keep_to("alice")
    return store


def test_other_scopes_are_not_visible(shared: Store) -> None:
    assert {node.id for node in shared.nodes.all()} == {COMMON, "note-2", OURS}
    assert shared.nodes.get(THEIRS) is None
    assert shared.nodes.get_many([THEIRS, OURS]).keys() == {OURS}
    assert shared.nodes.match(Scope(), [THEIRS, COMMON]) == {COMMON}
    assert [node.id for node in shared.nodes.select(Scope(), ALL)] == [COMMON, OURS, "note-2"]
    assert shared.nodes.count_by_type() == {"note": 3}
    assert shared.statistics.stats()["nodes"] == 3
    assert "relates_to@@bob" not in shared.relations.all()
    assert {anchor.node_id for anchor in shared.anchors.all()} == {OURS}
    assert {edge.key for edge in shared.edges.all()} == {
        (COMMON, "note-2", "relates_to"),
        (COMMON, "note-2", "relates_to@@alice"),
        (OURS, COMMON, "relates_to"),
    }


def test_limits_count_visible_rows(shared: Store) -> None:
    shared.keep_to("")
    crowd = [a_node(f"note-{number}@@bob", title="sails", body="sails") for number in range(40)]
    vector = array("f", [1.0] * 8).tobytes()
    with shared.transaction():
        for node in crowd:
            shared.nodes.put(node)
        Index(shared).update(crowd)
        shared.edges.put_many([an_edge(COMMON, node.id) for node in crowd])
        far = array("f", [1.0, -0.5] * 4).tobytes()
        keys = shared.fulltext.first_passages([node.id for node in shared.nodes.all()])
        of = {key: far if id in (COMMON, OURS) else vector for id, key in keys.items()}
        shared.vectors.add(of.items())
    for scope, seen in (("alice", {COMMON, OURS}), ("carl", {COMMON})):
        shared.keep_to(scope)
        assert len([*shared.nodes.select(Scope(), len(seen))]) == len(seen)
        query = parse_query("sails")
        found = shared.fulltext.search("texts", query, "some", Scope(), {}, len(seen))
        assert {id for _, id, _ in found} == seen
        for filter in (Scope(), Scope(types=("note",))):
            near = shared.vectors.search(vector, filter, len(seen) + 1)
            assert seen <= {id for _, id, _ in near} <= {*seen, "note-2"}
        ends = {row[1] for row in shared.edges.neighbours([COMMON], ["relates_to"], 2)}
        assert ends == {"note-2", OURS} & {node.id for node in shared.nodes.all()}


def test_writes_outside_the_scope_are_refused(shared: Store) -> None:
    for write in (
        lambda: shared.nodes.put(a_node(COMMON, body="torn")),
        lambda: shared.nodes.put(a_node("note-9", body="new")),
        lambda: shared.nodes.delete("note-2"),
        lambda: shared.edges.put(an_edge("note-2", COMMON, "relates_to")),
        lambda: shared.edges.invalidate((COMMON, "note-2", "relates_to"), EARLY),
        lambda: shared.types.declare("ritual", ""),
        lambda: shared.relations.declare("blocks", 0.5, 0.5, ""),
    ):
        before = [*map(Node.to_dict, shared.nodes.all())]
        with pytest.raises(LoreError, match="common to all scopes"), shared.transaction():
            write()
        assert [*map(Node.to_dict, shared.nodes.all())] == before
    with shared.transaction("edit"):
        shared.nodes.put(a_node(OURS, body="our torn sails"))
        shared.edges.put(an_edge("note-2", COMMON, "relates_to@@alice"))
    assert [one.name for one in shared.changes.commands()] == ["edit", "add"]
    shared.keep_to("bob")
    assert shared.nodes.get(OURS) is None
    assert "our" not in "".join(node.body for node in shared.nodes.all())
    shared.keep_to("")
    assert {node.id for node in shared.nodes.all()} == {COMMON, "note-2", OURS, THEIRS}
    assert len([*shared.edges.all()]) == 7


def test_export_contains_rows_of_the_scope(shared: Store, kept: Kept, tmp_path: Path) -> None:
    lines = [*export_lines(shared)]
    assert not any("bob" in line for line in lines)
    with kept.open() as whole:
        every = [*export_lines(whole)]
        assert {*lines} < {*every}
        again = import_lines(whole, Settings(), None, [line.encode() for line in every])
        assert (again.added, again.updated) == (0, 0)
    mine = import_lines(shared, Settings(), None, [line.encode() for line in lines])
    assert (mine.added, mine.updated) == (0, 0)
    assert [*export_lines(shared)] == lines


def test_invisible_links_are_reached_without_the_scope(shared: Store) -> None:
    unseen = (OURS, THEIRS, "relates_to")
    for own in (COMMON, THEIRS):
        with pytest.raises(LoreError, match="common to all scopes"), shared.whole(own):
            raise AssertionError("it was let in")
    with shared.transaction("forget"), shared.whole(OURS):
        assert shared.edges.get(*unseen) is not None
        shared.nodes.invalidate(OURS, EARLY)
    assert shared.edges.get(*unseen) is None and shared.edges.of(OURS) == []
    with pytest.raises(ZeroDivisionError), shared.transaction("forget"), shared.whole(OURS):
        shared.edges.delete_node(OURS)
        raise ZeroDivisionError
    assert (shared.scope, shared.nodes.get(THEIRS)) == ("alice", None)
    shared.keep_to("bob")
    assert [one.name for one in shared.changes.commands()] == ["add"]
    shared.keep_to("")
    edge = shared.edges.get(*unseen)
    assert edge is not None and edge.invalidated_at == EARLY


def test_candidates_belong_to_a_scope(shared: Store) -> None:
    ours, common, theirs = (
        KeptCandidate(id, "lesson", "A title", "A text")
        for id in ("candidate-a@@alice", "candidate-a", "candidate-a@@bob")
    )
    shared.keep_to("")
    with shared.transaction():
        shared.candidates.put([ours, common, theirs])
    shared.keep_to("alice")
    assert shared.candidates.all() == [ours]
    with shared.transaction():
        shared.candidates.put([ours])
        shared.candidates.remove([common.id, theirs.id])
    with pytest.raises(LoreError, match="common to all scopes"), shared.transaction():
        shared.candidates.put([common])
    shared.keep_to("")
    assert shared.candidates.all() == [common, ours, theirs]
