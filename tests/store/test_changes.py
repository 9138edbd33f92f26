"""The change log: states that things have left, and the commands that changed them."""

from __future__ import annotations

from copy import copy

import pytest
from things import EARLY, LATE, LATER, a_node, an_edge, node_past

from pylore.core.model import Anchor, Node
from pylore.core.stamps import clock, first_stamp
from pylore.store import Store
from pylore.store.changes import thing_of

KEY = ("note-a", "note-b", "relates_to")
EDGE = "note-a\x1fnote-b\x1frelates_to"
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
    return [(past.change, past.row.body) for past in node_past(store, id)]


def test_states_are_kept_with_their_commands(store: Store) -> None:
    first = store.nodes.require("note-a")
    with store.transaction("edit"):
        change(store, body="one", tags=("x", "y"), updated_at=LATE)
    change(store, body="two")
    assert left(store) == [("edit", first.body), ("changed", "one")]
    one, two = node_past(store, "note-a")
    assert two.row.tags == ("x", "y") and two.row.type == "note" and two.row.updated_at == LATE
    assert (clock(one.row), one.changed_at) == (clock(first), LATE)
    assert clock(two.row) == LATE and two.changed_at == clock(store.nodes.require("note-a"))
    assert left(store, "note-b") == [] and {id for id, *_ in store.changes.former()} == {"note-a"}


def test_row_before_a_command_keeps_later_changes_of_other_fields(store: Store) -> None:
    with store.transaction("tag"):
        change(store, tags=("x",), updated_at=LATE)
    with store.transaction("edit"):
        change(store, body="one", updated_at=AHEAD)
    edit, tag = store.changes.commands()
    assert store.changes.left_by(edit.id) == store.changes.left_by(tag.id) == ["note-a"]
    now = store.nodes.require("note-a")
    without_edit, without_tag = (store.changes.before(one.id, now) for one in (edit, tag))
    assert (without_edit.body, without_edit.tags) == ("", ("x",))
    assert (without_tag.body, without_tag.tags) == ("one", ())


def test_equal_values_leave_no_past(store: Store) -> None:
    before = store.nodes.require("note-a")
    change(store, updated_at=LATE)
    after = change(store, access_count=7, accessed_at=LATE)
    assert left(store) == []
    assert (after.updated_at, after.stamps, after.access_count) == (EARLY, before.stamps, 7)


def test_change_is_later_than_the_state_before(store: Store) -> None:
    clocks = [clock(store.nodes.require("note-a"))]
    for body in ("one", "two", "three"):
        clocks.append(clock(change(store, body=body)))
    for at in (LATER, None):
        with store.transaction():
            store.nodes.invalidate("note-a", at)
        clocks.append(clock(store.nodes.require("note-a")))
    assert clocks == sorted(set(clocks)) and len(left(store)) == 5


def test_change_is_later_than_a_state_from_the_future(store: Store) -> None:
    change(store, body="one", updated_at=AHEAD)
    node = change(store, body="two", updated_at=LATE)
    assert clock(node) == "2999-01-01T00:00:01Z" and node.updated_at == LATE
    with store.transaction():
        store.edges.put(an_edge(*KEY, weight=0.5, created_at=AHEAD))
        store.edges.put(an_edge(*KEY, weight=0.6))
    edge = store.edges.get(*KEY)
    assert edge is not None and clock(edge) == "2999-01-01T00:00:01Z"
    (past,) = store.changes.of(edge)
    assert (clock(past.row), past.changed_at) == (AHEAD, clock(edge))


def test_commands_know_their_additions_and_changes(store: Store) -> None:
    with store.transaction("add"):
        store.nodes.put(a_node("note-c"))
        store.edges.put(an_edge(*KEY, weight=0.5))
    with store.transaction("edit"):
        change(store, body="one")
        store.edges.put(an_edge(*KEY, weight=0.6))
    with store.transaction("nothing"):
        change(store, body="one")
    edit, add, *_ = store.changes.commands()
    assert (add.name, edit.name) == ("add", "edit") and store.changes.commands(add.id) == [edit]
    assert store.changes.added_by(add.id) == [EDGE, "note-c"]
    assert store.changes.added_by(edit.id) == [] == store.changes.left_by(add.id)
    assert store.changes.left_by(edit.id) == ["note-a", EDGE]
    edge = store.edges.get(*KEY)
    assert edge is not None and store.changes.before(edit.id, edge).weight == 0.5


