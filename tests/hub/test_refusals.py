"""Lines that a hub refuses, by role."""

from __future__ import annotations

import json
import threading
import time

import postgres
import pytest
from hubs import AT, DENIED, PeopledHub, edge, note, purged, sent

from pylore.core.errors import StoreError
from pylore.hub.connection import connect, make_schema

LATER = "2026-02-28T12:00:00Z"
NO_LINES: dict[str, list[str]] = {
    "two things in one": note("note-x", from_id="note-1", to_id="note-2", relation="uses"),
    "a deletion too": note("note-x", purged="note-blue@@blue", at=AT),
    "a past that is a deletion": note("note-x", kind="state_of", purged="note-1"),
    "code": note("file-a.py"),
    "a list": sent(AT, [1]),
    "no id": sent(AT, {"title": "x"}),
    "an id of another type": sent(AT, {"id": None}),
    "an edge to nothing": sent(AT, {"from_id": "note-1", "relation": "uses", "created_at": AT}),
    "an edge with half a history": sent(AT, {"history_of": "note-1", "stamp": AT}),
}


@pytest.mark.parametrize("what", NO_LINES)
def test_invalid_lines_are_refused(hub: PeopledHub, what: str) -> None:
    [(place, why)] = hub.push("ann", NO_LINES[what], note("note-1"))
    assert place == 0 and why in ("is not a line of an export", "is no record")


NOT_TAKEN: dict[str, tuple[str, list[str], str]] = {
    "another scope's": ("ann", note("note-x@@blue"), "is of scope blue, which you are not in"),
    "another scope's edge": ("ann", edge("note-1", "uses@@blue", "note-2"), "is of scope blue"),
    "an edge of two scopes": ("ann", edge("note-x@@red", "uses", "note-y@@blue"), "two scopes"),
    "a deletion": ("ann", purged("note-1", LATER), "which a curator may"),
    "a curator's in another scope": ("cur", purged("note-red@@red", LATER), "is of scope red"),
    "a decision": ("ann", note("note-staged", LATER), "which a curator may"),
    "a decision, forgotten": ("ann", note("note-staged", LATER, invalidated_at=LATER), "curator"),
    "a decision of the same second": ("ann", note("note-staged", body="x"), "which a curator may"),
    "a decision long ago": (
        "ann",
        note("note-staged", LATER, kind="state_of", status="confirmed"),
        "which a curator may",
    ),
    "a decision on an edge": ("ann", edge("note-1", "relates_to", "note-3", LATER), "curator"),
    "the future": ("ann", note("note-x", "2099-01-01T00:00:00Z"), "set your clock"),
}


@pytest.mark.parametrize("case", NOT_TAKEN)
def test_writers_are_refused_other_scopes_and_decisions(hub: PeopledHub, case: str) -> None:
    user, line, reason = NOT_TAKEN[case]
    [(place, why)] = hub.push(user, note("note-1"), line)
    assert place == 1 and reason in why


def test_writers_push_to_their_scopes(hub: PeopledHub) -> None:
    assert (
        hub.push(
            "ann",
            note("note-new@@red"),
            note("note-staged", LATER, status="staged"),
            note("note-staged", "2025-01-01T00:00:00Z", kind="state_of"),
            edge("note-new@@red", "uses", "note-1"),
        )
        == []
    )
    assert hub.push("tom", note("note-of-tom@@red")) == []  # the team is in that scope
    assert hub.do("SELECT by_role FROM lore.lines WHERE owner = 'note-of-tom@@red'") == [("tom",)]


def test_readers_cannot_push(hub: PeopledHub) -> None:
    for user in ("a-none", "a-reader"):
        with pytest.raises(Exception) as raised:
            hub.push(user, note("note-x"))
        assert raised.value.sqlstate == DENIED  # type: ignore[attr-defined]


def test_a_curator_confirms_and_purges(own_hub: PeopledHub) -> None:
    assert own_hub.push("cur", note("note-staged", LATER), purged("note-1", LATER)) == []
    assert own_hub.do("SELECT status FROM lore.nodes WHERE id = 'note-staged'") == [("confirmed",)]
    assert own_hub.do("SELECT line FROM lore.lines WHERE kind = 'id' AND key = 'note-1'") == [("",)]


def test_a_purge_covers_concurrent_pushes(own_hub: PeopledHub) -> None:
    with own_hub.connected("ann") as ann, ann.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT lore.push(%s)", (json.dumps([note("note-1", body="late")]),))
        purge = threading.Thread(target=own_hub.push, args=("cur", purged("note-1", LATER)))
        purge.start()
        time.sleep(0.2)
        cursor.execute("COMMIT")
        purge.join()
    left = "SELECT count(*) FROM lore.lines WHERE owner = 'note-1' AND line LIKE '%late%'"
    assert own_hub.do(left) == [(0,)]
    own_hub.push("ann", note("note-1", body="later still"))
    assert own_hub.do("SELECT count(*) FROM lore.nodes WHERE id = 'note-1' AND type <> ''") == [
        (0,)
    ]


def test_another_owners_schema_is_refused(postgres_server: postgres.Server) -> None:
    database = postgres_server.a_database()
    stranger = postgres_server.a_role("stranger")
    postgres_server.rows(f"CREATE SCHEMA lore AUTHORIZATION {stranger}", database=database)
    with (
        connect(postgres_server.url(database), "team") as hub,
        pytest.raises(StoreError, match="different owner"),
    ):
        make_schema(hub, 1_000_000)


def test_bad_lines_stop_no_others(own_hub: PeopledHub) -> None:
    long = note("note-" + "x" * 3000)[1]
    bad = ["", "{", '{"id": "note-x\\u0000"}', "[" * 30000, long, '{"id": ""}']
    lines = [[AT, line] for line in bad]
    refused = own_hub.push("ann", *lines, note("note-good", confidence=7, tags="t", weight=[]))
    assert [place for place, _ in refused] == [*range(len(bad))]
    sql = "SELECT brief FROM lore.shown('{note-good}', '{}')"
    [(brief,)] = own_hub.do(sql)
    assert (brief[4], brief[8]) == (1, "")
