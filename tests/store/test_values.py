"""Which values a doctor takes for lore's own, column by column, and which it names."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from struct import pack

import apsw
import pytest
from things import EARLY, LATE, a_node, an_edge, whole_passages

from pylore.core.vocabulary import TEXTS
from pylore.store import scratch_store
from pylore.store.anchors import Anchor
from pylore.store.store import Store
from pylore.store.values import wrong_values

LONG = "x" * 1000


@pytest.fixture(scope="module")
def filled() -> Iterator[apsw.Connection]:
    """A row in each table, and nothing in the way of a wrong one."""
    store = scratch_store()
    assert isinstance(store, Store)
    with store:
        store.nodes.put(a_node("note-a", title="words", body="words"))
        anchor = Anchor("note-a", "file", "a.py", created_at=EARLY, verified_at=EARLY)
        judged = copy(anchor)
        judged.verdict = "drifted"
        edge = an_edge("note-a", "run-1", "used_in_run", 0.5)
        (key,) = store.nodes.new_passages(whole_passages(["note-a"], TEXTS))
        store.fulltext.add(TEXTS, [(key, "words", "words", "", "", "")])
        store.vectors.add([(key, pack("<8f", *[1.0] * 8))])
        store.impressions.show("run-1", ["note-a"], "words", LATE)
        store.meta.set("embedder_dimension", "8")
        store.edges.put(edge)
        store.anchors.put(anchor)
        with store.transaction():  # where history is kept
            store.anchors.put(judged)
            store.edges.put(an_edge("note-a", "run-1", "used_in_run", 0.25))
        store.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        store.connection.pragma("ignore_check_constraints", True)
        store.connection.pragma("foreign_keys", False)
        yield store.connection


MADE = ("passages", "vectors", "ratings", "sketches")
"""What ``lore store reindex`` makes anew, and is looked at apart from the rest."""


def found(connection: apsw.Connection, statement: str, *values: object) -> list[str]:
    """What is wrong after this statement, which is undone."""
    made = any(name in MADE for name in statement.replace("(", " ").split()[1:3])
    connection.execute("SAVEPOINT before")
    try:
        connection.execute(statement, values)
        return wrong_values(connection, made=made)
    finally:
        connection.execute("ROLLBACK TO before; RELEASE before")


LINES = (b"x", "a\0b", "a\nb", "\x01", "a\x1f", "\x7f")
VALUES: dict[str, tuple[tuple[object, ...], tuple[object, ...]]] = {
    "text": ((b"x", "a\0b"), ("", "any\ntext\x1b")),
    "line": (LINES, ("", "é b")),
    "id": ((*LINES, LONG + "x"), (LONG,)),
    "key": (("x", b"x", 0, 1.5, (1 << 53) + 1), (1, 1 << 53)),
    "path": ((b"x", "a\0b", "x" * 4097), ("x" * 4096,)),
    "time": ((b"x", "a\nb", "x" * 40), (EARLY, "x" * 39)),
    "count": (("x", -1, 0.5, (1 << 53) + 1), (0, 1 << 53)),
    "weight": (("x", b"x", -0.01, 1.01), (0, 1, 0.5)),
    "object": (("{", b"{}", "[1]", "1", '{"a": NaN}'), ('{"a": "é"}', "{}")),
    "status": (("done", b"staged"), ("staged", "confirmed", "superseded", "retracted")),
    "source": (("me",), ("user_edit", "file", "system", "conversation")),
    "kind": (("folder",), ("file", "glob", "hash", "symbol", "lines")),
    "verdict": (("good",), ("valid", "drifted", "relocated", "invalid")),
}
"""Kind of column to what is wrong in it, and what is not."""

COLUMNS = {
    "text": "nodes.title nodes.body nodes.category? nodes.file?"
    " anchors.detail anchors.root anchors.reason"
    " shown.query",
    "line": "nodes.type nodes.tags graph_edges.relation"
    " anchors.hash"
    " anchors.stamp anchors.commit_id",
    "id": "nodes.id absent.id anchors.node_id shown.run_id shown.node_id",
    "key": "graph_edges.from_key graph_edges.to_key passages.node_key",
    "path": "anchors.path",
    "time": "nodes.created_at nodes.updated_at nodes.accessed_at? nodes.invalidated_at?"
    " graph_edges.created_at graph_edges.accessed_at? graph_edges.invalidated_at?"
    " anchors.created_at"
    " anchors.verified_at shown.shown_at",
    "count": "nodes.line_start? nodes.line_end? nodes.access_count graph_edges.access_count"
    " shown.position ratings.rated",
    "weight": "nodes.confidence graph_edges.weight",
    "object": "nodes.data graph_edges.metadata",
    "status": "nodes.status graph_edges.status",
    "source": "nodes.source graph_edges.source",
    "kind": "anchors.kind",
    "verdict": "anchors.verdict",
}
"""The columns of a kind; one with a ``?`` may be empty."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", VALUES)
def test_a_value_that_lore_does_not_write_is_named_by_its_column(
    kind: str, filled: apsw.Connection
) -> None:
    wrong, right = VALUES[kind]
    for place in COLUMNS[kind].split():
        name = place.rstrip("?")
        table, column = name.split(".")
        change = f"UPDATE {table} SET {column} = ?"
        for value in wrong:
            assert found(filled, change, value) == [f"{name}: 1"], (place, value)
        for value in (*right, *([None] if place != name else [])):
            assert found(filled, change, value) == [], (place, value)


