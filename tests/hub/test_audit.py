"""Who did what at a hub, and who is let in: the audit, roles and scopes."""

from __future__ import annotations

import pytest
from hub_lines import edge, note
from hubs import ROLES, PeopledHub

LATER = "2026-02-28T12:00:00Z"


def test_the_audit_is_only_added_to_even_by_who_keeps_the_hub(hub: PeopledHub) -> None:
    for sql in (
        "UPDATE lore.audit SET role = 'x'",
        "DELETE FROM lore.audit",
        "TRUNCATE lore.audit",
    ):
        with pytest.raises(Exception) as raised:
            hub.do(sql)
        assert "only added to" in str(raised.value)


def test_the_audit_says_who_did_what(own_hub: PeopledHub) -> None:
    start = own_hub.do("SELECT max(seq) FROM lore.audit")[0][0]
    early, later, latest = "2025-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z"
    for line in (
        note("note-a"), note("note-a", later, body="more"),
        note("note-a", latest, invalidated_at=latest), note("note-a", LATER),
        note("note-a", early), note("note-a", early, kind="state"),
        edge("note-a", "uses", "note-1"),
        edge("note-a", "uses", "note-1", later, invalidated_at=later),
    ):  # fmt: skip
        assert own_hub.push("bob", line) == []
    own_hub.push("bob", note("note-b@@blue"))
    own_hub.do("SELECT lore.let('ann', 'reader', '')")
    assert own_hub.do(
        "SELECT lore.knows(ARRAY[md5('note-a'), md5('note-b@@blue')])", user="cur"
    ) == [(own_hub.do("SELECT md5('note-a')")[0][0],)]
    rows = "SELECT role, action, kind, owner, detail, scope FROM lore.audit WHERE seq > %s"
    assert own_hub.do(rows + " ORDER BY seq", (start,)) == [
        ("bob", "add", "node", "note-a", "", ""),
        ("bob", "edit", "node", "note-a", "", ""),
        ("bob", "forget", "node", "note-a", "", ""),
        ("bob", "restore", "node", "note-a", "", ""),
        ("bob", "link", "edge", "note-a", "note-1 uses", ""),
        ("bob", "unlink", "edge", "note-a", "note-1 uses", ""),
        ("bob", "add", "node", "note-b@@blue", "", "blue"),
        ("postgres", "grant", "role", "ann", "reader", ""),
    ]  # fmt: skip
    assert len(own_hub.do(rows, (start,), "cur")) == 7  # who is not in that scope
    own_hub.do("SELECT lore.let('ann', 'writer', 'red')")


# --- granting


def test_one_has_one_role_and_loses_all_at_once(own_hub: PeopledHub) -> None:
    name = own_hub.server.a_role("new")

    def can() -> list[bool]:
        asked = "SELECT pg_has_role('new', %s, 'USAGE')"
        return [own_hub.do(asked, (f"lore_{role}",))[0][0] for role in ROLES[1:]]

    own_hub.do("SELECT lore.let(%s, 'curator', '')", (name,))
    assert can() == [True, True, True]
    own_hub.do("SELECT lore.let(%s, 'reader', 'red')", (name,))
    assert can() == [True, False, False]
    assert own_hub.do("SELECT lore.my_scopes()", user=name) == [(["", "red"],)]
    assert own_hub.do("SELECT lore.bar(%s, 'red'), lore.bar(%s, 'red')", (name, name)) == [
        (True, False)
    ]
    assert can() == [True, False, False]
    assert own_hub.do("SELECT lore.bar(%s, '')", (name,)) == [(True,)]
    assert can() == [False, False, False]


def test_odd_names_are_names(own_hub: PeopledHub) -> None:
    name = own_hub.server.a_role('x"; DROP TABLE lore.lines; --'.replace('"', "'"))
    own_hub.do("SELECT lore.let(%s, 'writer', 'red')", (name,))
    assert own_hub.push(name, note("note-odd@@red")) == []
    for who, what in (("nobody at all", "reader"), ("ann", "lord")):
        with pytest.raises(Exception) as raised:
            own_hub.do("SELECT lore.let(%s, %s, '')", (who, what))
        assert raised.value.sqlstate in ("42704", "22023")  # type: ignore[attr-defined]
