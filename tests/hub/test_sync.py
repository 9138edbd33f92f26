"""Lines that syncs send and merge, also after failures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import postgres
import pytest
from syncing import ALL, Team, team, told
from things import node_past

from pylore.core.errors import LoreError, StoreError
from pylore.core.model import Anchor
from pylore.formats.jsonl import import_lines
from pylore.hub.sync import HubSync, Takes, hub_status
from pylore.records.records import Records
from pylore.records.undo import purge_node
from pylore.store import Store

EARLY, LATER, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"


@pytest.fixture
def two(postgres_server: postgres.Server, tmp_path: Path) -> Iterator[Team]:
    with team(postgres_server, tmp_path) as two:
        yield two


def put(team: Team, name: str, *rows: dict[str, Any]) -> None:
    engine = team.engine(name)
    lines = [json.dumps(row).encode() for row in rows]
    import_lines(engine.store, engine.settings, None, lines, new_types=True)


def note(id: str, body: str = "", at: str = EARLY, **fields: Any) -> dict[str, Any]:
    return {"id": id, "body": body, "created_at": EARLY, "updated_at": at, **fields}


def link(from_id: str, to_id: str, **fields: Any) -> dict[str, Any]:
    ends = {"from_id": from_id, "to_id": to_id, "relation": "relates_to"}
    return {**ends, "created_at": EARLY, **fields}


def ids(store: Store) -> list[str]:
    return [node.id for node in store.nodes.all()]


def at_hub(team: Team) -> str:
    return " ".join(line for (line,) in team.hub.ask("SELECT line FROM lore.lines"))


def test_two_stores_exchange_changes(two: Team) -> None:
    put(two, "ann", note("note-a", "one"), note("note-b"), link("note-a", "note-b"))
    assert two.sync("ann").sent == 3
    came = two.sync("bob").came_in
    assert (came.added, came.updated) == (3, 0)
    put(two, "bob", note("note-a", "two", LATER))
    assert two.sync("bob").sent == 2  # the new state and the former
    assert two.sync("ann").came_in.updated == 1
    assert two.store("ann").nodes.require("note-a").body == "two"
    assert [past.row.body for past in node_past(two.store("ann"), "note-a")] == ["one"]
    for name in ("ann", "bob"):
        done = two.sync(name)
        assert (done.sent, done.known, done.read) == (0, 0, 0)
    assert told(two.store("ann")) == told(two.store("bob"))


def test_conflicts_are_reported_and_keep_both_states(two: Team) -> None:
    put(two, "ann", note("note-a", "first"))
    two.sync("ann"), two.sync("bob")
    put(two, "ann", note("note-a", "hers", LATER))
    put(two, "bob", note("note-a", "his", LATE))
    two.sync("ann")
    conflicts = two.sync("bob").came_in.conflicting
    assert [(one.id, one.stands) for one in conflicts] == [("note-a", "ours")]
    assert [one.stands for one in two.sync("ann").came_in.conflicting] == ["theirs"]
    two.sync("bob")
    for name in ("ann", "bob"):
        assert two.store(name).nodes.require("note-a").body == "his"
        past = [one.row.body for one in node_past(two.store(name), "note-a")]
        assert sorted(past) == ["first", "hers"]


def test_only_the_makers_of_conflicts_get_notes(two: Team) -> None:
    put(two, "ann", note("note-a", "first"))
    two.sync("ann"), two.sync("bob")
    reader = two.server.a_role("looks-on", "lore_reader")
    two.sync("eve", user=reader)
    put(two, "ann", note("note-a", "hers", LATER))
    put(two, "bob", note("note-a", "his", LATE))
    two.sync("ann")
    assert (two.sync("bob").came_in.conflicts, two.sync("ann").came_in.conflicts) == (1, 1)
    put(two, "carl", note("note-c"))
    others = [two.sync("new"), two.sync("carl"), two.sync("ann", all=True)]
    for done in (*others, two.sync("eve", user=reader)):
        assert (done.came_in.conflicts, done.came_in.conflicting) == (0, [])
    for name in ("new", "carl", "eve"):
        assert two.store(name).nodes.require("note-a").body == "his"
        past = [one.row.body for one in node_past(two.store(name), "note-a")]
        assert sorted(past) == ["first", "hers"]


def test_untaken_records_and_their_links_stay(two: Team) -> None:
    put(two, "ann", note("note-open"), note("decision-a", "x"), note("note-mine@@ann"))
    put(two, "ann", link("note-open", "note-mine@@ann"), link("note-open", "decision-a"))
    put(two, "ann", note("note-staged", status="staged"), {"declare_relation": "likes@@ann"})
    two.sync("ann", Takes("types=decision"))
    assert ids_at_hub(two) == ["decision-a"]
    two.sync("ann", Takes())
    assert ids_at_hub(two) == ["decision-a", "note-open"]
    assert "@@ann" not in at_hub(two)
    two.hub.ask("INSERT INTO lore.members VALUES (current_user, 'ann')")
    two.sync("ann", Takes("scopes=ann"))
    assert ids_at_hub(two) == ["decision-a", "note-mine@@ann", "note-open"]
    assert "note-staged" not in at_hub(two)
    assert two.sync("ann", Takes("scopes=ann", "staged")).sent == 1


def test_the_past_of_staged_records_stays(two: Team) -> None:
    put(two, "ann", note("note-a", "a secret", status="staged"))
    put(two, "ann", note("note-a", "redacted", LATER))
    two.sync("ann", Takes())
    assert "redacted" in at_hub(two) and "secret" not in at_hub(two)


def ids_at_hub(team: Team) -> list[str]:
    rows = team.hub.ask("SELECT id FROM lore.nodes WHERE order_key <> '' ORDER BY id")
    return [str(id) for (id,) in rows]


def test_a_link_is_sent_with_its_ends(two: Team) -> None:
    put(two, "ann", note("note-a"), note("note-b", status="staged"), link("note-b", "note-a"))
    assert two.sync("ann", Takes()).sent == 1
    put(two, "ann", note("note-b", at=LATER))
    two.sync("ann", Takes())
    two.sync("bob", Takes())
    assert two.store("bob").edges.get("note-b", "note-a", "relates_to")
    assert "staged" not in at_hub(two)


def test_code_verdicts_and_reads_stay_here(two: Team) -> None:
    put(two, "ann", note("note-a"), note("file-a.py", source="file"))
    put(two, "ann", link("note-a", "file-a.py"), link("note-a", "run-1"))
    store, anchor = two.store("ann"), Anchor("note-a", "symbol", "a.py", "f", created_at=EARLY)
    anchor.verified_at, anchor.verdict = EARLY, "drifted"
    with store.transaction():
        store.anchors.put(anchor)
    two.sync("ann")
    store.review.count_access(["note-a"], LATER)
    assert two.sync("ann").sent == 0
    two.sync("bob")
    (anchor,) = two.store("bob").anchors.of("note-a")
    assert (anchor.path, anchor.detail, anchor.verdict) == ("a.py", "f", "valid")
    assert ids(two.store("bob")) == ["note-a"]
    edges = [edge.to_id for edge in two.store("bob").edges.all()]
    assert edges == ["file-a.py"]


def test_a_purge_reaches_the_hub_and_all_stores(two: Team) -> None:
    put(two, "ann", note("note-a", "a secret"), note("note-b"), link("note-b", "note-a"))
    two.sync("ann"), two.sync("bob")
    with two.store("ann").transaction():
        purge_node(two.store("ann"), "note-a")
    two.sync("ann"), two.sync("bob")
    assert ids(two.store("bob")) == ["note-b"] == ids_at_hub(two)
    assert "secret" not in at_hub(two)
    assert two.sync("bob", all=True).sent == 0
    assert "secret" not in at_hub(two)


def test_purges_of_private_records_are_not_sent(two: Team) -> None:
    put(two, "ann", note("note-private", status="staged"), note("note-b"))
    two.sync("ann", Takes())
    with two.store("ann").transaction():
        purge_node(two.store("ann"), "note-private")
    two.sync("ann", Takes())
    assert "private" not in at_hub(two)
    put(two, "bob", note("note-private"))
    two.sync("bob", Takes())
    assert "note-private" in ids_at_hub(two)
    two.sync("ann", Takes())
    two.sync("bob", Takes())
    assert ids(two.store("bob")) == ["note-b"]


def test_an_interrupted_sync_continues(two: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pylore.hub.sync.SENT_AT_ONCE", 10)
    monkeypatch.setattr("pylore.hub.sync.READ_AT_ONCE", 10)
    put(two, "ann", *[note(f"note-{n:02}") for n in range(35)])
    _breaks_off(two, "ann", "lore.push", after=2)
    assert len(ids_at_hub(two)) == 20
    done = two.sync("ann")
    assert (done.sent, done.known) == (15, 20)
    _breaks_off(two, "bob", "ORDER BY seq", after=2)
    assert len(ids(two.store("bob"))) == 20
    done = two.sync("bob")
    assert (done.came_in.added, done.read) == (15, 15)
    assert told(two.store("ann")) == told(two.store("bob"))


def _breaks_off(team: Team, name: str, sql: str, *, after: int) -> None:
    """Sync until the server ends the connection before a call of ``sql``."""
    hub = team.connected()
    ask, calls = hub.ask, iter(range(after))

    def asked(given: Any, *values: Any) -> Any:
        if sql in given and next(calls, None) is None:
            team.server.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = %s AND pid <> (SELECT min(pid) FROM"
                " pg_stat_activity WHERE datname = %s)",
                (team.database, team.database),
            )
        return ask(given, *values)

    hub.ask = asked  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="again"):
        HubSync(team.engine(name), hub, ALL).run()


def test_status_counts_unsent_and_unread(two: Team) -> None:
    put(two, "ann", note("note-a"), note("note-b"))

    def count() -> tuple[int | None, int]:
        row = hub_status(two.hub, ALL, two.store("ann"))
        return row["unsent"], row["unread"]

    assert count() == (None, 0)
    two.sync("ann")
    assert count() == (0, 0)
    put(two, "ann", note("note-a", "x", LATER))
    two.sync("bob")
    put(two, "bob", note("note-c"))
    two.sync("bob")
    assert count() == (1, 1)


# --- restored hubs and stores


def test_stores_continue_at_a_restored_dump(two: Team) -> None:
    server = two.server
    put(two, "ann", note("note-a", "one"))
    two.sync("ann"), two.sync("bob")
    dump = server.program("pg_dump", "--schema=lore", "--inserts", two.database)
    copy = server.a_database()
    server.rows("CREATE EXTENSION vector", database=copy)
    server.rows(
        "".join(line for line in dump.splitlines(keepends=True) if line[0] != "\\"), database=copy
    )
    put(two, "ann", note("note-b"))
    two.sync("ann")  # after the dump: the copy lacks it
    two.database = copy
    two.hub = two.connected()
    done = two.sync("ann")
    assert done.anew and (done.sent, done.known) == (1, 1)
    two.sync("bob")
    assert ids(two.store("bob")) == ["note-a", "note-b"]


def test_a_restored_store_gets_later_records_back(two: Team) -> None:
    put(two, "ann", note("note-a"))
    two.sync("ann")
    backup = Path(two.folder, "ann", "search.db").read_bytes()
    put(two, "ann", note("note-b"))
    two.sync("ann")
    two.store("ann").close()
    folder = Path(two.folder, "ann-again")
    folder.mkdir()
    (folder / "search.db").write_bytes(backup)
    two.sync("ann-again")
    assert ids(two.store("ann-again")) == ["note-a", "note-b"]


def test_a_broken_line_is_skipped(two: Team) -> None:
    put(two, "ann", note("note-a"))
    two.sync("ann")
    two.hub.ask("UPDATE lore.lines SET line = '{\"id\": 7}' WHERE owner = 'note-a'")
    put(two, "ann", note("note-b"))
    two.sync("ann")
    came = two.sync("bob").came_in
    assert ids(two.store("bob")) == ["note-b"]
    assert [place for place, _ in came.skipped] == ["team: line 1"]


def test_a_store_passes_lines_between_two_hubs(
    two: Team, postgres_server: postgres.Server, tmp_path: Path
) -> None:
    put(two, "bob", note("note-b"))
    two.sync("bob")
    with team(postgres_server, tmp_path / "other") as other:
        other.hub.name = "other"
        two.sync("ann")

        def sync() -> int:
            return HubSync(two.engine("ann"), other.hub, ALL).run().sent

        assert sync() == 1
        put(two, "bob", note("note-c"))
        two.sync("bob"), two.sync("ann")
        assert (sync(), sync()) == (1, 0)
        other.sync("carl")
        assert ids(other.store("carl")) == ["note-b", "note-c"]


def test_readers_receive_lines_and_send_none(two: Team) -> None:
    put(two, "ann", note("note-a"))
    two.sync("ann")
    user = two.server.a_role("only-reader", "lore_reader")
    put(two, "bob", note("note-b"))
    done = two.sync("bob", user=user)
    assert (done.may_only_read, done.sent, done.came_in.added) == (user, 0, 1)
    assert ids(two.store("bob")) == ["note-a", "note-b"]
    two.server.rows(f'GRANT lore_writer TO "{user}"')
    assert two.sync("bob", user=user).sent == 1


def test_refused_lines_stay_and_all_sends_them_again(two: Team) -> None:
    user = two.server.a_role("scopeless", "lore_writer")
    put(two, "bob", note("note-b"), note("note-c@@red"))
    takes, said = Takes("scopes=*"), []
    for all in (False, False, True):
        said.append([id for id, _ in two.sync("bob", takes, user=user, all=all).refused])
    assert said == [["note-c@@red"], [], ["note-c@@red"]]
    assert ids_at_hub(two) == ["note-b"]


def test_a_curator_settles_a_refused_purge(two: Team) -> None:
    user = two.server.a_role("mere-writer", "lore_writer")
    put(two, "ann", note("note-a"))
    two.sync("ann")
    two.sync("bob", user=user)
    Records(two.store("bob"), two.engine("bob").settings, None).forget(["note-a"], purge=True)
    [(id, why)] = two.sync("bob", user=user).refused
    assert id == "note-a" and "which a curator may" in why
    assert two.sync("bob", user=user).refused == []
    assert two.store("bob").nodes.get("note-a") is None
    two.server.rows(f'GRANT lore_curator TO "{user}"')
    assert two.sync("bob", user=user, all=True).refused == []
    assert two.sync("ann").came_in.updated == 0
    assert two.store("ann").nodes.get("note-a") is None


def test_only_the_long_line_is_refused(two: Team) -> None:
    two.hub.ask("UPDATE lore.meta SET value = '2000' WHERE name = 'longest'")
    put(two, "ann", note("note-huge", "x" * 3000), note("note-a"))
    done = two.sync("ann")
    [(id, why)] = done.refused
    assert id == "note-huge" and why.startswith("is longer than ") and done.sent >= 1
    assert two.sync("bob").came_in.added >= 1


def test_a_hub_of_another_version_is_refused(two: Team) -> None:
    two.hub.ask("UPDATE lore.meta SET value = '999' WHERE name = 'version'")
    with pytest.raises(LoreError, match=r"version 999.*make a new hub"):
        two.sync("ann")