def test_failed_command_leaves_no_trace(store: Store) -> None:
    before = store.changes.commands()
    with pytest.raises(KeyError), store.transaction("edit"):
        change(store, body="one")
        raise KeyError
    assert store.changes.commands() == before and left(store) == []


def test_merged_states_are_written_unchanged(store: Store) -> None:
    node = store.nodes.require("note-a")
    node.body, node.access_count = "theirs", 9
    edge = an_edge(*KEY, weight=0.3, created_at=LATE)
    store.edges.put(an_edge(*KEY, weight=0.5))
    with store.transaction("import"):
        store.nodes.settle([node, a_node("note-c")])
        store.edges.settle([edge])
    assert store.nodes.get("note-a") == node
    merged = store.edges.get(*KEY)
    assert merged is not None and merged.weight == 0.3
    assert left(store) == [] and store.changes.of(edge) == []
    change(store, body="mine")
    assert left(store) == [("changed", "theirs")]


def test_stamps_seen_elsewhere_and_purges(store: Store) -> None:
    store.changes.add_seen("note-a", ["b", "a"])
    store.changes.add_seen("note-a", ["a"])
    store.changes.add_seen("note-b", ["c"])
    assert store.changes.seen() == {"note-a": ["a", "b"], "note-b": ["c"]}
    assert store.changes.seen(["note-b", "note-x"]) == {"note-b": ["c"]}
    change(store, body="one")
    store.changes.purge("note-a", AHEAD)
    store.changes.purge("note-a", LATER)
    assert store.changes.purged() == {"note-a": AHEAD} == store.changes.purged(["note-a"])
    assert store.changes.purged(["note-b"]) == {} and [*store.changes.former()] == []
    assert store.changes.seen() == {"note-b": ["c"]}


def test_sweep_takes_older_changes_and_keeps_the_latest_stamps(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = store.nodes.require("note-a")
    with store.transaction("edit"), monkeypatch.context() as patch:
        patch.setattr("pylore.store.changes.now", lambda: LATE)
        change(store, body="one", updated_at=LATE)
        store.anchors.put(Anchor("note-a", "file", "a.py", created_at=LATE))
    change(store, body="two", updated_at=AHEAD)
    assert store.changes.older("2026-03-02") == 1
    assert store.changes.sweep("2026-03-02") == 1 and store.changes.older("2026-03-02") == 0
    assert store.changes.seen() == {"note-a": [first_stamp(first)]}
    assert [past.changed_at for past in node_past(store, "note-a")] == [AHEAD]
    assert store.changes.commands() == []
    assert store.changes.sweep("9") == 1
    assert store.anchors.of("note-a") != []


def test_command_knows_the_anchors_that_it_touched(store: Store) -> None:
    old = Anchor("note-a", "file", "a.py", hash="1", created_at=EARLY, verified_at=EARLY)
    gone = Anchor("note-a", "lines", "b.py", "1-2", created_at=EARLY, verified_at=EARLY)
    moved = Anchor("note-b", "file", "c.py", created_at=EARLY, verified_at=EARLY)
    for anchor in (old, gone, moved):
        store.anchors.put(anchor)
    with store.transaction("anchor"):
        for hash in ("2", "3"):
            changed = copy(old)
            changed.hash = hash
            store.anchors.put(changed)
        store.anchors.delete(gone.key)
        store.anchors.put(Anchor("note-a", "hash", "a.py", created_at=LATE, verified_at=LATE))
        to = copy(moved)
        to.path = "d.py"
        store.anchors.replace([(moved.key, to)])
    command = store.changes.commands()[0]
    assert store.changes.left_by(command.id) == [
        thing_of(old), thing_of(gone), thing_of(moved),
    ]  # fmt: skip
    assert store.changes.added_by(command.id) == [
        "note-a\x1fhash\x1fa.py\x1f", "note-b\x1ffile\x1fd.py\x1f",
    ]  # fmt: skip
    row = store.anchors.get(old.key)
    assert row is not None and store.changes.before(command.id, row).hash == "1"
    store.changes.purge("note-a", AHEAD)
    assert {thing.split("\x1f")[0] for thing in store.changes.left_by(command.id)} == {"note-b"}
