"""Names of relations and types go to a hub with what uses them there, and not before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import postgres
import pytest
from syncing import Team, team

from pylore.formats.jsonl import import_lines
from pylore.hub.lines import ReadPosition, Takes
from pylore.hub.sync import HubSync
from pylore.store import Store

EARLY, LATER, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"


@pytest.fixture
def two(postgres_server: postgres.Server, tmp_path: Path) -> Iterator[Team]:
    with team(postgres_server, tmp_path) as two:
        yield two


def put(team: Team, name: str, *rows: dict[str, Any]) -> None:
    engine = team.engine(name)
    lines = [json.dumps(row).encode() for row in rows]
    import_lines(engine.store, engine.settings, None, lines, new_types=True, new_relations=True)


def note(id: str, at: str = EARLY, **fields: Any) -> dict[str, Any]:
    return {"id": id, "created_at": EARLY, "updated_at": at, **fields}


def link(from_id: str, relation: str, to_id: str, **fields: Any) -> dict[str, Any]:
    return {"from_id": from_id, "to_id": to_id, "relation": relation, "created_at": EARLY,
            **fields}  # fmt: skip


def relation(name: str, weight: float = 0.5, text: str = "") -> dict[str, Any]:
    return {"declare_relation": name, "weight": weight, "description": text}


def secrets(team: Team) -> set[str]:
    """The words with ``secret`` in them, in all of a hub's tables."""
    ask = team.hub.hub.ask
    tables = ask("SELECT table_name FROM information_schema.tables WHERE table_schema = 'lore'")
    found: set[str] = set()
    for (table,) in tables:
        rows = ask(f'SELECT DISTINCT w[1] FROM lore."{table}" t,'
                   " regexp_matches(t::text, '[a-z0-9_]*secret[a-z0-9_@]*', 'g') w")  # fmt: skip
        found.update(word for (word,) in rows)
    return found


def names(store: Store) -> set[str]:
    return {name for name in (*store.relations.all(), *store.types.all()) if "secret" in name}


ALL_OF_IT = (
    note("decision-a", tags=["shared"]), note("decision-b"), note("note-a", tags=["shared"]),
    note("note-staged", status="staged"), note("entity-carol@@alice"), note("entity-dave"),
    note("secretive-a"), relation("unused_secret"), relation("alices_secret@@alice"),
    link("decision-a", "tag_secret", "decision-b"), link("decision-a", "type_secret", "note-a"),
    link("decision-b", "end_secret", "note-staged"),
    link("decision-a", "staged_secret", "decision-b", status="staged"),
    link("decision-a", "alices_secret@@alice", "decision-b"),
    link("entity-carol@@alice", "carols_secret", "decision-b"), note("entity-eve@@bob"),
    link("entity-eve@@bob", "tying_secret@@alice", "decision-b"),
)  # fmt: skip
ALWAYS = {"tag_secret", "type_secret", "secretive"}


@pytest.mark.parametrize(
    ("takes", "gone"),
    [
        (Takes(types=("decision",), tags=("shared",)), set()),
        (Takes(types=("decision",)), {"tag_secret"}),
        (Takes(tags=("shared",)), {"type_secret"}),
        (Takes(), ALWAYS),
        (Takes(scopes=("bob",)), ALWAYS),
        (Takes(staged=True), {*ALWAYS, "end_secret", "staged_secret"}),
        (Takes(scopes=("alice",)), {*ALWAYS, "carols_secret", "alices_secret@@alice"}),
    ],
    ids=["types and tags", "types", "tags", "common", "another scope", "staged", "scope"],
)  # fmt: skip
def test_names_go_with_what_uses_them(two: Team, takes: Takes, gone: set[str]) -> None:
    put(two, "ann", *ALL_OF_IT)
    two.sync("ann", takes)
    assert secrets(two) == gone
    two.sync("bob", takes)
    assert names(two.store("bob")) == gone
    # What has changed goes by the same rule as all.
    put(two, "eve", note("decision-z", tags=["shared"]))
    two.sync("eve", takes)
    put(two, "eve", *ALL_OF_IT)
    two.sync("eve", takes)
    two.sync("bob", takes)
    assert secrets(two) == names(two.store("bob")) == gone


