"""Test which store a folder, a worktree and a clone use."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest
from commands import Lore

FILE = ".lore/knowledge.jsonl"
NAMES = "search.db search.db-wal search.db-shm search.db-journal project trusted token".split()


@pytest.fixture
def shared(repository: Lore) -> Lore:
    """A repository that shares a record."""
    repository.write("a.py", "x = 1\n")
    repository("add", "note", "Sessions are signed tokens", "--id", "note-shared")
    repository("sync")
    return commit(repository)


@pytest.fixture
def beside(shared: Lore) -> Lore:
    """A worktree beside ``shared``."""
    shared.git("worktree", "add", "-q", str(shared.root / "beside"))
    return shared.at(shared.root / "beside")


def commit(lore: Lore) -> Lore:
    lore.git("add", "-Af", ".")
    lore.git("commit", "-qm", "Change")
    return lore


def clone(shared: Lore, name: str = "clone") -> Lore:
    shared.git("clone", "-q", ".", str(shared.root / name))
    return shared.at(shared.root / name)


def place(lore: Lore) -> str:
    return lore("store", "path").out.strip()


def test_store_is_private_and_outside_the_project(lore: Lore) -> None:
    lore("add", "note", "Kept", "--id", "note-kept")
    database = Path(place(lore))
    assert database == lore.store / "search.db" and os.listdir(lore.project / ".lore") == []
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (database, database.parent)]
    assert modes == [0o600, 0o700]
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as plain:
        assert [*plain.execute("SELECT id FROM nodes WHERE type = 'note'")] == [("note-kept",)]
    assert str(database) in lore("doctor").out


# --- worktrees and clones


def test_worktrees_have_the_store_of_their_repository(shared: Lore, beside: Lore) -> None:
    assert place(beside) == place(shared)
    assert beside.id("search", "sessions") == "note-shared"
    (beside.project / "only-here.py").write_text("y = 2\n")
    beside("add", "decision", "Only here", "--id", "decision-here", "--file", "only-here.py")
    node = beside("show", "decision-here").json
    assert (node["file"], node["verdict"]) == ("only-here.py", "valid")


def test_a_worktree_needs_no_folder_of_lore(repository: Lore) -> None:
    repository.git("commit", "-q", "--allow-empty", "-m", "empty")
    repository.git("worktree", "add", "-q", str(repository.root / "beside"))
    repository.patch.chdir(repository.root / "beside")
    assert os.listdir(".") == [".git"]
    assert place(repository) == str(repository.store / "search.db")


def test_archive_claims_no_store_by_a_git_file(shared: Lore, beside: Lore) -> None:
    archive = shared.root / "archive"
    (archive / ".lore").mkdir(parents=True)
    git, own = archive / ".git", archive / "own/worktrees/x"
    shutil.copy(beside.project / ".git", git)
    assert shared.at(archive).store != shared.store
    git.unlink()
    git.symlink_to(beside.project / ".git")
    assert shared.at(archive).store != shared.store
    git.unlink()
    own.mkdir(parents=True)
    git.write_text("gitdir: own/worktrees/x\n")
    (own / "gitdir").write_text(f"{git}\n")
    (own / "commondir").write_text(f"{shared.project}/.git\n")
    assert shared.at(archive).store != shared.store


# --- the first command in a clone


def test_the_first_command_reads_the_shared_file(shared: Lore) -> None:
    other = clone(shared)
    done = other("search", "sessions", "--ids")
    assert done.out == "note-shared\n" and done.err.count("\n") == 1
    assert f"made a store for {other.project}, with 1 line of {FILE}" in done.err
    assert not other("search", "sessions", "--ids").err
    assert not clone(shared, "another")("search", "sessions", "-q").err


def test_an_unreadable_shared_file_is_named(lore_without_store: Lore) -> None:
    (lore_without_store.project / FILE).mkdir(parents=True)
    assert f"{FILE}: is not a plain file" in lore_without_store("add", "note", "x").err


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "words", ["add note More", "edit note-shared Other", "list", "sync", "init", "context sessions"]
)
def test_every_kind_of_command_may_be_the_first(shared: Lore, words: str) -> None:
    shared("add", "note", "Another", "--id", "note-b")
    shared("sync")
    commit(shared)
    other = clone(shared)
    other(*words.split())
    assert {"note-shared", "note-b"} <= {*other("list", "--type", "note", "--ids").lines}


def test_unwritable_data_folder_is_named(shared: Lore) -> None:
    other = clone(shared)
    other.patch.setenv("XDG_DATA_HOME", "/proc/none")
    done = other("search", "sessions", "--ids", code=1)
    assert not done.out and done.err.count("\n") == 1 and "/proc/none" in done.err


# --- databases in a project


def test_pulled_commit_cannot_replace_a_store(shared: Lore) -> None:
    victim = clone(shared)
    victim("add", "note", "My own", "--id", "note-own")
    victim("trust")
    for name in NAMES:
        shutil.copy(shared.store / "search.db", shared.project / ".lore" / name)
    hook = shared.write(".lore/lore-hook-post-add", f"#!/bin/sh\ntouch '{shared.root}/ran'\n")
    hook.chmod(0o755)
    commit(shared)
    before = victim("list").out
    victim.git("pull", "-q")
    assert (victim.project / ".lore/search.db").exists() and victim("list").out == before
    victim("add", "note", "More")
    assert not (shared.root / "ran").exists()
