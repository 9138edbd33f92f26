"""What ``lore fact``, ``confirm``, ``retract`` and ``sweep`` print, and what is read of facts."""

from __future__ import annotations

import apsw
import pytest
from commands import Lore

OSLO, ROME = ("entity-jacq lives_in entity-oslo", "entity-jacq lives_in entity-rome")


@pytest.fixture
def lore(lore: Lore) -> Lore:
    lore.patch.setenv("LORE_EMBEDDER", "none")
    return lore


def facts(lore: Lore, id: str, *options: str) -> dict[str, str]:
    """Return the ids that a node's facts lead to, each with the status of the fact."""
    return {edge["id"]: edge["status"] for edge in lore("show", id, *options).json["edges"]}


def cat(lore: Lore, *options: str) -> str:
    """Add a note about a cat; return its id."""
    return lore.id("add", "note", "the cat is on the mat", *options)


# --- fact


def test_fact_makes_entities_and_values(lore: Lore) -> None:
    added = lore("fact", "Billing Service", "Runs Under", "PostgreSQL", "--confidence", "0.9")
    assert added.json == {
        "id": "entity-billing-service runs_under entity-postgresql", "state": "added",
    }  # fmt: skip
    assert not added.err
    near = lore("fact", "billing service", "run_under", "MySQL")
    assert near.notes == ["new relation 'run_under' (did you mean 'runs_under'?)"]
    assert lore.id("fact", "billing service", "port", "8080") == (
        "entity-billing-service port concept-8080"
    )
    literal = lore("fact", "billing service", "needs", "--literal", "--", "-5").json
    assert literal["id"] == "entity-billing-service needs concept-minus-5"
    assert "fact needs OBJECT" in lore.refuse("fact", "app", "uses")
    assert "not a valid name" in lore.refuse("fact", "app", "!", "b", code=1)


def test_conversation_stages_and_person_confirms(lore: Lore) -> None:
    lore("fact", "jacq", "uses", "duckdb", "--source", "conversation")
    lore("fact", "jacq", "uses", "sqlite")
    lore("fact", "jacq", "uses", "redis", "--source", "conversation", "--confirm")
    assert facts(lore, "entity-jacq") == {
        "entity-duckdb": "staged", "entity-redis": "confirmed", "entity-sqlite": "confirmed",
    }  # fmt: skip
    assert "-> uses entity-duckdb  duckdb [staged]" in lore("show", "entity-jacq", "--text").out


def test_new_value_supersedes_the_old_one(lore: Lore) -> None:
    lore("fact", "jacq", "lives_in", "oslo")
    (staged,) = lore("fact", "jacq", "lives_in", "rome", "--source", "conversation").notes
    assert "staged beside entity-oslo" in staged and "'lore confirm'" in staged
    assert {"id": ROME, "state": "confirmed"} in lore("confirm", *ROME.split()).json
    assert facts(lore, "entity-jacq") == {"entity-rome": "confirmed"}
    assert facts(lore, "entity-jacq", "--history") == {
        "entity-oslo": "superseded", "entity-rome": "confirmed",
    }  # fmt: skip
    assert "oslo (superseded 2" in lore("show", "--history", "entity-jacq", "--text").out
    lore("fact", "app", "runs_on", "debian", "--single")
    lore("fact", "app", "runs_on", "alpine")
    assert facts(lore, "entity-app") == {"entity-alpine": "confirmed"}


def test_import_reports_values_beside_others(lore: Lore) -> None:
    lore("fact", "jacq", "lives_in", "oslo")
    lore("fact", "jacq", "uses", "sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LORE_DIR", str(lore.root / "other"))
        lore("init")
        lore("fact", "jacq", "lives_in", "rome")
        lore("fact", "jacq", "uses", "duckdb")
        lore("export", "theirs.jsonl")
    (note,) = lore("import", "theirs.jsonl").notes
    assert note.startswith(f"{ROME} stands beside another value") and f"lore confirm {ROME}" in note
    assert not lore("import", "theirs.jsonl").err
    lore("confirm", *ROME.split())
    assert facts(lore, "entity-jacq").keys() == {"entity-rome", "entity-sqlite", "entity-duckdb"}


# --- confirm, retract and sweep


def test_retracted_record_is_hidden_until_confirmed(lore: Lore) -> None:
    id = cat(lore)
    for state in ("retracted", "unchanged"):
        assert lore("retract", id, "--jsonl").rows == [{"id": id, "state": state}]
    assert not lore("search", "cat", "--ids").out
    assert lore("search", "cat", "--ids", "--status", "retracted").lines == [id]
    assert lore.id("confirm", "-", stdin=f"{id}\n") == id
    assert lore("search", "cat", "--ids").lines == [id]


