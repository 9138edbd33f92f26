"""Full text keeps no texts: what it has indexed is what can be read, whatever happens to nodes."""

from __future__ import annotations

from contextlib import suppress
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
from _pytest.monkeypatch import MonkeyPatch
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples
from sqlite_stores import connection_of

from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.formats.jsonl import import_lines
from pylore.indexing.indexer import rebuild
from pylore.records.records import Records
from pylore.store import Store
from pylore.store import passages as passage_texts
from pylore.store.fulltext import TABLES

LONG = " ".join(f"word{number} getUser{number}" for number in range(300))
TEXTS = ("one key", "getUserByID reads one key", "Zürich", "Zu\u0308rich " + "ก " * 500, LONG)
TITLES = ("Signed tokens", "useCamelCase", "A\u030angstro\u0308m")


def sound(store: Store, *, texts: bool = True) -> None:
    """Each index has what can be read of its passages, or what was to be read as it was made."""
    plain = apsw.Connection(store.path)
    for table in TABLES.values():
        plain.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
        keys = [key for (key,) in plain.execute(f"SELECT id FROM {table}_docsize")]
        read = passage_texts._read(connection_of(store), keys, table)
        rows = [row for digest, row in read if digest == passage_texts._digest(row[1:])]
        assert not texts or len(rows) == len(keys)
        plain.execute("CREATE VIRTUAL TABLE temp.anew USING fts5(title, body, tags, file, parts,"
                      " content='', tokenize='unicode61 remove_diacritics 2')")  # fmt: skip
        plain.executemany("INSERT INTO temp.anew(rowid, title, body, tags, file, parts)"
                          " VALUES (?, ?, ?, ?, ?, ?)", rows)  # fmt: skip
        plain.execute("CREATE VIRTUAL TABLE temp.a USING fts5vocab(temp, anew, instance)")
        plain.execute(f"CREATE VIRTUAL TABLE temp.b USING fts5vocab(main, {table}, instance)")
        within = f"doc IN ({', '.join(str(row[0]) for row in rows)})"
        assert (
            plain.execute("SELECT * FROM temp.a").fetchall()
            == plain.execute(f"SELECT * FROM temp.b WHERE {within}").fetchall()
        )
        assert plain.execute("SELECT count(*) FROM temp.b WHERE doc NOT IN"
                             f" (SELECT id FROM {table}_docsize)").get == 0  # fmt: skip
        for name in ("a", "b", "anew"):
            plain.execute(f"DROP TABLE temp.{name}")
    plain.close()


def words_of(store: Store) -> list[Any]:
    """Each word of each index, with the number of passages and of places that have it, and
    the number of passages, with the sum of their lengths."""
    plain = apsw.Connection(store.path)
    found = []
    for table in TABLES.values():
        plain.execute(f"CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, {table}, row)")
        found.append(plain.execute("SELECT * FROM temp.v").fetchall())
        plain.execute("DROP TABLE temp.v")
        if plain.execute(f"SELECT count(*) FROM {table}_docsize").get:
            found.append(plain.execute(f"SELECT hex(block) FROM {table}_data WHERE id = 1").get)
    plain.close()
    return found


any_number = st.integers(0, 7)
of_lore = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(TEXTS), st.sampled_from(("", "so getWhy"))),
    st.tuples(st.just("fact"), st.sampled_from("abc"), st.sampled_from("abcd")),
    st.tuples(st.just("text"), any_number, st.sampled_from(TEXTS)),
    st.tuples(st.just("title"), any_number, st.sampled_from(TITLES)),
    st.tuples(st.just("tags"), any_number, st.sampled_from(("x", "x y", ""))),
    st.tuples(st.just("forget"), any_number, st.booleans()),
    st.tuples(st.just("restore"), any_number, st.none()),
)
of_others = st.tuples(
    st.just("sqlite3"), any_number,
    st.sampled_from((
        "UPDATE nodes SET title = 'new' WHERE key = ?",
        "UPDATE nodes SET body = upper(body), file = 'b.py' WHERE key = ?",
        "UPDATE OR REPLACE nodes SET key = key + 1, tags = 'z' WHERE key = ?",
        "DELETE FROM nodes WHERE key = ?",
        "REPLACE INTO nodes(key, id, type, title, created_at, updated_at)"
        " SELECT key, id, type, 'other', '', '' FROM nodes WHERE key = ?",
        "REPLACE INTO nodes(id, type, title, created_at, updated_at)"
        " SELECT id, type, 'other', '', '' FROM nodes WHERE key = ?",
    )),
)  # fmt: skip


