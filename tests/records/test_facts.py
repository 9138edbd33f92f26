"""Facts: stage, confirm, supersede, retract, sweep and read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from pylore.cli.session import count_accesses
from pylore.core.errors import LoreError
from pylore.core.model import Edge
from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.records.undo import sweep
from pylore.store import Store

JACQ, OSLO, ROME = "entity-jacq", "entity-oslo", "entity-rome"
SAID: dict[str, Any] = {"source": "conversation"}


@pytest.fixture
def records(store: Store) -> Records:
    return Records(store, Settings(), None)


def options(**flags: object) -> Settings:
    return Settings.load(environ={}, flags={name: str(value) for name, value in flags.items()})


def edge(store: Store, to: str, relation: str = "lives_in") -> Edge:
    found = store.edges.get(JACQ, to, relation)
    assert found is not None
    return found


def standing(store: Store, to: str, relation: str = "lives_in") -> tuple[str, bool]:
    """The status of jacq's fact, and whether it is live."""
    found = edge(store, to, relation)
    return found.status, found.invalidated_at is None


def read(store: Store, id: str, times: int, **flags: object) -> list[str]:
    return [note for _ in range(times) for note in count_accesses(store, options(**flags), [id])]


def age(store: Store, days: int) -> None:
    """Makes everything so old."""
    at = f"strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-{days} days')"
    store.connection.execute(f"UPDATE nodes SET updated_at = {at}")
    store.connection.execute(f"UPDATE links SET created_at = {at}")


def faded(store: Store, *, dry_run: bool = False) -> list[dict[str, Any]]:
    return sweep(store, Settings(), dry_run=dry_run)[0]


# --- first status and former values


def test_conversations_are_staged(store: Store, records: Records) -> None:
    records.fact("jacq", "uses", "rome", **SAID)
    records.fact("jacq", "uses", "oslo")
    assert standing(store, ROME, "uses") == ("staged", True)
    assert standing(store, OSLO, "uses") == ("confirmed", True)
    records.fact("jacq", "likes", "rome", status="confirmed", **SAID)
    assert standing(store, ROME, "likes") == ("confirmed", True)
    assert store.nodes.require(ROME).source == "conversation"
    note = records.add("note", "heard it said", **SAID)
    assert store.nodes.require(note.id).status == "staged"
    records.add("note", "heard it said")
    assert store.nodes.require(note.id).status == "staged", "what is not given again stays"
    records.add("note", "heard it said", status="confirmed")
    assert store.nodes.require(note.id).status == "confirmed"


def test_new_value_supersedes_the_former(store: Store, records: Records) -> None:
    records.fact("jacq", "lives_in", "oslo")
    records.fact("jacq", "lives in", "rome")
    assert standing(store, OSLO) == ("superseded", False)
    assert json.loads(edge(store, OSLO).metadata) == {"superseded_by": ROME}
    assert standing(store, ROME) == ("confirmed", True)
    assert json.loads(edge(store, ROME).metadata) == {"supersedes": [OSLO]}
    assert [past.row.status for past in store.changes.of(edge(store, OSLO))] == ["confirmed"]
    records.fact("jacq", "lives_in", "oslo")
    assert standing(store, OSLO) == ("confirmed", True)
    assert standing(store, ROME) == ("superseded", False)
    records.fact("jacq", "lives_in", "rome")
    records.fact("jacq", "lives_in", "oslo")
    assert json.loads(edge(store, OSLO).metadata) == {"supersedes": [ROME]}, "each is named once"


def test_single_applies_to_the_subject(store: Store, records: Records) -> None:
    records.fact("jacq", "uses", "oslo", single=True)
    records.fact("jacq", "uses", "rome")
    assert standing(store, OSLO, "uses") == ("superseded", False)
    records.fact("anna", "uses", "oslo")
    records.fact("anna", "uses", "rome")
    assert store.edges.get("entity-anna", OSLO, "uses").invalidated_at is None  # type: ignore[union-attr]


def test_restored_former_value_remains_superseded(store: Store, records: Records) -> None:
    records.fact("jacq", "lives_in", "oslo")
    records.forget([OSLO])
    records.fact("jacq", "lives_in", "rome")
    records.restore([OSLO])
    assert edge(store, OSLO).status == "superseded" and edge(store, OSLO).ended_at
    assert edge(store, ROME).invalidated_at is None


def test_setting_names_single_valued_predicates(store: Store) -> None:
    records = Records(store, options(single_valued="Runs-On"), None)
    for place in ("oslo", "rome"):
        records.fact("jacq", "runs_on", place)
        records.fact("jacq", "lives_in", place)
    assert standing(store, OSLO, "runs_on") == ("superseded", False)
    assert standing(store, OSLO) == ("confirmed", True)