def test_sweep_drops_after_a_dry_run(lore: Lore) -> None:
    faint = ["--source", "conversation", "--confidence", "0.1"]
    lore("fact", "jacq", "uses", "duckdb", *faint)
    id = cat(lore, *faint)
    lore("add", "note", "typed", "--confidence", "0.1")
    due = ["entity-jacq uses entity-duckdb", id]
    assert lore("sweep", "--dry-run", "--ids").lines == due
    swept = lore("sweep", "--jsonl").rows
    assert [row["id"] for row in swept] == due
    assert swept[1] == {**swept[1], "state": "invalidated", "confidence": 0.1, "accesses": 0}
    assert lore("sweep").json == []
    assert lore.id("restore", id) == id


def test_wrong_use_is_refused(lore: Lore) -> None:
    lore("fact", "jacq", "uses", "duckdb")
    for line, code, part in (
        ("confirm", 2, "confirm needs an id"),
        ("retract note-none", 1, "no node 'note-none'"),
        ("confirm duckdb uses jacq", 1, "no fact entity-duckdb uses entity-jacq"),
        ("sweep note-1", 2, "sweep takes no 'note-1'"),
        ("search x --status stagd", 2, "unknown status 'stagd'"),
    ):
        assert part in lore.refuse(*line.split(), code=code)


# --- reading


def test_three_reads_confirm_and_searches_count_nothing(lore: Lore) -> None:
    id = cat(lore, "--source", "conversation")
    assert lore("search", "cat").out == lore("search", "cat").out
    for count, status in enumerate(("staged", "staged", "staged", "confirmed")):
        shown = lore("show", id)
        assert (shown.json["access_count"], shown.json["status"]) == (count, status)
        if count == 2:
            assert shown.notes == [f"confirmed, since it is read often: {id}"]


def test_show_counts_while_another_process_writes(lore: Lore) -> None:
    id = cat(lore)
    other = apsw.Connection(str(lore.store / "search.db"))
    other.execute("BEGIN IMMEDIATE")
    shown = lore("show", id)
    other.close()
    assert (shown.json["access_count"], shown.err) == (0, "")
    assert lore("show", id).json["access_count"] == 1


def test_explain_has_every_factor_of_relevance(lore: Lore) -> None:
    cat(lore, "--source", "file", "--confidence", "0.5")
    (hit,) = lore("search", "cat", "--explain").json
    assert {"accesses", "confidence", "source", "status"} <= hit["explain"]["relevance"].keys()
    assert "confidence 0.5, source file" in lore("search", "cat", "--explain", "--text").out


# --- searches and contexts


def test_search_finds_and_shows_stated_facts(lore: Lore) -> None:
    lore("fact", "web shop", "uses", "redis")
    (hit,) = lore("search", "what does the web shop use", "-n", "1").json
    assert (hit["id"], hit["snippet"]) == ("entity-web-shop", "web shop uses redis")
    lore("export", "facts.jsonl")
    lore("retract", "web shop", "uses", "redis")
    assert lore("search", "redis", "--ids").lines == ["entity-redis"]
    lore("undo")
    both = ["entity-redis", "entity-web-shop"]
    assert sorted(lore("search", "redis", "--ids").lines) == both
    lore.patch.setenv("LORE_DIR", str(lore.root / "other"))
    lore("init")
    lore("import", "facts.jsonl")
    assert "web shop uses redis" in {hit["snippet"] for hit in lore("search", "redis").json}


def test_fact_that_ended_elsewhere_is_not_found(lore: Lore) -> None:
    lore("fact", "web shop", "uses", "redis")
    lore("export", "first.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LORE_DIR", str(lore.root / "other"))
        lore("init")
        lore("import", "first.jsonl")
        lore("retract", "web shop", "uses", "redis")
        lore("export", "second.jsonl")
    lore("import", "second.jsonl")
    assert "web shop uses redis" not in lore("search", "what does the web shop use").out
    lore("fact", "mail server", "uses", "postfix")
    lore("forget", "--purge", "entity-mail-server")
    assert all(check["ok"] for check in lore("doctor", "--full").json)


def test_contexts_leave_out_superseded_facts(lore: Lore) -> None:
    lore("fact", "ada", "lives_in", "rome")
    lore("fact", "ada", "lives_in", "bern")
    lore("fact", "the office", "stands_in", "bern")
    ask = ["where does ada live", "--quiet"]
    told = lore("context", *ask, "--as", "narrative").out
    assert "lives_in: bern" in told and "rome" not in told
    assert [line for line in told.splitlines() if "CONTEXT:" in line] == [
        "### 💡 CONTEXT: ada", "### 💡 CONTEXT: the office",
    ]  # fmt: skip
    former = "lives_in: rome (superseded)"
    assert former in lore("context", *ask, "--as", "narrative", "--with-superseded").out
    model = ["--llm-command", f"grep -o '{former}'"]
    assert lore("ask", *ask, "--with-superseded", *model, "--text").lines == [former]
