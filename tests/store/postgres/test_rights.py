"""Who may do what at a hub, tried from the outside: by SQL, as whoever may log in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import postgres
import pytest
from hub_lines import AT, edge, note, purged, relation
from hub_lines import sent as a_line
from hubs import a_hub

ROLES = ("none", "reader", "writer", "curator")
NOBODY = len(ROLES)

READABLE_FROM = {
    "meta": "reader", "types": "reader", "relations": "reader", "lines": "reader",
    "nodes": "reader", "edges": "reader", "audit": "curator", "members": "nobody",
}  # fmt: skip
"""Who may read a table, view or sequence; nobody may write any, but for who owns the hub."""

CALLABLE_FROM = {
    "hello": "reader", "pull": "reader", "is_a": "reader", "is_owner": "reader",
    "my_scopes": "reader", "whose": "reader", "push": "writer",
    "place": "nobody", "said": "nobody", "why_not": "nobody", "stand": "nobody",
    "take_away": "nobody", "is_as_said": "nobody", "confirms": "nobody",
    "keep_audit": "nobody", "note_lines": "nobody", "let": "nobody", "bar": "nobody",
    "take_role": "nobody",
}  # fmt: skip
"""Who may call a function."""

DENIED = "42501"


class Tried:
    """A hub with members: ``none``, ``reader``, ``writer``, ``curator``, and those of two scopes."""

    def __init__(self, server: postgres.Server) -> None:
        self.server = server
        self.database = a_hub(server)
        for name in ROLES:
            server.a_role(f"a-{name}", *([f"lore_{name}"] if name != "none" else []))
        for name, role in (("ann", "writer"), ("bob", "writer"), ("cur", "curator")):
            server.a_role(name, f"lore_{role}")
        server.a_role("team", "lore_writer")
        server.a_role("tom", "team")
        for name, scope in (("ann", "red"), ("bob", "blue"), ("team", "red")):
            self.do("SELECT lore.let(%s, 'writer', %s)", (name, scope))
        self.push("postgres", note("note-1"), note("note-red@@red", body="zebra"),
                  note("note-blue@@blue", body="quagga"), edge("note-1", "uses@@red", "note-2"),
                  edge("note-red@@red", "uses", "note-far@@red"), relation("uses@@red"),
                  note("note-staged", status="staged"),
                  edge("note-1", "relates_to", "note-3", status="staged"))  # fmt: skip

    def do(self, sql: str, values: object = None, user: str = "postgres") -> list[tuple[Any, ...]]:
        return self.server.rows(sql, values, self.database, user)

    def push(self, user: str, *lines: dict[str, str]) -> list[list[Any]]:
        """What was refused, as [place, reason]."""
        done = self.do("SELECT lore.push(%s)", (json.dumps(lines),), user)[0][0]
        assert done["taken"] + done["known"] + len(done["refused"]) == len(lines)
        refused: list[list[Any]] = done["refused"]
        return refused

    def connected(self, user: str) -> Any:
        return closing(postgres.connect(self.server.url(self.database, user)))


@pytest.fixture(scope="module")
def hub(postgres_server: postgres.Server) -> Iterator[Tried]:
    yield Tried(postgres_server)


def outcome(connection: Any, sql: str) -> str:
    """The SQLSTATE by which a statement ended, '' where it went well; it is undone."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        try:
            cursor.execute(sql)
            return ""
        except Exception as error:
            return str(getattr(error, "pgcode", "")) or repr(error)
        finally:
            cursor.execute("ROLLBACK")


# --- each object × each role


def relations(hub: Tried) -> dict[str, str]:
    """All that has rows in the schema: name → its first column, '' of a sequence."""
    found = hub.do(
        "SELECT c.relname, CASE c.relkind WHEN 'S' THEN '' ELSE a.attname END FROM pg_class c"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1"
        " WHERE relnamespace = 'lore'::regnamespace AND relkind IN ('r', 'v', 'm', 'p', 'f', 'S')"
    )
    return dict(found)  # type: ignore[arg-type]


def functions(hub: Tried) -> list[tuple[str, str]]:
    """(name, a call with nothing but NULL) of each that is not an extension's."""
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


def test_somebody_has_decided_on_every_table_and_function(hub: Tried) -> None:
    sequences = {name for name, column in relations(hub).items() if not column}
    assert relations(hub).keys() - sequences == READABLE_FROM.keys()
    assert {name for name, _ in functions(hub)} == CALLABLE_FROM.keys()


