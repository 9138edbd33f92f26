"""Test ``lore sync`` and ``lore merge-file``."""

from __future__ import annotations

import os
import shutil
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import Lore

from pylore.system.git_setup import PROGRAM

FILE = ".lore/knowledge.jsonl"
NOTE = '{{"id": "note-1", "type": "note", "title": "{}", "created_at": "{}", "updated_at": "{}"}}\n'
DAYS = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]


def shared(lore: Lore) -> str:
    """Return the shared file of a project after a sync."""
    lore("sync", "--quiet")
    return (lore.project / FILE).read_text()


def hand_over(one: Lore, other: Lore) -> None:
    """Sync both projects, the second with the file of the first."""
    other.write(FILE, shared(one))
    shared(other)


def pass_seconds(lore: Lore, seconds: int) -> None:
    """Set the clock of records forward."""
    clock = SimpleNamespace(**vars(time))
    clock.time = lambda: time.time() + seconds
    clock.gmtime = lambda at=None: time.gmtime(clock.time() if at is None else at)
    lore.patch.setattr("pylore.core.times.time", clock)


@pytest.fixture
def others(lore: Lore, tmp_path: Path) -> Lore:
    """A second project that shares two linked notes with ``lore``."""
    others = lore.at(tmp_path / "others")
    lore("add", "note", "First words", "--id", "note-1")
    lore("add", "note", "Second words", "--id", "note-2", "--link", "note-1:relates_to")
    hand_over(lore, others)
    return others


@pytest.fixture
def clone(repository: Lore, tmp_path: Path) -> Lore:
    """A clone of ``repository``; both share note-1 and have changed it in a commit."""
    repository("add", "note", "First words", "--id", "note-1")
    shared(repository)
    commit(repository)
    repository.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = repository.at(tmp_path / "clone")
    for seconds, side, id in ((2, clone, "note-a"), (4, repository, "note-b")):
        pass_seconds(clone, seconds)
        side("add", "note", f"Only in {id}", "--id", id)
        side("edit", "note-1", "--title", f"As {id} has it")
        shared(side)
        commit(side)
    return clone


def commit(lore: Lore) -> None:
    lore.git("add", "-A")
    lore.git("commit", "-qm", "Change")


def merge(clone: Lore, code: int, driver: str = "text") -> None:
    """Pull by a merge driver; ``lore`` is a program that is missing."""
    clone.write(".gitattributes", f"{FILE} merge={driver}\n")
    clone.git("config", "merge.lore.driver", PROGRAM.replace("lore", "no-such-program"))
    clone.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main", code=code)


# --- the file


def test_sync_shares_records_without_derived_data(repository: Lore) -> None:
    repository.write("a.py", "def f(): pass\n")
    repository("index")
    repository("add", "decision", "Sessions are signed tokens", "--id", "decision-1")
    repository("anchor", "decision-1", "a.py", "--symbol", "f")
    repository("fact", "DuckDB", "uses", "SQL")
    repository("add", "note", "To be forgotten", "--id", "note-1", "--file", "a.py")
    repository("forget", "note-1")
    repository("show", "decision-1")
    done = [repository("sync") for _ in "12"][1]
    assert done.json["in"] == dict.fromkeys(("added", "updated", "kept", "conflicts"), 0)
    assert done.json["file"] == str(repository.project / FILE) and not done.err
    text = (repository.project / FILE).read_text()
    for kind in ("file", "symbol", "commit", "run"):
        assert f'"id": "{kind}-' not in text
    for word in ("access", "verdict", "verified", "similar_to"):
        assert word not in text
    for word in ('"anchor_of": "decision-1"', '"id": "entity-duckdb"', "invalidated_at"):
        assert word in text
    repository.git("check-ignore", FILE, code=1)


