"""Undo, redo, restore former states, and purge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples
from things import node_past

from pylore.core.errors import LoreError, UsageError
from pylore.core.model import Anchor, Edge
from pylore.core.settings import Settings
from pylore.core.stamps import canonical_object, clock
from pylore.core.times import now
from pylore.records.records import Records
from pylore.records.runs import Runs
from pylore.records.show import past_rows
from pylore.records.undo import UNDO_RECORD, sweep
from pylore.search.pipeline import Request, search
from pylore.store import Store

A, B = "note-a", "note-b"
LINK = (A, B, "relates_to")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(str(tmp_path / "p/.lore")) as store:
        yield store


@pytest.fixture
def records(store: Store, tmp_path: Path) -> Records:
    records = Records(store, Settings(), None, str(tmp_path / "p"))
    for id in (A, B):
        records.add("note", f"The first text of {id}", id=id, title=id, tags=["x"])
    return records


def content(store: Store) -> dict[str, Any]:
    """Return live records, live edges and anchors, without their times."""
    told = ("title", "body", "status", "confidence", "tags", "file", "line_start", "data")
    nodes = {
        node.id: [getattr(node, name) for name in told]
        for node in store.nodes.all(live_only=True)
        if node.type != "file"
    }
    edges = {
        edge.key: (edge.weight, edge.status, canonical_object(edge.metadata))
        for edge in store.edges.all(live_only=True)
    }
    anchors = [(*one.key, one.hash, one.verdict) for one in store.anchors.live()]
    return {"nodes": nodes, "edges": edges, "anchors": anchors}


def found(store: Store, query: str, **flags: str) -> set[str]:
    settings = Settings.load(environ={}, flags={"retrievers": "fulltext", **flags})
    return {hit.id for hit in search(store, settings, Request(query), None)}


def left(store: Store) -> list[tuple[str, str]]:
    return [(thing, field) for thing, field, _ in store.changes.former()]


def changes(store: Store, id: str) -> list[str]:
    return [past.change for past in node_past(store, id)]


# --- records


def test_undo_of_a_record_goes_back_step_by_step(records: Records, store: Store) -> None:
    first = content(store)
    records.edit(A, text="A zebra")
    records.edit(A, status="superseded", tags=["y"])
    records.link(A, "relates_to", B)
    (change,) = records.undo([A])
    assert (change.id, change.state) == (A, "restored") and "'edit'" in change.notes[0]
    assert (store.nodes.require(A).status, store.nodes.require(A).body) == ("confirmed", "A zebra")
    assert found(store, "zebra") == {A}
    records.undo([A])
    assert content(store)["nodes"] == first["nodes"] and found(store, "zebra") == set()
    assert found(store, "first text") >= {A, B} and LINK in content(store)["edges"]
    with pytest.raises(LoreError, match="'note-a' has no change to undo: 'lore undo"):
        records.undo([A])
    with pytest.raises(LoreError, match="'note-b' has no change to undo: 'lore forget note-b"):
        records.undo([B])
    assert changes(store, A) == ["edit", "edit", UNDO_RECORD, UNDO_RECORD]


def test_redone_record_can_be_undone_again(records: Records, store: Store) -> None:
    for text in ("one", "two", "three"):
        records.edit(A, text=text)
    records.undo([A])
    records.undo()
    assert store.nodes.require(A).body == "three"
    assert changes(store, A)[-2:] == [UNDO_RECORD, "undo"]
    for body in ("two", "one", "The first text of note-a"):
        records.undo([A])
        assert store.nodes.require(A).body == body


Edit = tuple[str, str]
FIELDS, STATUSES = ("text", "title", "status", "why"), ("staged", "retracted", "confirmed")


@given(
    edits=st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(STATUSES)), max_size=7),
    last=st.booleans(),
)
@settings(max_examples=examples(40), deadline=None)
def test_undos_lead_back_to_the_first_text(
    tmp_path_factory: pytest.TempPathFactory, edits: list[Edit], last: bool
) -> None:
    with new_store(str(tmp_path_factory.mktemp("s"))) as store:
        records = Records(store, Settings(), None)
        records.add("note", "the first", id=A)
        states = [content(store)]
        for field, word in edits:
            if records.edit(A, **{field: word}).state == "updated":  # type: ignore[arg-type]
                states.append(content(store))
        if last and len(states) > 1:
            records.undo()
            assert content(store) == states[-2]
            records.undo(redo=True)
        while len(states) > 1:
            assert content(store) == states.pop()
            records.undo([A])
        assert content(store) == states[0]


# --- the last command


def every_command(records: Records, store: Store) -> dict[str, Callable[[], object]]:
    runs = Runs(store)
    return {
        "add": lambda: records.add("lesson", "New", links=[(A, "learned_from")], file="src/a.py:1"),
        "edit": lambda: records.edit(A, text="Other", file="src/b.py", why="so"),
        "link": lambda: records.link(A, "relates_to", B, weight=0.2, metadata={"a": 1}),
        "unlink": lambda: records.unlink(B, "part_of", A),
        "fact": lambda: records.fact("jacq", "lives_in", "Rome"),
        "forget": lambda: records.forget([A, B]),
        "restore": lambda: records.restore(["note-gone"]),
        "confirm": lambda: records.confirm(["jacq", "knows", "python"]),
        "retract": lambda: records.confirm([A], retract=True),
        "run start": lambda: runs.start("task-t"),
        "feedback": lambda: runs.rate([A], "helpful"),
    }


COMMANDS = [*every_command(None, None)]  # type: ignore[arg-type]


def prepare(records: Records, root: Path) -> None:
    (root / "src").mkdir(parents=True, exist_ok=True)
    for name in ("a.py", "b.py"):
        (root / "src" / name).write_text("one = 1\ntwo = 2\n")
    records.edit(A, file="src/a.py:1-1")
    for key in (LINK, (B, A, "part_of")):
        records.store.edges.put(Edge(*key, 0.1, "system", created_at="2026-01-01T00:00:00Z"))
    records.add("note", "gone", id="note-gone", links=[(A, "relates_to")])
    records.forget(["note-gone"])
    records.add("task", "a task", id="task-t")
    records.fact("jacq", "lives_in", "Oslo")
    records.fact("jacq", "knows", "python", source="conversation")


@pytest.mark.parametrize("name", COMMANDS)
def test_undo_and_redo_of_each_command(
    records: Records, store: Store, tmp_path: Path, name: str
) -> None:
    prepare(records, tmp_path / "p")
    before = content(store)
    every_command(records, store)[name]()
    after = content(store)
    logged = store.changes.commands()[0].name
    assert logged in (name, "confirm") and after != before
    for redo in (False, True, False):
        done = records.undo(redo=redo)
        assert done and content(store) == (after if redo else before)
        assert store.changes.commands()[0].name == ("redo" if redo else "undo")
        assert store.checks.unindexed() == []
    assert f"took back '{logged}' of" in done[0].notes[0]


@settings(max_examples=examples(12), deadline=None)
@given(names=st.lists(st.sampled_from(COMMANDS), max_size=6), redo=st.integers(0, 6))
def test_undo_and_redo_of_random_commands(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], redo: int
) -> None:
    root = tmp_path_factory.mktemp("p")
    with new_store(str(root / ".lore")) as store:
        records = Records(store, Settings(), None, str(root))
        for id in (A, B):
            records.add("note", f"The first text of {id}", id=id, title=id, tags=["x"])
        prepare(records, root)
        states = [content(store)]
        for name in names:
            before = len(store.changes.commands())
            with suppress(LoreError):
                every_command(records, store)[name]()
            states += [content(store)] * (len(store.changes.commands()) - before)
        for state in states[-2::-1]:
            records.undo()
            assert content(store) == state
        for state in states[1 : redo + 1]:
            records.undo(redo=True)
            assert content(store) == state


def test_new_command_ends_redo(records: Records, store: Store) -> None:
    records.edit(A, text="one")
    records.undo()
    records.undo(redo=True)
    with pytest.raises(LoreError, match="no command to redo"):
        records.undo(redo=True)
    records.undo()
    with pytest.raises(LoreError):
        records.edit(A, status="bogus")
    records.edit(A, text="three")
    for back in (0, 2):
        for redo in [False] * back + [True] * back:
            records.undo(redo=redo)
        assert store.nodes.require(A).body == "three"
        with pytest.raises(LoreError, match="no command to redo"):
            records.undo(redo=True)


def test_undo_skips_commands_without_changes(records: Records, store: Store) -> None:
    records.edit(A, text="one", file="a.py")
    records.edit(A, text="one")
    records.edit("file-a.py", tags=["x"])
    assert records.undo() == [] and "without any change" in records.notes[0]
    for _ in range(3):
        records.undo()
    assert [node.type for node in store.nodes.all(live_only=True)] == ["file"]
    with pytest.raises(LoreError, match="no command to undo"):
        records.undo()


def test_purge_cannot_be_undone(records: Records, store: Store) -> None:
    records.edit(A, text="A zebra")
    records.link(B, "relates_to", A)
    records.unlink(B, "relates_to", A)
    store.anchors.put(Anchor(B, "file", A, created_at=now()))  # to a file of that name
    store.anchors.delete((B, "file", A, ""))
    last = clock(store.nodes.require(A))
    records.forget([A], purge=True)
    assert store.changes.purged()[A] >= last and A not in dict(left(store))
    assert {thing.replace("\x1f", " ") for thing, _ in left(store)} == {f"{B} file {A} "}
    for ids in ([], [A]):
        with pytest.raises(LoreError, match="cannot be undone: import an export"):
            records.undo(ids)
    records.edit(B, text="two")
    records.undo()
    assert store.nodes.require(B).body == "The first text of note-b"


def test_undone_record_can_be_restored(records: Records, store: Store) -> None:
    records.add("note", "new", id="note-c", links=[(A, "relates_to")])
    after = content(store)
    first = records.undo()[0]
    assert (first.id, first.state) == ("note-c", "invalidated")
    records.restore(["note-c"])
    assert content(store) == after
    records.forget(["note-c"])
    records.add("note", "new", id="note-c", links=[(B, "relates_to")])
    assert records.undo() and records.undo() and content(store) == after


# --- any state


def test_restore_at_a_number_or_a_time(records: Records, store: Store) -> None:
    for text in ("one", "two", "three"):
        records.edit(A, text=text)
    (change,) = records.restore([A], at="2")
    assert change.state == "restored" and store.nodes.require(A).body == "one"
    assert found(store, "one") == {A} and changes(store, A)[-1] == "restore"
    assert records.restore([A], at="5")[0].state == "unchanged"  # today's own
    moment = node_past(store, A)[2].row
    records.restore([A], at=clock(moment))
    assert store.nodes.require(A).body == moment.body == "two"
    for at in ("0", "99", "2001-01-01"):
        with pytest.raises(LoreError, match="see 'lore show note-a --history'"):
            records.restore([A], at=at)
    for at in ("yesterday", "²"):
        with pytest.raises(UsageError, match="not a valid date"):
            records.restore([A], at=at)
    records.forget([A])
    records.restore([A], at="1")
    assert store.nodes.require(A).body == "The first text of note-a"


def test_history_lists_changed_fields(records: Records, store: Store) -> None:
    records.edit(A, text="one", tags=["y"])
    records.edit(A, why="so")
    records.forget([A])
    node = store.nodes.require(A)
    one, two, three = past_rows(store, node)
    about = {"number": 1, "change": "edit", "made_at": node.created_at}
    left = {"body": "The first text of note-a", "tags": ["x"]}
    assert one == {**about, "changed_at": two["made_at"], **left}
    assert (two["change"], two["data"]) == ("edit", {}) and "body" not in two
    assert (three["change"], three["invalidated_at"]) == ("forget", None)
    assert past_rows(store, store.nodes.require(B)) == []


def test_undo_restores_files_with_anchors(records: Records, store: Store, tmp_path: Path) -> None:
    prepare(records, tmp_path / "p")
    before = content(store)
    assert [anchor[1:4] for anchor in before["anchors"]] == [("lines", "src/a.py", "1-1")]
    records.edit(A, file="src/b.py")
    assert [anchor[1:3] for anchor in content(store)["anchors"]] == [("file", "src/b.py")]
    records.undo([A])
    after = content(store)
    assert after["anchors"] == before["anchors"] and after["edges"] == before["edges"]
    records.restore([A], at="1")
    assert content(store)["anchors"] == []
    assert (A, "file-src/a.py", "anchored_to") not in content(store)["edges"]


# --- links


def test_removed_link_keeps_weight_and_metadata(records: Records, store: Store) -> None:
    records.link(A, "relates_to", B, weight=0.3, metadata={"by": "a review", "n": [1]})
    before = content(store)["edges"]
    records.unlink(A, "relates_to", B)
    for _ in range(2):
        records.link(A, "relates_to", B)
        assert content(store)["edges"] == before
    records.unlink(A, "relates_to", B)
    records.link(A, "relates_to", B, weight=0.9, metadata={"n": None, "m": 2})
    ((weight, status, metadata),) = content(store)["edges"].values()
    assert (weight, status, json.loads(metadata)) == (0.9, "confirmed", {"by": "a review", "m": 2})


# --- sweep


def test_sweep_deletes_old_history(records: Records, store: Store) -> None:
    def swept(days: str, *, dry_run: bool = False) -> int:
        kept = Settings.load(environ={}, flags={"history_days": days})
        return sweep(store, kept, dry_run=dry_run)[1]

    records.edit(A, text="one")
    with store.transaction():
        stamp = "2001-01-01T00:00:00Z 0123456789"
        store.changes.log(B, [("body", (stamp, '"long ago"'))], None)
    assert swept("0") == 0
    assert swept("30", dry_run=True) == 1 and len(changes(store, B)) == 1
    assert swept("30") == 1 and changes(store, B) == []
    assert swept("30") == 0 and changes(store, A) == ["edit"]
    assert store.changes.seen([B]) == {B: {stamp}}