@pytest.mark.parametrize("role", ROLES)
def test_each_role_reads_what_it_may_and_writes_no_table(hub: Tried, role: str) -> None:
    found, expected = {}, {}
    with hub.connected(f"a-{role}") as connection:
        for name, column in relations(hub).items():
            reads = f"SELECT 1 FROM lore.{name} LIMIT 1"
            may = ROLES.index(role) >= least(READABLE_FROM.get(name, "nobody"))
            expected[reads] = "" if may else DENIED
            if not column:
                attempts = [reads, f"SELECT nextval('lore.{name}')", f"SELECT setval('lore.{name}', 9)"]
            else:
                attempts = [reads, f"INSERT INTO lore.{name} DEFAULT VALUES",
                    f"UPDATE lore.{name} SET {column} = DEFAULT", f"DELETE FROM lore.{name}",
                    f"TRUNCATE lore.{name} CASCADE", f"LOCK lore.{name} IN SHARE MODE",
                    f"ALTER TABLE lore.{name} DISABLE ROW LEVEL SECURITY",
                    f"CREATE INDEX ON lore.{name}({column})", f"COMMENT ON TABLE lore.{name} IS ''",
                    f"DROP TABLE lore.{name} CASCADE"]  # fmt: skip
            for sql in attempts:
                found[sql] = outcome(connection, sql)
                expected.setdefault(sql, DENIED)
    assert found == expected


@pytest.mark.parametrize("role", ROLES)
def test_each_role_calls_what_it_may(hub: Tried, role: str) -> None:
    with hub.connected(f"a-{role}") as connection:
        denied = {name for name, call in functions(hub) if outcome(connection, call) == DENIED}
    rank = ROLES.index(role)
    assert denied == {name for name, who in CALLABLE_FROM.items() if rank < least(who)}


def test_nobody_makes_anything_in_the_schema_of_a_hub(hub: Tried) -> None:
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
def test_no_table_shows_what_is_of_another_scope(hub: Tried, user: str) -> None:
    hidden = [word for scope in SECRETS if scope != WHO_SEES[user] for word in SECRETS[scope]]
    shown = []
    for name, column in relations(hub).items():
        if column:
            with suppress(Exception):  # what may not be read at all
                shown += hub.do(f"SELECT t::text FROM lore.{name} t", user=user)
    shown += hub.do("SELECT lore.pull('0', 0, 1000)::text", user=user)
    text = "\n".join(row for (row,) in shown)
    assert "note-1" in text
    assert [word for word in hidden if word in text] == []
    assert all(word in text for word in SECRETS.get(WHO_SEES[user], ()))


def test_who_keeps_the_hub_sees_all_of_it(hub: Tried) -> None:
    assert hub.do("SELECT lore.my_scopes()") == [(["", "blue", "red"],)]
    assert hub.do("SELECT count(*) FROM lore.nodes WHERE scope <> ''") == [(3,)]


def test_nothing_tells_of_hidden_rows_by_the_way(hub: Tried) -> None:
    hub.do("ANALYZE")
    with hub.connected("bob") as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION pg_temp.told(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS"
            " $$BEGIN RAISE NOTICE '%', $1; RETURN false; END$$"
        )
        for table, column in (("nodes", "body"), ("lines", "line"), ("relations", "name")):
            cursor.execute(f"SELECT * FROM lore.{table} WHERE pg_temp.told({column})")
            with pytest.raises(Exception) as raised:
                cursor.execute(f"SELECT {column}::int FROM lore.{table}")
            assert "red" not in str(raised.value) and "zebra" not in str(raised.value)
            cursor.execute("SELECT * FROM pg_stats WHERE tablename = %s", (table,))
            assert cursor.fetchall() == []
        assert connection.notices and "zebra" not in "".join(connection.notices)
        cursor.execute("SET row_security = off")
        with pytest.raises(Exception) as raised:
            cursor.execute("SELECT * FROM lore.nodes")
        assert raised.value.pgcode == DENIED  # type: ignore[attr-defined]


# --- what a push does not take


def lied(sent: dict[str, str], **other: str) -> dict[str, str]:
    return {**sent, **other}


def said(line: dict[str, str], **fields: Any) -> dict[str, str]:
    return {**line, "line": json.dumps({**json.loads(line["line"]), **fields})}


