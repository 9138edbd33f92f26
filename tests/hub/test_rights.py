"""Rights of each role at a hub, tried by logging in."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hubs import DENIED, ROLES, PeopledHub, note, outcome

NOBODY = len(ROLES)

READABLE_FROM = {
    "meta": "reader",
    "lines": "reader",
    "nodes": "reader",
    "edges": "reader",
    # Rows of all scopes: functions filter them.
    "words": "nobody",
    "passages": "nobody",
    "members": "nobody",
}
"""Table to the least role that reads it; only the owner writes tables."""

READER = "hello my_scopes admits shown find near having counts cosines neighbours".split()
WRITER = "push lacking put settle".split()
OWNER = """
last_line share rows_of refusal update_heads is_taken decides entitle brief frequency
""".split()
CALLABLE_FROM = {
    **dict.fromkeys(READER, "reader"),
    **dict.fromkeys(WRITER, "writer"),
    **dict.fromkeys(OWNER, "nobody"),
}
"""Function to the least role that calls it."""


# --- each object × each role


def relations(hub: PeopledHub) -> dict[str, str]:
    """All that has rows in the schema: name → its first column, '' of a sequence."""
    found = hub.do(
        "SELECT c.relname, CASE c.relkind WHEN 'S' THEN '' ELSE a.attname END FROM pg_class c"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1"
        " WHERE relnamespace = 'lore'::regnamespace AND relkind IN ('r', 'v', 'm', 'p', 'f', 'S')"
    )
    return dict(found)


def functions(hub: PeopledHub) -> list[tuple[str, str]]:
    """Return (name, call with NULLs) of the functions of the schema."""
    found = hub.do(
        "SELECT proname, format('SELECT lore.%I(%s)', proname, (SELECT string_agg("
        "  CASE WHEN n = cardinality(proargtypes::oid[]) AND provariadic <> 0 THEN 'VARIADIC '"
        "  ELSE '' END || 'NULL::' || format_type(type, NULL), ', ' ORDER BY n)"
        "  FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS given(type, n)))"
        " FROM pg_proc p WHERE pronamespace = 'lore'::regnamespace AND NOT EXISTS ("
        "   SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')"
    )
    return [(name, call) for name, call in found]


def least(name: str) -> int:
    return ROLES.index(name) if name in ROLES else NOBODY


def test_every_table_and_function_has_a_rule(hub: PeopledHub) -> None:
    sequences = {name for name, column in relations(hub).items() if not column}
    tables = relations(hub).keys() - sequences
    assert tables == READABLE_FROM.keys()
    assert {name for name, _ in functions(hub)} == CALLABLE_FROM.keys()


WRITES = (
    "INSERT INTO lore.{} DEFAULT VALUES",
    "UPDATE lore.{} SET {} = DEFAULT",
    "DELETE FROM lore.{}",
    "TRUNCATE lore.{} CASCADE",
    "LOCK lore.{} IN SHARE MODE",
    "ALTER TABLE lore.{} DISABLE ROW LEVEL SECURITY",
    "CREATE INDEX ON lore.{}({})",
    "COMMENT ON TABLE lore.{} IS ''",
    "DROP TABLE lore.{} CASCADE",
)
SEQUENCES = ("SELECT nextval('lore.{}')", "SELECT setval('lore.{}', 9)")


@pytest.mark.parametrize("role", ROLES)
def test_roles_read_their_tables_and_write_none(hub: PeopledHub, role: str) -> None:
    found, expected = {}, {}
    with hub.connected(f"a-{role}") as connection:
        for name, column in relations(hub).items():
            reads = f"SELECT 1 FROM lore.{name} LIMIT 1"
            may = ROLES.index(role) >= least(READABLE_FROM.get(name, "nobody"))
            expected[reads] = "" if may else DENIED
            for attempt in (reads, *(WRITES if column else SEQUENCES)):
                sql = attempt.format(name, column)
                found[sql] = outcome(connection, sql)
                expected.setdefault(sql, DENIED)
    assert found == expected


@pytest.mark.parametrize("role", ROLES)
def test_roles_call_their_functions(hub: PeopledHub, role: str) -> None:
    with hub.connected(f"a-{role}") as connection:
        denied = {name for name, call in functions(hub) if outcome(connection, call) == DENIED}
    rank = ROLES.index(role)
    assert denied == {name for name, who in CALLABLE_FROM.items() if rank < least(who)}


def test_no_role_creates_objects_in_the_schema(hub: PeopledHub) -> None:
    for role in ROLES:
        with hub.connected(f"a-{role}") as connection:
            for sql in (
                "CREATE TABLE lore.mine(x int)",
                "CREATE FUNCTION lore.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                "CREATE OR REPLACE FUNCTION lore.my_scopes() RETURNS text[] LANGUAGE sql AS"
                " 'SELECT ARRAY[''red'']'",
                "ALTER SCHEMA lore RENAME TO mine",
                "DROP SCHEMA lore CASCADE",
            ):
                assert outcome(connection, sql) == DENIED, (role, sql)


# --- scopes

WHO_SEES = {"a-reader": "", "a-curator": "", "ann": "red", "tom": "red", "bob": "blue"}
SECRETS = {"red": ("@@red", "zebra"), "blue": ("@@blue", "quagga")}


@pytest.mark.parametrize("user", WHO_SEES)
def test_tables_hide_other_scopes(hub: PeopledHub, user: str) -> None:
    hidden = [word for scope in SECRETS if scope != WHO_SEES[user] for word in SECRETS[scope]]
    shown = []
    for name, column in relations(hub).items():
        if column:
            with suppress(Exception):  # not readable
                shown += hub.do(f"SELECT t::text FROM lore.{name} t", user=user)
    text = "\n".join(row for (row,) in shown)
    assert "note-1" in text
    assert [word for word in hidden if word in text] == []
    assert all(word in text for word in SECRETS.get(WHO_SEES[user], ()))


def test_the_superuser_sees_all_scopes(hub: PeopledHub) -> None:
    assert hub.do("SELECT lore.my_scopes()") == [(["", "blue", "red"],)]
    assert hub.do("SELECT count(*) FROM lore.nodes WHERE scope <> ''") == [(2,)]


def test_errors_and_statistics_hide_other_scopes(hub: PeopledHub) -> None:
    hub.do("ANALYZE")
    notices: list[str] = []
    with hub.connected("bob") as connection, connection.cursor() as cursor:
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        cursor.execute(
            "CREATE FUNCTION pg_temp.told(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS"
            " $$BEGIN RAISE NOTICE '%', $1; RETURN false; END$$"
        )
        for table, column in (("nodes", "text"), ("lines", "line"), ("nodes", "id")):
            cursor.execute(f"SELECT * FROM lore.{table} WHERE pg_temp.told({column})")
            with pytest.raises(Exception) as raised:
                cursor.execute(f"SELECT ({column} || 'x')::int FROM lore.{table}")
            assert "red" not in str(raised.value) and "zebra" not in str(raised.value)
            cursor.execute("SELECT * FROM pg_stats WHERE tablename = %s", (table,))
            assert cursor.fetchall() == []
        assert notices and "zebra" not in "".join(notices)
        cursor.execute("SET row_security = off")
        with pytest.raises(Exception) as raised:
            cursor.execute("SELECT * FROM lore.nodes")
        assert raised.value.sqlstate == DENIED  # type: ignore[attr-defined]


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
