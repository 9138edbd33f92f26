"""What any store keeps of the states that nodes and edges leave, and of commands."""

from __future__ import annotations

import pytest
from things import EARLY, LATE, LATER, a_node, an_edge

from pylore.core.model import Node
from pylore.core.states import clock, state_name
from pylore.store import Store
from pylore.store.anchors import Anchor

KEY = ("note-a", "note-b", "relates_to")
AHEAD = "2999-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def nodes(store: Store) -> None:
    for id in ("note-a", "note-b"):
        store.nodes.put(a_node(id))


def change(store: Store, id: str = "note-a", **fields: object) -> Node:
    node = store.nodes.require(id)
    for name, value in fields.items():
        setattr(node, name, value)
    with store.transaction():
        store.nodes.put(node)
    return store.nodes.require(id)


def left(store: Store, id: str = "note-a") -> list[tuple[str, str]]:
    return [(past.change, past.node.body) for past in store.history.of_node(id)]


def test_each_state_that_a_node_leaves_is_kept_with_the_command(store: Store) -> None:
    first = store.nodes.require("note-a")
    with store.transaction("edit"):
        change(store, body="one", tags=("x", "y"), updated_at=LATE)
    change(store, body="two")
    assert left(store) == [("edit", first.body), ("changed", "one")]
    one, two = store.history.of_node("note-a")
    assert two.node.tags == ("x", "y") and two.node.type == "note" and two.node.updated_at == LATE
    assert (clock(one.node), one.changed_at) == (clock(first), LATE)
    assert clock(two.node) == LATE and two.changed_at == clock(store.nodes.require("note-a"))
    assert left(store, "note-b") == [] and {id for id, *_ in store.history.former()} == {"note-a"}


def test_each_value_that_a_node_leaves_is_kept_with_the_command(store: Store) -> None:
    with store.transaction("tag"):
        change(store, tags=("x",), updated_at=LATE)
    with store.transaction("edit"):
        change(store, body="one", updated_at=AHEAD)
    told = {field for _, field, value in store.history.former(["note-a"])}
    assert "body" not in told and "tags.x" not in told, "the beginning of a field is implied"
    edit, tag = store.history.commands()
    (without_edit,), (without_tag,) = (store.history.left_by(one.id) for one in (edit, tag))
    assert (without_edit.node.body, without_edit.node.tags) == ("", ("x",))
    assert (without_tag.node.body, without_tag.node.tags) == ("one", ())
    assert (without_tag.change, without_tag.changed_at) == ("tag", LATE)


def test_who_edits_what_was_forgotten_brings_it_back(store: Store) -> None:
    store.nodes.invalidate("note-a", LATE)
    node = change(store, body="one", invalidated_at=None)
    assert node.invalidated_at is None
    assert [past.node.invalidated_at for past in store.history.of_node("note-a")] == [None, LATE]


def test_what_says_the_same_leaves_nothing(store: Store) -> None:
    before = store.nodes.require("note-a")
    change(store, updated_at=LATE)
    after = change(store, access_count=7, accessed_at=LATE)
    assert left(store) == []
    assert (after.updated_at, after.stamps, after.access_count) == (EARLY, before.stamps, 7)


def test_a_change_is_later_than_what_it_changed(store: Store) -> None:
    clocks = [clock(store.nodes.require("note-a"))]
    for body in ("one", "two", "three"):
        clocks.append(clock(change(store, body=body)))
    for at in (LATER, None):
        with store.transaction():
            store.nodes.invalidate("note-a", at)
        clocks.append(clock(store.nodes.require("note-a")))
    assert clocks == sorted(set(clocks)) and len(left(store)) == 5


def test_even_where_what_it_changed_comes_from_the_future(store: Store) -> None:
    change(store, body="one", updated_at=AHEAD)
    node = change(store, body="two", updated_at=LATE)
    assert clock(node) == "2999-01-01T00:00:01Z" and node.updated_at == LATE


def test_an_edge_too(store: Store) -> None:
    with store.transaction():
        store.edges.put(an_edge(*KEY, weight=0.5, created_at=AHEAD))
        store.edges.put(an_edge(*KEY, weight=0.6))
    edge = store.edges.get(*KEY)
    assert edge is not None and clock(edge) == "2999-01-01T00:00:01Z"
    (state,) = store.edges.history(KEY)
    assert (state["made_at"], state["changed_at"]) == (AHEAD, clock(edge))


def test_what_the_index_makes_has_the_history_of_its_repository(store: Store) -> None:
    store.nodes.put(a_node("symbol-a.py::f", source="file"))
    change(store, "symbol-a.py::f", line_start=7)
    assert left(store, "symbol-a.py::f") == []


def test_commands_know_what_they_did(store: Store) -> None:
    with store.transaction("add"):
        store.nodes.put(a_node("note-c"))
        store.edges.put(an_edge(*KEY, weight=0.5))
        assert store.history.command is not None
        store.history.note_addition("note-b")
    with store.transaction("edit"):
        change(store, body="one")
        store.edges.put(an_edge(*KEY, weight=0.6))
    with store.transaction("nothing"):
        change(store, body="one")
    assert store.history.command is None
    edit, add = store.history.commands()
    assert (add.name, edit.name) == ("add", "edit") and store.history.commands(1) == [edit]
    assert store.history.added_by(add.id) == (["note-b", "note-c"], [KEY])
    assert store.history.added_by(edit.id) == ([], [])
    assert [past.node.id for past in store.history.left_by(edit.id)] == ["note-a"]
    assert [(e.key, e.weight) for e in store.history.edges_left_by(edit.id)] == [(KEY, 0.5)]
    assert store.history.left_by(add.id) == store.history.edges_left_by(add.id) == []