def test_sync_is_silent_and_leaves_an_equal_file(lore: Lore, others: Lore) -> None:
    text = shared(others)
    before = os.stat(others.project / FILE).st_mtime_ns
    done = others("sync", "--text")
    assert not done.out + done.err and os.stat(others.project / FILE).st_mtime_ns == before
    assert text == shared(lore)


def test_sync_preserves_broken_lines_and_names_them_once(lore: Lore, others: Lore) -> None:
    broken = '{"id": "odd-1", "type": "odd", "title": "x"}\n{"id": "note-9", "ti'
    before, good = shared(lore), '{"id": "note-8", "title": "A good line"}\n'
    lore.write(FILE, before + good + broken)
    done = lore("sync")
    assert done.json["in"]["added"] == 1 and len(done.notes) == 1
    assert f"{FILE}: line " in done.err and "unknown type 'odd'" in done.err
    text = (lore.project / FILE).read_text()
    assert text.endswith(broken) and "A good line" in text
    again = lore("sync", "--text")
    assert (again.out, again.err) == ("", "")
    (found,) = (row for row in lore("doctor").json if row["id"] == "shared-file")
    assert "unknown type 'odd'" in found["detail"] and found["ok"]
    assert (lore.project / FILE).read_text() == text


def test_file_of_bad_lines_is_not_written(lore: Lore) -> None:
    text = "{}\n" * 10_000 + '{"id": "note-8", "title": "A good line"}\n'
    lore.write(FILE, text)
    done = lore("sync")
    assert done.json["in"]["added"] == 0 and "and 9997 more" in done.err
    assert (lore.project / FILE).read_text() == text


BAD_LINES = (
    b'{"id":"note-x","title":"a\x00b"}',
    b'\xff\xfe{"id":"note-x"}',
    b"[" * 300 + b"]" * 300,
    b'{"id":"tale-1","title":"x"}',
    b'{"from_id":"note-1","to_id":"note-2","relation":"odd"}',
    b'{"from_id":"note-1","to_id":"note-1","relation":"relates_to"}',
    b'{"id":5}',
    b"5",
    b'{"id":"note-x","type":"decision"}',
    b'{"id":"note-x","updated_at":"soon"}',
    b'{"id":"note-x","updated_at":"2199-01-01T00:00:00Z"}',
    b'{"vector_of":"x"}',
    b'{"purged":"note-1","at":"2199-01-01T00:00:00Z"}',
    b'{"id":"note-x","confidence":1e999}',
    b'{"state_of":"note-1"}',
    b'{"anchor_of":"note-1","kind":"file","path":"../x"}',
)


def test_every_good_line_between_bad_lines_is_taken(lore_without_store: Lore) -> None:
    lore = lore_without_store
    lines = [
        line
        for number, bad in enumerate(BAD_LINES)
        for line in (b'{"id":"note-%d","title":"good"}' % number, bad)
    ]
    lore.write(FILE, b"\n".join(lines) + b"\n")
    first = lore("list", "--ids")
    assert len(first.lines) == len(BAD_LINES)
    assert f"{len(BAD_LINES) - 1} more" in first.err and first.err.count("\n") == 2
    lore("sync")
    kept = (lore.project / FILE).read_bytes().split(b"\n")
    assert [line for line in BAD_LINES if line not in kept] == []
    assert lore("sync", "--text").out == ""


def test_sync_refuses_links_pipes_and_missing_stores(lore: Lore, tmp_path: Path) -> None:
    (lore.home / "secret").write_text('{"id": "note-8", "type": "note", "title": "secret"}\n')
    (lore.project / FILE).symlink_to(lore.home / "secret")
    assert "link out of" in lore.refuse("sync", code=1)
    (lore.project / FILE).unlink()
    os.mkfifo(lore.project / FILE)
    assert "is not a plain file" in lore.refuse("sync", code=1)
    lore.patch.chdir(tmp_path)
    assert "no project here: run 'lore init'" in lore.refuse("sync", code=1)
    assert "run 'lore init' first" in lore.refuse("hook", "install", "merge", code=1)
    lore.patch.setenv("LORE_DIR", str(tmp_path / "own"))
    lore("init")
    assert "name the file" in lore.refuse("sync", code=1)
    assert lore("sync", str(tmp_path / "-a b.jsonl"), "--text").out == ""


