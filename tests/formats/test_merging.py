"""Merging stores converges without loss."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from histories import Three, check, clocks
from hypothesis import example, given, settings
from hypothesis import strategies as st
from new_stores import memory_store
from samples import examples
from things import lines_of, node_past

from pylore.cli.transfer import conflict_text, outcome_notes
from pylore.core.errors import LoreError
from pylore.core.model import Edge
from pylore.core.settings import Settings
from pylore.core.times import ago
from pylore.formats.export import export_lines, shared_lines
from pylore.formats.jsonl import Imported, import_lines
from pylore.records.merge import Conflict
from pylore.records.records import Records
from pylore.store import Store

SEEDS = st.integers(0, 2**64)
EARLY, LATER, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"
AHEAD = f"{ago(-1)[:10]}T00:00:00Z"
KEY = ("note-a", "note-b", "relates_to")


# --- any histories


@settings(max_examples=examples(400), deadline=None)
@given(SEEDS)
@example(978894843685)  # an end purged in the second in which the other end was forgotten
@example(231344851988)  # an anchor created again by a slow clock
def test_three_stores_converge_without_loss(seed: int) -> None:
    check(seed)


def shuffled_lines(random: Random) -> Any:
    def take(ours: Store, theirs: Store, prefer: str) -> None:
        lines = [line.encode() for line in export_lines(theirs)]
        random.shuffle(lines)
        import_lines(
            ours, Settings(), None, lines * random.choice((1, 2)), prefer=prefer, purge=True
        )

    return take


def same_bytes(three: Three) -> None:
    with clocks(three):
        three.live(20)
        three.meet()
        first, *others = [list(export_lines(store)) for store in three.stores]
        assert others == [first, first]
        assert three.lost() == [] and three.cut_off() == []
        done = import_lines(three.stores[0], Settings(), None, [line.encode() for line in first])
        assert done.added + done.updated + done.kept + done.conflicts == 0
        assert list(export_lines(three.stores[0])) == first


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS)
def test_lines_in_any_order_converge(seed: int) -> None:
    random = Random(seed)
    same_bytes(Three(random, [memory_store() for _ in range(3)], shuffled_lines(random)))


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS)
def test_stores_with_proposed_purges_converge(seed: int) -> None:
    def told(store: Store) -> list[str]:
        return [*shared_lines(store)]

    def take(ours: Store, theirs: Store, prefer: str) -> None:
        lines = [line.encode() for line in told(theirs)]
        import_lines(ours, Settings(), None, lines, prefer=prefer)

    random = Random(seed)
    three = Three(random, [memory_store() for _ in range(3)], take)
    with clocks(three):
        three.live(random.randrange(4, 25))
        three.meet()
        first, *others = [told(store) for store in three.stores]
        assert others == [first, first]
        assert three.cut_off() == []
        take(three.stores[0], three.stores[1], "")
        assert told(three.stores[0]) == first


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS)
@example(52)  # a purge after the past of the record
def test_lines_of_several_stores_merge_in_any_order(seed: int) -> None:
    random = Random(seed)
    three = Three(random, [memory_store() for _ in range(3)])
    with clocks(three):
        three.live(20)
        lines = [line.encode() for store in three.stores for line in export_lines(store)]
        ends = []
        for _ in range(2):
            random.shuffle(lines)
            ends.append(memory_store())
            import_lines(ends[-1], Settings(), None, lines, purge=True)
        assert list(export_lines(ends[0])) == list(export_lines(ends[1]))


# --- two stores


@pytest.fixture
def here() -> Store:
    return memory_store()


@pytest.fixture
def there() -> Store:
    return memory_store()


def put(store: Store, *rows: dict[str, Any] | str | bytes, **options: Any) -> Imported:
    return import_lines(store, Settings(), None, lines_of(*rows), **{"purge": True, **options})


def take(ours: Store, theirs: Store, **options: Any) -> Imported:
    return put(ours, *export_lines(theirs), **options)


def note(body: str, at: str, **fields: Any) -> dict[str, Any]:
    return {"id": "note-a", "body": body, "created_at": EARLY, "updated_at": at, **fields}


def edit(store: Store, body: str, at: str) -> None:
    node = store.nodes.require("note-a")
    node.body, node.updated_at = body, at
    with store.transaction("edit"):
        store.nodes.put(node)


def body(store: Store) -> str:
    return store.nodes.require("note-a").body


def past(store: Store) -> list[str]:
    return [one.row.body for one in node_past(store, "note-a")]


def counts(done: Imported) -> dict[str, int]:
    names = ("added", "updated", "kept", "unchanged", "conflicts")
    return {name: getattr(done, name) for name in names if getattr(done, name)}


def met(here: Store, there: Store, *, mine: str, theirs: str) -> None:
    """Both have had the same state, and each has changed it since."""
    put(here, note("first", EARLY))
    take(there, here)
    edit(here, "mine", mine)
    edit(there, "theirs", theirs)


def test_older_export_changes_nothing(here: Store, there: Store) -> None:
    put(here, note("first", EARLY))
    take(there, here)
    edit(here, "second", LATE)
    assert counts(take(here, there)) == {"kept": 1} and body(here) == "second"
    done = take(there, here)
    assert counts(done) == {"updated": 1} and (body(there), past(there)) == ("second", ["first"])
    assert counts(take(there, here)) == {"unchanged": 1}


def test_former_values_are_merged_without_the_line_of_the_record(here: Store, there: Store) -> None:
    put(here, note("first", EARLY))
    take(there, here)
    edit(here, "second", LATER)
    edit(here, "third", LATE)
    line, *former = export_lines(here)
    put(there, *former)
    assert (body(there), past(there)) == ("second", ["first"])
    state = next(export_lines(there))
    for first, then in (([state], former), (former, [state])):
        third = memory_store()
        put(third, *first)
        put(third, *then)
        assert list(export_lines(third)) == list(export_lines(there))
    put(there, line)
    assert list(export_lines(there)) == list(export_lines(here))


def test_conflict_is_reported_with_both_values_stored(here: Store, there: Store) -> None:
    met(here, there, mine=LATE, theirs=LATER)
    done = take(here, there)
    assert counts(done) == {"kept": 1, "conflicts": 1}
    assert done.conflicting == [Conflict("note-a", "ours", fields=("body",))]
    assert body(here) == "mine" and sorted(past(here)) == ["first", "theirs"]
    assert counts(take(here, there)) == {"kept": 1}  # said once
    done = take(there, here)
    assert counts(done) == {"updated": 1}  # which has seen both
    assert list(export_lines(here)) == list(export_lines(there))


@pytest.mark.parametrize("prefer", ["ours", "theirs"])
@pytest.mark.parametrize("mine", [LATER, AHEAD])
def test_preferred_side_wins_everywhere(here: Store, there: Store, prefer: str, mine: str) -> None:
    met(here, there, mine=mine, theirs=LATE)
    assert [one.stands for one in take(here, there, prefer=prefer).conflicting] == [prefer]
    chosen = {"ours": "mine", "theirs": "theirs"}[prefer]
    assert body(here) == chosen and {"first", "mine", "theirs"} == {chosen, *past(here)}
    assert counts(take(there, here))["updated" if prefer == "ours" else "unchanged"] or True
    assert body(there) == chosen and list(export_lines(there)) == list(export_lines(here))


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_edit_after_forget_elsewhere_wins(here: Store, there: Store, side: str) -> None:
    put(here, note("first", EARLY))
    take(there, here)
    forgets, edits = (here, there) if side == "ours" else (there, here)
    Records(forgets, Settings(), None).forget(["note-a"])
    edit(edits, "again", AHEAD)
    done = take(here, there)
    other = "theirs" if side == "ours" else "ours"
    assert done.conflicting == [Conflict("note-a", other, fields=("invalidated_at",))]
    assert here.nodes.require("note-a").invalidated_at is None and body(here) == "again"
    where = {"ours": "here", "theirs": "there"}[other]
    text = f"note-a was changed here and there (forgotten): the version {where} stands"
    assert conflict_text(done.conflicting[0]) == text


@pytest.fixture
def linked(here: Store, there: Store) -> None:
    """Link two nodes in both stores; forget an end here, and edit it later there."""
    edge = dict(zip(("from_id", "to_id", "relation"), KEY, strict=True), created_at=EARLY)
    put(here, note("first", EARLY), {"id": "note-b", "updated_at": EARLY}, edge)
    take(there, here)
    Records(here, Settings(), None).forget(["note-a"])
    edit(there, "again", AHEAD)


def link(store: Store) -> Edge:
    edge = store.edges.get(*KEY)
    assert edge is not None
    return edge


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("turn", [1, -1])
def test_restored_record_has_its_links_in_any_order(here: Store, there: Store, turn: int) -> None:
    assert link(here).invalidated_at and not link(here).ended_at
    one, other = (here, there)[::turn]
    take(one, other)
    take(other, one)
    assert link(here).invalidated_at is None and link(here) == link(there)
    assert here.changes.of(link(here)) == []
    assert list(export_lines(here)) == list(export_lines(there))
    assert counts(take(here, there))["unchanged"] and link(here).invalidated_at is None


def test_purge_travels_to_other_stores(here: Store, there: Store) -> None:
    edge = dict(zip(("from_id", "to_id", "relation"), KEY, strict=True), created_at=EARLY)
    put(here, note("first", EARLY), {"id": "note-b", "updated_at": EARLY}, edge)
    take(there, here)
    edit(there, "second", LATER)
    Records(here, Settings(), None).forget(["note-a"], purge=True)
    assert counts(take(here, there)) == {"kept": 2, "unchanged": 1}
    assert here.nodes.get("note-a") is None
    assert outcome_notes(take(there, here)) == ["note-a: deleted for good elsewhere"]
    assert there.nodes.get("note-a") is None and there.edges.get(*KEY) is None
    assert [*there.changes.former()] == [] and [*export_lines(there)] == [*export_lines(here)]
    Records(there, Settings(), None).add("note", "anew", id="note-a")  # within the same second
    take(here, there)
    assert body(here) == "anew" and list(export_lines(there)) == list(export_lines(here))


def test_edit_after_a_purge_elsewhere_survives(here: Store, there: Store) -> None:
    put(here, note("first", EARLY))
    take(there, here)
    Records(here, Settings(), None).forget(["note-a"], purge=True)
    edit(there, "still", AHEAD)
    (said,) = outcome_notes(take(there, here))
    assert said == "note-a: deleted for good elsewhere, and edited after that: kept"
    assert (body(there), past(there)) == ("still", [])
    done = take(here, there)
    assert counts(done) == {"added": 1} and body(here) == "still"
    again = "note-a: deleted for good here, and edited elsewhere after that: back again"
    assert again in outcome_notes(done) and outcome_notes(take(here, there)) == []
    assert take(memory_store(), there).outcomes == []  # where it was never known


def test_line_by_hand_is_a_current_edit(here: Store) -> None:
    put(here, note("first", LATE, tags=["x"]))
    assert counts(put(here, {"id": "note-a", "body": "by hand"})) == {"updated": 1}
    node = here.nodes.require("note-a")
    assert (node.body, node.tags, past(here)) == ("by hand", ("x",), ["first"])
    assert counts(put(here, {"id": "note-a", "body": "by hand"})) == {"unchanged": 1}


def test_value_changed_by_hand_is_a_current_edit(here: Store) -> None:
    edge = dict(zip(("from_id", "to_id", "relation"), KEY, strict=True), created_at=EARLY)
    put(here, note("first", EARLY), {"id": "note-b", "updated_at": EARLY}, edge)
    record, _, tie = (json.loads(line) for line in shared_lines(here))
    edit(here, "later", LATE)
    for _ in range(2):
        put(here, {**record, "title": "by hand"}, {**tie, "weight": 0.25}, by_hand=True)
        node = here.nodes.require("note-a")
        assert (node.title, node.body, link(here).weight) == ("by hand", "later", 0.25)
        assert node.updated_at > LATE
        assert past(here) == ["first", "later"]
    Records(here, Settings(), None).forget(["note-a"])
    put(here, {**record, "category": "new"}, by_hand=True)
    node = here.nodes.require("note-a")
    assert node.category == "new" and node.invalidated_at


def test_line_by_hand_does_not_restore_a_record(here: Store) -> None:
    put(here, note("first", EARLY), {"id": "note-b", "updated_at": EARLY})
    Records(here, Settings(), None).forget(["note-a", "note-b"])
    done = put(here, {"id": "note-a", "type": "note", "body": "new"})
    assert outcome_notes(done) == ["note-a: still forgotten: 'lore undo ID' brings it back"]
    assert body(here) == "new" and here.nodes.require("note-a").invalidated_at
    done = put(here, {"id": "note-a", "title": "A"}, {"id": "note-b", "title": "B"})
    assert outcome_notes(done)[0].startswith("note-a; note-b: still forgotten")
    assert put(here, {"id": "note-a", "invalidated_at": None}).outcomes == []
    assert here.nodes.require("note-a").invalidated_at is None


def test_times_in_the_future_are_refused(here: Store, there: Store) -> None:
    put(here, note("first", EARLY))
    far = ago(-2)
    for name in ("updated_at", "invalidated_at"):
        with pytest.raises(LoreError, match=f"line 1: {name} '{far}' is more than a day ahead of"):
            put(here, {**note("ahead", LATER), name: far})
    with pytest.raises(LoreError, match=f"line 1: at '{far}' is more than a day ahead of"):
        put(here, {"purged": "note-a", "at": far})
    assert put(here, note("ahead", AHEAD)).notes == []
    edit(here, "mine", LATE)
    put(there, note("ahead", AHEAD))
    assert counts(take(here, there)) == {"kept": 1} and body(here) == "mine"
    take(there, here)
    assert body(there) == "mine"


# --- bad input
