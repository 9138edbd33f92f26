"""Test candidates from the log of events to records."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store
from planted_events import CAUSE, ERROR, RULE, Log, failure, plant, prompt
from repositories import Repository

from pylore.app import Engine
from pylore.capture.candidates import Candidate
from pylore.capture.event_log import event_file
from pylore.capture.events import sessions_of
from pylore.capture.gate import Wanted, beside, decide, gather, listed, promote
from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.core.times import now
from pylore.formats.export import export_lines
from pylore.formats.jsonl import import_lines
from pylore.hooks.events import AgentSession
from pylore.records.runs import Runs
from pylore.store.curation import KeptCandidate


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project/src").mkdir(parents=True)
    (tmp_path / "project/src/auth.py").write_text("def token(): ...\n")
    return tmp_path / "project"


@pytest.fixture
def log(log: Path, project: Path) -> Log:
    return Log(project)


@pytest.fixture
def engine(project: Path) -> Iterator[Engine]:
    with new_store(str(project / ".lore")) as store:
        yield Engine(store, Settings().changed([("embedder", "none")], "test"), str(project))


def found(engine: Engine) -> dict[str, str]:
    """Return the ids of open candidates by text."""
    gather(engine, engine.root)
    return {row["body"]: row["id"] for row in listed(engine)}


def statuses(engine: Engine) -> dict[str, str]:
    return {row["body"]: row["status"] for row in listed(engine, everything=True)}


def evidence(engine: Engine, id: str) -> dict[str, list[str]]:
    """Return the quotes of each link of a record, by the other end."""
    edges = (one for one in engine.store.edges.of(id) if one.relation != "anchored_to")
    quotes = ((one.to_id, json.loads(one.metadata).get("evidence", [])) for one in edges)
    return {other: [row["quote"] for row in rows] for other, rows in quotes}


def promoted(engine: Engine, text: str, **wanted: str) -> str:
    """Promote the candidate with this text; return the id of the record."""
    (done,) = promote(engine, [Wanted(found(engine)[text], **wanted)], confirm=True)
    assert done.state == "added"
    return done.id


def test_second_look_finds_the_same(engine: Engine, log: Log) -> None:
    plant(log)
    assert found(engine) == found(engine) and statuses(engine).keys() == {RULE, CAUSE}
    assert engine.store.nodes.count_by_type() == {}


def test_stored_commits_are_no_candidates(engine: Engine, project: Path, log: Log) -> None:
    message = "Keep tokens in memory\n\nOthers can read a file, so they stay there."
    hash = Repository(project).commit(message)
    log.session("s1", "2026-11-20", ("commit", {"name": hash[:7], "text": message, "ok": True}))
    engine.store.commits.add([(hash, 0, message, message)])
    assert found(engine) == {}
    other = message.replace("tokens in memory", "no table of sessions").replace("file", "table")
    log.session("s2", "2026-11-21", ("commit", {"name": "abc1234", "text": other, "ok": True}))
    assert [*found(engine)] == [other.replace("\n\n", ". ")], "that one is not in the history"


def test_promoted_record_has_evidence(engine: Engine, project: Path, log: Log) -> None:
    commit = Repository(project).commit("Mend it")
    plant(log, commit[:7])
    run = Runs(engine.store).start("")
    AgentSession("s1", engine.root).remember("run", run)
    id = promoted(engine, CAUSE, type="lesson")
    Path(event_file()).unlink()
    node = engine.store.nodes.require(id)
    assert (node.type, node.status, node.source) == ("lesson", "confirmed", "conversation")
    assert (node.file, node.body, node.confidence) == ("src/auth.py", CAUSE, 1.0)
    assert evidence(engine, id) == {"session-s1": [CAUSE], f"commit-{commit}": [], run: []}
    edge = engine.store.edges.get(id, "session-s1", "learned_from")
    (quote,) = json.loads(edge.metadata)["evidence"] if edge else [{}]
    assert (quote["ref"], quote["t"]) == ("s1.jsonl#4", "2026-11-20T10:03:00Z")
    assert [anchor.path for anchor in engine.store.anchors.of(id)] == ["src/auth.py"]
    assert engine.store.ratings.of([id]) == {}, "nobody has rated it"


def test_killed_promotion_is_rolled_back(engine: Engine, log: Log) -> None:
    plant(log)
    ids = found(engine)
    child = os.fork()
    if child == 0:  # exit between the writes of record and candidate
        from pylore.store import open_store

        with open_store(os.path.dirname(engine.store.path)) as store:
            other = Engine(store, engine.settings, engine.root)
            store.candidates.put = lambda rows: os._exit(9)  # type: ignore[method-assign]
            promote(other, [Wanted(ids[CAUSE])], confirm=True)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert engine.store.nodes.count_by_type() == {}
    assert statuses(engine) == {RULE: "open", CAUSE: "open"}
    (done,) = promote(engine, [Wanted(ids[CAUSE])], confirm=True)
    assert done.state == "added"


def test_refused_candidate_is_not_found_again(engine: Engine, log: Log) -> None:
    plant(log)
    ids = found(engine)
    decide(engine, [ids[RULE]], "refused")
    decide(engine, [ids[CAUSE]], "skipped")
    log.session("s8", "2026-11-22", prompt(RULE), prompt(f"Well then: {RULE.lower()}, please"))
    assert found(engine) == {}
    # undecided candidates are deleted after candidates_days
    engine.store.connection.execute("UPDATE candidates SET found_at = '2026-01-01T00:00:00Z'")
    Path(event_file()).unlink()
    assert found(engine) == {} and statuses(engine) == {RULE: "refused"}


def test_skipped_candidate_opens_with_a_new_session(engine: Engine, log: Log) -> None:
    plant(log, sessions=1)
    id = found(engine)[RULE]
    decide(engine, [id], "skipped")
    assert RULE not in found(engine)
    log.session("s2", "2026-11-22", prompt(RULE))
    assert found(engine)[RULE] == id
    (row,) = [row for row in listed(engine) if row["id"] == id]
    assert (row["sessions"], len(row["signals"])) == (["s1", "s2"], 2)


def test_undo_and_redo_of_a_promotion(engine: Engine, log: Log) -> None:
    plant(log)
    candidate, id = found(engine)[RULE], promoted(engine, RULE)
    engine.records().undo()
    assert statuses(engine)[RULE] == "open"
    assert engine.store.nodes.require(id).invalidated_at is not None
    engine.records().undo(redo=True)
    assert statuses(engine)[RULE] == "promoted"
    assert engine.store.nodes.require(id).invalidated_at is None
    assert [*evidence(engine, id)] == ["session-s1", "session-s2"]
    with pytest.raises(LoreError, match=f"is {id} now: see 'lore show {id}'"):
        promote(engine, [Wanted(candidate)], confirm=True)


def test_existing_record_gets_evidence(project: Path, log: Log) -> None:
    plant(log)
    with new_store(str(project / ".lore")) as store:
        engine = Engine(store, Settings(), str(project))
        same = engine.records().add("pattern", RULE).id
        assert gather(engine, engine.root).known == [same]
        assert statuses(engine) == {RULE: "known", CAUSE: "open"}
        assert evidence(engine, same) == {"session-s1": [RULE], "session-s2": [f"{RULE}!"]}
        assert gather(engine, engine.root).known == [], "once is enough"
        log.session("s3", "2026-11-22", prompt(RULE))
        assert gather(engine, engine.root).known == [same]
        lines = [line.encode() for line in export_lines(store)]
        engine.records().unlink(same, "derived_from", "session-s3")
        gather(engine, engine.root)
        assert "session-s3" not in evidence(engine, same), "what was taken away stays so"
    with new_store(str(project / "other")) as other:
        import_lines(other, Settings(), None, lines)
        there = Engine(other, Settings(), str(project))
        assert evidence(there, same)["session-s3"] == [RULE]


def test_forgotten_record_is_no_candidate(engine: Engine, log: Log) -> None:
    engine.records().forget([engine.records().add("pattern", RULE).id])
    plant(log)
    assert found(engine).keys() == {CAUSE}
    assert engine.store.nodes.count_by_type() == {}


def test_returning_error_contradicts_the_record(engine: Engine, log: Log) -> None:
    for number in range(3):
        log.session(f"s{number}", "2026-11-20", failure("make", ERROR.format(f"/tmp/x{number}")))
    (text,) = found(engine)
    id = promoted(engine, text)
    assert gather(engine, engine.root).again == [], "those are what it was learned from"
    log.session("later", "2126-11-20", failure("make check", ERROR.format("/tmp/y")))
    assert gather(engine, engine.root).again == [id]
    edge = engine.store.edges.get("session-later", id, "contradicts")
    assert edge is not None and "/tmp/y" in edge.metadata
    assert gather(engine, engine.root).again == []


def test_near_record_is_shown_with_a_candidate(project: Path, log: Log) -> None:
    plant(log)
    with new_store(str(project / ".lore")) as store:
        engine = Engine(store, Settings(), str(project))
        known = engine.records().add("decision", "Sign the tokens with the static key").id
        gather(engine, engine.root)
        row = next(row for row in store.candidates.all() if row.body == RULE)
        ((node, cosine),) = beside(engine, Candidate.from_row(row))
        assert node.id == known and 0.5 <= cosine < 0.9


def test_sessions_of_worktrees_belong_to_the_project(
    engine: Engine, project: Path, log: Log
) -> None:
    (project / ".git/worktrees/other").mkdir(parents=True)
    (project.parent / "tree").mkdir()
    (project.parent / "tree/.git").write_text(f"gitdir: {project}/.git/worktrees/other\n")
    (project / ".git/worktrees/other/gitdir").write_text(f"{project.parent}/tree/.git\n")
    (project.parent / "link").symlink_to(project)
    plant(log)
    for day, name in enumerate(("tree", "link", "elsewhere", "project/src"), 22):
        Log(project.parent / name).session(name, f"2026-11-{day}", prompt(RULE))
    assert sessions_of(str(project)) == {"s1", "s2", "tree", "link"}


def test_purge_clears_the_candidate(engine: Engine, log: Log) -> None:
    plant(log)
    engine.records().forget([found(engine)[RULE]], purge=True)
    assert engine.store.meta.get("to_wipe")
    engine.records().forget([promoted(engine, CAUSE)], purge=True)
    gather(engine, engine.root)
    assert {row.title + row.body + row.data for row in engine.store.candidates.all()} == {"{}"}


@pytest.mark.parametrize(
    "data",
    ["{}", '{"signals": 7, "files": {}}', '{"signals": [7, {"name": "rule"}], "also": [[]]}'],
)
def test_malformed_row_is_a_candidate_without_evidence(engine: Engine, log: Log, data: str) -> None:
    row = KeptCandidate("candidate-1", "lesson", "T", "B", found_at=now(), data=data)
    with engine.store.transaction():
        engine.store.candidates.put([row])
    plant(log)
    assert found(engine).keys() == {"B", RULE, CAUSE}
    assert evidence(engine, promoted(engine, "B")) == {}


def test_files_outside_the_project_are_not_anchored(engine: Engine, log: Log) -> None:
    files = ["../../../../../../etc/passwd", "src/auth.py", "gone.py"]
    edit = ("edit", {"name": "Edit", "files": files, "ok": True})
    log.session("s1", "2026-11-20", prompt(RULE), edit)
    anchors = engine.store.anchors.of(promoted(engine, RULE))
    assert [anchor.path for anchor in anchors] == ["src/auth.py"]