@pytest.mark.parametrize(
    "line",
    ['{"purged": "note-1", "at": "%s"}', '{"id": "note-1", "title": "x", "updated_at": "%s"}'],
)
def test_changes_from_the_future_wait_in_the_file(lore: Lore, others: Lore, line: str) -> None:
    ahead = datetime.now(timezone.utc) + timedelta(days=2)
    text = line % ahead.strftime("%Y-%m-%dT%H:%M:%SZ")
    lore.write("line.jsonl", text)
    why = "is more than a day ahead of this machine's clock"
    assert why in lore.refuse("import", "line.jsonl", code=1)
    for words in (["sync", "--in", "line.jsonl"], ["sync", "line.jsonl"]):
        lore(*words)
        assert lore("show", "note-1").json["title"] == "First words"
    assert (lore.project / "line.jsonl").read_text().endswith(text)
    pass_seconds(lore, 200_000)
    lore("edit", "note-1", "--title", "Ahead")
    text = shared(lore)
    pass_seconds(lore, 0)
    assert shared(lore) == text


# --- two projects


def test_sync_is_undone_as_a_command(lore: Lore, others: Lore) -> None:
    others("add", "note", "Only there", "--id", "note-b")
    others("edit", "note-2", "As others have it")
    lore("edit", "note-1", "My words")
    hand_over(others, lore)
    assert lore("undo", "--ids", "-q").lines == ["note-2", "note-b"]
    bodies = [row["body"] for row in lore("show", "note-1", "note-2").json]
    assert bodies == ["My words", "Second words"]
    lore("edit", "note-1", "Other words")
    lore("sync", "--in")  # imports no line, and so is no command
    assert lore.id("undo", "-q") == "note-1"


def test_dry_run_only_counts(lore: Lore, others: Lore) -> None:
    others("add", "note", "Only there", "--id", "note-b")
    text = shared(others)
    lore.write(FILE, text)
    lore("add", "note", "Only here", "--id", "note-c")
    before = lore("export").out
    row = lore("sync", "--dry-run").json
    assert (row["in"]["added"], row["out"]["added"]) == (1, 1)
    assert (lore.project / FILE).read_text() == text and lore("export").out == before
    assert "are for a file" in lore.refuse("sync", "team", "--dry-run", code=2)


def test_pages_in_git_are_shared_if_edited(repository: Lore) -> None:
    lore = repository
    lore.write("docs/a.md", "# Tokens\n\nSee [sessions](b.md).\n")
    lore.write("docs/b.md", "# Sessions\n\nThey expire.\n")
    lore.write("own.md", "# Not in git\n")
    lore.git("add", "docs")
    lore("import", "docs", "own.md")
    note = lore.id("add", "note", "About tokens", "--link", "doc-docs/a:relates_to")
    lore("sync")
    text = shared(lore)
    assert "They expire" not in text and "links_to" not in text
    assert "doc-own" in text and f'"from_id": "{note}", "to_id": "doc-docs/a"' in text
    lore("edit", "doc-docs/b", "Edited here", "--force")
    lore("sync")
    assert "Edited here" in shared(lore)


