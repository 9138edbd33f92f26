"""Merge of exports as files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import examples
from things import lines_of

from pylore.core.errors import LoreError
from pylore.formats.merge_file import merge_files

DAY = "2026-01-0{}T00:00:00Z"
TIMES = st.sampled_from([DAY.format(day) for day in range(1, 6)])
IDS = st.sampled_from(["note-a", "note-b", "note-c"])
NAMES = st.lists(
    st.builds("{} {}".format, TIMES, st.sampled_from(["0a" * 5, "0000" + "0b" * 3])), max_size=3
)
Merged = tuple[list[str], list[str]]
SAID = st.sampled_from(["", "one", "two"])


def node(id: str = "note-a", at: str = DAY.format(1), **fields: Any) -> dict[str, Any]:
    """Return a line with a full state of a node."""
    return {"id": id, "type": "note", "created_at": at, "updated_at": at, **fields}


def merged(ours: list[bytes], theirs: list[bytes], base: list[bytes] | None = None) -> Merged:
    return merge_files(base or [], ours, theirs)


def joined(ours: list[bytes], theirs: list[bytes]) -> list[bytes]:
    return [line.encode() for line in merged(ours, theirs)[0]]


def fields_of(found: Merged) -> list[dict[str, Any]]:
    return [json.loads(line) for line in found[0]]


def lived(id: str, at: str, was: list[str], **fields: Any) -> dict[str, Any]:
    """Return a node of the first day that knows only earlier states."""
    before = [name for name in was if name < at]
    return node(id, at, created_at=DAY.format(1), was=before, **fields)


GONE = st.none() | TIMES
NODES = st.builds(
    lived, IDS, TIMES, NAMES, body=SAID, access_count=st.integers(0, 2), invalidated_at=GONE
)


def edge(a: str, b: str, at: str, **fields: Any) -> dict[str, Any]:
    return {"from_id": a, "to_id": b, "relation": "relates_to", "created_at": at, **fields}


EDGES = st.builds(edge, IDS, IDS, TIMES, weight=st.sampled_from([0.5, 1]), invalidated_at=GONE)
PURGES = st.builds(lambda id, at: {"purged": id, "at": at}, IDS, TIMES)


def anchor(id: str, at: str, judged: str, hash: str) -> dict[str, Any]:
    times = {"created_at": at, "verified_at": judged}
    return {"anchor_of": id, "kind": "hash", "path": "a.py", "hash": hash, **times}


ANCHORS = st.builds(anchor, IDS, TIMES, TIMES, SAID)
REMOVALS = st.builds(
    lambda id, at: {**anchor(id, DAY.format(1), DAY.format(1), ""), "gone_at": at}, IDS, TIMES
)
MADE_AGAIN = tuple(
    lines_of(anchor("note-a", DAY.format(made), DAY.format(judged), hash))
    for made, judged, hash in ((1, 4, "one"), (3, 2, "two"))
)
"""Two anchors of a key; the first was verified late by a fast clock."""
TAKEN_AWAY = lines_of(
    {**anchor("note-a", DAY.format(1), DAY.format(1), ""), "gone_at": DAY.format(2)}
)
DECLARED = st.builds(
    lambda weight: {"declare_relation": "blocks", "weight": weight, "backward_weight": weight},
    st.sampled_from([0.1, 0.9]),
)
PAST = st.builds(
    lambda id, at, body: {"state_of": id, "stamp": f"{at} 00000b0b0b", "left": {"body": body}},
    IDS,
    TIMES,
    SAID,
)
UNKNOWN = st.builds(lambda text: {"comment": text}, SAID)
HAND = st.builds(lambda id, body: {"id": id, "body": body}, IDS, SAID)
LINES = NODES | EDGES | PURGES | PAST | ANCHORS | REMOVALS | DECLARED | UNKNOWN | HAND
# exported lines; a record may have several, as after a union by git
FILES = st.lists(LINES, max_size=6).map(
    lambda lines: [line for one in lines for line in joined(lines_of(one), [])]
)


_LEFT = {"state_of": "note-a", "stamp": f"{DAY.format(1)} 00000b0b0b", "left": {"body": "first"}}
CHANGED = (
    lines_of(node(at=DAY.format(2), body="two")),
    lines_of(node(at=DAY.format(3), body="three")),
    lines_of(node(at=DAY.format(4), body="four"), _LEFT),
)
"""Files of which only the last has history."""


def forgotten_and_edited(at: str = DAY.format(2)) -> list[bytes]:
    """Return a node that was forgotten and later edited, and a link that ended then."""
    link = edge("note-a", "note-b", DAY.format(1), invalidated_at=at)
    return lines_of(lived("note-a", DAY.format(4), [f"{at} 00000b0b0b"]), link)


def purged(id: str, day: int) -> list[bytes]:
    return lines_of({"purged": id, "at": DAY.format(day)})


@settings(max_examples=examples(300), deadline=None)
@given(FILES, FILES, FILES)
@example(forgotten_and_edited(), [], purged("note-b", 2))
@example(forgotten_and_edited(), purged("note-b", 2), purged("note-a", 2))
@example(forgotten_and_edited(), [], purged("note-b", 1))
@example(forgotten_and_edited(), [], purged("note-b", 3))
@example(MADE_AGAIN[0], TAKEN_AWAY, MADE_AGAIN[1])
@example(CHANGED[0], CHANGED[1], CHANGED[2])
@example(lines_of(node(access_count=3)), lines_of(node(at=DAY.format(3))), purged("note-a", 2))
def test_neither_order_nor_repetition_counts(
    a: list[bytes], b: list[bytes], c: list[bytes]
) -> None:
    both = joined(a, b)
    assert joined(b, a) == both
    assert joined(both, a) == both
    assert joined(both, both) == both
    assert joined(both, c) == joined(a, joined(b, c))


@settings(max_examples=examples(100), deadline=None)
@given(FILES, FILES, st.lists(NODES | HAND | UNKNOWN, max_size=4).map(lambda rows: lines_of(*rows)))
def test_base_changes_no_state(a: list[bytes], b: list[bytes], base: list[bytes]) -> None:
    names = ("created_at", "updated_at", "invalidated_at", "gone_at")
    times = [
        {json.loads(line).get(name) for line in lines for name in names} for lines in (a + b, base)
    ]
    if times[0] & times[1] - {None}:
        base = []  # a different value at the same time is an edit by hand
    with_base, without = merged(a, b, base), merged(a, b)
    has_state = [line for line in without[0] if "created_at" in line]
    assert [line for line in with_base[0] if "created_at" in line] == has_state
    assert set(with_base[1]) <= set(without[1])
    assert merged(b, a, base) == with_base


def test_later_state_wins_and_names_the_other() -> None:
    old, new = node(body="old"), node(at=DAY.format(2), body="new")
    found = merged(lines_of(new), lines_of(old))
    assert found[1] == ["note-a"]
    (line,) = fields_of(found)
    assert line["body"] == "new"
    assert line["created_at"] == DAY.format(2)
    assert [name.split()[0] for name in line["was"]] == [DAY.format(1)]


def test_edits_by_hand_and_by_lore_merge() -> None:
    base = node(title="old", body="old", stamps={"*": f"{DAY.format(1)} {'0a' * 5}"})
    hand = {**base, "title": "by hand"}
    stamps = {**base["stamps"], "body": f"{DAY.format(2)} {'0b' * 5}"}
    other = {**base, "body": "new", "updated_at": DAY.format(2), "stamps": stamps}
    for ours, theirs in ((hand, other), (other, hand)):
        found = merged(lines_of(ours), lines_of(theirs), lines_of(base))
        (line,) = fields_of(found)
        assert (line["title"], line["body"], found[1]) == ("by hand", "new", [])


def test_union_of_lines_and_conflict_markers_merge() -> None:
    old, new = node(body="old"), node(at=DAY.format(2), body="new")
    assert joined(lines_of("||||||| 1a2b", old, new, new), []) == joined(
        lines_of(old), lines_of(new)
    )
    marked = lines_of(
        "<<<<<<< HEAD", old, "||||||| 1a2b", node(body="base"), "=======", new, ">>>>>>> theirs"
    )
    assert joined(marked, []) == joined(lines_of(old), lines_of(new))


def test_lines_without_state_merge_as_lines() -> None:
    hand, other = {"id": "note-a", "body": "mine"}, {"comment": "of a later lore"}
    assert sorted(joined(lines_of(hand), lines_of(other))) == sorted(lines_of(other, hand))
    # a line that a side has removed
    assert merged(lines_of(hand), lines_of(), lines_of(hand))[0] == []
    assert joined(lines_of(hand), lines_of(hand)) == lines_of(hand)


def test_purged_record_does_not_return() -> None:
    purge = {"purged": "note-a", "at": DAY.format(3)}
    link = edge("note-a", "note-b", DAY.format(2))
    found = fields_of(merged(lines_of(purge), lines_of(node(at=DAY.format(2)), link)))
    assert found == [purge]
    found = fields_of(merged(lines_of(purge), lines_of(node(at=DAY.format(4), body="anew"))))
    assert [line.get("body") for line in found] == [None, "anew"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"id": "note-a"', "ours: line 2: not JSON"),
        ('{"id": 5}', "ours: line 2: id 5 is not a string"),
        ('{"id": "note-a", "updated_at": "2026-01-31", "was": "x"}', "was is not a list of stamps"),
        ('{"history_of": ["a"]}', "history_of ['a'] is not a string"),
    ],
)
def test_invalid_line_is_named(line: str, why: str) -> None:
    with pytest.raises(LoreError, match=why.replace("[", r"\[")):
        merged(lines_of(node(), line), lines_of())
