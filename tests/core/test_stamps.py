"""Test joins of records by field, in any order and grouping."""

from __future__ import annotations

import json
from functools import reduce
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples
from things import EARLY, LATE, LATER, a_node

from pylore.core.model import Node
from pylore.core.stamps import Stamped, changed, conflicts, latest, states, values_of

HERE, THERE = "aaaaaaaaaa", "bbbbbbbbbb"


def edited(node: Node, at: str, machine: str, **fields: object) -> Node:
    node = node.copy()
    before = Stamped.of(node)
    for name, value in fields.items():
        setattr(node, name, value)
    changed(before, node, f"{at} {machine}")
    return node


def joined(*nodes: Node) -> Node:
    found = reduce(Stamped.joined, map(Stamped.of, nodes))
    return found.to_row(nodes[0])


def test_unchanged_rows_have_no_stamps() -> None:
    node, other = a_node("note-a", body="one"), a_node("note-a", body="two")
    assert Stamped.of(node).to_row(node) == node and node.stamps == ""
    assert Stamped.of(node).base != Stamped.of(other).base
    assert Stamped.of(node) == Stamped.of(node.copy())


def test_fields_changed_in_two_places_are_both_kept() -> None:
    first = a_node("note-a", body="one", tags=("x", "y"), data='{"k":1}')
    ours = edited(first, LATER, HERE, body="two", tags=("x", "y", "z"))
    theirs = edited(first, LATE, THERE, title="new", tags=("y",), data='{"k":1,"m":2}')
    both = joined(ours, theirs)
    assert (both.title, both.body, both.tags) == ("new", "two", ("y", "z"))
    assert json.loads(both.data) == {"k": 1, "m": 2}
    assert joined(theirs, ours) == both == joined(both, ours, first)


def test_later_value_of_a_field_wins_as_conflict() -> None:
    first = a_node("note-a", body="one")
    ours, theirs = (
        Stamped.of(edited(first, at, machine, body=machine))
        for at, machine in ((LATER, HERE), (LATE, THERE))
    )
    assert joined(ours.to_row(first), theirs.to_row(first)).body == THERE
    assert conflicts(ours, ours.stamps(), theirs, theirs.stamps()) == {"body": "theirs"}
    assert conflicts(theirs, theirs.stamps(), ours, ours.stamps()) == {"body": "ours"}
    seen = ours.stamps() | theirs.stamps()
    assert conflicts(ours, ours.stamps(), theirs, seen) == {}, "it was made out of ours"
    older = {f"{EARLY} {HERE}", *theirs.stamps()}
    assert conflicts(ours, ours.stamps(), theirs, older) == {"body": "theirs"}


def test_only_later_edits_revive_a_forgotten_record() -> None:
    first = a_node("note-a")
    forgotten = edited(first, LATER, HERE, invalidated_at=LATER)
    assert joined(forgotten, edited(first, LATE, THERE, body="new")).invalidated_at is None
    assert joined(forgotten, edited(first, EARLY, THERE, body="new")).invalidated_at == LATER


EDITS = st.tuples(
    st.sampled_from([f"2026-01-0{day}T00:00:00Z" for day in range(2, 8)]),
    st.dictionaries(
        st.sampled_from(["title", "body", "category", "invalidated_at"]),
        st.sampled_from(["a", "b"]),
        min_size=1,
    ),
    st.sets(st.sampled_from("xyz")),
)


@settings(max_examples=examples(40), deadline=None)
@given(edits=st.lists(EDITS, min_size=3, max_size=3, unique_by=lambda one: one[0]))
def test_joining_is_order_free(edits: list[tuple[str, dict[str, object], set[str]]]) -> None:
    first = a_node("note-a", tags=("x",))
    nodes = [first]
    for number, (at, fields, tags) in enumerate(edits):
        nodes.append(
            edited(nodes[number // 2], at, f"{number:010}", tags=tuple(sorted(tags)), **fields)
        )
    every = [Stamped.of(node) for node in nodes]
    whole = reduce(Stamped.joined, every)
    assert all(reduce(Stamped.joined, some) == whole for some in permutations(every))
    halves = every[0].joined(every[1]), every[2].joined(every[3])
    assert halves[1].joined(halves[0]) == whole == whole.joined(whole)
    node = whole.to_row(first)
    assert Stamped.of(node) == whole, "stamps of a node say what they were made of"


def test_states_follow_from_former_values() -> None:
    node = a_node("note-a", body="one", tags=("x",))
    every, left = [node], []
    for at, fields in ((LATER, {"body": "two"}), (LATE, {"tags": (), "body": "three"})):
        before = Stamped.of(node)
        node = edited(node, at, HERE, **fields)
        left += [(name, value) for name, value in before.lost_to(Stamped.of(node))]
        every.append(node)
    for former in (left, left[::-1]):
        found = states(Stamped.of(node), former)
        assert [values_of(state.to_row(node)) for _, state in found] == [*map(values_of, every)]
        assert [stamp.partition(" ")[0] for stamp, _ in found] == [EARLY, LATER, LATE]
    assert [*states(Stamped.of(node), [])][-1][1] == Stamped.of(node)


def test_values_before_a_purge_are_dropped() -> None:
    node = edited(a_node("note-a", body="one", title="old"), LATE, HERE, title="new")
    said = Stamped.of(node)
    assert said.after("") is said and not said.after(LATE).stamps()
    rest = said.after(LATER).to_row(node)
    assert (rest.title, rest.body) == ("new", "")


def test_latest_stamp_of_each_machine() -> None:
    assert latest(["", f"{EARLY} m", f"{LATE} m", f"{LATER} n"]) == [f"{LATER} n", f"{LATE} m"]


def test_latest_of_several_past_values_is_joined() -> None:
    node = Stamped.of(a_node("note-a", body="one"))
    values = [("body", (f"{at} {HERE}", f'"{at}"')) for at in (LATE, LATER)]
    for past in (values, values[::-1]):
        assert node.with_values(past).at("body") == values[0][1]