def test_a_name_goes_as_soon_as_something_of_it_may(two: Team) -> None:
    put(two, "ann", note("note-a"), note("note-b", status="staged"),
        relation("has_secret", 0.7, "a text"), link("note-a", "has_secret", "note-b"))  # fmt: skip
    two.sync("ann", Takes())
    assert secrets(two) == set()
    put(two, "ann", note("note-c"))
    two.sync("ann", Takes())
    assert secrets(two) == set()
    put(two, "ann", note("note-b", LATER))
    two.sync("ann", Takes()), two.sync("bob", Takes())
    assert two.store("bob").relations.all()["has_secret"] == (0.7, 0.7, "a text")
    kinds = [
        kind for _, _, kind, line in two.hub.pull(ReadPosition(), 100)[0] if "has_secret" in line
    ]
    assert kinds == ["relation", "edge"]


def test_what_is_declared_anew_goes_where_it_is_used(two: Team) -> None:
    rows = [relation("has_secret"), {"declare_type": "plan", "description": "before"},
            note("note-a"), note("note-b"), note("plan-a"),
            link("note-a", "has_secret", "note-b")]  # fmt: skip
    put(two, "ann", *rows)
    two.sync("ann", Takes()), two.sync("bob", Takes())
    put(two, "ann", relation("has_secret", 0.9), relation("no_secret", 0.9),
        {"declare_type": "plan", "description": "later"},
        {"declare_type": "secretive"})  # fmt: skip
    assert two.sync("ann", Takes()).sent == 2
    assert secrets(two) == {"has_secret"}
    two.sync("bob", Takes())
    assert two.store("bob").relations.all()["has_secret"][0] == 0.9
    assert two.store("bob").types.all()["plan"] == "later"


def test_a_state_that_a_link_has_left_takes_its_name_along(two: Team) -> None:
    put(two, "ann", note("note-a"), note("note-b"), link("note-a", "has_secret", "note-b"),
        link("note-a", "has_secret", "note-b", status="staged", created_at=LATER))  # fmt: skip
    two.sync("ann", Takes()), two.sync("bob", Takes())
    assert names(two.store("bob")) == {"has_secret"}


def test_a_later_declaration_stands_though_nothing_of_it_goes(two: Team) -> None:
    put(two, "ann", note("note-a"), note("note-b"), relation("has_secret", 0.9),
        link("note-a", "has_secret", "note-b"))  # fmt: skip
    two.sync("ann", Takes()), two.sync("bob", Takes())
    with two.store("bob").transaction():
        two.store("bob").relations.declare("has_secret", 0.1, 0.1, "")
    two.sync("bob", Takes(types=("decision",)))
    assert two.store("bob").relations.all()["has_secret"][0] == 0.1


def test_a_declaration_that_is_refused_is_named(two: Team) -> None:
    user = two.server.a_role("outsider", "lore_writer")
    put(two, "bob", note("note-a"), note("note-b"), link("note-a", "likes_secret@@red", "note-b"))
    for _ in range(2):
        sync = HubSync(two.engine("bob"), two.connected(user=user), "team", Takes(scopes=("*",)))
        assert [id for id, _ in sync.run().refused] == ["likes_secret@@red", "note-a"]
    assert secrets(two) == set()


def test_the_audit_names_what_was_declared(two: Team) -> None:
    put(two, "ann", note("plan-a"), note("note-a"), link("note-a", "has_it", "plan-a"))
    two.sync("ann")
    rows = two.hub.hub.ask("SELECT kind, owner FROM lore.audit WHERE action = 'declare'")
    assert rows == [("type", "plan"), ("relation", "has_it")]


def test_what_was_declared_before_it_was_used_there_goes_when_it_is(two: Team) -> None:
    put(two, "ann", note("note-a"), note("note-b"), link("note-a", "has_secret", "note-b"))
    put(two, "bob", relation("has_secret", 0.95))
    two.sync("ann"), two.sync("bob"), two.sync("ann")
    assert two.store("ann").relations.all()["has_secret"][0] == 0.95