def test_staged_value_does_not_supersede(store: Store, records: Records) -> None:
    records.fact("jacq", "lives_in", "oslo")
    change = records.fact("jacq", "lives_in", "rome", status="confirmed", **SAID)
    assert "staged beside entity-oslo" in change.notes[0]
    assert standing(store, OSLO) == ("confirmed", True)
    records.fact("jacq", "lives_in", "bern", **SAID)
    assert standing(store, ROME) == ("superseded", False), "one staged value, the last one"
    assert standing(store, OSLO) == ("confirmed", True)


def test_conversation_reverts_no_decision(store: Store, records: Records) -> None:
    records.fact("jacq", "lives_in", "oslo")
    for status in (None, "retracted"):
        change = records.fact("jacq", "lives_in", "oslo", confidence=0.1, status=status, **SAID)
        assert (change.state, edge(store, OSLO).weight, change.notes) == ("unchanged", 1.0, [])
    records.confirm(["jacq", "lives_in", "oslo"], retract=True)
    change = records.fact("jacq", "lives_in", "oslo", **SAID)
    assert change.state == "unchanged"
    assert "it was retracted on" in change.notes[0]
    assert standing(store, OSLO) == ("retracted", False)
    records.fact("jacq", "lives_in", "oslo")
    assert standing(store, OSLO) == ("confirmed", True), "a person may"


def test_retracted_fact_is_ended(store: Store, records: Records) -> None:
    records.fact("jacq", "lives_in", "oslo", status="retracted")
    assert standing(store, OSLO) == ("retracted", False)


# --- confirm and retract


def test_confirm_supersedes_other_values(store: Store, records: Records) -> None:
    records.fact("jacq", "lives_in", "oslo")
    records.fact("jacq", "lives_in", "rome", **SAID)
    assert [one.state for one in records.confirm(["Jacq", "LIVES_IN", "Rome"])] == ["confirmed"]
    assert standing(store, ROME) == ("confirmed", True)
    assert standing(store, OSLO) == ("superseded", False)
    assert [one.state for one in records.confirm([JACQ, "lives_in", ROME])] == ["unchanged"]
    assert json.loads(edge(store, OSLO).metadata) == {"superseded_by": ROME}
    records.confirm([JACQ, "lives_in", OSLO])
    assert json.loads(edge(store, OSLO).metadata) == {"supersedes": [ROME]}
    assert standing(store, ROME) == ("superseded", False)
    assert standing(store, OSLO) == ("confirmed", True)


def test_confirm_and_retract_of_nodes(store: Store, records: Records) -> None:
    ids = [records.add("note", text, **SAID).id for text in ("one", "two", "three")]
    assert {one.state for one in records.confirm(ids)} == {"confirmed"}
    assert [one.state for one in records.confirm(ids[:1], retract=True)] == ["retracted"]
    node = store.nodes.require(ids[0])
    assert (node.status, node.invalidated_at) == ("retracted", None)
    assert [one.state for one in records.confirm(ids[:1], retract=True)] == ["unchanged"]
    (note,) = records.add("note", "one").notes
    assert note == f"{ids[0]} is retracted, and not found: 'lore confirm {ids[0]}' brings it back"
    assert records.add("note", "two").notes == []
    assert records.add("note", "one", status="retracted").notes == []


def test_unknown_facts_are_refused(store: Store, records: Records) -> None:
    note = records.add("note", "one", **SAID).id
    with pytest.raises(LoreError, match="no node 'note-none'"):
        records.confirm([note, "note-none"])
    assert store.nodes.require(note).status == "staged"
    records.fact("jacq", "lives_in", "oslo")
    with pytest.raises(LoreError, match="no fact entity-oslo lives_in entity-jacq"):
        records.confirm(["oslo", "lives_in", "jacq"], retract=True)
    with pytest.raises(LoreError, match="no node 'is_no_relation'"):
        records.confirm(["jacq", "is_no_relation", "oslo"])
    records.forget([OSLO, note])
    with pytest.raises(LoreError, match="'entity-oslo' is forgotten"):
        records.confirm(["jacq", "lives_in", "oslo"])
    with pytest.raises(LoreError, match=f"'{note}' is forgotten: 'lore undo {note}'"):
        records.confirm([note])


# --- reads