def test_a_purge_from_a_file_only_forgets(lore: Lore, others: Lore) -> None:
    lore("add", "note", "Never shared", "--id", "note-own")
    lore("edit", "note-1", "First words, and more")
    pass_seconds(lore, 2)
    others("forget", "--purge", "note-1")
    soon = datetime.now(timezone.utc) + timedelta(hours=1)
    purge = f'{{"purged": "note-own", "at": "{soon:%Y-%m-%dT%H:%M:%SZ}"}}\n'
    others.write(FILE, shared(others) + purge)
    lore.write(FILE, shared(others))
    done = lore("sync")
    assert done.json["in"]["updated"] == 2 and done.err.count("\n") == 1
    assert "note-1; note-own: deleted for good elsewhere" in done.err
    assert "'lore forget --purge --proposed' deletes it, 'lore undo ID'" in done.err
    assert lore.id("list") == "note-2"
    text = shared(lore)
    assert "First words" not in text and "Never shared" not in text
    assert text.count('"purged"') == 2
    assert lore("undo", "note-1", "note-own", "--ids", "-q").lines == ["note-1", "note-own"]
    assert "and more" in lore("show", "note-1", "--history").out
    assert "Never shared" in shared(lore)
    assert not lore("sync").err  # restored records are not forgotten again
    lore("forget", "note-own", "note-1", "-q")
    assert lore("forget", "--purge", "--proposed", "--ids").lines == ["note-1", "note-own"]
    lore.refuse("show", "note-1", code=1)
    assert lore("forget", "--purge", "--proposed").json == []


# --- git without lore's driver


def test_sync_resolves_a_conflict_of_git(clone: Lore) -> None:
    merge(clone, 1)
    assert "<<<<<<< " in (clone.project / FILE).read_text()
    assert "merge conflict: run 'lore sync'" in clone.refuse("import", FILE, code=1)
    done = clone("sync")
    assert done.json["in"]["conflicts"] == 1 and "'git add' it" in done.err
    assert "note-1 was changed here and there" in done.err
    assert sorted(clone("list", "--ids").lines) == ["note-1", "note-a", "note-b"]
    text = (clone.project / FILE).read_text()
    assert text.count("\n") == 3 and "As note-b has it" in text
    assert "As note-a has it" in clone("show", "note-1", "--history").out  # both edits are there
    commit(clone)
    assert clone("sync", "--text").out == ""


def test_broken_line_of_their_side_is_named(repository: Lore, clone: Lore) -> None:
    repository.write(FILE, (repository.project / FILE).read_text() + '{"id": "note-9", "ti\n')
    commit(repository)
    merge(clone, 1, "lore")
    assert "not JSON" in clone("sync").err
    text = (clone.project / FILE).read_text()
    clone.write(FILE, text.replace('"ti\n', '"title": "Mended"}\n'))
    clone("sync")
    assert clone("show", "note-9").json["title"] == "Mended"
    assert '"note-a"' in (clone.project / FILE).read_text()


# --- merge-file


def test_merge_file_merges_two_exports_of_any_name(lore: Lore) -> None:
    lore.write("-base", NOTE.format("old", DAYS[0], DAYS[0]))
    ours = lore.write("-ours", NOTE.format("ours", DAYS[0], DAYS[1]))
    later = '{"of_a_later_lore": 1}\n'
    theirs = lore.write("theirs", NOTE.format("theirs", DAYS[0], DAYS[2]) + later)
    shutil.copy(ours, lore.project / "ours")
    done = lore("merge-file", "--path", "a b\n-c", "--", "-base", "-ours", "theirs")
    assert not done.out and done.err.startswith("lore: a b -c: changed on both sides")
    text = ours.read_text()
    assert '"title": "theirs"' in text and '"was": ["2026-01-0' in text and later in text
    lore("merge-file", "--", "-base", "theirs", "ours")
    assert theirs.read_text() == text


def test_merge_file_leaves_ours_where_it_cannot_merge(lore: Lore) -> None:
    lore.write("ours", NOTE.format("ours", *DAYS[:2]))
    broken = lore.write("broken", '{"id": "note-2"')
    lore.refuse_each("""
        merge-file /dev/null ours broken | 1 | theirs: line 1: not JSON
        merge-file /dev/zero ours ours | 1 | base: line 1: has a NUL byte
        merge-file /dev/null ours nowhere | 1 | nowhere: No such file
    """)
    assert broken.read_text() == '{"id": "note-2"'
