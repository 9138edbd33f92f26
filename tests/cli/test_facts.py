"""Test ``lore fact``, ``confirm`` and ``forget --faded``."""

from __future__ import annotations

from commands import Lore

OSLO, ROME = "entity-jacq lives_in entity-oslo", "entity-jacq lives_in entity-rome"
SAID = ("--source", "conversation")


def cat(lore: Lore, *options: str) -> str:
    """Add a note about a cat; return the id."""
    return lore.id("add", "note", "the cat is on the mat", *options)


def test_fact_makes_entities_and_values(lore: Lore) -> None:
    added = lore("fact", "Billing Service", "Runs Under", "PostgreSQL", "--confidence", "0.9")
    id = "entity-billing-service runs_under entity-postgresql"
    assert (added.json, added.err) == ({"id": id, "state": "added"}, "")
    near = lore.refuse("fact", "billing service", "run_under", "MySQL", code=2)
    assert "did you mean 'runs_under'?" in near
    assert lore.id("fact", "app", "port", "8080") == "entity-app port concept-8080"
    literal = lore("fact", "app", "needs", "--literal", "--", "-5").json
    assert literal["id"] == "entity-app needs concept-minus-5"


def test_new_value_supersedes_the_old_value(lore: Lore) -> None:
    lore("fact", *OSLO.replace("entity-", "").split())
    (note,) = lore("fact", "jacq", "lives_in", "rome", *SAID).notes
    assert "staged beside entity-oslo" in note and "'lore confirm'" in note
    assert "-> lives_in entity-rome  rome [staged]" in lore("show", "entity-jacq", "--text").out
    assert {"id": ROME, "state": "confirmed"} in lore("confirm", *ROME.split()).json
    assert [edge["id"] for edge in lore("show", "entity-jacq").json["edges"]] == ["entity-rome"]
    assert "oslo (superseded 2" in lore("show", "--history", "entity-jacq", "--text").out


def test_import_reports_a_second_value(lore: Lore) -> None:
    other = lore.at(lore.root / "other")
    for each, place, database in ((lore, "oslo", "sqlite"), (other, "rome", "duckdb")):
        each("fact", "jacq", "lives_in", place)
        each("fact", "jacq", "uses", database)
    other("export", f"{lore.project}/theirs.jsonl")
    (note,) = lore("import", "theirs.jsonl").notes
    assert note.startswith(f"{ROME}: stands beside another value")
    assert not lore("import", "theirs.jsonl").err


def test_retracted_record_is_hidden_until_confirmed(lore: Lore) -> None:
    id = cat(lore)
    for state in ("retracted", "unchanged"):
        assert lore("confirm", "--retract", id).json == [{"id": id, "state": state}]
    lore.print_each(f"""
        search cat |
        search cat --status retracted | {id}
    """)
    assert lore.id("confirm", "-", stdin=f"{id}\n") == id
    assert lore("search", "cat", "--ids").lines == [id]


def test_wrong_use_is_refused(lore: Lore) -> None:
    lore("fact", "jacq", "uses", "duckdb")
    lore.refuse_each("""
        fact app '!' b | 1 | not a valid name
        confirm duckdb uses jacq | 1 | no fact entity-duckdb uses entity-jacq
        retract note-none | 1 | no node 'note-none'
    """)


# --- reading


def test_search_finds_and_shows_live_facts(lore: Lore) -> None:
    lore("fact", "web shop", "uses", "redis")
    (hit,) = lore("search", "what does the web shop use", "-n", "1").json
    assert (hit["id"], hit["snippet"]) == ("entity-web-shop", "web shop uses redis")
    lore("retract", "web shop", "uses", "redis")
    lore.print_each("search redis | entity-redis")
    lore("undo")
    assert "entity-web-shop" in lore("search", "redis", "--ids").lines
