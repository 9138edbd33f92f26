"""The log of a hub names senders."""

from __future__ import annotations

from hubs import PeopledHub, note

LOG = "SELECT by_role, kind, owner, scope FROM lore.lines WHERE seq > %s ORDER BY seq"


def test_the_log_names_senders_of_visible_lines(own_hub: PeopledHub) -> None:
    start = own_hub.do("SELECT max(seq) FROM lore.lines")[0]
    own_hub.push("bob", note("note-a"), note("note-a"), note("note-b@@blue"))
    own_hub.push("tom", note("note-a", "2025-01-01T00:00:00Z", kind="state_of"))
    rows = [
        ("bob", "id", "note-a", ""),
        ("bob", "id", "note-b@@blue", "blue"),
        ("tom", "state_of", "note-a", ""),
    ]
    assert own_hub.do(LOG, start) == rows
    assert own_hub.do(LOG, start, "cur") == [rows[0], rows[2]]
