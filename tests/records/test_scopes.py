"""Forget and restore records of a scope, with links that the scope cannot see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from new_stores import new_store

from pylore.core.errors import LoreError
from pylore.core.ids import check_scope
from pylore.core.settings import Settings
from pylore.records.records import Change, Records
from pylore.store import Store

MINE, THEIRS = "entity-shop@@alice", "entity-tom@@bob"
INTO, OUT_OF = (THEIRS, MINE, "depends_on"), (MINE, THEIRS, "relates_to")


def records_of(store: Store, scope: str) -> Records:
    store.keep_to(scope)
    return Records(store, Settings.load(environ={}, flags={"scope": scope}), None)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A thing of each of two scopes, and edges between them that neither scope sees."""
    with new_store(str(tmp_path / ".lore")) as store:
        records_of(store, "alice").add("entity", "shop")
        records_of(store, "bob").add("entity", "tom")
        whole = records_of(store, "")
        for from_id, to_id, relation in (INTO, OUT_OF):
            whole.link(from_id, relation, to_id)
        yield store


def stated(store: Store) -> list[str]:
    """The indexed sentences of live facts."""
    store.keep_to("")
    held = store.facts.passages([MINE, THEIRS])
    assert held.keys() == {stated[0] for stated in store.facts.of([MINE, THEIRS])}
    return sorted(text for _, text in held.values())


def live(store: Store) -> set[tuple[str, str, str]]:
    store.keep_to("")
    return {edge.key for edge in store.edges.all(live_only=True)}


BOTH = ["shop relates to tom", "tom depends on shop"]


def test_hidden_links_follow_their_node(store: Store) -> None:
    assert stated(store) == BOTH
    steps: list[tuple[Callable[[Records], Change | list[Change]], bool]] = [
        (lambda mine: mine.forget([MINE]), False),
        (lambda mine: mine.undo(), True),
        (lambda mine: mine.undo(), False),
        (lambda mine: mine.restore([MINE]), True),
        (lambda mine: mine.forget([MINE]), False),
        (lambda mine: mine.undo([MINE]), True),
        (lambda mine: mine.undo([MINE]), False),
        (lambda mine: mine.add("entity", "shop"), True),
    ]
    for number, (step, stands) in enumerate(steps):
        told = step(records_of(store, "alice"))
        for change in told if isinstance(told, list) else [told]:
            assert (change.id, "bob" in "".join(change.notes)) == (MINE, False)
        assert store.scope == "alice"
        assert live(store) == ({INTO, OUT_OF} if stands else set()), number
        assert stated(store) == (BOTH if stands else []), number


def test_edit_updates_hidden_facts(store: Store) -> None:
    records_of(store, "alice").edit(MINE, title="bazaar")
    assert stated(store) == [text.replace("shop", "bazaar") for text in BOTH]


def test_hidden_links_return_with_both_ends(store: Store) -> None:
    records_of(store, "").unlink(THEIRS, "depends_on", MINE)
    records_of(store, "alice").forget([MINE])
    records_of(store, "bob").forget([THEIRS])
    records_of(store, "alice").restore([MINE])
    assert live(store) == set()
    records_of(store, "bob").restore([THEIRS])
    assert live(store) == {OUT_OF}


def test_purge_is_hidden_from_other_scopes(store: Store) -> None:
    records_of(store, "alice").forget([MINE], purge=True)
    assert (live(store), stated(store), [*store.changes.former()]) == (set(), [], [])
    store.keep_to("bob")
    assert [one.name for one in store.changes.commands()] == ["add"]


def test_records_of_others_cannot_be_forgotten(store: Store) -> None:
    records_of(store, "").add("entity", "all")
    for id in ("entity-all", THEIRS):
        with pytest.raises(LoreError):
            records_of(store, "alice").forget([id])
    assert live(store) == {INTO, OUT_OF}


def test_links_between_common_nodes_name_the_scope(store: Store) -> None:
    one, other = (records_of(store, "").add("note", text).id for text in ("one", "two"))
    mine = records_of(store, "alice")
    mine.link(one, "relates_to", other)
    mine.link(MINE, "relates_to", one)
    added = {(one, other, "relates_to@@alice"), (MINE, one, "relates_to")}
    assert live(store) - {INTO, OUT_OF} == added


@pytest.mark.parametrize("scope", ["", "alice"])
@pytest.mark.parametrize("id", ["note-@@alice", "note-x@@", "note-x@@bob@@alice", "note-x@@A b"])
def test_id_has_a_single_scope(id: str, scope: str, store: Store) -> None:
    with pytest.raises(LoreError, match=f"^'{id}' is not a valid id: "):
        records_of(store, scope).add("note", "text", id=id)
    assert check_scope("note-x@@alice", scope) == "note-x@@alice"
    assert check_scope("file-a@@2.png", scope) == "file-a@@2.png"
