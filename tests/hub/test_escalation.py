"""Attempts to gain rights at a hub."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hubs import DENIED, PeopledHub, note, outcome, purged

LATER = "2026-02-28T12:00:00Z"
AS_WRITER = (
    "SET ROLE lore_curator",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION cur",
    "GRANT lore_curator TO ann",
    'GRANT lore_writer TO "a-none"',
    "ALTER ROLE ann BYPASSRLS",
    "INSERT INTO lore.members VALUES ('ann', 'blue')",
    "DROP POLICY scopes ON lore.nodes",
    "CREATE POLICY mine ON lore.nodes USING (true)",
    "ALTER FUNCTION lore.push(jsonb) SECURITY INVOKER",
    "COPY lore.members TO STDOUT",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY lore.lines FROM PROGRAM 'true'",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT lo_import('/etc/passwd')",
    "ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA lore GRANT ALL ON TABLES TO ann",
    "CREATE TRIGGER mine BEFORE INSERT ON lore.lines EXECUTE FUNCTION tsvector_update_trigger()",
    "CREATE RULE mine AS ON INSERT TO lore.lines DO INSTEAD NOTHING",
    "CREATE TABLE pg_temp.mine(x bigint REFERENCES lore.nodes(key))",
    "CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION lore.push()",
)


@pytest.mark.parametrize("sql", AS_WRITER)
def test_a_writer_gains_no_rights(hub: PeopledHub, sql: str) -> None:
    with hub.connected("ann") as connection:
        assert outcome(connection, sql) in (DENIED, "42P16", "42804"), sql


SHADOWS = (
    "CREATE TEMP TABLE members(role name, scope text)",
    "INSERT INTO pg_temp.members VALUES ('ann', 'blue')",
    "CREATE TEMP TABLE pg_roles AS SELECT 'lore_curator'::name AS rolname, oid FROM pg_roles",
    "CREATE TEMP TABLE nodes AS SELECT 'note-staged' AS id, 'confirmed' AS status, '' AS order_key",
    "CREATE TEMP TABLE lines(kind text, owner text, scope text, key text, line text)",
    "CREATE FUNCTION mine.my_scopes() RETURNS text[] LANGUAGE sql AS $$SELECT ARRAY['', 'blue']$$",
    "CREATE FUNCTION mine.is_a(text) RETURNS bool LANGUAGE sql AS 'SELECT true'",
    "CREATE FUNCTION mine.pg_has_role(name, oid, text) RETURNS bool LANGUAGE sql AS 'SELECT true'",
    "CREATE FUNCTION mine.strpos(text, text) RETURNS int LANGUAGE sql AS $$SELECT 0$$",
    "CREATE FUNCTION mine.same(text, text) RETURNS bool LANGUAGE sql AS 'SELECT true'",
    "CREATE OPERATOR mine.= (LEFTARG = text, RIGHTARG = text, FUNCTION = mine.same)",
)


@pytest.mark.parametrize(
    "path", ("pg_temp, mine, lore, pg_catalog", "mine, pg_temp, pg_catalog, lore")
)
def test_shadowing_objects_are_not_used(hub: PeopledHub, path: str) -> None:
    with hub.connected("postgres") as connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS mine CASCADE; CREATE SCHEMA mine AUTHORIZATION ann")
    with hub.connected("ann") as connection, connection.cursor() as cursor:
        for sql in SHADOWS:
            cursor.execute(sql)
        cursor.execute(f"SET search_path = {path}")
        cursor.execute("SELECT count(*) FROM lore.nodes WHERE scope OPERATOR(pg_catalog.=) 'blue'")
        assert cursor.fetchall() == [(0,)]
        cursor.execute("SELECT line FROM lore.lines")
        assert "quagga" not in str(cursor.fetchall())
        batch = [note("note-x@@blue"), note("note-staged", LATER), purged("note-1", LATER)]
        cursor.execute("SELECT lore.push(%s)", (json.dumps(batch),))
        assert [place for place, *_ in cursor.fetchone()[0]["refused"]] == [0, 1, 2]
        cursor.execute("SELECT count(*) FROM pg_temp.lines")
        assert cursor.fetchall() == [(0,)]


def test_set_role_does_not_change_the_author(hub: PeopledHub) -> None:
    hub.server.a_role("both", "ann", "lore_reader")
    with hub.connected("both") as connection, connection.cursor() as cursor:
        cursor.execute("SET ROLE ann")
        cursor.execute("SELECT lore.push(%s)", (json.dumps([note("note-of-both")]),))
    assert hub.do("SELECT by_role FROM lore.lines WHERE owner = 'note-of-both'") == [("both",)]


@pytest.mark.parametrize(
    "given", ("NULL", "'null'", "'[]'", "'[null]'", "'[{}]'", "'[[]]'", "'{}'", "'7'")
)
def test_pushes_of_invalid_batches_change_nothing(hub: PeopledHub, given: str) -> None:
    before = hub.do("SELECT count(*) FROM lore.lines")
    with suppress(Exception):
        hub.do(f"SELECT lore.push({given})", user="ann")
    assert hub.do("SELECT count(*) FROM lore.lines") == before