LATER = "2026-02-28T12:00:00Z"
LIES: dict[str, dict[str, str]] = {
    "of no scope": lied(note("note-x@@blue"), scope=""),
    "of one's own scope": lied(note("note-x@@blue"), scope="red"),
    "of another id": lied(note("note-x@@blue"), scope="red", owner="note-x@@red", key="note-x@@red"),
    "of another key": lied(note("note-x"), key="note-y"),
    "of another owner": lied(note("note-x"), owner="note-y"),
    "of another kind": lied(note("note-x"), kind="edge"),
    "of no kind": lied(note("note-x"), kind="hello"),
    "two things in one": said(note("note-x"), from_id="note-1", to_id="note-2", relation="uses"),
    "a deletion too": said(note("note-x"), purged="note-blue@@blue"),
    "older than it is": lied(note("note-staged", LATER), order=AT),
    "later than it is": lied(note("note-x"), order=LATER),
    "a list": lied(note("note-x"), line="[1]"),
    "no id": lied(note("note-x"), line='{"title": "x"}'),
    "an id of another type": lied(note("7"), line='{"id": null}'),
    "an anchor of another": a_line("anchor", "note-x", "note-1\x1ffile\x1fa\x1f", AT, {"anchor_of": "note-x"}),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_line_is_taken_for_what_it_says_not_for_what_it_was_sent_as(hub: Tried, lie: str) -> None:
    assert hub.push("ann", LIES[lie], note("note-1")) == [[0, "is not what it was sent as"]]


NOT_TAKEN: dict[str, tuple[str, dict[str, str], str]] = {
    "another scope's": ("ann", note("note-x@@blue"), "is of scope blue, which you are not in"),
    "another scope's edge": ("ann", edge("note-1", "uses@@blue", "note-2"), "is of scope blue"),
    "an edge of two scopes": ("ann", edge("note-x@@red", "uses", "note-y@@blue"), "ties two scopes"),
    "a deletion": ("ann", purged("note-1", LATER), "which a curator may"),
    "a curator's in another scope": ("cur", purged("note-red@@red", LATER), "is of scope red"),
    "a decision": ("ann", note("note-staged", LATER), "which a curator may"),
    "a decision, forgotten": ("ann", note("note-staged", LATER, invalidated_at=LATER), "which a curator"),
    "a decision of the same second": ("ann", note("note-staged", body="x"), "which a curator may"),
    "a decision long ago": ("ann", note("note-staged", LATER, kind="state"), "which a curator may"),
    "a decision on an edge": ("ann", edge("note-1", "relates_to", "note-3", LATER), "which a curator"),
    "the future": ("ann", note("note-x", "2099-01-01T00:00:00Z"), "set your clock"),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_TAKEN)
def test_a_writer_decides_nothing_and_writes_in_no_scope_of_others(hub: Tried, case: str) -> None:
    user, line, reason = NOT_TAKEN[case]
    [(place, why)] = hub.push(user, note("note-1"), line)
    assert place == 1 and reason in why


def test_what_a_writer_may(hub: Tried) -> None:
    assert hub.push("ann", note("note-new@@red"), note("note-staged", LATER, status="staged"),
                    note("note-staged", "2025-01-01T00:00:00Z", kind="state"),
                    edge("note-new@@red", "uses", "note-1")) == []  # fmt: skip
    assert hub.push("tom", note("note-of-tom@@red")) == []  # whose team is in that scope
    assert hub.do("SELECT by_role FROM lore.lines WHERE owner = 'note-of-tom@@red'") == [("tom",)]


def test_a_reader_pushes_nothing(hub: Tried) -> None:
    for user in ("a-none", "a-reader"):
        with pytest.raises(Exception) as raised:
            hub.push(user, note("note-x"))
        assert raised.value.pgcode == DENIED  # type: ignore[attr-defined]


def test_a_curator_confirms_and_deletes_for_good(postgres_server: postgres.Server) -> None:
    hub = Tried(postgres_server)
    assert hub.push("cur", note("note-staged", LATER), purged("note-1", LATER)) == []
    assert hub.do("SELECT status FROM lore.nodes WHERE id = 'note-staged'") == [("confirmed",)]
    assert hub.do("SELECT line FROM lore.lines WHERE kind = 'node' AND key = 'note-1'") == [("",)]
    assert hub.do("SELECT action, owner FROM lore.audit WHERE role = 'cur' ORDER BY seq") == [
        ("confirm", "note-staged"), ("purge", "note-1"),
    ]  # fmt: skip


# --- attempts to become somebody else

AS_WRITER = (
    "SET ROLE lore_curator",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION cur",
    "GRANT lore_curator TO ann",
    "GRANT lore_writer TO \"a-none\"",
    "ALTER ROLE ann BYPASSRLS",
    "SELECT lore.let('ann', 'curator', '')",
    "DROP POLICY scopes ON lore.nodes",
    "CREATE POLICY mine ON lore.nodes USING (true)",
    "ALTER FUNCTION lore.push(jsonb) SECURITY INVOKER",
    "COPY lore.members TO STDOUT",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY lore.lines FROM PROGRAM 'true'",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT lo_import('/etc/passwd')",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA lore GRANT ALL ON TABLES TO ann",
    "CREATE TRIGGER mine BEFORE INSERT ON lore.lines EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE RULE mine AS ON INSERT TO lore.lines DO INSTEAD NOTHING",
    "CREATE TABLE pg_temp.mine(x bigint REFERENCES lore.nodes(key))",
    "CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION lore.keep_audit()",
)  # fmt: skip


@pytest.mark.parametrize("sql", AS_WRITER)
def test_a_writer_becomes_nobody_else(hub: Tried, sql: str) -> None:
    with hub.connected("ann") as connection:
        assert outcome(connection, sql) in (DENIED, "42P16", "42804"), sql


SHADOWS = (
    "CREATE TEMP TABLE members(role name, scope text)",
    "INSERT INTO pg_temp.members VALUES ('ann', 'blue')",
    "CREATE TEMP TABLE pg_roles AS SELECT 'lore_curator'::name AS rolname, oid FROM pg_catalog.pg_roles",
    "CREATE TEMP TABLE nodes AS SELECT 'note-staged' AS id, 'confirmed' AS status, '' AS order_key",
    "CREATE TEMP TABLE lines(kind text, owner text, scope text, key text, order_key text, line text)",
    "CREATE TEMP TABLE audit(action text, kind text, owner text, detail text, scope text)",
    "CREATE FUNCTION mine.my_scopes() RETURNS text[] LANGUAGE sql AS $$SELECT ARRAY['', 'blue']$$",
    "CREATE FUNCTION mine.is_a(text) RETURNS boolean LANGUAGE sql AS $$SELECT true$$",
    "CREATE FUNCTION mine.pg_has_role(name, oid, text) RETURNS boolean LANGUAGE sql AS $$SELECT true$$",
    "CREATE FUNCTION mine.strpos(text, text) RETURNS int LANGUAGE sql AS $$SELECT 0$$",
    "CREATE FUNCTION mine.same(text, text) RETURNS boolean LANGUAGE sql AS $$SELECT true$$",
    "CREATE OPERATOR mine.= (LEFTARG = text, RIGHTARG = text, FUNCTION = mine.same)",
)


@pytest.mark.parametrize("path", ("pg_temp, mine, lore, pg_catalog", "mine, pg_temp, pg_catalog, lore"))
def test_what_a_writer_puts_in_the_way_is_not_taken_for_the_hubs_own(hub: Tried, path: str) -> None:
    with hub.connected("postgres") as connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS mine CASCADE; CREATE SCHEMA mine AUTHORIZATION ann")
    with hub.connected("ann") as connection, connection.cursor() as cursor:
        for sql in SHADOWS:
            cursor.execute(sql)
        cursor.execute(f"SET search_path = {path}")
        cursor.execute("SELECT count(*) FROM lore.nodes WHERE scope OPERATOR(pg_catalog.=) 'blue'")
        assert cursor.fetchall() == [(0,)]
        cursor.execute("SELECT line FROM lore.pull('0', 0, 1000)")
        assert "quagga" not in str(cursor.fetchall())
        batch = [note("note-x@@blue"), note("note-staged", LATER), purged("note-1", LATER)]
        cursor.execute("SELECT lore.push(%s)", (json.dumps(batch),))
        assert [place for place, _ in cursor.fetchone()[0]["refused"]] == [0, 1, 2]
        cursor.execute("SELECT count(*) FROM pg_temp.lines UNION SELECT count(*) FROM pg_temp.audit")
        assert cursor.fetchall() == [(0,)]


def test_a_role_that_is_set_changes_neither_what_is_seen_nor_who_it_was(hub: Tried) -> None:
    hub.server.a_role("both", "ann", "lore_reader")
    with hub.connected("both") as connection, connection.cursor() as cursor:
        cursor.execute("SET ROLE ann")
        cursor.execute("SELECT lore.push(%s)", (json.dumps([note("note-of-both")]),))
    assert hub.do("SELECT by_role FROM lore.lines WHERE owner = 'note-of-both'") == [("both",)]
    assert hub.do("SELECT role FROM lore.audit WHERE owner = 'note-of-both'") == [("both",)]


@pytest.mark.parametrize("given", ("NULL", "'null'", "'[]'", "'[null]'", "'[{}]'", "'[[]]'", "'{}'", "'7'"))
def test_nothing_comes_of_a_push_of_nothing(hub: Tried, given: str) -> None:
    before = hub.do("SELECT count(*) FROM lore.lines")
    with suppress(Exception):
        hub.do(f"SELECT lore.push({given})", user="ann")
    assert hub.do("SELECT count(*) FROM lore.lines") == before


# --- the audit


def test_the_audit_is_only_added_to_even_by_who_keeps_the_hub(hub: Tried) -> None:
    for sql in ("UPDATE lore.audit SET role = 'x'", "DELETE FROM lore.audit", "TRUNCATE lore.audit"):
        with pytest.raises(Exception) as raised:
            hub.do(sql)
        assert "only added to" in str(raised.value)


def test_the_audit_says_who_did_what(postgres_server: postgres.Server) -> None:
    hub = Tried(postgres_server)
    start = hub.do("SELECT max(seq) FROM lore.audit")[0][0]
    later, latest = "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z"
    for line in (
        note("note-a"), note("note-a", later, body="more"),
        note("note-a", latest, invalidated_at=latest), note("note-a", LATER),
        note("note-a", "2025-01-01T00:00:00Z"), note("note-a", "2025-01-01T00:00:00Z", kind="state"),
        edge("note-a", "uses", "note-1"), edge("note-a", "uses", "note-1", later, invalidated_at=later),
    ):  # fmt: skip
        assert hub.push("bob", line) == []
    hub.push("bob", note("note-b@@blue"))
    hub.do("SELECT lore.let('ann', 'reader', '')")
    rows = "SELECT role, action, kind, owner, detail, scope FROM lore.audit WHERE seq > %s ORDER BY seq"
    assert hub.do(rows, (start,)) == [
        ("bob", "add", "node", "note-a", "", ""),
        ("bob", "edit", "node", "note-a", "", ""),
        ("bob", "forget", "node", "note-a", "", ""),
        ("bob", "restore", "node", "note-a", "", ""),
        ("bob", "link", "edge", "note-a", "note-1 uses", ""),
        ("bob", "unlink", "edge", "note-a", "note-1 uses", ""),
        ("bob", "add", "node", "note-b@@blue", "", "blue"),
        ("postgres", "grant", "role", "ann", "reader", ""),
    ]  # fmt: skip
    assert len(hub.do(rows, (start,), "cur")) == 7  # who is not in that scope
    hub.do("SELECT lore.let('ann', 'writer', 'red')")


# --- granting


def test_one_has_one_role_and_loses_all_at_once(postgres_server: postgres.Server) -> None:
    hub = Tried(postgres_server)
    name = postgres_server.a_role("new")
    can: Callable[[], list[bool]] = lambda: [
        hub.do("SELECT pg_has_role('new', %s, 'USAGE')", (f"lore_{role}",))[0][0]
        for role in ROLES[1:]
    ]
    hub.do("SELECT lore.let(%s, 'curator', '')", (name,))
    assert can() == [True, True, True]
    hub.do("SELECT lore.let(%s, 'reader', 'red')", (name,))
    assert can() == [True, False, False]
    assert hub.do("SELECT lore.my_scopes()", user=name) == [(["", "red"],)]
    assert hub.do("SELECT lore.bar(%s, 'red'), lore.bar(%s, 'red')", (name, name)) == [(True, False)]
    assert can() == [True, False, False]
    assert hub.do("SELECT lore.bar(%s, '')", (name,)) == [(True,)]
    assert can() == [False, False, False]


def test_odd_names_are_names(postgres_server: postgres.Server) -> None:
    hub = Tried(postgres_server)
    name = postgres_server.a_role('x"; DROP TABLE lore.lines; --'.replace('"', "'"))
    hub.do("SELECT lore.let(%s, 'writer', 'red')", (name,))
    assert hub.push(name, note("note-odd@@red")) == []
    for who, what in (("nobody at all", "reader"), ("ann", "lord")):
        with pytest.raises(Exception) as raised:
            hub.do("SELECT lore.let(%s, %s, '')", (who, what))
        assert raised.value.pgcode in ("42704", "22023")  # type: ignore[attr-defined]