def test_a_command_that_fails_never_was(store: Store) -> None:
    with pytest.raises(KeyError), store.transaction("edit"):
        change(store, body="one")
        raise KeyError
    assert store.history.commands() == [] and left(store) == []
    assert store.history.command is None


def test_merged_states_are_written_as_they_are(store: Store) -> None:
    node = store.nodes.require("note-a")
    node.body, node.changed_at, node.access_count = "theirs", AHEAD, 9
    edge = an_edge(*KEY, weight=0.3, created_at=LATE, changed_at=LATER)
    store.edges.put(an_edge(*KEY, weight=0.5))
    with store.transaction("import"):
        store.history.settle([node, a_node("note-c")], [edge])
        (command,) = store.history.commands()
        assert store.history.added_by(command.id) == (["note-c"], [])
    assert store.nodes.get("note-a") == node and store.edges.get(*KEY) == edge
    assert left(store) == [] and list(store.edges.history(KEY)) == []
    assert left(store, "note-b") == []
    change(store, body="mine")
    assert left(store) == [("changed", "theirs")]


def test_a_value_is_kept_once_until_it_stands_again(store: Store) -> None:
    change(store, body="one", updated_at=LATE)
    before = ("body", (f"{LATER} 0123456789", '"before"'))
    for at in (LATE, AHEAD):
        store.history.keep("note-a", [(*before, False)], at, "import")
    assert ("note-a", *before) in store.history.former(["note-a"])
    assert left(store) == [("import", ""), ("changed", "before")]
    store.history.let_stand("note-a", [before])
    assert left(store) == [("changed", "")]


def test_ancestors_and_what_was_purged(store: Store) -> None:
    store.history.add_ancestors("note-a", ["b", "a"])
    store.history.add_ancestors("note-a", ["a"])
    store.history.add_ancestors("note-b", ["c"])
    assert store.history.ancestors() == {"note-a": ["a", "b"], "note-b": ["c"]}
    assert store.history.ancestors(["note-b", "note-x"]) == {"note-b": ["c"]}
    change(store, body="one")
    store.history.purge("note-a", LATE)
    store.history.purge("note-a", LATER)
    assert store.history.purged() == {"note-a": LATE} == store.history.purged(["note-a"])
    assert store.history.purged(["note-b"]) == {} and left(store) == []
    assert store.history.ancestors() == {"note-b": ["c"]}


def test_what_is_older_is_swept(store: Store) -> None:
    first = store.nodes.require("note-a")
    with store.transaction("edit"):
        change(store, body="one", updated_at=LATE)
        store.anchors.put(Anchor("note-a", "file", "a.py", created_at=LATE))
    change(store, body="two", updated_at=AHEAD)
    (edit,) = store.history.commands()
    assert store.history.older("2026-03-02") == 1
    assert store.history.sweep("2026-03-02") == 1 and store.history.older("2026-03-02") == 0
    assert store.history.ancestors() == {"note-a": [state_name(first)]}
    assert store.history.anchors_left_by(edit.id) != []
    assert [past.changed_at for past in store.history.of_node("note-a")] == [AHEAD]
    assert len(store.history.commands()) == 1  # which ran today
    assert store.history.sweep("9") == 1 and store.history.commands() == []
    assert store.history.anchors_left_by(edit.id) == []
    assert store.anchors.of("note-a") != []


def test_a_command_knows_the_anchors_that_it_touched(store: Store) -> None:
    old = Anchor("note-a", "file", "a.py", hash="1", created_at=EARLY, verified_at=EARLY)
    gone = Anchor("note-a", "lines", "b.py", "1-2", created_at=EARLY, verified_at=EARLY)
    moved = Anchor("note-b", "file", "c.py", created_at=EARLY, verified_at=EARLY)
    for anchor in (old, gone, moved):
        store.anchors.put(anchor)
    with store.transaction("anchor"):
        for hash in ("2", "3"):
            changed = old.copy()
            changed.hash = hash
            store.anchors.put(changed)
        store.anchors.delete(gone.key)
        new = Anchor("note-a", "hash", "a.py", created_at=LATE, verified_at=LATE)
        store.anchors.put(new)
        to = moved.copy()
        to.path = "d.py"
        store.anchors.replace([(moved.key, to)])
    (command,) = store.history.commands()
    assert store.history.anchors_left_by(command.id) == [
        (old.key, old), (new.key, None), (gone.key, gone), (moved.key, moved), (to.key, None),
    ]  # fmt: skip
    store.history.purge("note-a", LATE)
    assert [key[0] for key, _ in store.history.anchors_left_by(command.id)] == ["note-b"] * 2


def test_a_purge_is_a_command_of_which_nothing_is_left(store: Store) -> None:
    with store.transaction("purge"):
        store.nodes.delete("note-a")
        store.history.purge("note-a", LATE)
    assert [one.name for one in store.history.commands()] == ["purge"]
