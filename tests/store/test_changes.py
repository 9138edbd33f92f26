"""The change log: former states, and commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from things import LATE, LATER, a_node, an_edge, node_past

from pylore.core.model import Node
from pylore.core.stamps import clock
from pylore.store import Store, open_store

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
    return [(past.change, past.row.body) for past in node_past(store, id)]


def test_states_have_their_commands(store: Store) -> None:
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


def test_states_of_other_stores_are_merged(store: Store) -> None:
    with store.transaction("edit"):
        change(store, body="one", tags=("x",), updated_at=LATE)
    with store.transaction("sync"):
        titles, bodies = ("title", ("2025 0", '"Old"')), ("body", (f"{LATER} 0", '"between"'))
        store.changes.log("note-a", [titles, bodies], store.changes.command)
        assert left(store) == [("sync", ""), ("edit", ""), ("edit", "between")]
        store.changes.log("note-a", [("", (bodies[1][0], ""))], None)
    assert left(store) == [("sync", ""), ("edit", "")], "a state is unknown in part"


def test_undone_row_has_later_changes_of_other_fields(store: Store) -> None:
    with store.transaction("tag"):
        change(store, tags=("x",), updated_at=LATE)
    with store.transaction("edit"):
        change(store, body="one", updated_at=AHEAD)
    edit, tag = store.changes.commands()
    assert store.changes.things(edit.id) == store.changes.things(tag.id) == ([], ["note-a"])
    now = store.nodes.require("note-a")
    without_edit, without_tag = (store.changes.before(one.id, now) for one in (edit, tag))
    assert (without_edit.body, without_edit.tags) == ("", ("x",))
    assert (without_tag.body, without_tag.tags) == ("one", ())


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


def test_put_returns_the_outcome(store: Store) -> None:
    node = store.nodes.require("note-a")
    assert store.nodes.put(node) == "unchanged"
    node.updated_at = LATE
    assert store.nodes.put(node) == "unchanged"
    assert store.nodes.require("note-a").updated_at != LATE
    node.body = "new"
    assert store.nodes.put(node) == "updated"
    assert store.nodes.require("note-a").to_dict() == node.to_dict()
    read = change(store, access_count=3, updated_at=AHEAD)
    known = (3, node.updated_at, node.stamps)
    assert (read.access_count, read.updated_at, read.stamps) == known and node.stamps


def test_indexed_file_is_added_once(store: Store) -> None:
    for body in ("one", "two"):
        with store.transaction("index"):
            store.nodes.put(a_node("file-a.py", body=body, source="file"))
    (command,) = store.changes.commands()
    assert store.changes.things(command.id) == (["file-a.py"], [])


def test_copied_store_has_different_stamps(store: Store, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    store.connection.execute("VACUUM INTO ?", (str(tmp_path / "copy/search.db"),))
    with open_store(str(tmp_path / "copy")) as other:
        machines = {one.changes.machine() for one in (store, store, other, other)}
    assert len(machines) == 2