def test_access_counts_and_changes_no_time(store: Store, records: Records) -> None:
    records.fact("jacq", "uses", "oslo")
    records.fact("oslo", "part_of", "norway")
    note = records.add("note", "about it", links=[(JACQ, "mentions")]).id
    age(store, 3)
    before = store.nodes.require(JACQ)
    read(store, JACQ, 2)
    after = store.nodes.require(JACQ)
    assert (after.access_count, after.updated_at) == (2, before.updated_at)
    assert after.accessed_at is not None
    assert edge(store, OSLO, "uses").access_count == 0, "confirmed: read as its ends are"
    assert store.edges.get(OSLO, "entity-norway", "part_of").access_count == 0  # type: ignore[union-attr]
    assert store.edges.get(note, JACQ, "mentions").access_count == 0  # type: ignore[union-attr]
    assert [*store.changes.former()] == []


def test_reads_confirm_staged_records(store: Store, records: Records) -> None:
    records.fact("jacq", "uses", "oslo", **SAID)
    note = records.add("note", "heard", **SAID).id
    assert read(store, JACQ, 2) == []
    store.keep_to("team")
    assert read(store, JACQ, 1) == []  # no fact of the scope
    store.keep_to("")
    assert standing(store, OSLO, "uses") == ("staged", True)
    said = read(store, JACQ, 1, promote_after=4)  # the scope's read counts
    assert said == [f"confirmed, since it is read often: {JACQ} uses {OSLO}"]
    assert standing(store, OSLO, "uses") == ("confirmed", True)
    read(store, note, 9, promote_after=0)
    assert store.nodes.require(note).status == "staged"
    store.keep_to("team")
    read(store, note, 1, promote_after=10)
    assert store.nodes.require(note).status == "confirmed"


def test_reads_confirm_no_rival(store: Store, records: Records) -> None:
    records.fact("jacq", "lives_in", "oslo")
    records.fact("jacq", "lives_in", "rome", **SAID)
    assert read(store, JACQ, 5) == []
    assert standing(store, ROME) == ("staged", True)
    assert standing(store, OSLO) == ("confirmed", True)


def test_counting_never_fails(store: Store, records: Records, tmp_path: Path) -> None:
    note = records.add("note", "one").id
    other = apsw.Connection(store.path)
    other.execute("BEGIN IMMEDIATE")
    assert count_accesses(store, Settings(), [note]) == []
    assert store.nodes.require(note).access_count == 0, "not counted while another process writes"
    other.execute("ROLLBACK")
    assert count_accesses(store, Settings(), ["note-none"]) == []
    assert count_accesses(store, Settings(), [note, note]) == []
    assert store.nodes.require(note).access_count == 1, "named twice, read once"


# --- sweep


def test_sweep_forgets_faded_only(store: Store, records: Records) -> None:
    records.fact("jacq", "uses", "oslo", confidence=0.3, **SAID)
    records.fact("jacq", "uses", "rome", confidence=1.0, **SAID)
    records.fact("jacq", "likes", "oslo", confidence=0.1)
    faint = records.add("note", "faint", confidence=0.3, **SAID).id
    kept = records.add("note", "read", confidence=0.3, **SAID).id
    records.link(faint, "relates_to", kept)
    records.add("note", "typed", confidence=0.1, status="staged")
    assert faded(store) == []
    age(store, 7 + 95)
    read(store, kept, 5, promote_after=0)
    due = faded(store, dry_run=True)
    assert [one["id"] for one in due] == [f"{JACQ} uses {OSLO}", faint]
    assert [(one["state"], one["recency"]) for one in due] == [("due", 0.5)] * 2
    assert standing(store, OSLO, "uses") == ("staged", True), "only said"
    assert [one["id"] for one in faded(store)] == [one["id"] for one in due]
    assert standing(store, OSLO, "uses") == ("staged", False)
    assert standing(store, ROME, "uses") == ("staged", True)
    assert standing(store, OSLO, "likes") == ("confirmed", True)
    assert store.nodes.require(faint).invalidated_at is not None
    assert store.edges.of(kept) == [], "a record goes with its links"
    assert faded(store) == []
    assert [change.state for change in records.restore([faint])] == ["restored"]
    assert [one.from_id for one in store.edges.of(kept)] == [faint]
    records.confirm(["jacq", "uses", "oslo"])
    assert standing(store, OSLO, "uses") == ("confirmed", True)


def test_repeated_fact_does_not_fade(store: Store, records: Records) -> None:
    records.fact("jacq", "uses", "oslo", confidence=0.3, **SAID)
    age(store, 200)
    records.fact("jacq", "uses", "oslo", confidence=0.31, **SAID)
    assert faded(store) == []


# --- export
