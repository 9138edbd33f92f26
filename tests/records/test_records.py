"""Add, link, state, edit, forget and restore records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store

from pylore.core.errors import LoreError, UsageError
from pylore.core.ids import check_id, named_id, record_id
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.records import records as records_module
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.system.project_files import path_in_store

ROOT = "/a/project"
WORDS = "note note- -x NOTE-x n1-x note-\x1b[31m".split()
PURGED = "nodes links past passages texts_fts_docsize vectors sketches".split()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, StaticEmbedder]]:
    with new_store(str(tmp_path_factory.mktemp("records"))) as store:
        embedder = StaticEmbedder()
        records = Records(store, Settings(), embedder, ROOT)
        records.forget([records.add("note", "to load the words").id], purge=True)
        yield store, embedder


@pytest.fixture
def records(store: Store, shared: tuple[Store, StaticEmbedder]) -> Records:
    return Records(store, Settings(), shared[1], ROOT)


def count(store: Store, table: str = "nodes") -> int:
    number: int = store.connection.execute(f"SELECT count(*) FROM {table}").get
    return number


def everything(store: Store) -> list[Any]:
    """All that the tables hold."""
    return [
        store.connection.execute(f"SELECT * FROM {table}").fetchall()
        for table in [*PURGED, "texts_fts_data", "types", "relations"]
    ]


def everything_but_clocks(store: Store) -> list[Any]:
    """The nodes and edges, whenever they came to be as they are."""
    found = [*store.nodes.all(), *store.edges.all()]
    return [{**one.to_dict(), "changed_at": None, "stamps": ""} for one in found]


def found(store: Store, embedder: StaticEmbedder | None, query: str, **flags: str) -> set[str]:
    """The ids of a search; without an embedder full text alone."""
    settings = Settings.load(environ={}, flags=flags)
    return {hit.id for hit in search(store, settings, Request(query), embedder)}


def by_vectors(store: Store, embedder: StaticEmbedder, query: str) -> set[str]:
    return found(store, embedder, query, retrievers="vector")


# --- ids


@pytest.mark.parametrize(
    ("type", "name", "id"),
    [
        ("entity", "DuckDB Labs", "entity-duckdb-labs"),
        ("entity", "Ｃ++", "entity-c-plus-plus"),
        ("entity", "./.NET", "entity-dot-slash-dot-net"),
        ("concept", ">=3 Straße™", "concept-more-equal-3-strasse"),
        ("entity", "Cafe\u0301 दिन।", "entity-café-दिन"),
        ("entity", "q\u0301 x² 🤖 \u05e9\u05b8\u05dc", "entity-q-x2-\u05e9\u05dc"),
        ("file", "src/a b.py", "file-src/a b.py"),
    ],
)
def test_names_become_ids(type: str, name: str, id: str) -> None:
    assert named_id(type, name) == id


@pytest.mark.parametrize("id", ["", "note- ", "no te-x", "note-a\nb", "note-" + "x" * 1000, *WORDS])
def test_invalid_ids_are_refused(id: str) -> None:
    with pytest.raises(LoreError, match="is not a valid id"):
        check_id(id)


# --- add


def test_adding_twice_is_one_node(store: Store, records: Records) -> None:
    first = records.add("decision", "Use JWT\r\n", tags=["auth"], why="no state")
    again = records.add("decision", "  Use JWT\n", tags=["Auth", "api"], title="Tokens")
    assert (first.state, again.state) == ("added", "updated")
    assert first.id == again.id == record_id("decision", "Use JWT")
    node = store.nodes.require(first.id)
    assert (node.title, node.body, node.tags) == ("Tokens", "Use JWT", ("api", "auth"))
    assert json.loads(node.data) == {"why": "no state"}
    assert records.add("decision", "Use JWT", tags=["api"]).state == "unchanged"
    assert count(store) == count(store, "passages") == 1


def test_composed_accents_make_the_same_record(store: Store, records: Records) -> None:
    first = records.add("note", "the café\nis closed")
    again = records.add("note", "the cafe\u0301\r\nis closed")
    assert (again.id, again.state, count(store)) == (first.id, "unchanged", 1)


def test_colliding_hashes_make_two_records(
    store: Store, records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    def colliding(type: str, text: str, digits: int = 8) -> str:
        return record_id(type, text, digits) if digits > 8 else f"{type}-00000000"

    monkeypatch.setattr(records_module, "record_id", colliding)
    monkeypatch.setattr("pylore.core.ids.record_id", colliding)
    one = records.add("note", "the first text")
    other = records.add("note", "another text")
    assert (one.id, other.id) == ("note-00000000", record_id("note", "another text", 16))
    assert records.add("note", "\ufeffanother text\n").id == other.id
    assert records.add("note", "the first text").id == one.id
    assert count(store) == 2


def test_title_defaults_to_the_first_sentence(store: Store, records: Records) -> None:
    id = records.add("note", "\n# A heading\n\nand text").id
    node = store.nodes.require(id)
    assert (node.title, node.body) == ("A heading", "# A heading\n\nand text")


def test_file_becomes_a_node_and_an_edge(store: Store, records: Records) -> None:
    id = records.add("decision", "Use JWT", file="src/auth.py:10-20").id
    node = store.nodes.require(id)
    assert (node.file, node.line_start, node.line_end) == ("src/auth.py", 10, 20)
    assert [edge.key for edge in store.edges.of(id)] == [(id, "file-src/auth.py", "anchored_to")]
    assert store.nodes.require("file-src/auth.py").file == "src/auth.py"
    assert records.add("file", "./src/../src/auth.py").id == "file-src/auth.py"
    assert store.nodes.require(records.add("file", "./b.py").id).file == "b.py"
    assert count(store) == 3


def test_paths_are_relative_to_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src" / "de\u0301").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "src" / "de\u0301")
    assert path_in_store("../a.py", str(tmp_path)) == "src/a.py"
    assert path_in_store("../d\xe9/a.py", str(tmp_path)) == "src/de\u0301/a.py"
    outside, root = (path_in_store(one, str(tmp_path)) for one in ("../../../b.py", str(tmp_path)))
    assert (outside, root, path_in_store("x//y/./z", "")) == ("../b.py", ".", "x/y/z")


def test_missing_and_far_files_are_noted(store: Store, tmp_path: Path) -> None:
    (tmp_path / "here.py").touch()
    records = Records(store, Settings(), None, str(tmp_path))
    far = f"{tmp_path.parent}/far.py"
    notes = [
        records.add("note", f"about {name}", file=name).notes
        for name in (f"{tmp_path}/here.py", f"{tmp_path}/gone.py", far)
    ]
    assert notes == [
        [],
        [f"gone.py: there is no such file in {tmp_path}; kept as it is"],
        [f"{far} lies outside the project: nothing tells when it changes"],
    ]
    (note,) = records.add("note", "about lines", file=f"{tmp_path}/here.py:5-9").notes
    assert note.startswith("here.py: ") and note.endswith(": the record is tied to the whole file")


def test_given_id_takes_a_new_text(store: Store, records: Records) -> None:
    records.add("decision", "Use JWT", id="decision-tokens")
    assert records.add("decision", "Use PASETO", id="decision-tokens").state == "updated"
    assert store.nodes.require("decision-tokens").body == "Use PASETO"
    assert found(store, None, "paseto") == {"decision-tokens"}
    assert found(store, None, "jwt") == set()


def test_near_duplicates_are_added_and_noted(store: Store, records: Records) -> None:
    first = records.add("decision", "Sessions are signed with a rotating key")
    near = records.add("decision", "Sessions are signed with a rotating key!")
    assert (first.notes, near.state) == ([], "added")
    (note,) = near.notes
    assert note.startswith(f"looks like {first.id} (1.00): see")
    assert records.add("lesson", "Sessions are signed with a rotating key").notes == []
    assert records.add("decision", "Backups run at night").notes == []
    every = Settings.load(environ={}, flags={"duplicate_similarity": "0"})
    strict = Records(store, every, records._embedder)
    assert len(strict.add("decision", "Logs are kept for a year").notes) == 3


def test_add_restores_a_forgotten_record_with_edges(store: Store, records: Records) -> None:
    note, other = records.add("note", "one"), records.add("note", "two")
    records.link(note.id, "relates_to", other.id)
    records.forget([note.id])
    assert records.add("note", "one").state == "updated"
    assert found(store, None, "one") == {note.id}
    assert len(store.edges.of(note.id)) == 1


# --- link and fact


def test_link_updates_and_restores_an_edge(store: Store, records: Records) -> None:
    a, b = records.add("note", "one").id, records.add("note", "two").id
    assert records.link(a, "RELATES_TO", b).state == "added"
    assert records.link(a, "relates-to", b).state == "unchanged"
    assert records.link(a, "relates_to", b, weight=0.5, status="staged").state == "updated"
    assert records.unlink(a, "relates_to", b).state == "invalidated"
    assert store.edges.of(a) == []
    with pytest.raises(LoreError, match=f"no link {a} relates_to {b}"):
        records.unlink(a, "relates_to", b)
    assert records.link(a, "relates_to", b).state == "updated"
    (edge,) = store.edges.of(b)
    assert (edge.key, edge.weight, edge.status) == ((a, b, "relates_to"), 0.5, "confirmed")
    hint = f"'lore edit {b} --status superseded' hides the old record"
    assert records.link(a, "supersedes", b).notes == [hint]


def test_only_an_option_declares_a_relation(store: Store, records: Records) -> None:
    a, b = records.add("note", "one").id, records.add("note", "two").id
    with pytest.raises(LoreError, match=r"'blocs'.*relations' lists them.*--new-relation'"):
        records.link(a, "blocs", b)
    records.link(a, "Blocks it", b, new_relation=True)
    assert store.relations.all()["blocks_it"][:2] == (0.7, 0.7)
    chosen = Settings.load(environ={}, flags={"edge_weights": "guards=0.25"})
    with pytest.raises(LoreError, match="unknown relation 'guards'"):
        Records(store, chosen, None).link(a, "guards", b)
    Records(store, chosen, None).link(a, "guards", b, new_relation=True)
    assert store.relations.all()["guards"][:2] == (0.25, 0.25)


def test_fact_is_an_edge_between_entities(store: Store, records: Records) -> None:
    change = records.fact("Billing Service", "uses", "PostgreSQL", confidence=0.9)
    assert change.id == "entity-billing-service uses entity-postgresql"
    (edge,) = store.edges.of("entity-postgresql")
    assert (*edge.key[:2], edge.weight) == ("entity-billing-service", "entity-postgresql", 0.9)
    assert store.nodes.require("entity-billing-service").title == "Billing Service"
    assert records.fact("billing service", "uses", "postgresql").state == "updated"
    assert found(store, None, "billing") == {"entity-billing-service"}
    assert count(store) == 2


@pytest.mark.parametrize(
    ("object", "literal", "id"),
    [
        ("8080", False, "concept-8080"),
        ("PostgreSQL", True, "concept-postgresql"),
        ("about four times a day", False, "concept-about-four-times-a-day"),
        ("four times a day", False, "entity-four-times-a-day"),
        ("10.5", False, "concept-10-5"),
    ],
)
def test_values_become_concepts(
    store: Store, records: Records, object: str, literal: bool, id: str
) -> None:
    assert records.fact("app", "has", object, literal=literal).id == f"entity-app has {id}"
    assert found(store, None, object) == {id, "entity-app"}  # the value, and the subject


def test_fact_takes_ids_and_known_things(store: Store, records: Records) -> None:
    decision = records.add("decision", "Use JWT").id
    records.fact("app", "port", "8080")
    assert records.fact(decision, "concerns", "app").id == f"{decision} concerns entity-app"
    assert records.fact("8080", "is", "taken").id == "concept-8080 is entity-taken"


def test_misspelled_predicate_is_refused(store: Store, records: Records) -> None:
    assert records.fact("a", "uses", "b").notes == []
    for slip in ("depend_on", "depnds_on", "dpeends_on", "depends_onn"):
        with pytest.raises(UsageError, match=r"did you mean .depends_on."):
            records.fact("a", slip, "b")


def test_new_predicate_joins_things_only(store: Store, records: Records) -> None:
    records.fact("a", "lives_in", "b")
    notes = [records.add("note", text).id for text in ("one", "two")]
    with pytest.raises(UsageError, match="entity, concept -> entity, concept"):
        records.link(notes[0], "lives_in", notes[1])


@pytest.mark.parametrize("status", ["confirmed", "superseded"])
def test_conversation_changes_only_staged(store: Store, records: Records, status: str) -> None:
    text = "decision", "Deploys need two reviewers"
    links = [(records.add("task", "Deploy").id, "relates_to")]
    id = records.add(*text, why="audit", links=links, status=status).id
    before = store.nodes.require(id), store.edges.of(id)
    done = records.add(*text, why="other", tags=["x"], source="conversation", links=links)
    assert (done.id, done.state) == (id, "unchanged") and "is there already" in done.notes[0]
    with pytest.raises(LoreError, match=f"is {status}: conversations change only"):
        records.edit(id, title="Other", source="conversation")
    assert (store.nodes.require(id), store.edges.of(id)) == before
    records.forget([id])
    records.add(*text, source="conversation")
    back = store.nodes.require(id)
    assert (back.status, back.source) == ("staged", "conversation")
    assert records.edit(id, title="Other", source="conversation").state == "updated"


# --- edit


def test_edit_is_indexed_under_the_same_id(
    store: Store, records: Records, shared: tuple[Store, StaticEmbedder]
) -> None:
    embedder = shared[1]
    id = records.add("note", "elephants in Africa" + " word" * 900, tags=["zoo"]).id
    assert len(store.fulltext.of_nodes([id])) == 5
    assert records.edit(id, text="penguins on the ice").state == "updated"
    assert found(store, None, "elephants") == set()
    assert found(store, None, "penguins") == {id}
    assert by_vectors(store, embedder, "elephants africa") == set()
    assert by_vectors(store, embedder, "penguins on ice") == {id}
    node = store.nodes.require(id)
    assert (node.title, node.body, node.tags) == ("penguins on the ice",) * 2 + (("zoo",),)
    assert records.edit(id, text="penguins on the ice").state == "unchanged"
    for title in ("Birds", " "):
        records.edit(id, title=title)
    node = store.nodes.require(id)
    assert (node.title, node.body) == ("Birds", "Birds"), "a text that is its own title goes along"
    assert found(store, None, "penguins") == set()
    assert count(store, "passages") == count(store, "vectors") == 1


def test_edit_changes_given_fields_only(store: Store, records: Records) -> None:
    id = records.add("note", "text", title="Title", tags=["a"], why="because").id
    state: Any = {"status": "staged", "source": "system", "confidence": 0.25, "category": "x"}
    records.edit(id, title="Another", tags=["B c", "d"], why="it is so", file="b.py:3", **state)
    node = store.nodes.require(id)
    assert (node.title, node.body, node.tags) == ("Another", "text", ("b-c", "d"))
    assert (node.status, node.source, node.confidence) == ("staged", "system", 0.25)
    assert (node.category, node.file, node.line_start) == ("x", "b.py", 3)
    assert json.loads(node.data) == {"why": "it is so"}
    assert found(store, None, "so") == {id}, "the reason is indexed too"
    records.edit(id, why="", tags=[], title="", category="")
    node = store.nodes.require(id)
    assert (node.data, node.tags, node.title, node.category) == ("{}", (), "text", None)


def test_first_text_finds_an_edited_record(store: Store, records: Records) -> None:
    id = records.add("note", "first").id
    records.edit(id, text="second")
    assert records.add("note", "first").id == id
    assert store.nodes.require(id).body == "second"
    assert records.add("note", "second").id != id


# --- forget, restore, purge


@pytest.fixture
def chain(store: Store, records: Records) -> tuple[str, str, str]:
    """Three notes: alpha - beta - gamma."""
    a, b, c = (records.add("note", text).id for text in ("alpha cat", "beta dog", "gamma cow"))
    records.link(a, "relates_to", b)
    records.link(b, "relates_to", c)
    return a, b, c


def test_forget_hides_and_restore_shows_records(
    store: Store,
    records: Records,
    chain: tuple[str, str, str],
    shared: tuple[Store, StaticEmbedder],
) -> None:
    a, b, c = chain
    before = everything_but_clocks(store)
    assert found(store, None, "alpha", graph_depth="2") == {a, b, c}
    assert [change.state for change in records.forget([b, b])] == ["invalidated", "unchanged"]
    assert found(store, None, "beta") == found(store, None, "dog") == set()
    assert b not in by_vectors(store, shared[1], "beta dog")
    assert found(store, None, "alpha", graph_depth="3") == {a}
    assert store.edges.of(b) == []
    assert [node.id for node in store.nodes.all(live_only=True)] == sorted([a, c])
    assert [change.state for change in records.restore([b, a])] == ["restored", "unchanged"]
    assert everything_but_clocks(store) == before
    assert found(store, None, "beta") == {b} and b in by_vectors(store, shared[1], "beta dog")
    assert found(store, None, "alpha", graph_depth="2") == {a, b, c}


def test_edge_returns_with_both_ends(
    store: Store, records: Records, chain: tuple[str, str, str]
) -> None:
    a, b, _ = chain
    for first, second in ((a, b), (b, a)):
        store.connection.execute("SAVEPOINT here")
        records.forget([a, b])
        records.restore([first])
        assert store.edges.dangling() == []
        assert (a, b, "relates_to") not in {edge.key for edge in store.edges.of(first)}
        records.restore([second])
        assert (a, b, "relates_to") in {edge.key for edge in store.edges.of(first)}
        store.connection.execute("ROLLBACK TO here")
    records.unlink(a, "relates_to", b)
    records.forget([a])
    records.restore([a])
    assert store.edges.of(a) == []


def test_purge_deletes_all_rows(store: Store, records: Records) -> None:
    relations = store.relations.all()
    a = records.add("note", "alpha cat " * 300, tags=["x"], why="so", file="a.py").id
    b = records.add("note", "beta dog").id
    records.link(a, "relates_to", b, weight=0.5)
    records.link(a, "relates_to", b, weight=0.7)
    changes = records.forget([a, b, "file-a.py"], purge=True)
    assert [change.state for change in changes] == ["purged"] * 3
    for table in PURGED:
        assert count(store, table) == 0, table
    assert store.relations.all() == relations


def test_forgotten_node_cannot_be_linked(
    store: Store, records: Records, chain: tuple[str, str, str]
) -> None:
    a, b, _ = chain
    records.forget([b])
    for ends in ((a, b), (b, a)):
        with pytest.raises(LoreError, match=f"'{b}' is forgotten: 'lore undo {b}'"):
            records.link(ends[0], "relates_to", ends[1])
    with pytest.raises(LoreError, match="is forgotten"):
        records.add("note", "new one", links=[(b, "relates_to")])


# --- refused input

BAD = [
    (lambda r: r.add("nots", "x"), r"unknown type 'nots' \(did you mean 'note'\?\)"),
    (lambda r: r.add("Bad1", "x", new_type=True), "is not a valid name for a type"),
    (lambda r: r.add("note", "\ufeff \n"), "the text is empty"),
    (lambda r: r.add("note", "a\0b"), "NUL byte"),
    (lambda r: r.add("note", "\ud800"), "half a surrogate pair"),
    (lambda r: r.add("note", "x" * 10_000_001), "has 10000001 bytes, max_text is 10000000"),
    (lambda r: r.add("note", "x", id="decision-x"), "is not of type note"),
    (lambda r: r.add("note", "x", id="note"), "is not a valid id"),
    (lambda r: r.add("note", "x", status="done"), "unknown status 'done': one of staged"),
    (lambda r: r.add("note", "x", confidence=float("nan")), "give a number from 0 to 1"),
    (lambda r: r.add("note", "x", file="a\nb.py"), "printable characters"),
    (lambda r: r.add("note", "x", file="a.py:0-2"), "invalid line 0"),
    (lambda r: r.add("note", "x", links=[("note-0", "relates_to")]), "no node 'note-0'"),
    (lambda r: r.link("note-here", "relates_to", "note-hers"), "no node .note-hers.: see"),
    (lambda r: r.link("note-here", "relates_to", "note-here"), "cannot be linked to itself"),
    (lambda r: r.link("note-here", "x y!", "note-a", new_relation=True), "is not a valid name"),
    (lambda r: r.link("note-here", "relates_to", "note-there", weight=-1), "from 0 to 1"),
    (lambda r: r.fact("", "uses", "b"), "the text is empty"),
    (lambda r: r.fact("a", "!", "b"), "is not a valid name for a relation"),
    (lambda r: r.fact("a", "uses", " a "), "cannot be linked to itself"),
    (lambda r: r.edit("note-none", text="x"), "no node 'note-none'"),
    (lambda r: r.edit("note-here", text=""), "the text is empty"),
    (lambda r: r.forget(["note-here", "note-none"]), "no node 'note-none'"),
    (lambda r: r.forget(["note-here", "note-none"], purge=True), "no node 'note-none'"),
    (lambda r: r.restore(["note-none"]), "no node 'note-none'"),
    (lambda r: r.unlink("note-here", "relates_to", "note-there"), "no link note-here"),
]


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("refusing"))) as store:
        records = Records(store, Settings(), None, ROOT)
        records.add("note", "here", id="note-here")
        records.add("note", "there", id="note-there")
        yield store


@pytest.mark.parametrize(("act", "message"), BAD)
def test_bad_input_leaves_the_store_unchanged(refusing: Store, act: Any, message: str) -> None:
    records = Records(refusing, Settings(), None, ROOT)
    before = everything(refusing)
    with pytest.raises(LoreError, match=message) as error:
        act(records)
    assert len(str(error.value).splitlines()) == 1
    assert everything(refusing) == before


@given(st.text(max_size=40), st.text(max_size=20), st.lists(st.text(max_size=8), max_size=3))
@settings(deadline=None)
def test_any_text_is_stored_unchanged(
    shared: tuple[Store, StaticEmbedder], text: str, why: str, tags: list[str]
) -> None:
    store, embedder = shared
    store.connection.execute("BEGIN IMMEDIATE")
    try:
        records = Records(store, Settings(), embedder, ROOT)
        try:
            id = records.add("note", text, why=why, tags=tags).id
        except LoreError:
            assert not text.strip() or "\0" in " ".join((text, why, *tags))
            return
        node = store.nodes.require(id)
        assert node.body == text.strip("\n")
        assert json.loads(node.data).get("why", "") == why
        assert records.add("note", text, why=why, tags=tags).state == "unchanged"
    finally:
        store.connection.execute("ROLLBACK")