def do(store: Store, step: tuple[str, Any, Any]) -> None:
    records = Records(store, Settings(), None)
    what, one, other = step
    if what == "add":
        records.add("decision", one, why=other)
        return
    if what == "fact":
        if one != other:
            records.fact(f"thing {one}", "uses", f"thing {other}")
        return
    ids = [node.id for node in store.nodes.all()]
    if what == "sqlite3":
        plain = apsw.Connection(store.path)
        plain.execute(other, (one,))
        plain.close()
    elif ids:
        id = ids[one % len(ids)]
        if what == "forget":
            records.forget([id], purge=other)
        elif what == "restore":
            records.restore([id])
        else:
            records.edit(id, **{what: other.split() if what == "tags" else other})


def done(store: Store, step: tuple[str, Any, Any]) -> None:
    with suppress(LoreError, apsw.ConstraintError):  # it is forgotten, or refused
        do(store, step)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(of_lore, max_size=15))
def test_what_lore_has_indexed_is_what_can_be_read(steps: list[tuple[str, Any, Any]]) -> None:
    with TemporaryDirectory() as folder, new_store(folder) as store, MonkeyPatch.context() as patch:
        patch.delattr(passage_texts, "_make_anew")
        for step in steps:
            done(store, step)
            sound(store)
        assert connection_of(store).execute("SELECT count(*) FROM former_texts").get == 0
        before = words_of(store)
        rebuild(store, None, "auto")
        assert words_of(store) == before, "the same as made anew"


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.one_of(of_lore, of_others), max_size=15))
def test_what_others_write_does_no_harm(steps: list[tuple[str, Any, Any]]) -> None:
    with TemporaryDirectory() as folder, new_store(folder) as store:
        for step in steps:
            done(store, step)
            sound(store, texts=False)
        rebuild(store, None, "auto")
        sound(store)
        assert store.checks.fulltext_damage() == []


def test_doctor_counts_what_reads_otherwise_than_it_was_indexed(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        id = Records(store, Settings(), None).add("decision", "JWT for session tokens").id
        assert store.checks.fulltext_damage() == []
        do(store, ("sqlite3", 1, "UPDATE nodes SET title = 'new' WHERE key = ?"))
        said = ["texts_fts has indexed other texts of 1 passage"]
        assert store.checks.fulltext_damage() == said
        Records(store, Settings(), None).edit(id, text="Sessions in a cookie")
        assert store.checks.fulltext_damage() == []
        sound(store)


def test_a_text_that_the_node_says_is_kept_once(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        records = Records(store, Settings(), None)
        records.add("note", LONG.lower())
        records.add("note", "plain words", tags=["a", "b"], file="a.py")
        count = connection_of(store).execute
        assert count("SELECT count(*) FROM passages").get == 5
        assert count("SELECT count(coalesce(title, body, tags, file)) FROM passage_texts").get == 0
        assert count("SELECT count(*) FROM passage_texts WHERE start IS NULL").get == 2


def test_an_import_that_changes_a_record_writes_no_other_ones_anew(tmp_path: Path) -> None:
    def told(body: str, at: str, count: int) -> list[bytes]:
        return [
            dumps({"id": f"note-{n}", "body": f"{body} {n}", "updated_at": at}).encode()
            for n in range(count)
        ]

    with new_store(str(tmp_path)) as store:
        import_lines(store, Settings(), None, told("one", "2026-01-01T00:00:00Z", 300))
        before = connection_of(store).total_changes()
        import_lines(store, Settings(), None, told("two", "2026-02-01T00:00:00Z", 1))
        assert connection_of(store).total_changes() - before < 100
        sound(store)