@pytest.mark.parametrize(
    ("key", "wrong", "right"),
    [
        ("embedder_dimension", ("", "-8", "8.0", "12", "0", "1" * 10), ("8", "256", "8" * 9)),
        ("similar_stale", ("x",), ("0", "1")),
        ("cochanges_analyzed_at", ("x" * 40, "a\nb"), (EARLY,)),
        ("code_indexed_at", ("x" * 40,), (EARLY,)),
        ("fulltext", ("fts3",), ("fts4", "fts5")),
        ("similar", ("{",), ("[]",)),
        ("anything", (b"x", "a\0b"), ("x" * 50,)),
    ],
)
def test_a_fact_about_the_store_has_a_form(
    key: str, wrong: tuple[object, ...], right: tuple[object, ...], filled: apsw.Connection
) -> None:
    change = f"INSERT OR REPLACE INTO meta VALUES ('{key}', ?)"
    for value in wrong:
        assert f"meta.{key}" in found(filled, change, value), value
    for value in right:
        assert f"meta.{key}" not in found(filled, change, value), value


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE passages SET key = 0", "passages.key: 1"),
        ("UPDATE passages SET key = (1 << 53) + 1", "passages.key: 1"),
        ("UPDATE passages SET collection = 'tales'", "passages.collection: 1"),
        ("UPDATE ratings SET helpful = 'x'", "ratings.helpful: 1"),
        ("UPDATE passages SET heading = x'00'", "passages.heading: 1"),
        ("UPDATE passages SET start = -1", "passages.start: 1"),
        ("UPDATE passages SET relation = x'00'", "passages.relation: 1"),
        ("UPDATE vectors SET key = -1", "vectors.key: 1"),
        ("UPDATE vectors SET embedding = zeroblob(32)", "vectors.embedding: 1"),
        ("UPDATE vectors SET embedding = 'text'", "vectors.embedding: 1"),
        ("UPDATE sketches SET bits = zeroblob(3)", "sketches.bits: 1"),
        ("UPDATE sketches SET bits = 'a'", "sketches.bits: 1"),
        ("UPDATE sketches SET key = 0", "sketches.key: 1"),
        ("UPDATE relations SET backward_weight = 2 WHERE name = 'calls'",
         "relations.backward_weight: 1"),
        ("UPDATE relations SET weight = 2 WHERE name = 'calls'", "relations.weight: 1"),
        ("UPDATE relations SET name = 'a' || char(10) WHERE name = 'calls'", "relations.name: 1"),
        ("UPDATE relations SET description = x'00' WHERE name = 'calls'",
         "relations.description: 1"),
        ("UPDATE types SET name = 'a' || char(10) WHERE name = 'run'", "types.name: 1"),
        ("UPDATE types SET description = x'00' WHERE name = 'run'", "types.description: 1"),
        ("UPDATE nodes SET title = CAST(x'ff' AS TEXT)", "nodes: text that is not UTF-8"),
        ("INSERT INTO meta VALUES (CAST(x'ff' AS TEXT), x'00')",
         "meta.key: text that is not UTF-8"),
    ],
)  # fmt: skip
def test_other_values_have_a_form_too(statement: str, named: str, filled: apsw.Connection) -> None:
    assert found(filled, statement) == [named]


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("status", "nodes.status graph_edges.status"),
        ("source", "nodes.source graph_edges.source"),
        ("kind", "anchors.kind"),
        ("verdict", "anchors.verdict"),
        ("weight", "nodes.confidence graph_edges.weight relations.weight"
                   " relations.backward_weight"),
    ],
)  # fmt: skip
def test_the_database_itself_takes_no_such_value(
    kind: str, columns: str, filled: apsw.Connection
) -> None:
    wrong, right = VALUES[kind]
    filled.pragma("ignore_check_constraints", False)
    try:
        for place in columns.split():
            table, column = place.split(".")
            for value in right:
                found(filled, f"UPDATE {table} SET {column} = ?", value)
            for value in (one for one in wrong if one != b"staged"):
                with pytest.raises(apsw.ConstraintError):
                    found(filled, f"UPDATE {table} SET {column} = ?", value)
    finally:
        filled.pragma("ignore_check_constraints", True)


def test_a_sound_store_has_none(filled: apsw.Connection) -> None:
    assert wrong_values(filled) == wrong_values(filled, made=True) == []
    assert found(filled, "UPDATE relations SET backward_weight = NULL") == []
